"""One time, as study files have it: whole numbers, `1996`, `1996-03` and `1996-03-17`.

What reads whole columns reads these as well, and everything else; this needs no table for it.
"""

from __future__ import annotations

import datetime as dt
import re

from graphveil.calendar.units import DAY, LAST_YEAR, SECOND, Flaw, Unit

_EPOCH = dt.date(1970, 1, 1).toordinal()
_DATE = re.compile("([0-9]{4})-([0-9]{2})(?:-([0-9]{2}))?")


def plainly_read(value: object, unit: Unit) -> tuple[int, Flaw] | None:
    """A time as a count of `unit`; None if it is written in another way."""
    if isinstance(value, str) and re.fullmatch("[0-9]{4}", value):
        value = int(value)
    if type(value) is int and 0 <= value <= LAST_YEAR:
        dated = unit not in (Unit.NUMBER, Unit.YEAR)
        return value, Flaw.TOO_COARSE if dated else Flaw.NONE
    date = _DATE.fullmatch(value) if isinstance(value, str) else None
    return None if date is None else _date_read(date[1], date[2], date[3], unit)


def _date_read(year: str, month: str, day: str | None, unit: Unit) -> tuple[int, Flaw] | None:
    try:
        date = dt.date(int(year), int(month), int(day or 1))
    except ValueError:
        return None
    if unit == Unit.NUMBER:
        return 0, Flaw.WRONG_KIND
    if (Unit.MONTH if day is None else Unit.DAY) < unit:
        return 0, Flaw.TOO_COARSE
    return _count(date, unit), Flaw.NONE


def _count(date: dt.date, unit: Unit) -> int:
    months = date.year * 12 + date.month - 1
    return {Unit.YEAR: date.year, Unit.MONTH: months}.get(unit, date.toordinal() - _EPOCH)


def count_of(moment: dt.datetime, unit: Unit) -> int:
    """Which year, month, day or microsecond a moment lies in, by UTC."""
    if unit == Unit.TIME:
        return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    return _count(moment.astimezone(dt.UTC).date(), unit)


def first_day(month: int) -> int:
    """The day on which a month since year 0 begins, since 1970."""
    return dt.date(month // 12, month % 12 + 1, 1).toordinal() - _EPOCH


def written(count: int, unit: Unit) -> str:
    """A count as text that reads back as the same count."""
    if unit == Unit.MONTH:
        return f"{count // 12:04d}-{count % 12 + 1:02d}"
    if unit == Unit.DAY:
        return dt.date.fromordinal(count + _EPOCH).isoformat()
    if unit == Unit.TIME:
        day, inside = divmod(count, DAY)
        clock = dt.datetime.min + dt.timedelta(microseconds=inside)
        precision = "seconds" if count % SECOND == 0 else "microseconds"
        return f"{written(day, Unit.DAY)}T{clock.time().isoformat(precision)}Z"
    return str(count)
