"""The picture of README: our errors beside the paper's, from the results of the findings.

``python3 tasks.py pictures`` writes it with the others; ``python tools/headline_picture.py`` alone.
"""

from __future__ import annotations

import re

from commands import ROOT
from graphveil.lab.findings.page import filled_in
from graphveil.lab.protocol.results import Row, read_rows

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
        ("graphveil, promise about hubs", "hubs edges"),
        ("the same, post-processed", "hubs+post edges"),
    ],
}
_BAR, _LEFT, _WIDTH, _LINE = 300, 220, 600, 24


def drawn(rows: list[Row]) -> str:
    """The picture, as SVG that reads well on light and dark pages."""
    y, parts = 8, []
    for title, bars in PANELS.items():
        y += _LINE
        parts.append(f'<text x="12" y="{y}" font-weight="bold">{title}</text>')
        for label, name in bars:
            y += _LINE
            value = _mean(name, rows)
            colour = "#94a3b8" if label.startswith("the paper") else "#0f766e"
            parts += [
                f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end">{label}</text>',
                (
                    f'<rect x="{_LEFT}" y="{y - 13}" width="{_BAR * value:.0f}" height="16" '
                    f'fill="{colour}"/>'
                ),
                f'<text x="{_LEFT + _BAR * value + 6:.0f}" y="{y}">{value:.2f}</text>',
            ]
        y += _LINE // 2
    height = y + 8
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
                'font-family="sans-serif" font-size="14" fill="#1e293b">'
            ),
            f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>',
            *parts,
            "</svg>\n",
        ]
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
