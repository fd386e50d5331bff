"""The picture of README: our errors beside the paper's, from the results of the findings.

``python3 tasks.py pictures`` writes it with the others; ``python tools/headline_picture.py`` alone.
"""

from __future__ import annotations

import re

from commands import ROOT
from graphveil.drawing.svg import INK, PAPER, document, element, words
from graphveil.lab.experiments.page import filled_in
from graphveil.lab.experiments.results import Row, read_rows

PICTURE = ROOT / "docs" / "images" / "headline.svg"
RESULTS = ROOT / "docs" / "data" / "findings.csv"
PANELS = {
    "People with many links": [
        ("the paper's SensDiff", "sensdiff high-degree"),
        ("the paper's projection, tuned", "compose-projection high-degree"),
        ("graphveil, no promise needed", "shaped-projection high-degree"),
        ("the same, post-processed", "shaped-projection+post high-degree"),
    ],
    "Links": [
        ("the paper's SensDiff", "sensdiff edges"),
        ("the paper's projection, tuned", "compose-projection edges"),
        ("graphveil, no promise needed", "following edges"),
        ("the same, post-processed", "following+post edges"),
    ],
    "Clusters": [
        ("the paper's SensDiff", "sensdiff clusters"),
        ("graphveil, no promise needed", "shaped-projection clusters"),
        ("the same, post-processed", "shaped-projection+post clusters"),
    ],
}
OURS, THEIRS = "#0f766e", "#94a3b8"
_BAR, _LEFT, _WIDTH, _LINE, _LETTERS = 300, 220, 600, 24, 14


def drawn(rows: list[Row]) -> str:
    """The picture, as SVG that reads well on light and dark pages."""
    y, parts = 8, []
    for title, bars in PANELS.items():
        y += _LINE
        parts.append(element("g", words(title, (12, y), _LETTERS, INK), font_weight="bold"))
        for label, name in bars:
            y += _LINE
            parts.append(_bar(label, _mean(name, rows), y))
        y += _LINE // 2
    paper = element("rect", width=_WIDTH, height=y + 8, fill=PAPER)
    label = "Relative error against SensDiff, for people with many links, links and clusters"
    return document(paper + "".join(parts), _WIDTH, y + 8, label) + "\n"


def _bar(label: str, value: float, y: int) -> str:
    """One bar, with its label at the left and its length at the right."""
    colour = THEIRS if label.startswith("the paper") else OURS
    end = _LEFT + _BAR * value
    return (
        words(label, (_LEFT - 8, y), _LETTERS, INK, "end")
        + element("rect", x=_LEFT, y=y - 13, width=_BAR * value, height=16, fill=colour)
        + words(f"{value:.2f}", (end + 6, y), _LETTERS, INK)
    )


def _mean(name: str, rows: list[Row]) -> float:
    """A geometric mean over the public networks, as the findings state it."""
    text = filled_in(f"<!-- value mean {name} real -->0<!-- end -->", rows)
    return float(re.sub(r"<!--.*?-->", "", text))


def write() -> None:
    """Write the picture into the docs."""
    PICTURE.write_text(drawn(read_rows(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    write()
