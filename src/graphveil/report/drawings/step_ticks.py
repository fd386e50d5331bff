"""Which steps are written below a drawing: evenly spaced, at whole years or months, never crowded.

Rules are tried from the finest to the coarsest; the first whose ticks fit is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.phrases import MONTHS
from graphveil.calendar.units import DAY, Unit

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
        found = [Tick(int(place), text(int(place) + first)) for place in np.flatnonzero(marked)]
        if len(found) >= min(count, 2) and fits(found):
            return found
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
