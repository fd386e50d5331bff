"""Steps in words: by when something was counted, and during which time it was new."""

from __future__ import annotations

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.times import DAY, Unit, written
from graphveil.deferred import np

# Spelled out, because those of the standard library follow the machine's language.
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
# How many steps readers look back over, besides a single one: a year, or what is usual.
SPANS = {(Unit.YEAR, 1): 5, (Unit.MONTH, 1): 12, (Unit.MONTH, 3): 4, (Unit.DAY, 7): 52}
SPANS |= {(Unit.DAY, 1): 7, (Unit.TIME, DAY): 7, (Unit.TIME, 7 * DAY): 52}
NAMES = {(Unit.YEAR, 1): "year", (Unit.MONTH, 1): "month", (Unit.MONTH, 3): "quarter"}
NAMES |= {(Unit.DAY, 7): "week", (Unit.DAY, 1): "day", (Unit.TIME, DAY): "day"}
NAMES |= {(Unit.TIME, 7 * DAY): "week"}


def by(calendar: Calendar, step: int) -> str:
    """Up to when everything was counted, as in "by the end of March 2020" or "by 9 May 2021"."""
    last = _last_count(calendar, step)
    if last is None:
        return f"by the step from {calendar.label(step)} on"
    if calendar.unit == Unit.TIME and (last + 1) % DAY:
        return f"before {written(last + 1, Unit.TIME)}"
    if calendar.unit in (Unit.DAY, Unit.TIME):
        return f"by {_named(last, calendar.unit)}"
    of = "" if calendar.unit == Unit.NUMBER else "the end of "
    return f"by {of}{_named(last, calendar.unit)}"


def during(calendar: Calendar, step: int) -> str:
    """The time of one step, as in "in 2020", "on 9 May 2021" or "from 3 to 9 May 2021"."""
    first, last = calendar.begin(step), _last_count(calendar, step)
    unit = calendar.unit
    if unit == Unit.TIME and (first % DAY or (last is not None and (last + 1) % DAY)):
        until = "" if last is None else f" until {written(last + 1, unit)}"
        return f"from {written(first, unit)}{until or ' on'}"
    if last is None:
        return f"from {_named(first, unit)} on"
    begins, ends = _named(first, unit), _named(last, unit)
    if begins != ends:
        return f"from {begins} to {ends}"
    alone = "on" if unit in (Unit.DAY, Unit.TIME) else "at" if unit == Unit.NUMBER else "in"
    return f"{alone} {begins}"


def step_name(calendar: Calendar) -> str:
    """What one step is called, such as "year"; "step" if it has no usual length."""
    return NAMES.get((calendar.unit, calendar.width or 0), "step")


def span(calendar: Calendar) -> int | None:
    """How many steps readers like to look back over; None if steps have no usual length."""
    return SPANS.get((calendar.unit, calendar.width or 0))


def _last_count(calendar: Calendar, step: int) -> int | None:
    """The last unit of a step; None if it never ends."""
    if calendar.width is None and step + 1 == len(calendar.starts):
        return None if calendar.end is None else calendar.end - 1
    return calendar.begin(step + 1) - 1


def _named(count: int, unit: Unit) -> str:
    """A year, month, day or number as people say it."""
    if unit == Unit.MONTH:
        return f"{MONTHS[count % 12]} {count // 12}"
    if unit in (Unit.DAY, Unit.TIME):
        day = np.datetime64(count // DAY if unit == Unit.TIME else count, "D").item()
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    return written(count, unit)
