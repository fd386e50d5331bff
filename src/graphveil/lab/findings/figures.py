"""The figures, laid out like the paper's: a row per dataset, a column per version and statistic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphveil.drawing.plots import Axis, Curve, Figure, Panel, round_ticks
from graphveil.drawing.svg import Drawing
from graphveil.lab.candidates.comparison import (
    AUTO,
    COMPOSE,
    CONTENDERS,
    FOLLOWING,
    HUBS,
    POST,
    PROJECTION,
    SENSDIFF,
    SHAPED,
)
from graphveil.lab.protocol.results import Row, competing, write_content

WIDTH, HEIGHT = 190, 132


@dataclass(frozen=True)
class Look:
    """How a mechanism's line is drawn; lines that coincide must all be seen."""

    colour: str
    dash: str | None
    shape: str
    width: float


# The paper's three are broad and lie below; ours are thin and lie above. Of ours those are drawn
# that a steward could publish, post-processed where a promise is as the paper's; the tables
# have all.
LOOKS = {
    COMPOSE: Look("#8A8A8A", None, "square", 2.6),
    PROJECTION: Look("#E08A1E", None, "triangle-up", 2.6),
    SENSDIFF: Look("#8CC4EC", None, "circle", 5.0),
    AUTO: Look("#B3123C", "6,3", "cross", 1.6),
    AUTO + POST: Look("#B3123C", None, "triangle-down", 1.6),
    HUBS + POST: Look("#0A7D4F", None, "diamond", 1.6),
    SHAPED + POST: Look("#5B2A86", None, "triangle-right", 1.6),
    FOLLOWING + POST: Look("#0B5FA5", None, "square", 1.6),
}
OWN_LOOKS = tuple(  # of the user's candidates, which are black
    Look("#000000", dash, shape, 1.6)
    for dash, shape in ((None, "circle"), ("6,3", "square"), ("2,3", "diamond"))
)
AXES = {
    "epsilon": ("ε of the whole series", "Relative error against ε, a release every step"),
    "time": ("number of releases T", "Relative error against the number of releases, ε = 5"),
}


def write_figure(folder: Path, rows: Sequence[Row], figure: str) -> Path:
    """Draw one figure into a file."""
    path = folder / f"error-against-{figure}.svg"
    write_content(path, chart(rows, figure).content(".svg"))
    return path


def looks_of(rows: Sequence[Row]) -> dict[str, Look]:
    """How everything is drawn that is drawn: a part of the comparison, and all of the user's."""
    own = (name for name in competing(rows) if name not in CONTENDERS)
    return LOOKS | {name: OWN_LOOKS[place % len(OWN_LOOKS)] for place, name in enumerate(own)}


def chart(rows: Sequence[Row], figure: str) -> Drawing:
    """All panels of one figure."""
    looks = looks_of(rows)
    here = [row for row in rows if row.figure == figure and row.mechanism in looks if row.error > 0]
    datasets = list(dict.fromkeys(row.dataset for row in here))
    columns = list(dict.fromkeys((row.version, row.statistic) for row in here))
    panels = tuple(
        tuple(
            _panel(_rows_of(here, dataset, column), figure, looks, column, dataset, datasets)
            for column in columns
        )
        for dataset in datasets
    )
    runs = here[0].runs if here else 0
    said = f"Mean of {runs} runs, with bars of two standard errors; lower is better. Dotted: "
    head = (AXES[figure][1], f"{said}the error of always publishing 0.")
    legend = tuple(_curve([], name, look, figure) for name, look in looks.items())
    return Figure(head, panels, legend, tuple(datasets)).drawing(head[0])


def _rows_of(rows: Sequence[Row], dataset: str, column: tuple[str, str]) -> list[Row]:
    return [row for row in rows if (row.dataset, row.version, row.statistic) == (dataset, *column)]


def _panel(
    rows: list[Row],
    figure: str,
    looks: dict[str, Look],
    column: tuple[str, str],
    dataset: str,
    datasets: list[str],
) -> Panel:
    """One panel: a line per mechanism, with bars of two standard errors."""
    drawn = [
        _curve([row for row in rows if row.mechanism == name], name, look, figure)
        for name, look in looks.items()
    ]
    return Panel(
        WIDTH,
        HEIGHT,
        _x(rows, figure, last=dataset == datasets[-1]),
        _y(rows),
        (_nothing(rows, figure), *drawn),
        title=", ".join(column) if dataset == datasets[0] else "",
    )


def _curve(rows: list[Row], name: str, look: Look, figure: str) -> Curve:
    ordered = sorted(rows, key=lambda row: _abscissa(row, figure))
    return Curve(
        name,
        tuple((_abscissa(row, figure), row.error) for row in ordered),
        look.colour,
        look.width,
        look.dash,
        mark=look.shape,
        bars=tuple(_bar(row) for row in ordered),
    )


def _bar(row: Row) -> tuple[float, float]:
    margin = 2 * row.standard_error
    return max(row.error - margin, row.error / 10), row.error + margin


def _nothing(rows: list[Row], figure: str) -> Curve:
    """The error of always publishing 0: whatever lies above it is worse than no release."""
    points = sorted(
        (_abscissa(row, figure), row.zero_error)
        for row in rows
        if row.mechanism == SENSDIFF and row.zero_error > 0
    )
    return Curve("", tuple(points), "#000000", 1.2, "1,3")


def _abscissa(row: Row, figure: str) -> float:
    return float(row.epsilon if figure == "epsilon" else row.releases)


def _x(rows: list[Row], figure: str, *, last: bool) -> Axis:
    shown = sorted({_abscissa(row, figure) for row in rows}) or [1.0]
    low, high = shown[0] / 1.1, shown[-1] * 1.1
    return Axis(low, high, tuple(shown), AXES[figure][0] if last else "")


def _y(rows: list[Row]) -> Axis:
    """From the least to the largest error, with some air."""
    errors = [row.error for row in rows] or [1.0]
    low, high = min(errors) / 1.3, max(errors) * 1.3
    return Axis(low, high, round_ticks(low, high, long=500), lines=True)
