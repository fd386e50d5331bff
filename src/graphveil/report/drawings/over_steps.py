"""A series that is one number per release: its values over the steps."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from graphveil.report.drawings import svg
from graphveil.report.drawings.counts import Counts
from graphveil.report.drawings.frame import BAND, PROCESSED, RAW, Frame, Sample, Size
from graphveil.report.drawings.step_ticks import step_ticks
from graphveil.report.drawings.svg import Point
from graphveil.report.wording import percent

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study.public.history import PublishedSeries

MANY = 60  # releases from which on dots would hide the line that they belong to
LONG = 750  # releases up to which every one is drawn
PARTS = 250  # of a longer drawing: a few pixels each
THINNED = (
    "Thinned: of every {steps} steps a line shows the lowest and the highest; the CSV has all."
)


def over_steps(
    series: PublishedSeries, calendar: Calendar, size: Size, head: tuple[str, ...], label: str
) -> str:
    """The interval as a band, raw values as dots, processed ones as a line over both."""
    raw, processed, low, high = _values(series)
    counts = Counts.of([*raw, *processed, *low, *high])
    frame = Frame(size, head, _legend(series), counts, len(raw))
    marks = _interval(frame, low, high) + raw_marks(frame, raw) + _processed(frame, processed)
    ticks = step_ticks(calendar, series.first_step, len(raw), frame.fits)
    return frame.drawing(marks, ticks, label)


def thinning(series: PublishedSeries) -> str:
    """What readers are told if not every release is drawn; nothing if every one is."""
    steps = len(series.releases)
    return "" if series.vector or steps <= LONG else THINNED.format(steps=ceil(steps / PARTS))


def _points(frame: Frame, values: Sequence[float]) -> list[Point]:
    """Where a line goes."""
    return [frame.at(place, values[place]) for place in _drawn(values)]


def _drawn(values: Sequence[float]) -> Sequence[int]:
    """The places of a line that are drawn: all, or the extremes of each part, and both ends.

    Nothing that stands out is lost: in every part the line reaches as far up and down as it does.
    """
    count = len(values)
    if count <= LONG:
        return range(count)
    found = {0, count - 1}
    for part in range(PARTS):
        places = range(count * part // PARTS, count * (part + 1) // PARTS)
        found |= {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
    return sorted(found)


def _values(series: PublishedSeries) -> tuple[list[float], ...]:
    """Raw, processed, low, high; a count is never negative, so neither is what is drawn of it."""
    made = series.releases
    return (
        [float(each.raw[0]) for each in made],
        [each.processed[0] for each in made],
        [float(max(each.low[0], 0)) for each in made],
        [float(max(each.high[0], 0)) for each in made],
    )


def _interval(frame: Frame, low: list[float], high: list[float]) -> str:
    if len(low) > 1:
        return svg.band(_points(frame, low), _points(frame, high), BAND)
    return svg.line([frame.at(0, low[0]), frame.at(0, high[0])], BAND, 14)


def _processed(frame: Frame, values: list[float]) -> str:
    if len(values) > 1:
        return svg.line(_points(frame, values), PROCESSED, 2.5)
    x, y = frame.at(0, values[0])
    return svg.line([(x - 14, y), (x + 14, y)], PROCESSED, 2.5)


def raw_marks(frame: Frame, values: Sequence[float]) -> str:
    """Dots, or a thin line where there are so many that dots would hide the other line."""
    if len(values) < MANY:
        return svg.dots(frame.through(values), RAW, 3.5)
    return svg.line(_points(frame, values), RAW, 0.8)


def raw_sample(count: int) -> Sample:
    """What the legend shows of so many raw values."""
    return Sample("raw", RAW, "dot") if count < MANY else Sample("raw", RAW, stroke=0.8)


def _legend(series: PublishedSeries) -> tuple[Sample, ...]:
    level = percent(series.releases[-1].level)
    return (
        Sample("processed", PROCESSED),
        raw_sample(len(series.releases)),
        Sample(f"{level} interval", BAND, "band"),
    )
