"""The chart of a series: raw values, processed ones and intervals, as SVG and PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.rendering import png_of_svg
from graphveil.report.charts.scalar_chart import scalar_chart
from graphveil.report.charts.vector_chart import vector_chart
from graphveil.report.drawings.frame import WIDE, Size
from graphveil.report.drawings.over_degrees import over_degrees
from graphveil.report.drawings.over_steps import over_steps, thinning
from graphveil.report.news import reading
from graphveil.report.wording import counted_things, cut, heading, percent, price, whole

if TYPE_CHECKING:
    import altair

    from graphveil.calendar.calendar import Calendar
    from graphveil.study.public.history import PublishedSeries


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
    projected = () if series.projection is None else (f"It is {cut(series)}.",)
    thinned = (told,) if (told := thinning(series)) else ()
    return heading(series), about, *projected, *thinned


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
