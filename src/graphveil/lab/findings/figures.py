"""The figures, laid out like the paper's: a row per dataset, a column per version and statistic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.lab.candidates.comparison import (
    AUTO,
    COMPOSE,
    CONTENDERS,
    HUBS,
    POST,
    PROJECTION,
    SENSDIFF,
    SHAPED,
)
from graphveil.lab.protocol.results import Row, competing, write_content
from graphveil.rendering import RENDERERS, specification

if TYPE_CHECKING:
    import altair

WIDTH, HEIGHT = 190, 132


@dataclass(frozen=True)
class Look:
    """How a mechanism's line is drawn; lines that coincide must all be seen."""

    colour: str
    dash: tuple[int, ...]
    shape: str
    width: float


# The paper's three are broad and lie below; ours are thin and lie above. Of ours those are drawn
# that a steward could publish, post-processed where a promise is as the paper's; the tables
# have all.
LOOKS = {
    COMPOSE: Look("#8A8A8A", (1, 0), "square", 2.6),
    PROJECTION: Look("#E08A1E", (1, 0), "triangle-up", 2.6),
    SENSDIFF: Look("#8CC4EC", (1, 0), "circle", 5.0),
    AUTO: Look("#B3123C", (6, 3), "cross", 1.6),
    AUTO + POST: Look("#B3123C", (1, 0), "triangle-down", 1.6),
    HUBS + POST: Look("#0A7D4F", (1, 0), "diamond", 1.6),
    SHAPED + POST: Look("#5B2A86", (1, 0), "triangle-right", 1.6),
}
OWN_LOOKS = tuple(  # of the user's candidates, which are black
    Look("#000000", dash, shape, 1.6)
    for dash, shape in (((1, 0), "circle"), ((6, 3), "square"), ((2, 3), "diamond"))
)
AXES = {
    "epsilon": ("ε of the whole series", "Relative error against ε, a release every step"),
    "time": ("number of releases T", "Relative error against the number of releases, ε = 5"),
}


def write_figure(
    folder: Path, rows: Sequence[Row], figure: str, endings: Sequence[str] = (".svg", ".png")
) -> list[Path]:
    """Draw one figure into files; needs no network."""
    drawn = specification(partial(chart, rows, figure))
    written = []
    for ending in endings:
        written.append(folder / f"error-against-{figure}{ending}")
        write_content(written[-1], RENDERERS[ending](drawn))
    return written


def looks_of(rows: Sequence[Row]) -> dict[str, Look]:
    """How everything is drawn that is drawn: a part of the comparison, and all of the user's."""
    own = (name for name in competing(rows) if name not in CONTENDERS)
    return LOOKS | {name: OWN_LOOKS[place % len(OWN_LOOKS)] for place, name in enumerate(own)}


def chart(rows: Sequence[Row], figure: str) -> altair.VConcatChart:
    """All panels of one figure."""
    import altair as alt

    looks = looks_of(rows)
    here = [row for row in rows if row.figure == figure and row.mechanism in looks if row.error > 0]
    datasets = list(dict.fromkeys(row.dataset for row in here))
    columns = list(dict.fromkeys((row.version, row.statistic) for row in here))
    lines = [
        _line([row for row in here if row.dataset == name], columns, figure, looks, first, last)
        for name in datasets
        for first, last in [(name == datasets[0], name == datasets[-1])]
    ]
    runs = here[0].runs if here else 0
    head = alt.TitleParams(
        AXES[figure][1],
        subtitle=f"Mean of {runs} runs, with bars of two standard errors; lower is better. "
        "Dotted: the error of always publishing 0.",
        anchor="middle", fontSize=16, subtitleFontSize=12, subtitleColor="#444444", offset=12,
    )  # fmt: skip
    grid: altair.VConcatChart = (
        alt.vconcat(*lines, spacing=10)
        .resolve_scale(color="shared", strokeDash="shared", shape="shared", strokeWidth="shared")
        .properties(title=head, background="white")
        .configure(padding=12, aria=False)  # labels of every point would double the file
        .configure_view(stroke="#cccccc")
        .configure_axis(labelFontSize=10, titleFontSize=11, titleFontWeight="normal")
    )
    return grid


