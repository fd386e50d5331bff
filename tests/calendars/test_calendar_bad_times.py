"""Times that have no step: each is told with its row and reason, and nothing crashes."""

from __future__ import annotations

import datetime as dt
import decimal
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import BAD_STEP, NO_STEP, Calendar
from graphveil.calendar.times import BLOCK, MOST_STEPS, Flaw
from graphveil.errors import InputError, ParameterError
from tries import crossed

YEARLY = Calendar.yearly(1996)
MONTHLY = Calendar.monthly("1996-01")
WEEKLY = Calendar.weekly("1996-01-01")
NOON = Calendar.every(1, dt.datetime(1996, 1, 1, 12))
NUMBERS = Calendar.every(1, 0)
ALL = [YEARLY, MONTHLY, WEEKLY, NOON, NUMBERS]


def flaw_of(calendar: Calendar, time: object) -> Flaw | None:
    column = calendar.steps_of([time])
    if column.missing_count:
        return Flaw.MISSING
    return None if column.trouble is None else column.trouble.flaw


MISSING: list[object] = [
    None, "", "   ", "\t", math.nan, np.float32("nan"), np.datetime64("NaT", "D"), pd.NaT, pd.NA,
    decimal.Decimal("NaN"), decimal.Decimal("sNaN"),
]  # fmt: skip
UNREADABLE: list[object] = [
    "x", "0000-00-00", "0000-01-01", "1996-00-01", "1996-13-01", "1996-02-30", "1995-02-29",
    "1900-02-29", "1996-04-31", "1996-03-00", "99999-01-01", "1996-3-17", "96-03-17",
    "1996/03/17", "17.03.1996", "03-17-1996", "1996-03-17T", "1996-03-17T24:00", "1996-03-17T1",
    "1996-03-17T10:60", "1996-03-17T10:00:60", "1996-03-17T10:00:00.", "1996-03-17T10:00+24:00",
    "1996-03-17T10:00+01:60", "1996-03-17T10:00 UTC", "1996-03-17x", "1996-03-17 10:00:00ZZ",
    "-1996-03-17", "+1996-03-17", "1996-W1", "1996.5", "1e3", "0x10", "١٩٩٦", "1996-03-1７",
    "1 996", "NaN", "null", "inf", math.inf, -math.inf, 1996.5, True, False, np.True_, b"1996",
    object(), [1996], {"year": 1996}, 1996j, dt.time(10), dt.timedelta(1), "\ud800", "1996\x00",
    decimal.Decimal("1996.5"), decimal.Decimal("Infinity"), int, "1996-03-17\n1996-03-18",
]  # fmt: skip
BEYOND: list[object] = [
    2**63, -(2**63) - 1, 10**30, 10**5000, str(2**63), "9" * 5000, 1e300,
    decimal.Decimal("1E+99999"), decimal.Decimal("1E+9999999"), np.uint64(2**64 - 1),
]  # fmt: skip


@pytest.mark.parametrize("calendar", ALL)
def test_missing_times(calendar: Calendar) -> None:
    column = calendar.steps_of(MISSING)
    assert column.missing.all()
    assert column.missing_count == len(MISSING)
    assert column.trouble is None
    assert column.folded == 0


@crossed(4, calendar=ALL, time=UNREADABLE)
def test_unreadable_times(calendar: Calendar, time: object) -> None:
    assert flaw_of(calendar, time) == Flaw.UNREADABLE


@pytest.mark.parametrize("calendar", [YEARLY, NUMBERS])
@pytest.mark.parametrize("time", BEYOND, ids=lambda time: ascii(type(time)))
def test_numbers_beyond_64_bits(calendar: Calendar, time: object) -> None:
    assert flaw_of(calendar, time) == Flaw.OUT_OF_RANGE


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int128, pl.Float64])
def test_typed_numbers_beyond_64_bits(dtype: type[pl.DataType]) -> None:
    column = NUMBERS.steps_of(pl.Series([1, 2**63, None], dtype=dtype))
    assert column.steps.tolist() == [1, BAD_STEP, NO_STEP]
    assert column.trouble is not None
    assert column.trouble.flaw == Flaw.OUT_OF_RANGE


@pytest.mark.parametrize("year", [-1, 10_000, 99_999, 820_454_400, "99999", "-1", 10_000.0])
def test_numbers_that_are_no_years(year: object) -> None:
    assert flaw_of(YEARLY, year) == Flaw.OUT_OF_RANGE


