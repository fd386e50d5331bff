"""The chart of a series that is one number per release: values over the steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.report.charts.chart_style import dressed, from_zero, layer, legend, quantity, thinned
from graphveil.report.drawings.frame import BAND, PROCESSED, RAW
from graphveil.report.drawings.over_steps import MANY
from graphveil.report.wording import percent

if TYPE_CHECKING:
    import altair

    from graphveil.study.public.history import PublishedSeries


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