def _line(
    rows: list[Row],
    columns: list[tuple[str, str]],
    figure: str,
    looks: dict[str, Look],
    first: bool,
    last: bool,
) -> altair.HConcatChart:
    """The panels of one dataset."""
    import altair as alt

    panels = []
    for version, statistic in columns:
        here = [row for row in rows if (row.version, row.statistic) == (version, statistic)]
        panel = _panel(here, figure, looks, f"{version}, {statistic}", first=first, last=last)
        panels.append(panel)
    side = alt.TitleParams(rows[0].dataset, orient="left", anchor="middle", fontSize=13, offset=8)
    line: altair.HConcatChart = alt.hconcat(*panels, spacing=14).properties(title=side)
    return line


def _panel(
    rows: list[Row],
    figure: str,
    looks: dict[str, Look],
    title: str,
    *,
    first: bool,
    last: bool,
) -> altair.LayerChart:
    """One panel: a line per mechanism, with bars of two standard errors."""
    import altair as alt

    values = [_point(row, figure) for row in rows]
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=_x(rows, figure, last),
        order=alt.Order("x:Q"),
        color=_scaled(alt.Color, looks, lambda look: look.colour),
    )
    low, high = _range(rows)
    y = _y("error:Q", low, high)
    lines = base.mark_line(clip=True).encode(
        y=y,
        strokeDash=_scaled(alt.StrokeDash, looks, lambda look: list(look.dash)),
        strokeWidth=_scaled(alt.StrokeWidth, looks, lambda look: look.width),
    )
    bars = base.mark_rule(strokeWidth=1, clip=True).encode(y=_y("low:Q", low, high), y2="high:Q")
    points = base.mark_point(size=22, filled=True, opacity=1).encode(
        y=y, shape=_scaled(alt.Shape, looks, lambda look: look.shape)
    )
    head = alt.TitleParams(title if first else "", fontSize=12, offset=8)
    return alt.LayerChart(
        layer=[_nothing(rows, figure, y), lines, bars, points],
        title=head,
        width=WIDTH,
        height=HEIGHT,
    )


def _nothing(rows: list[Row], figure: str, y: altair.Y) -> altair.Chart:
    """The error of always publishing 0: whatever lies above it is worse than no release."""
    import altair as alt

    values = [
        {"x": _abscissa(row, figure), "error": row.zero_error}
        for row in rows
        if row.mechanism == SENSDIFF and row.zero_error > 0
    ]
    mark = alt.MarkDef("line", clip=True, color="black", strokeWidth=1.2, strokeDash=[1, 3])
    return alt.Chart(alt.InlineData(values=values), mark=mark).encode(x="x:Q", y=y)


def _abscissa(row: Row, figure: str) -> float:
    return row.epsilon if figure == "epsilon" else row.releases


def _scaled(channel: Any, looks: dict[str, Look], part: Callable[[Look], Any]) -> Any:
    """One look of every mechanism, all in one legend."""
    import altair as alt

    legend = alt.Legend(
        orient="top", direction="horizontal", columns=len(looks), titleFontSize=12,
        labelFontSize=12, symbolStrokeWidth=2, symbolSize=90, columnPadding=18, title=None,
    )  # fmt: skip
    values = [part(look) for look in looks.values()]
    return channel("mechanism:N", legend=legend, scale=alt.Scale(domain=list(looks), range=values))


def _point(row: Row, figure: str) -> dict[str, Any]:
    margin = 2 * row.standard_error
    return {
        "x": _abscissa(row, figure),
        "error": row.error,
        "low": max(row.error - margin, row.error / 10),
        "high": row.error + margin,
        "mechanism": row.mechanism,
    }


def _x(rows: list[Row], figure: str, last: bool) -> altair.X:
    import altair as alt

    shown = sorted({_abscissa(row, figure) for row in rows})
    return alt.X(
        "x:Q",
        title=AXES[figure][0] if last else None,
        scale=alt.Scale(type="log", nice=False, padding=8),
        axis=alt.Axis(values=shown, format="~g", grid=False, labelOverlap=True),
    )


def _y(field: str, low: float, high: float) -> altair.Y:
    import altair as alt

    return alt.Y(
        field,
        title=None,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(values=_ticks(low, high), format="~g", gridColor="#eeeeee", minExtent=42),
    )


def _range(rows: list[Row]) -> tuple[float, float]:
    """From the least to the largest error, with some air."""
    errors = [row.error for row in rows] or [1.0]
    return min(errors) / 1.3, max(errors) * 1.3


def _ticks(low: float, high: float) -> list[float]:
    """Powers of ten in the range, with 2 and 5 times them if there are few."""
    powers = range(floor(log10(low)), ceil(log10(high)) + 1)
    steps = (1,) if high / low > 500 else (1, 2, 5)
    return [s * 10.0**power for power in powers for s in steps if low <= s * 10.0**power <= high]
