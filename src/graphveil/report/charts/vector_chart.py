"""The chart of a series that has one number per degree: the latest curve, and how it grew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.report.charts.chart_style import dressed, from_zero, layer, legend, quantity, thinned
from graphveil.report.charts.scalar_chart import raw_mark, raw_sample
from graphveil.report.drawings.frame import BAND, EARLIER, PROCESSED
from graphveil.report.wording import degrees, percent

if TYPE_CHECKING:
    import altair

    from graphveil.study.public.facts import ReleaseMade
    from graphveil.study.public.history import PublishedSeries


def vector_chart(series: PublishedSeries) -> altair.LayerChart:
    """The last release over the degrees as in other charts, above thin lines of earlier ones."""
    last, earlier = series.releases[-1], _earlier(series)
    values = _values(last)
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
        line = layer(_values(made), type="line", color=colour, strokeWidth=1.5)
        layers.append(line.encode(x=x, y=y["processed"]))
    layers += [
        layer(values, **raw_mark(len(values))).encode(x=x, y=y["raw"]),
        layer(values, type="line", color=PROCESSED, strokeWidth=2.5).encode(x=x, y=y["processed"]),
    ]
    return dressed([*layers, *legend(_samples(series, earlier))], series)


def _earlier(series: PublishedSeries) -> list[tuple[str, ReleaseMade]]:
    """A few releases before the last one, evenly spread, the first among them, with colours."""
    before = series.releases[:-1]
    wanted = min(len(EARLIER), len(before))
    spread = [before[place * len(before) // wanted] for place in range(wanted)]
    return list(zip(EARLIER[len(EARLIER) - wanted :], spread, strict=True))


def _values(made: ReleaseMade) -> list[dict[str, Any]]:
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


def _samples(
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
