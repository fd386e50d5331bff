"""The chart of a series: raw values, processed ones and intervals, as SVG and PNG."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import TYPE_CHECKING

from graphveil.rendering import png_of_svg, specification, svg
from graphveil.report.news import reading
from graphveil.report.scalar_chart import scalar_chart
from graphveil.report.vector_chart import vector_chart
from graphveil.report.wording import counted_things, percent, whole

if TYPE_CHECKING:
    import altair

    from graphveil.calendar.calendar import Calendar
    from graphveil.study.public.history import PublishedSeries

_ID = re.compile(r'(?<=\bid=")[^"]+(?=")|(?<=url\(#)[^)]+(?=\))|(?<=href="#)[^"]+(?=")')


def chart(series: PublishedSeries) -> altair.LayerChart:
    """The picture that fits the series; it has at least one release."""
    return vector_chart(series) if series.vector else scalar_chart(series)


def drawing(series: PublishedSeries, calendar: Calendar) -> bytes:
    """The chart as SVG with a text alternative; the same series is always the same bytes."""
    text = _with_own_ids(svg(specification(partial(chart, series))).decode(), series.series)
    label = escape(description(series, calendar), quote=True)
    return text.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1).encode()


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


def _with_own_ids(text: str, name: str) -> str:
    """The drawing with ids of its own.

    The renderer numbers clip paths over its whole life, and several drawings share a page.
    """
    found: dict[str, str] = {}
    return _ID.sub(lambda each: found.setdefault(each[0], f"{name}-{len(found)}"), text)
