"""Quarters, weeks and days of eight digits are times like others, where they lie in one step."""

from __future__ import annotations

import polars as pl
import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.times import Flaw
from graphveil.errors import InputError

YEARS, QUARTERS = Calendar.yearly(2013), Calendar.every(3, "2013-01")
MONTHS, WEEKS = Calendar.monthly("2013-01"), Calendar.weekly("2013-12-30")


@pytest.mark.parametrize(
    ("calendar", "time", "step"),
    [
        (YEARS, "2014-Q2", 1), (YEARS, "2014Q4", 1), (QUARTERS, " 2014-q2 ", 5),
        (YEARS, "2014-W11", 1), (WEEKS, "2014-W01", 0), (WEEKS, "2014-W11", 10),
        (MONTHS, "2014-W11", 14), (YEARS, "20140314", 1), (MONTHS, 20140314, 14),
        (WEEKS, "20140110", 1), (Calendar.every(10, 0), "20140314", 2014031),
    ],
)  # fmt: skip
def test_a_period_within_one_step_has_that_step(
    calendar: Calendar, time: object, step: int
) -> None:
    if calendar.width == 10:  # where numbers are needed, eight digits are a number
        with pytest.raises(InputError, match="more than 1048576 steps"):
            calendar.step_of(time)
        return
    assert calendar.step_of(time) == step


@pytest.mark.parametrize(
    ("calendar", "time"),
    [(MONTHS, "2014-Q2"), (WEEKS, "2014-Q1"), (YEARS, "2014-W01"), (MONTHS, "2014-W05")],
)
def test_a_period_in_two_steps_is_too_coarse(calendar: Calendar, time: str) -> None:
    found = calendar.steps_of(pl.Series(["2014-05-06", time, None]))
    assert found.trouble is not None
    assert (found.trouble.flaw, found.trouble.rows.tolist()) == (Flaw.TOO_COARSE, [1])
    assert found.missing_count == 1


@pytest.mark.parametrize("time", ["2014-Q5", "2014-W54", "2014-W00", "Q2", "20141301", "20140230"])
def test_what_does_not_exist_cannot_be_read(time: str) -> None:
    with pytest.raises(InputError):
        MONTHS.step_of(time)


def test_looking_begins_with_the_first_day_of_a_period() -> None:
    assert Calendar.spanning(pl.Series(["2014-05", "2014-Q1"]), "month").label(0) == "2014-01"
