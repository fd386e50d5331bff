"""Text of dates and timestamps, taken apart by position, a whole column at a time.

A text is a month, a date or a timestamp as in ISO 8601: `1996-03`, `1996-03-17`,
`1996-03-17T09:30`, with a blank for the T, with seconds and their fractions or with hours
only, with Z or an offset. Timestamps with an offset are moved to UTC; those without are
taken as UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from graphveil.calendar.units import DAY, SECOND
from graphveil.deferred import np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Flags: TypeAlias = "NDArray[np.bool_]"

OFFSET = r"(?<sign>[+-])(?<hour>[0-9]{2})(?::?(?<minute>[0-9]{2})(?::(?<second>[0-9]{2}))?)?$"
CLOCK = r"[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?)?"
SHAPE = rf"^[0-9]{{4}}-[0-9]{{2}}(?:-[0-9]{{2}}(?:[Tt ]{CLOCK} ?(?:[Zz]|{OFFSET})?)?)?$"
LENGTH_OF_MONTH, LENGTH_OF_DATE = len("1996-03"), len("1996-03-17")


@dataclass(frozen=True, eq=False)
class Dates:
    """What a column of text says, row by row; meaningful where `valid`.

    Attributes:
        days: days since 1970.
        inside: microseconds since midnight.
        only_month: whether no day is given.
        has_clock: whether a time of day is given.
        valid: whether the text has the right shape and names a time that exists.
    """

    days: Integers
    inside: Integers
    only_month: Flags
    has_clock: Flags
    valid: Flags


def parse_dates(texts: pl.Series) -> Dates:
    """Take a column of text apart; rows that are not dates come back as not valid."""
    shaped = texts.str.contains(SHAPE).fill_null(False).to_numpy()
    length = texts.str.len_bytes().fill_null(0).to_numpy()
    only_month, has_clock = length <= LENGTH_OF_MONTH, length > LENGTH_OF_DATE
    year, month = _number(texts, 0, 4), _number(texts, 5, 2)
    days, exists = days_of(year, month, np.where(only_month, 1, _number(texts, 8, 2)))
    inside = np.zeros(len(texts), np.int64)
    if has_clock.any():
        inside, right = _clocks(texts)
        exists &= right | ~has_clock
    return Dates(days + inside // DAY, inside % DAY, only_month, has_clock, shaped & exists)


def _number(texts: pl.Series, start: int, length: int) -> Integers:
    return _whole(texts.str.slice(start, length))


def _whole(digits: pl.Series) -> Integers:
    import polars as pl

    return digits.cast(pl.Int64, strict=False).fill_null(0).to_numpy()


def days_of(year: Integers, month: Integers, day: Integers) -> tuple[Integers, Flags]:
    """Days since 1970, and whether there is such a day."""
    months = (year - 1970) * 12 + month - 1
    begins = months.view("M8[M]").astype("M8[D]").astype(np.int64)
    ends = (months + 1).view("M8[M]").astype("M8[D]").astype(np.int64)
    exists = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= ends - begins)
    return begins + day - 1, exists


def _clocks(texts: pl.Series) -> tuple[Integers, Flags]:
    """Microseconds since midnight UTC (outside the day where an offset leads there)."""
    rest = texts.str.slice(13)  # after the hours
    has_minutes = rest.str.starts_with(":").fill_null(False).to_numpy()
    has_seconds = (rest.str.slice(3, 1) == ":").fill_null(False).to_numpy() & has_minutes
    minutes = np.where(has_minutes, _number(rest, 1, 2), 0)
    seconds = np.where(has_seconds, _number(rest, 4, 2), 0)
    inside, right = _clock(_number(texts, 11, 2), minutes, seconds)
    if rest.str.contains("[.,]").any():
        digits = rest.str.extract("[.,]([0-9]{1,6})")
        inside += _whole(digits.str.pad_end(6, "0"))
    if rest.str.contains("[+-]").any():
        offset = rest.str.extract_groups(OFFSET).struct.unnest()
        ahead, possible = _clock(*(_whole(offset[name]) for name in ("hour", "minute", "second")))
        west = (offset["sign"] == "-").fill_null(False).to_numpy()
        inside += np.where(west, ahead, -ahead)
        right &= possible
    return inside, right


def _clock(hours: Integers, minutes: Integers, seconds: Integers) -> tuple[Integers, Flags]:
    """Microseconds, and whether a clock can show this."""
    shown = (hours < 24) & (minutes < 60) & (seconds < 60)
    return ((hours * 60 + minutes) * 60 + seconds) * SECOND, shown
