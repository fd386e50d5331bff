"""Steps in words, for every kind of calendar."""

from __future__ import annotations

import pytest

from graphveil.calendar import phrases
from graphveil.calendar.calendar import Calendar

CASES = [
    (Calendar.yearly(2018), 2, "by the end of 2020", "in 2020", "year", 5),
    (Calendar.monthly("2019-12"), 3, "by the end of March 2020", "in March 2020", "month", 12),
    (
        Calendar.every(3, "2020-01"),
        1,
        "by the end of June 2020",
        "from April 2020 to June 2020",
        "quarter",
        4,
    ),
    (
        Calendar.weekly("2021-05-03"),
        0,
        "by 9 May 2021",
        "from 3 May 2021 to 9 May 2021",
        "week",
        52,
    ),
    (Calendar.every(1, "2023-12-30"), 1, "by 31 December 2023", "on 31 December 2023", "day", 7),
    (Calendar.every(2, "2010"), 1, "by the end of 2013", "from 2012 to 2013", "step", None),
    (Calendar.every(1, 0), 4, "by 4", "at 4", "step", None),
    (Calendar.every(10, 0), 1, "by 19", "from 10 to 19", "step", None),
    (
        Calendar.cuts(["2020-01-01", "2020-03-15"]),
        0,
        "by 14 March 2020",
        "from 1 January 2020 to 14 March 2020",
        "step",
        None,
    ),
    (
        Calendar.cuts(["2020-01-01", "2020-03-15"]),
        1,
        "by the step from 2020-03-15 on",
        "from 15 March 2020 on",
        "step",
        None,
    ),
    (
        Calendar.cuts(["2020-01-01T00:00:00Z", "2020-01-01T09:30:00Z"], "2020-01-02T00:00:00Z"),
        0,
        "before 2020-01-01T09:30:00Z",
        "from 2020-01-01T00:00:00Z until 2020-01-01T09:30:00Z",
        "step",
        None,
    ),
]


@pytest.mark.parametrize(("calendar", "step", "by", "during", "name", "span"), CASES)
def test_a_step_in_words(
    calendar: Calendar, step: int, by: str, during: str, name: str, span: int | None
) -> None:
    assert phrases.by(calendar, step) == by
    assert phrases.during(calendar, step) == during
    assert phrases.step_name(calendar) == name
    assert phrases.span(calendar) == span
