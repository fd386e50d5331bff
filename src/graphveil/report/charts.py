"""Charts for notebooks: raw values, processed ones and intervals, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.rendering import png_of_svg
from graphveil.report.drawing import (
    BAND,
    EARLIER,
    FONT,
    GRID,
    INK,
    MUTED,
    PAPER,
    PROCESSED,
    RAW,
    WIDE,
    Size,
)
from graphveil.report.news import reading
from graphveil.report.series_drawings import MANY, over_degrees, over_steps, thinning
from graphveil.report.wording import counted_things, degrees, heading, percent, price, whole

if TYPE_CHECKING:
    import altair

    from graphveil.calendar.calendar import Calendar
    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries


# How charts for notebooks look: fonts, legend, axes; their colours are those of the page.


WIDTH, HEIGHT = 640, 260
MILLIONS = 1e7  # from here on, counts are written as "12M"
LETTER = 7  # pixels that a letter of an axis label takes
LEGEND_AT, SAMPLE = -16, 22  # the place of the legend, and how long its samples are


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


# The chart of a series that is one number per release: values over the steps.


def scalar_chart(series: PublishedSeries) -> altair.LayerChart:
    """Raw values as points, processed ones as a line, and the interval as a band."""
    values = _values(series)
    x, (low, high, processed, raw) = _steps(values), _counts(values)
    band: dict[str, Any] = {"type": "area", "color": BAND, "opacity": 1}
    if len(values) == 1:  # an area needs two steps to be seen
        band = {"type": "rule", "color": BAND, "strokeWidth": 14}
    layers = [
        layer(values, **band).encode(x=x, y=low, y2=high),
        layer(values, **raw_mark(len(values))).encode(x=x, y=raw),
        layer(values, type="line", color=PROCESSED, strokeWidth=2.5).encode(x=x, y=processed),
    ]
    if len(values) == 1:
        tick = layer(values, type="tick", color=PROCESSED, thickness=2.5, width=28)
        layers[2] = tick.encode(x=x, y=processed)
    return dressed([*layers, *legend(_samples(series))], series)


def raw_mark(count: int) -> dict[str, Any]:
    """Dots, or a thin line where there are so many that dots would hide the other line."""
    if count < MANY:
        return {"type": "point", "color": RAW, "filled": True, "opacity": 1, "size": 45}
    return {"type": "line", "color": RAW, "strokeWidth": 0.8}


def raw_sample(count: int) -> dict[str, Any]:
    """What a legend shows of so many raw values."""
    mark = raw_mark(count)
    return mark if mark["type"] == "point" else mark | {"type": "rule"}


def _values(series: PublishedSeries) -> list[dict[str, Any]]:
    """One point per release; a count is never negative, so neither is what is drawn of its band."""
    return [
        {
            "step": made.label,
            "raw": made.raw[0],
            "processed": made.processed[0],
            "low": max(made.low[0], 0),
            "high": max(made.high[0], 0),
        }
        for made in series.releases
    ]


def _steps(values: list[dict[str, Any]]) -> altair.X:
    import altair as alt

    shown = thinned([value["step"] for value in values])
    axis = alt.Axis(values=shown, labelAngle=0, labelOverlap=False, grid=False, tickSize=4)
    return alt.X("step:O", sort=None, title=None, axis=axis)


def _counts(values: list[dict[str, Any]]) -> tuple[altair.Y, str, altair.Y, altair.Y]:
    drawn = [value[name] for value in values for name in ("raw", "processed", "low", "high")]
    axes = {
        name: quantity(f"{name}:Q", zero=from_zero(drawn), largest=max(drawn))
        for name in ("low", "processed", "raw")
    }
    return axes["low"], "high:Q", axes["processed"], axes["raw"]


def _samples(series: PublishedSeries) -> list[tuple[str, dict[str, Any]]]:
    level = percent(series.releases[-1].level)
    return [
        ("processed value", {"type": "rule", "color": PROCESSED, "strokeWidth": 2.5}),
        ("raw value", raw_sample(len(series.releases))),
        (f"{level} interval", {"type": "rect", "color": BAND, "opacity": 1}),
    ]


# The chart of a series that has one number per degree: the latest curve, and how it grew.


def vector_chart(series: PublishedSeries) -> altair.LayerChart:
    """The last release over the degrees as in other charts, above thin lines of earlier ones."""
    last, earlier = series.releases[-1], _earlier(series)
    values = _vector_values(last)
    drawn = [value[name] for value in values for name in ("raw", "processed", "low", "high")]
    y = {
        name: quantity(f"{name}:Q", zero=from_zero(drawn), largest=max(drawn))
        for name in ("low", "processed", "raw")
    }
    x = _degrees(series)
    layers = [
        layer(values, type="area", color=BAND, opacity=1).encode(x=x, y=y["low"], y2="high:Q")
    ]
    for colour, made in earlier:
        line = layer(_vector_values(made), type="line", color=colour, strokeWidth=1.5)
        layers.append(line.encode(x=x, y=y["processed"]))
    layers += [
        layer(values, **raw_mark(len(values))).encode(x=x, y=y["raw"]),
        layer(values, type="line", color=PROCESSED, strokeWidth=2.5).encode(x=x, y=y["processed"]),
    ]
    return dressed([*layers, *legend(_vector_samples(series, earlier))], series)


def _earlier(series: PublishedSeries) -> list[tuple[str, ReleaseMade]]:
    """A few releases before the last one, evenly spread, the first among them, with colours."""
    before = series.releases[:-1]
    wanted = min(len(EARLIER), len(before))
    spread = [before[place * len(before) // wanted] for place in range(wanted)]
    return list(zip(EARLIER[len(EARLIER) - wanted :], spread, strict=True))


def _vector_values(made: ReleaseMade) -> list[dict[str, Any]]:
    return [
        {
            "degree": str(degree),
            "raw": raw,
            "processed": made.processed[degree],
            "low": max(made.low[degree], 0),
            "high": max(made.high[degree], 0),
        }
        for degree, raw in enumerate(made.raw)
    ]


def _degrees(series: PublishedSeries) -> altair.X:
    import altair as alt

    shown = thinned([str(degree) for degree in range(series.width)])
    axis = alt.Axis(values=shown, labelAngle=0, labelOverlap=False, grid=False, tickSize=4)
    return alt.X("degree:O", sort=None, title=degrees(series), axis=axis)


def _vector_samples(
    series: PublishedSeries, earlier: list[tuple[str, ReleaseMade]]
) -> list[tuple[str, dict[str, Any]]]:
    """The newest in full; of the earlier ones the line alone."""
    last = series.releases[-1]
    thin = {"type": "rule", "strokeWidth": 1.5}
    return [
        (f"{last.label}, processed", {"type": "rule", "color": PROCESSED, "strokeWidth": 2.5}),
        ("raw", raw_sample(len(last.raw))),
        (f"{percent(last.level)} interval", {"type": "rect", "color": BAND, "opacity": 1}),
        *((made.label, thin | {"color": colour}) for colour, made in earlier),
    ]


def drawing(
    series: PublishedSeries, calendar: Calendar, size: Size = WIDE, *, titled: bool = True
) -> bytes:
    """The chart as SVG with a text alternative; the same series is always the same bytes.

    Args:
        series: it has at least one release.
        calendar: of its study.
        size: of the drawing.
        titled: whether it says what it shows; on a page the heading above it does.
    """
    head = _head(series) if titled else ()
    label = description(series, calendar)
    if series.vector:
        return over_degrees(series, size, head, label).encode()
    return over_steps(series, calendar, size, head, label).encode()


def _head(series: PublishedSeries) -> tuple[str, ...]:
    about = f"Series {series.series} · {price(series)} for all its releases · {series.mechanism}"
    thinned = (note,) if (note := thinning(series)) else ()
    return heading(series), about, *thinned


def chart(series: PublishedSeries) -> altair.LayerChart:
    """The same for notebooks, where a chart may be changed; it takes longer to draw."""
    return vector_chart(series) if series.vector else scalar_chart(series)


def picture(drawn: bytes) -> bytes:
    """The drawing as PNG."""
    return png_of_svg(drawn)


def description(series: PublishedSeries, calendar: Calendar) -> str:
    """The chart in words, for readers who do not see it."""
    first, last = series.releases[0], series.releases[-1]
    if series.vector:
        return (
            f"Chart of {counted_things(series)}, for d from 0 to {series.width - 1}. In "
            f"{last.label} the processed values go from {whole(last.processed[0])} at d = 0 to "
            f"{whole(last.processed[-1])} at d = {series.width - 1}. The table has all numbers."
        )
    return (
        f"Chart of {counted_things(series)}, {first.label} to {last.label}, with "
        f"{percent(last.level)} intervals. The processed value is {whole(first.processed[0])} in "
        f"{first.label} and {whole(last.processed[0])} in {last.label}. "
        f"{reading(series, last, calendar)}"
    )
