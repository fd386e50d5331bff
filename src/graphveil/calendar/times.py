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
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING

from graphveil.calendar.one_time import first_day, plainly_read
from graphveil.calendar.time_columns import BEYOND_TEXT, texts_of
from graphveil.calendar.time_text import Integers, days_of, parse_dates
from graphveil.calendar.units import DAY, LAST_YEAR, Flaw, Unit
from graphveil.deferred import np

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

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
    import polars as pl

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
    import polars as pl

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
    import polars as pl

    values = times.cast(pl.Int64, strict=False)  # what does not fit becomes null
    if not values.null_count():
        return _as_numbers(values.to_numpy(), unit)
    reading = _as_numbers(values.fill_null(0).to_numpy(), unit)
    reading.flaws[values.is_null().to_numpy()] = Flaw.OUT_OF_RANGE
    return _marked(reading, times)


def _read_floats(times: pl.Series, unit: Unit) -> TimeReading:
    """Whole numbers that a missing neighbour turned into floats."""
    import polars as pl

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
    import polars as pl

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