def test_dates_beyond_the_years_of_python() -> None:
    days = pl.Series([0, 4_000_000, -1_000_000], dtype=pl.Int32).cast(pl.Date)
    for calendar in (YEARLY, MONTHLY, WEEKLY):
        assert calendar.steps_of(days).steps[1:].tolist() == [BAD_STEP, BAD_STEP]
    for unit in ("ms", "us"):
        extremes = pl.Series([-(2**63), 2**63 - 1]).cast(pl.Datetime(unit))
        for calendar in (YEARLY, NOON):
            assert calendar.steps_of(extremes).steps.tolist() == [BAD_STEP, BAD_STEP]
    assert flaw_of(YEARLY, np.datetime64(300_000, "Y")) == Flaw.OUT_OF_RANGE
    assert flaw_of(YEARLY, "9999-12-31T23:59:59-00:01") == Flaw.OUT_OF_RANGE
    assert flaw_of(YEARLY, "0001-01-01T00:00:00+00:01") == Flaw.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("calendar", "coarse", "fine"),
    [
        (MONTHLY, "1996", "1996-01"),
        (WEEKLY, "1996", "1996-01-01"),
        (WEEKLY, "1996-01", "1996-01-01"),
        (NOON, "1996-01-01", "1996-01-01T12:00"),
        (MONTHLY, 1996, dt.date(1996, 1, 1)),
        (WEEKLY, 1996.0, dt.datetime(1996, 1, 1)),
        (NOON, dt.date(1996, 1, 1), dt.datetime(1996, 1, 1, 13)),
        (MONTHLY, np.datetime64("1996"), np.datetime64("1996-01")),
        (WEEKLY, np.datetime64("1996-01"), np.datetime64("1996-01-01")),
    ],
)
def test_precision(calendar: Calendar, coarse: object, fine: object) -> None:
    assert flaw_of(calendar, coarse) == Flaw.TOO_COARSE
    assert flaw_of(calendar, fine) is None
    with pytest.raises(InputError, match="too coarse: the calendar needs at least the"):
        calendar.step_of(coarse)


def test_a_typed_column_that_is_too_coarse() -> None:
    column = MONTHLY.steps_of(pl.Series([None, 1996, 1997]))
    assert column.trouble is not None
    assert (column.trouble.rows.tolist(), column.trouble.flaw) == ([1, 2], Flaw.TOO_COARSE)
    assert "1996-03" in column.trouble.hint
    assert flaw_of(NOON, dt.date(1996, 1, 1)) == Flaw.TOO_COARSE


def test_dates_and_numbers_are_not_confused() -> None:
    assert flaw_of(NUMBERS, "1996-03-17") == Flaw.WRONG_KIND
    assert flaw_of(NUMBERS, dt.date(1996, 3, 17)) == Flaw.WRONG_KIND
    assert flaw_of(WEEKLY, 820_454_400) == Flaw.WRONG_KIND
    assert flaw_of(MONTHLY, "19961317") == Flaw.WRONG_KIND


@pytest.mark.parametrize(
    ("calendar", "inside", "after"),
    [
        (Calendar.yearly(1996, 2020), "2020-12-31T23:59:59.999999", "2021-01-01T00:00:00"),
        (Calendar.yearly(1996, 2020), 2020, 2021),
        (Calendar.monthly("1996-01", "1996-02"), dt.date(1996, 2, 29), dt.date(1996, 3, 1)),
        (Calendar.weekly("1996-01-01", "1996-01-08"), "1996-01-14", "1996-01-15"),
        (Calendar.every(10, 0, last=10), 19, 20),
        (Calendar.cuts([1, 5], end=9), 8, 9),
        (Calendar.cuts([1, 5], end=9), 8, 2**63 - 1),
        (Calendar.cuts(["1996-01-01"], end="1997"), "1996-12-31", "1997-01-01"),
    ],
)
def test_times_after_the_end(calendar: Calendar, inside: object, after: object) -> None:
    assert calendar.step_of(inside) == calendar.last_step
    assert flaw_of(calendar, after) == Flaw.AFTER_END
    with pytest.raises(InputError, match="after the end of the calendar"):
        calendar.step_of(after)


def test_one_row_in_the_far_future_does_not_make_a_billion_steps() -> None:
    assert NUMBERS.step_of(MOST_STEPS - 1) == MOST_STEPS - 1
    assert flaw_of(NUMBERS, MOST_STEPS) == Flaw.TOO_FAR
    assert flaw_of(Calendar.every(1, -(2**63)), 2**63 - 1) == Flaw.TOO_FAR


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([True, None]),
        pl.Series([dt.time(1), None]),
        pl.Series([dt.timedelta(1), None]),
        pl.Series([b"1996", None]),
        pl.Series([[1996], None]),
        pl.Series([{"a": 1}, None]),
    ],
    ids=lambda column: str(column.dtype),
)
def test_columns_of_types_that_hold_no_times(column: pl.Series) -> None:
    for calendar in ALL:
        result = calendar.steps_of(column)
        assert result.steps.tolist() == [BAD_STEP, NO_STEP]
        assert result.trouble is not None
        assert result.trouble.rows.tolist() == [0]


