"""Reading times: a column of any type becomes whole counts of one unit, or flaws.

Years are counted from year 0, months too, days and microseconds from 1970 in UTC, plain
numbers from 0. A timestamp with an offset is moved to UTC; one without is taken as UTC. Every
value has a precision, and one that is coarser than the unit asked for is a flaw, as is every
value that cannot be read. Flaws are returned beside the counts, never raised: the reader of a
file knows the row and the column, this module does not.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

from graphveil.calendar.columns import BEYOND_TEXT, texts_of
from graphveil.deferred import np, pl

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Units of time, from years to microseconds, and what can be wrong with a time.


SECOND = 1_000_000  # microseconds
DAY = 86_400 * SECOND
LAST_YEAR = 9999
MOST_STEPS = 2**20  # tables per step stay small even if one row lies far in the future


class Unit(IntEnum):
    """What is counted; from YEAR to TIME also the precisions, coarse to fine."""

    NUMBER = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    TIME = 4


class Flaw(IntEnum):
    """Why a row has no step; NONE if it has one."""

    NONE = 0
    MISSING = 1
    UNREADABLE = 2
    WRONG_KIND = 3
    TOO_COARSE = 4
    OUT_OF_RANGE = 5
    AFTER_END = 6
    TOO_FAR = 7


# One time, as study files have it: whole numbers, `1996`, `1996-03` and `1996-03-17`.
#
# What reads whole columns reads these as well, and everything else; this needs no table for it.


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


# Text of dates and timestamps, taken apart by position, a whole column at a time.
#
# A text is a month, a date or a timestamp as in ISO 8601: `1996-03`, `1996-03-17`,
# `1996-03-17T09:30`, with a blank for the T, with seconds and their fractions or with hours
# only, with Z or an offset. Timestamps with an offset are moved to UTC; those without are taken
# as UTC.


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


BLOCK = 2**18  # rows read at once: temporaries stay in the cache, memory stays flat
FIRST_COMPACT, LAST_COMPACT = 1000_01_01, 9999_12_31  # years of four digits
FIRST_DAY = (dt.date.min - dt.date(1970, 1, 1)).days
LAST_DAY = (dt.date.max - dt.date(1970, 1, 1)).days
TICKS_A_DAY = {"ms": 86_400_000, "us": DAY, "ns": DAY * 1000}

# A whole number, also as spreadsheets write it once a cell is missing: 1996.0
NUMBER_TEXT = r"^([+-]?[0-9]+)(?:\.0*)?$"


@dataclass(frozen=True, eq=False)
class TimeReading:
    """What a column says: a count per row, meaningful where the row has no flaw."""

    counts: Integers
    flaws: NDArray[np.uint8]

    def taken(self, rows: Integers) -> TimeReading:
        """The reading of the given rows, in their order."""
        return TimeReading(self.counts[rows], self.flaws[rows])


def read_blocks(times: pl.Series, unit: Unit) -> Iterator[tuple[int, TimeReading]]:
    """Read a long column piece by piece; yields the first row of each piece with it."""
    for start in range(0, len(times), BLOCK):
        yield start, read(times.slice(start, BLOCK), unit)


def read(times: pl.Series, unit: Unit) -> TimeReading:
    """Read a column of any type as counts of `unit`."""
    kind = times.dtype
    if kind == pl.Object:
        times = texts_of(times.to_list())
    if kind == pl.Object or kind == pl.String:
        return _read_text(times, unit)
    if isinstance(kind, pl.Decimal | pl.Categorical | pl.Enum):
        return _read_text(times.cast(pl.String), unit)
    if kind.is_integer():
        return _read_integers(times, unit)
    if kind.is_float():
        return _read_floats(times, unit)
    if isinstance(kind, pl.Date | pl.Datetime):
        return _read_dates(times, unit)
    return _marked(_flawed(len(times), Flaw.UNREADABLE), times)


def values_of(column: pl.Series) -> list[object]:
    """The values of a column as Python has them; dates that it cannot have are said to be beyond.

    Parquet and Arrow have dates up to the year 5,879,610, at which polars and Python give up.
    """
    kind = column.dtype
    if isinstance(kind, pl.Datetime):
        days, zone = column.to_physical() // TICKS_A_DAY[kind.time_unit], kind.time_zone
    elif isinstance(kind, pl.Date):
        days, zone = column.to_physical(), None
    else:
        return column.to_list()
    near = 0 if zone is None else 1  # a zone may lead over midnight
    known = days.is_between(FIRST_DAY + near, LAST_DAY - near).fill_null(True)
    values = pl.select(pl.when(known).then(column)).to_series().to_list()
    return [value if sure else BEYOND_TEXT for value, sure in zip(values, known, strict=True)]


def read_one(value: object, unit: Unit) -> tuple[int, Flaw]:
    """Read a single time as a count of `unit`."""
    plain = plainly_read(value, unit)
    if plain is not None:
        return plain
    reading = read(texts_of([value]), unit)
    return int(reading.counts[0]), Flaw(int(reading.flaws[0]))


def read_as_written(value: object) -> tuple[Unit, int, Flaw]:
    """Read a single time as precisely as it is written.

    A whole number is a plain number; text of digits is a year.
    """
    if isinstance(value, Integral):
        return Unit.NUMBER, *read_one(value, Unit.NUMBER)
    for unit in (Unit.TIME, Unit.DAY, Unit.MONTH):
        count, flaw = read_one(value, unit)
        if flaw != Flaw.TOO_COARSE:
            return unit, count, flaw
    return Unit.YEAR, *read_one(value, Unit.YEAR)


def refined(count: int, unit: Unit, finer: Unit) -> int:
    """Where the year, month or day `count` begins, as a count of a finer unit."""
    if unit == finer:
        return count
    if unit == Unit.YEAR:
        return refined(count * 12, Unit.MONTH, finer)
    if unit == Unit.MONTH:
        return refined(first_day(count), Unit.DAY, finer)
    return count * DAY


def _flawed(rows: int, flaw: Flaw) -> TimeReading:
    return TimeReading(np.zeros(rows, np.int64), np.full(rows, flaw, np.uint8))


def _marked(reading: TimeReading, times: pl.Series) -> TimeReading:
    """The reading, with every null row marked as missing."""
    if times.null_count():
        reading.flaws[times.is_null().to_numpy()] = Flaw.MISSING
    return reading


def _read_integers(times: pl.Series, unit: Unit) -> TimeReading:
    """Whole numbers, also as text of digits."""
    values = times.cast(pl.Int64, strict=False)  # what does not fit becomes null
    if not values.null_count():
        return _as_numbers(values.to_numpy(), unit)
    reading = _as_numbers(values.fill_null(0).to_numpy(), unit)
    reading.flaws[values.is_null().to_numpy()] = Flaw.OUT_OF_RANGE
    return _marked(reading, times)


def _read_floats(times: pl.Series, unit: Unit) -> TimeReading:
    """Whole numbers that a missing neighbour turned into floats."""
    values = times.cast(pl.Float64).fill_null(math.nan).to_numpy()
    fits = np.abs(values) < 2.0**63
    whole = np.where(fits, values, 0.0)
    reading = _as_numbers(whole.astype(np.int64), unit)
    reading.flaws[~fits] = Flaw.OUT_OF_RANGE
    reading.flaws[np.isinf(values) | (whole != np.floor(whole))] = Flaw.UNREADABLE
    reading.flaws[np.isnan(values)] = Flaw.MISSING
    return reading


def _as_numbers(values: Integers, unit: Unit) -> TimeReading:
    """Plain numbers; a yearly calendar reads them as years, a finer one cannot.

    Where dates are needed, 20140314 is March 14th, 2014: it can be nothing else.
    """
    if unit == Unit.NUMBER:
        return TimeReading(values, np.zeros(len(values), np.uint8))
    no_year = values.view(np.uint64) > LAST_YEAR  # negative numbers wrap far beyond it
    if unit == Unit.YEAR:
        years = TimeReading(values, no_year.view(np.uint8) * np.uint8(Flaw.OUT_OF_RANGE))
    else:
        flaws = np.where(no_year, Flaw.WRONG_KIND, Flaw.TOO_COARSE).astype(np.uint8)
        years = TimeReading(values, flaws)
    return _with_compact_dates(years, values, unit) if no_year.any() else years


def _with_compact_dates(reading: TimeReading, values: Integers, unit: Unit) -> TimeReading:
    """The reading of numbers, with days where eight digits are one."""
    days, exists = days_of(values // 10_000, values // 100 % 100, values % 100)
    compact = np.flatnonzero((values >= FIRST_COMPACT) & (values <= LAST_COMPACT) & exists)
    if not len(compact):
        return reading
    dates = _as_dates(days[compact], 0, np.uint8(Unit.DAY), unit)
    counts, flaws = reading.counts.copy(), reading.flaws
    counts[compact], flaws[compact] = dates.counts, dates.flaws
    return TimeReading(counts, flaws)


def _read_dates(times: pl.Series, unit: Unit) -> TimeReading:
    ticks = times.to_physical().fill_null(0).to_numpy().astype(np.int64)
    if isinstance(times.dtype, pl.Datetime):
        a_day = TICKS_A_DAY[times.dtype.time_unit]
        days = ticks // a_day
        inside = (ticks - days * a_day) * 1000 // (a_day // 86_400_000) if unit == Unit.TIME else 0
        precision = np.uint8(Unit.TIME)
    else:
        days, inside, precision = ticks, 0, np.uint8(Unit.DAY)
    return _marked(_as_dates(days, inside, precision, unit), times)


def _as_dates(
    days: Integers, inside: Integers | int, precision: NDArray[np.uint8] | np.uint8, unit: Unit
) -> TimeReading:
    """Days since 1970 and microseconds inside the day, as counts of `unit`."""
    flaws = np.zeros(len(days), np.uint8)
    if unit == Unit.NUMBER:
        flaws[:] = Flaw.WRONG_KIND
        return TimeReading(days, flaws)
    flaws[precision < unit] = Flaw.TOO_COARSE
    outside = (days < FIRST_DAY) | (days > LAST_DAY)
    if outside.any():
        flaws[outside] = Flaw.OUT_OF_RANGE
        days = np.where(outside, 0, days)
    if unit == Unit.DAY:
        return TimeReading(days, flaws)
    if unit == Unit.TIME:
        return TimeReading(days * DAY + inside, flaws)
    return TimeReading(_months_of(days) if unit == Unit.MONTH else _months_of(days) // 12, flaws)


def _months_of(days: Integers) -> Integers:
    """Months since year 0; looked up where there are more rows than days between them."""
    first, last = (int(days.min()), int(days.max())) if len(days) else (0, 0)
    if last - first < len(days):
        return _months_of_few(np.arange(first, last + 1))[days - first]
    return _months_of_few(days)


def _months_of_few(days: Integers) -> Integers:
    return days.view("M8[D]").astype("M8[M]").astype(np.int64) + 1970 * 12


def _read_text(times: pl.Series, unit: Unit) -> TimeReading:
    """Times repeat a lot, so each distinct text is read once."""
    different = times.unique()
    if len(different) > len(times) // 2:
        return _read_different(times, unit)
    rows = times.replace_strict(different, np.arange(len(different)))
    return _read_different(different, unit).taken(rows.to_numpy())


def _read_different(texts: pl.Series, unit: Unit) -> TimeReading:
    """Read text that means a number as that number, and other text as a date."""
    texts = texts.str.strip_chars().replace("", None)
    reading = _read_date_text(texts, unit)
    digits = texts.str.extract(NUMBER_TEXT)
    numeric = digits.is_not_null()
    if numeric.any():
        numbers = _read_integers(digits.filter(numeric), unit)
        reading.counts[numeric.to_numpy()] = numbers.counts
        reading.flaws[numeric.to_numpy()] = numbers.flaws
    return _marked(reading, texts)


def _read_date_text(texts: pl.Series, unit: Unit) -> TimeReading:
    dates = parse_dates(texts)
    precision = np.full(len(texts), Unit.DAY, np.uint8)
    precision[dates.only_month] = Unit.MONTH
    precision[dates.has_clock] = Unit.TIME
    reading = _as_dates(dates.days, dates.inside, precision, unit)
    reading.flaws[~dates.valid] = Flaw.UNREADABLE
    return reading


# Flaws in words: what is wrong with a time, and how to write it instead.


UNIT_NAMES = {Unit.NUMBER: "number", Unit.YEAR: "year", Unit.MONTH: "month"}
UNIT_NAMES |= {Unit.DAY: "day", Unit.TIME: "day"}
EXAMPLES = {Unit.YEAR: "1996", Unit.MONTH: "1996-03", Unit.DAY: "1996-03-17"}
EXAMPLES |= {Unit.TIME: "1996-03-17T09:30:00Z", Unit.NUMBER: "12"}


def explanation(flaw: Flaw, unit: Unit) -> tuple[str, str]:
    """What a flaw means for a time that needs this precision, and how to fix it."""
    write = f"Write it as {EXAMPLES[unit]}"
    precision = "time of day" if unit == Unit.TIME else UNIT_NAMES[unit]
    dated = unit != Unit.NUMBER
    needs = f"the calendar needs {'dates' if dated else 'plain numbers'}"
    span = f"the years 1 to {LAST_YEAR}" if dated else "64 bits"
    return {
        Flaw.NONE: ("nothing is wrong", ""),
        Flaw.MISSING: ("the time is missing", f"{write}."),
        Flaw.UNREADABLE: ("the time cannot be read", f"{write}."),
        Flaw.WRONG_KIND: (
            f"the time is a {'plain number' if dated else 'date'}, but {needs}",
            f"{write}, or choose another calendar.",
        ),
        Flaw.TOO_COARSE: (
            f"the time is too coarse: the calendar needs at least the {precision}",
            f"{write}, or choose longer steps.",
        ),
        Flaw.OUT_OF_RANGE: (f"the time lies outside {span}", f"{write}."),
        Flaw.TOO_FAR: (
            f"the time lies more than {MOST_STEPS} steps after the first cut",
            "Correct it, or choose longer steps.",
        ),
    }[flaw]


# Quarters and weeks as text, `2014-Q2` and `2014-W11`, as the days from which to which they
# last.
#
# Weeks are those of ISO 8601: they begin on Mondays, and week 1 is the one with January 4th.


_QUARTER = re.compile(r"([0-9]{4})-?Q([1-4])", re.IGNORECASE)
_WEEK = re.compile(r"([0-9]{4})-?W([0-9]{2})", re.IGNORECASE)
_PERIOD = r"^\s*[0-9]{4}-?[QqWw][0-9]{1,2}\s*$"


def with_days(times: pl.Series) -> tuple[pl.Series, pl.Series, NDArray[np.bool_]] | None:
    """The column with first days, and with last days, for periods, and where these are.

    None if there is no period. What looks like one and does not exist stays as it is.
    """
    if times.dtype != pl.String:
        return None
    periods = times.str.contains(_PERIOD).fill_null(False)
    if not periods.any():
        return None
    known = {text: days for text in times.filter(periods).unique() if (days := _days(text.strip()))}
    if not known:
        return None
    first = times.replace({text: days[0] for text, days in known.items()})
    last = times.replace({text: days[1] for text, days in known.items()})
    return first, last, times.is_in(list(known)).fill_null(False).to_numpy()


def _days(text: str) -> tuple[str, str] | None:
    """The first and the last day of a period, if it exists."""
    try:
        if match := _QUARTER.fullmatch(text):
            year, quarter = int(match[1]), int(match[2])
            ends = dt.date(year + quarter // 4, quarter % 4 * 3 + 1, 1) - dt.timedelta(days=1)
            return dt.date(year, quarter * 3 - 2, 1).isoformat(), ends.isoformat()
        if match := _WEEK.fullmatch(text):
            year, week = int(match[1]), int(match[2])
            first, last = (dt.date.fromisocalendar(year, week, day) for day in (1, 7))
            return first.isoformat(), last.isoformat()
    except (ValueError, OverflowError):
        return None
    return None
