"""The frame of a chart of a series: title, legend, and axes of steps and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.phrases import MONTHS
from graphveil.calendar.times import DAY, Unit
from graphveil.drawing.svg import (
    GRID,
    MUTED,
    PAPER,
    SMALL,
    TITLE,
    Point,
    document,
    dots,
    element,
    line,
    titles,
    whiskers,
    width_of,
    words,
)

# The upright axis of a drawing: where counts stand, and which of them are written.


LINES = 5  # about so many counts are written
PRESSED = 0.7  # below this share of the largest value, small ones need no axis of their own
SHORTENED = 10_000_000  # from here on, counts are written as "12M"
ENDINGS = ((10**12, "T"), (10**9, "G"), (10**6, "M"))


@dataclass(frozen=True)
class Counts:
    """A scale from `low` to `high`, with a line at each multiple of `stride`."""

    low: float
    high: int
    stride: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Counts:
        """The scale on which some values are seen; from 0 on, unless that presses them together."""
        smallest, largest = min(values), max(values)
        if smallest < PRESSED * largest or largest <= 0 or smallest == largest:
            smallest, largest = min(smallest, 0), max(largest, 0)
        stride = _round_stride(max(largest - smallest, 1) / LINES)
        part = stride if smallest >= 0 else stride / 4  # noise below 0 needs no room for more
        low = floor(smallest / part) * part
        high = ceil(largest / stride) * stride
        return cls(low, high if high > low else high + stride, stride)

    def share(self, value: float) -> float:
        """The height of a value, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    @property
    def lines(self) -> range:
        """The counts that are written."""
        return range(ceil(self.low / self.stride) * self.stride, self.high + 1, self.stride)

    def written(self, count: int) -> str:
        """A count beside its line."""
        if max(abs(self.low), abs(self.high)) < SHORTENED:
            return f"{count:,}".replace("-", "−")
        size, ending = next(each for each in ENDINGS if self.stride >= each[0] or each[0] == 10**6)
        return f"{count / size:,.12g}{ending if count else ''}".replace("-", "−")


def _round_stride(wanted: float) -> int:
    """The first of 1, 2, 5, 10, 20, … that is at least as large."""
    power = 1
    while power * 10 < wanted:
        power *= 10
    return next(power * step for step in (1, 2, 5, 10) if power * step >= wanted)


# Which steps are written below a drawing: evenly spaced, at whole years or months, never
# crowded.
#
# Rules are tried from the finest to the coarsest; the first whose ticks fit is taken.


Integers = NDArray[np.int64]
# Which steps have a tick, and what is written at one of them.
Rule = tuple[NDArray[np.bool_], Callable[[int], str]]

DAYS = (1, 2, 7, 14)  # between ticks, if steps are days
LONGER = (1, 2, 4)  # steps between ticks, if they are longer than that
MONTHS_APART = (1, 2, 3, 6)
ROUND = tuple(step * 10**power for power in range(7) for step in (1, 2, 5))
MOST = 100  # ticks: no drawing has room for the texts of more
YEARS_APART = tuple(12 * years for years in ROUND)


@dataclass(frozen=True)
class Tick:
    """Something written at the place of a release, counted from 0."""

    place: int
    text: str


def step_ticks(
    calendar: Calendar, first: int, count: int, fits: Callable[[list[Tick]], bool]
) -> list[Tick]:
    """The ticks of some steps.

    Args:
        calendar: of the study.
        first: the first step that is drawn.
        count: how many steps are drawn.
        fits: whether some ticks can stand beside each other.
    """
    steps = np.arange(first, first + count, dtype=np.int64)
    for marked, text in _rules(calendar, steps):
        if np.count_nonzero(marked) > MOST:
            continue
        ticks = [Tick(int(place), text(int(place) + first)) for place in np.flatnonzero(marked)]
        if len(ticks) >= min(count, 2) and fits(ticks):
            return ticks
    return [Tick(0, calendar.label(first))]


def _rules(calendar: Calendar, steps: Integers) -> Iterator[Rule]:
    if calendar.unit == Unit.MONTH and calendar.width is not None:
        yield from _by_month(calendar, steps)
    elif _has_whole_days(calendar):
        yield from _by_day(calendar, steps)
    elif calendar.width is not None and calendar.unit != Unit.TIME:
        yield from _by_number(calendar, steps)
    for stride in ROUND:  # where times say nothing about an even place
        yield (steps - steps[0]) % stride == 0, calendar.label


