"""How charts for notebooks look: fonts, legend, axes; their colours are those of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.report.drawings.frame import GRID, INK, MUTED, PAPER
from graphveil.report.drawings.svg import FONT
from graphveil.report.wording import cut, heading, price

if TYPE_CHECKING:
    import altair

    from graphveil.study.public.history import PublishedSeries

WIDTH, HEIGHT = 640, 260
MILLIONS = 1e7  # from here on, counts are written as "12M"
LETTER = 7  # pixels that a letter of an axis label takes
LEGEND_AT, SAMPLE = -16, 22  # where the legend stands, and how long its samples are


def layer(values: list[dict[str, Any]], **mark: Any) -> altair.Chart:
    """Some data with one mark."""
    import altair as alt

    return alt.Chart(alt.InlineData(values=values), mark=alt.MarkDef(**mark))


def quantity(field: str, *, zero: bool, largest: float) -> altair.Y:
    """The upright axis of counts; few ticks, and no fractions of people."""
    import altair as alt

    form = ",d" if largest < MILLIONS else "~s"
    axis = alt.Axis(format=form, tickCount=5, tickMinStep=1, domain=False, ticks=False)
    return alt.Y(field, title=None, scale=alt.Scale(zero=zero, nice=True), axis=axis)


def from_zero(values: list[float]) -> bool:
    """Whether an axis begins at 0: unless that would press everything against its upper end."""
    return min(values) < 0.7 * max(values)


def thinned(labels: list[str], width: int = WIDTH) -> list[str]:
    """The last label, and as many before it, evenly spaced, as can be read."""
    room = max(2, width // (LETTER * max(len(label) for label in labels) + 14))
    stride = next(s for s in _strides() if (len(labels) - 1) / s <= room - 1)
    return labels[::-stride][::-1]


def _strides() -> list[int]:
    return [step * 10**power for power in range(7) for step in (1, 2, 5)]


def legend(entries: list[tuple[str, dict[str, Any]]]) -> list[altair.Chart]:
    """A legend above the plot: a sample of each mark and its name.

    Drawn by hand, because a legend of the library cannot mix lines, points and bands.
    """
    layers, x = [], 0.0
    for name, mark in entries:
        layers.append(_sample(x, mark))
        words = layer(
            [{}], type="text", text=name, align="left", baseline="middle", color=MUTED, fontSize=12
        )
        layers.append(_at(words, x=x + SAMPLE + 6, y=LEGEND_AT))
        x += SAMPLE + 6 + LETTER * len(name) + 14
    return layers


def _sample(x: float, mark: dict[str, Any]) -> altair.Chart:
    """A piece of a mark: a point in the middle, or a line or a band over the whole length."""
    drawn = layer([{}], **mark)
    if mark["type"] == "point":
        return _at(drawn, x=x + SAMPLE / 2, y=LEGEND_AT)
    if mark["type"] == "rect":
        return _at(drawn, x=x, x2=x + SAMPLE, y=LEGEND_AT - 5, y2=LEGEND_AT + 5)
    return _at(drawn, x=x, x2=x + SAMPLE, y=LEGEND_AT)


def _at(drawn: altair.Chart, **pixels: float) -> altair.Chart:
    """A mark at a fixed place; for `alt.value` the library would search its schema each time."""
    import altair as alt

    places = {name: getattr(alt, f"{name.upper()}Value")(at) for name, at in pixels.items()}
    return drawn.encode(**places)


def dressed(layers: list[altair.Chart], series: PublishedSeries) -> altair.LayerChart:
    """The layers under their title, in the size and the fonts of the report."""
    import altair as alt

    lines = [f"Series {series.series} · {price(series)} for all its releases · {series.mechanism}"]
    if series.projection is not None:
        lines.append(f"It is {cut(series)}.")
    head = alt.TitleParams(
        heading(series),
        subtitle=lines,
        anchor="start", frame="group", fontSize=16, color=INK, subtitleFontSize=12,
        subtitleColor=MUTED, subtitlePadding=5, offset=16,
    )  # fmt: skip
    axis = alt.AxisConfig(
        labelFontSize=12, titleFontSize=12, titleFontWeight="normal", titlePadding=10,
        labelColor=MUTED, titleColor=MUTED, gridColor=GRID, domainColor=MUTED, tickColor=MUTED,
    )  # fmt: skip
    whole = alt.LayerChart(layer=layers, title=head, width=WIDTH, height=HEIGHT, background=PAPER)
    done: altair.LayerChart = whole.configure(
        font=FONT, padding=16, aria=False, view=alt.ViewConfig(stroke=None), axis=axis
    )
    return done
