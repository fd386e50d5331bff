"""One time that is read by itself is what the reader of columns makes of it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.columns import texts_of
from graphveil.calendar.times import Flaw, Unit, count_of, first_day, plainly_read, read, written

digits = st.integers(0, 9999).map("{:04d}".format)
days = st.integers(0, 32).map("{:02d}".format)
values = st.one_of(
    st.integers(-3, 20_000),
    digits,
    st.tuples(digits, days).map("-".join),
    st.tuples(digits, days, days).map("-".join),
    st.text("0123456789-T: Z", max_size=11),
)


@given(values, st.sampled_from(Unit))
def test_it_is_read_as_in_a_column(value: object, unit: Unit) -> None:
    plain = plainly_read(value, unit)
    if plain is None:
        return
    column = read(texts_of([value]), unit)
    assert plain[1] == column.flaws[0]
    assert plain[1] != Flaw.NONE or plain[0] == column.counts[0]


@pytest.mark.parametrize("value", [12, "1996", "1996-03", "1996-03-17"])
def test_what_study_files_hold_needs_no_column(value: object) -> None:
    assert plainly_read(value, Unit.YEAR) is not None


@given(st.dates(), st.sampled_from([Unit.YEAR, Unit.MONTH, Unit.DAY]))
def test_what_is_written_reads_back(date: dt.date, unit: Unit) -> None:
    moment = dt.datetime.combine(date, dt.time(13), dt.UTC)
    count = count_of(moment, unit)
    shown = count if unit == Unit.YEAR else written(count, unit)
    assert plainly_read(shown, unit) == (count, Flaw.NONE)


@given(st.integers(12, 9999 * 12 + 11))
def test_months_begin_where_numpy_says(month: int) -> None:
    begins = np.datetime64(month - 1970 * 12, "M").astype("M8[D]").astype(np.int64)
    assert first_day(month) == begins


@given(
    st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC)),
    st.sampled_from(
        [(1, "2001", "2009"), (3, "2001-01", "2009-12"), (7, "2001-01-01", "2009-12-28")]
    ),
)
def test_steps_that_have_ended_are_those_before_the_step_of_now(
    moment: dt.datetime, rhythm: tuple[int, str, str]
) -> None:
    every, first, last = rhythm
    calendar = Calendar.every(every, first=first, last=last)
    placed = calendar.steps_of([moment])
    ended = calendar.steps_before(moment)
    if placed.trouble is None:
        assert ended == placed.steps[0]
    else:
        assert ended == (calendar.last_step or 0) + 1