def _by_number(calendar: Calendar, steps: Integers) -> Iterator[Rule]:
    """Multiples of round numbers: of years these are whole decades."""
    width = calendar.width or 1
    numbers = calendar.starts[0] // width + steps
    for stride in ROUND:
        yield numbers % stride == 0, calendar.label


def _by_month(calendar: Calendar, steps: Integers) -> Iterator[Rule]:
    width = calendar.width or 1
    months = calendar.starts[0] + width * steps
    for stride in (*MONTHS_APART, *YEARS_APART):
        if stride % width == 0:
            yield _first_of(months, months - width, stride), _named_month(months, steps, stride)


def _has_whole_days(calendar: Calendar) -> bool:
    if calendar.width is None or calendar.unit not in (Unit.DAY, Unit.TIME):
        return False
    return calendar.unit == Unit.DAY or not (calendar.starts[0] % DAY or calendar.width % DAY)


def _by_day(calendar: Calendar, steps: Integers) -> Iterator[Rule]:
    size = DAY if calendar.unit == Unit.TIME else 1
    width = (calendar.width or 1) // size
    days = calendar.starts[0] // size + width * steps
    for stride in DAYS if width == 1 else LONGER:
        yield (steps - steps[0]) % stride == 0, _named_day(days, steps)
    months, before = _months(days), _months(days - width)
    for stride in (*MONTHS_APART, *YEARS_APART):
        yield _first_of(months, before, stride), _named_month(months, steps, stride)


def _months(days: Integers) -> Integers:
    """The months of some days, counted from the year 0."""
    months: Integers = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return months + 12 * 1970