def test_empty_and_null_columns() -> None:
    for calendar in ALL:
        for dtype in (pl.Null, pl.String, pl.Int64, pl.Date, pl.Datetime, pl.Object, pl.Float64):
            assert calendar.steps_of(pl.Series([], dtype=dtype)).steps.tolist() == []
            nothing = calendar.steps_of(pl.Series([None, None], dtype=dtype))
            assert nothing.steps.tolist() == [NO_STEP, NO_STEP]
            assert (nothing.missing_count, nothing.trouble) == (2, None)


def test_the_rows_of_the_first_trouble_are_told_across_blocks() -> None:
    rows = 2 * BLOCK + 10
    years = np.full(rows, 1997)
    bad = [BLOCK + 3, BLOCK + 5, rows - 1]
    years[bad] = -1
    for column in (pl.Series(years), pl.Series(years).cast(pl.String), years.astype(float)):
        result = YEARLY.steps_of(column)
        assert result.trouble is not None
        assert result.trouble.rows.tolist() == bad
        assert int((result.steps == BAD_STEP).sum()) == 3
        assert int((result.steps == 1).sum()) == rows - 3


def test_flawed_rows_are_not_counted_as_folded() -> None:
    result = YEARLY.steps_of(["1900", "rubbish", None, "-5", "1996"])
    assert result.folded == 1
    assert result.missing_count == 1
    assert result.steps.tolist() == [0, BAD_STEP, NO_STEP, BAD_STEP, 0]


@pytest.mark.parametrize("times", ["1996", b"1996", 5, None, np.array([[1996]])])
def test_what_is_no_column_is_refused(times: object) -> None:
    with pytest.raises(ParameterError, match="times"):
        YEARLY.steps_of(times)  # type: ignore[arg-type]


@given(
    times=st.lists(
        st.one_of(
            st.text(st.characters(), max_size=12),
            st.text("0123456789-+:TZ ., ", max_size=30),
            st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?Z?)?"),
            st.integers(),
            st.floats(),
            st.decimals(),
            st.datetimes(timezones=st.none() | st.timezones()),
            st.dates(),
            st.none() | st.booleans() | st.binary() | st.complex_numbers(),
        )
    )
)
def test_nothing_crashes_and_each_row_stands_alone(times: list[object]) -> None:
    for calendar in (YEARLY, NOON, NUMBERS):
        together = calendar.steps_of(times).steps.tolist()
        assert together == [calendar.steps_of([time]).steps[0] for time in times]


@given(text=st.from_regex(r"\A[0-9]{4}-[01][0-9]-[0-3][0-9]( [0-2][0-9]:[0-6][0-9])?\Z"))
def test_what_python_refuses_is_refused(text: str) -> None:
    try:
        expected = dt.datetime.fromisoformat(text).year
    except ValueError:
        assert flaw_of(Calendar.yearly(0), text) == Flaw.UNREADABLE
    else:
        assert Calendar.yearly(0).step_of(text) == expected


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1997, 1996, None]),
        pd.Series([1997, 1996, None], dtype="Int64"),
        pd.Series(["1997", "1996", None], dtype="string"),
        pd.Series(["1997-01-01", "1996-01-01", None], dtype=object),
        pd.to_datetime(pd.Series(["1997-01-01", "1996-01-01", None])),
        pd.to_datetime(pd.Series(["1997-01-01", "1996-01-01", None]), utc=True),
        pd.Series(["1997", "1996", None], dtype="category"),
        pd.DatetimeIndex(["1997-01-01", "1996-01-01", None]),
        np.ma.masked_array([1997, 1996, 0], [False, False, True]),
        np.array(["1997", "1996", "NaT"], "M8[Y]"),
        np.array(["1997", "1996", ""]),
        np.array([1997, dt.date(1996, 1, 1), None], object),
    ],
)
def test_columns_of_pandas_and_numpy(column: object) -> None:
    result = YEARLY.steps_of(column)  # type: ignore[arg-type]
    assert result.steps.tolist() == [1, 0, NO_STEP]


def test_messages_never_repeat_the_time() -> None:
    for calendar in ALL:
        for time in ("77777", "7777", "7777-12", "7777-12-13", "7777-77-77"):
            trouble = calendar.steps_of([time]).trouble
            assert trouble is None or "777" not in trouble.what + trouble.hint