def _first_of(months: Integers, before: Integers, stride: int) -> NDArray[np.bool_]:
    """Where a step begins in other months than the one before it."""
    return np.not_equal(months // stride, before // stride)


def _named_month(months: Integers, steps: Integers, stride: int) -> Callable[[int], str]:
    def named(step: int) -> str:
        year, month = divmod(int(months[step - steps[0]]), 12)
        whole = stride % 12 == 0 and month == 0
        return str(year) if whole else f"{MONTHS[month][:3]} {year}"

    return named


def _named_day(days: Integers, steps: Integers) -> Callable[[int], str]:
    """A day of a month; the first of all says its year as well."""

    def named(step: int) -> str:
        day = np.datetime64(int(days[step - steps[0]]), "D").item()
        year = f" {day.year}" if step == steps[0] else ""
        return f"{day.day} {MONTHS[day.month - 1][:3]}{year}"

    return named


# The frame of a chart: title, legend, axes. The page's style sheet names these colours, too.
PROCESSED, RAW, BAND = "#1d5fa8", "#c2410c", "#cfe0f3"
EARLIER = ("#b9a3d0", "#9277b5", "#6b4b93")  # from the oldest to the newest

SAMPLE, GAP = 22, 6  # how long a sample of the legend is, and how far its name is away
APART = 10  # pixels between two ticks' texts
ROW = 20  # height of a row of the legend, and of a line below the title


@dataclass(frozen=True)
class Size:
    """The outer width of a drawing, and the height of what is plotted, in pixels."""

    width: int
    plot: int
    edge: int = 16


WIDE = Size(712, 260)
NARROW = Size(350, 230, edge=6)  # for phones, and for two columns on paper


@dataclass(frozen=True)
class Sample:
    """An entry of the legend: a name beside a piece of a mark."""

    name: str
    colour: str
    kind: str = "line"
    stroke: float = 2.5

    def drawn(self, x: float, y: float) -> str:
        """With its name to the right; `y` is the middle."""
        mark = self._mark(x, y)
        return mark + words(self.name, (x + SAMPLE + GAP, y + 4), SMALL, MUTED)

    def _mark(self, x: float, y: float) -> str:
        if self.kind == "dot":
            return dots([(x + SAMPLE / 2, y)], self.colour, 3.5)
        if self.kind == "interval":
            return whiskers([((x + SAMPLE / 2, y + 6), (x + SAMPLE / 2, y - 6))], self.colour, 3)
        if self.kind == "band":
            return element("rect", x=x, y=y - 5, width=SAMPLE, height=10, fill=self.colour)
        return line([(x, y), (x + SAMPLE, y)], self.colour, self.stroke)

    @property
    def width(self) -> float:
        """The room that it takes."""
        return SAMPLE + GAP + width_of(self.name, SMALL) + 14


@dataclass(frozen=True)
class Frame:
    """The places of everything; the plot's left, right, top and bottom are in pixels.

    Attributes:
        size: of the drawing.
        head: title and the lines below it; nothing on a page, which says them above.
        legend: entries, in order.
        counts: the upright axis.
        places: how many values stand side by side.
        axis: what is counted along the lower axis; empty if its ticks say so.
    """

    size: Size
    head: tuple[str, ...]
    legend: tuple[Sample, ...]
    counts: Counts
    places: int
    axis: str = ""

    @cached_property
    def left(self) -> float:
        """After the widest count."""
        texts = [self.counts.written(count) for count in self.counts.lines]
        return self.size.edge + max(width_of(text, SMALL) for text in texts) + 8

    @cached_property
    def right(self) -> float:
        """Where the plot ends; a label below its end may reach a little further."""
        return self.size.width - self.size.edge - 10

    @cached_property
    def top(self) -> float:
        """Below title and legend."""
        head = TITLE + ROW * (len(self.head) - 1) + 14 if self.head else 0
        return self.size.edge + head + ROW * len(self._rows()) + 8

    @cached_property
    def bottom(self) -> float:
        """Where the lower axis is."""
        return self.top + self.size.plot

    @property
    def height(self) -> float:
        """Of the whole drawing."""
        return self.bottom + 24 + (ROW if self.axis else 0) + self.size.edge

    def at(self, place: int, value: float) -> Point:
        """The place of a value."""
        share = (place + 0.5) / self.places
        return (
            self.left + share * (self.right - self.left),
            self.bottom - self.counts.share(value) * (self.bottom - self.top),
        )

    def through(self, values: Sequence[float]) -> list[Point]:
        """Where all values of a line stand."""
        return [self.at(place, value) for place, value in enumerate(values)]

    def fits(self, ticks: list[Tick]) -> bool:
        """Whether ticks leave room between each other."""
        ends = [
            (self._middle(tick) - _half(tick), self._middle(tick) + _half(tick)) for tick in ticks
        ]
        return all(after[0] - before[1] >= APART for before, after in pairwise(ends))

    def drawing(self, marks: str, ticks: list[Tick], label: str) -> str:
        """The whole picture; `label` says it in words."""
        paper = element("rect", width=self.size.width, height=self.height, fill=PAPER)
        parts = (paper, self._titles(), self._legend(), self._grid(), marks, self._steps(ticks))
        return document("".join(parts), self.size.width, self.height, label)

    def _middle(self, tick: Tick) -> float:
        """The place of a tick's text: below the tick, but on the paper."""
        x, half = self._x(tick), _half(tick)
        return max(half, min(x, self.size.width - half))

    def _x(self, tick: Tick) -> float:
        return self.at(tick.place, self.counts.low)[0]

    def _titles(self) -> str:
        return titles(self.head, (self.size.edge, self.size.edge + TITLE), ROW)

    def _rows(self) -> list[list[Sample]]:
        """The legend, broken into rows that fit."""
        rows: list[list[Sample]] = [[]]
        for sample in self.legend:
            taken = sum(each.width for each in rows[-1])
            if rows[-1] and taken + sample.width > self.size.width - 2 * self.size.edge:
                rows.append([])
            rows[-1].append(sample)
        return rows

    def _legend(self) -> str:
        drawn, rows = [], self._rows()
        for number, row in enumerate(rows):
            x = float(self.size.edge)
            for sample in row:
                drawn.append(sample.drawn(x, self.top - 8 - ROW * (len(rows) - number) + ROW / 2))
                x += sample.width
        return "".join(drawn)

    def _grid(self) -> str:
        lines = []
        for count in self.counts.lines:
            y = self.at(0, count)[1]
            lines.append(line([(self.left, y), (self.right, y)], GRID, 1))
            text = self.counts.written(count)
            lines.append(words(text, (self.left - 8, y + 4), SMALL, MUTED, "end"))
        return "".join(lines)

    def _steps(self, ticks: list[Tick]) -> str:
        base = line([(self.left, self.bottom), (self.right, self.bottom)], MUTED, 1)
        drawn = [base]
        for tick in ticks:
            x, below = self._x(tick), (self._middle(tick), self.bottom + 18)
            drawn.append(line([(x, self.bottom), (x, self.bottom + 4)], MUTED, 1))
            drawn.append(words(tick.text, below, SMALL, MUTED, "middle"))
        if self.axis:
            middle = (self.left + self.right) / 2
            drawn.append(words(self.axis, (middle, self.bottom + 40), SMALL, MUTED, "middle"))
        return "".join(drawn)


def _half(tick: Tick) -> float:
    return width_of(tick.text, SMALL) / 2
