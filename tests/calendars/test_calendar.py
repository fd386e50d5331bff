"""The calendar against Python's own dates, in every form in which a time can be written."""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.errors import ParameterError

Instant = dt.datetime
INSTANTS = st.datetimes(min_value=dt.datetime(1, 1, 2), max_value=dt.datetime(9999, 12, 30))
NEAR = st.datetimes(min_value=dt.datetime(1960, 1, 1), max_value=dt.datetime(2060, 1, 1))
DATES = st.dates(min_value=dt.date(1900, 1, 1), max_value=dt.date(2100, 1, 1))
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))
FIRST = dt.datetime(1996, 1, 1)

# Each calendar with the step of an instant as Python's datetime gives it.
ORACLES: dict[str, tuple[Calendar, Callable[[Instant], int]]] = {
    "yearly": (Calendar.yearly(1996), lambda t: t.year - 1996),
    "monthly": (Calendar.monthly("1996-01"), lambda t: (t.year - 1996) * 12 + t.month - 1),
    "quarterly": (
        Calendar.quarterly("1996-01"),
        lambda t: (t.year - 1996) * 4 + (t.month - 1) // 3,
    ),
    "weekly": (Calendar.weekly("1996-01-01"), lambda t: (t - FIRST).days // 7),
    "10 days": (Calendar.every(10, FIRST), lambda t: (t - FIRST).days // 10),
    "5 years": (Calendar.every(5, "1996"), lambda t: (t.year - 1996) // 5),
    "noon": (
        Calendar.every(7, dt.datetime(1996, 1, 1, 12)),
        lambda t: (t - dt.datetime(1996, 1, 1, 12)).days // 7,
    ),
    "cuts": (
        Calendar.cuts(["1996-01-01", "2001-02-03", "2040-05-06T07:08:09.000001"]),
        lambda t: (t >= dt.datetime(2001, 2, 3)) + (t >= dt.datetime(2040, 5, 6, 7, 8, 9, 1)),
    ),
}
CALENDARS = [calendar for calendar, _ in ORACLES.values()]


def steps(calendar: Calendar, times: object) -> list[int]:
    column = calendar.steps_of(times)  # type: ignore[arg-type]
    assert column.trouble is None
    return [int(step) for step in column.steps]


@pytest.mark.parametrize("name", ORACLES)
@given(instants=st.lists(INSTANTS | NEAR, min_size=1, max_size=20))
def test_every_way_to_write_an_instant_gives_the_step_of_the_oracle(
    name: str, instants: list[Instant]
) -> None:
    calendar, oracle = ORACLES[name]
    expected = [max(0, oracle(instant)) for instant in instants]
    micros = np.array(instants, "M8[us]")
    assert steps(calendar, instants) == expected
    assert steps(calendar, [f" {instant} " for instant in instants]) == expected
    assert steps(calendar, pl.Series([f"{instant.isoformat()}Z" for instant in instants])) == (
        expected
    )
    assert steps(calendar, pl.Series(instants, dtype=pl.Datetime("us"))) == expected
    assert steps(calendar, micros) == expected
    assert steps(calendar, pl.Series(instants, dtype=pl.Object)) == expected
    assert [calendar.step_of(instant) for instant in instants[:2]] == expected[:2]


@given(instants=st.lists(NEAR, min_size=1, max_size=20))
def test_other_time_units_agree(instants: list[Instant]) -> None:
    calendar, _ = ORACLES["monthly"]
    micros = np.array(instants, "M8[us]")
    expected = steps(calendar, micros)
    assert steps(calendar, micros.astype("M8[ns]")) == expected
    for unit in ("ms", "s", "m", "h", "D", "M"):
        assert steps(calendar, micros.astype(f"M8[{unit}]")) == expected
    assert steps(calendar, pl.Series(micros).cast(pl.Datetime("ms"))) == expected
    aware = pl.Series(micros).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    assert steps(calendar, aware) == expected


@given(instants=st.lists(NEAR, min_size=1, max_size=10), zone=OFFSETS)
def test_offsets_are_moved_to_utc(instants: list[Instant], zone: dt.timezone) -> None:
    calendar, oracle = ORACLES["noon"]
    aware = [instant.replace(tzinfo=zone) for instant in instants]
    utc = [instant.astimezone(dt.UTC).replace(tzinfo=None) for instant in aware]
    expected = [max(0, oracle(instant)) for instant in utc]
    assert steps(calendar, aware) == expected
    assert steps(calendar, [instant.isoformat(" ") for instant in aware]) == expected
    for form in ("hours", "minutes", "milliseconds"):
        texts = [instant.isoformat(timespec=form) for instant in aware]
        cut = [dt.datetime.fromisoformat(text).astimezone(dt.UTC) for text in texts]
        assert steps(calendar, texts) == [max(0, oracle(t.replace(tzinfo=None))) for t in cut]
    assert steps(calendar, [instant.strftime("%Y-%m-%dT%H:%M:%S%z") for instant in aware]) == (
        [max(0, oracle(instant.replace(microsecond=0))) for instant in utc]
    )


@given(dates=st.lists(DATES, min_size=1, max_size=30))
def test_dates_agree_whatever_carries_them(dates: list[dt.date]) -> None:
    for name in ("yearly", "quarterly", "monthly", "weekly", "10 days", "5 years"):
        calendar, oracle = ORACLES[name]
        expected = [max(0, oracle(dt.datetime.combine(day, dt.time()))) for day in dates]
        assert steps(calendar, dates) == expected
        assert steps(calendar, pl.Series(dates)) == expected
        assert steps(calendar, pl.Series([str(day) for day in dates])) == expected
        text = pl.Series([str(day) for day in dates], dtype=pl.Categorical)
        assert steps(calendar, text) == expected


@given(years=st.lists(st.integers(0, 9999), min_size=1), first=st.integers(0, 9999))
def test_years_agree_whatever_carries_them(years: list[int], first: int) -> None:
    calendar = Calendar.yearly(first)
    expected = [max(0, year - first) for year in years]
    assert steps(calendar, years) == expected
    assert steps(calendar, [str(year) for year in years]) == expected
    assert steps(calendar, [f"{year}.0" for year in years]) == expected
    for kind in (np.int16, np.uint16, np.int32, np.int64, np.uint64, np.float32, np.float64):
        assert steps(calendar, np.array(years, kind)) == expected
    assert steps(calendar, np.array(years, ">i4")) == expected
    for dtype in (pl.Int16, pl.Int128, pl.UInt64, pl.Float64, pl.Decimal(10, 2), pl.Object):
        assert steps(calendar, pl.Series(years, dtype=dtype)) == expected


INT64 = st.integers(-(2**63), 2**63 - 1)


@given(numbers=st.lists(INT64, min_size=1), first=INT64, n=st.integers(2**44, 2**62))
def test_distances_of_large_numbers_do_not_wrap(numbers: list[int], first: int, n: int) -> None:
    expected = [max(0, (number - first) // n) for number in numbers]
    assert steps(Calendar.every(n, first), numbers) == expected
    assert steps(Calendar.every(n, first), np.array(numbers, np.int64)) == expected


@given(numbers=st.lists(INT64, min_size=1), cuts=st.sets(INT64, min_size=1))
def test_cuts_of_numbers(numbers: list[int], cuts: set[int]) -> None:
    ordered = sorted(cuts)
    expected = [max(0, sum(cut <= number for cut in ordered) - 1) for number in numbers]
    assert steps(Calendar.cuts(ordered), numbers) == expected


@pytest.mark.parametrize("calendar", CALENDARS, ids=list(ORACLES))
@given(instants=st.lists(INSTANTS | NEAR, min_size=2, max_size=30))
def test_a_later_time_never_has_an_earlier_step(
    calendar: Calendar, instants: list[Instant]
) -> None:
    ordered = steps(calendar, sorted(instants))
    assert ordered == sorted(ordered)


@given(instants=st.lists(NEAR, min_size=1, max_size=30))
def test_the_fold_is_counted(instants: list[Instant]) -> None:
    column = Calendar.monthly("1996-01").steps_of(instants)
    assert column.folded == sum(instant.year < 1996 for instant in instants)


@pytest.mark.parametrize("calendar", CALENDARS, ids=list(ORACLES))
def test_a_label_is_a_time_of_its_step(calendar: Calendar) -> None:
    names = calendar.labels(min(40, (calendar.last_step or 39) + 1))
    assert steps(calendar, names) == list(range(len(names)))


def test_labels() -> None:
    assert Calendar.yearly(1996).labels(2) == ["1996", "1997"]
    assert Calendar.monthly("1996-03").label(11) == "1997-02"
    assert Calendar.quarterly("1996-01").labels(3) == ["1996-01", "1996-04", "1996-07"]
    assert Calendar.weekly("1996-02-26").label(1) == "1996-03-04"
    assert Calendar.daily("1996-02-28").label(2) == "1996-03-01"
    assert Calendar.every(10, 10).label(0) == "10"
    assert Calendar.every(1, dt.datetime(1996, 1, 1, 12)).label(1) == "1996-01-02T12:00:00Z"
    assert Calendar.cuts(["1996", "1998-07"]).label(1) == "1998-07"


@pytest.mark.parametrize("step", [-1, True, 1.0, "1", None, 25])
def test_a_label_of_no_step_is_refused(step: int) -> None:
    with pytest.raises(ParameterError, match=r"step: .*0 to 24"):
        Calendar.yearly(1996, 2020).label(step)


def test_a_label_beyond_all_times_is_refused() -> None:
    with pytest.raises(ParameterError, match="step"):
        Calendar.yearly(1996).label(9000)


@pytest.mark.parametrize(
    ("calendar", "sentence"),
    [
        (Calendar.yearly(), "yearly steps from 1996; everything earlier counts into 1996"),
        (
            Calendar.monthly("1996-01", "1997-12"),
            "monthly steps from 1996-01; everything earlier counts into 1996-01; ends with 1997-12",
        ),
        (
            Calendar.weekly("1996-01-01"),
            "weekly steps from 1996-01-01; everything earlier counts into the first step",
        ),
        (
            Calendar.every(10, 5),
            "steps of 10 from 5; everything earlier counts into the first step",
        ),
        (
            Calendar.every(1, "1996-01-01"),
            "daily steps from 1996-01-01; everything earlier counts into the first step",
        ),
        (
            Calendar.quarterly("1996-04"),
            "quarterly steps from 1996-04; everything earlier counts into the first step",
        ),
        (
            Calendar.cuts([1, 5, 9], end=12),
            "3 steps from 1, 5, 9; everything earlier counts into the first step; ends before 12",
        ),
        (
            Calendar.cuts(range(9)),
            "9 steps from 0, 1, 2, 3, 4, …, 8; everything earlier counts into the first step",
        ),
    ],
)
def test_describe(calendar: Calendar, sentence: str) -> None:
    assert calendar.describe() == sentence


def test_ends() -> None:
    assert Calendar.yearly(1996).last_step is None
    assert Calendar.yearly(1996, 2020).last_step == 24
    assert Calendar.monthly("1996-01", "1996-12").last_step == 11
    assert Calendar.weekly("1996-01-01", last="1996-01-14").last_step == 1
    assert Calendar.every(10, 0, last=10).last_step == 1
    assert Calendar.cuts([1, 5]).last_step == 1
    assert Calendar.cuts([1, 5], end=9).last_step == 1


def test_midnights_are_dates() -> None:
    assert Calendar.every(7, FIRST) == Calendar.weekly(FIRST.date())
    assert Calendar.every(1, FIRST) == Calendar.daily("1996-01-01")
    assert Calendar.cuts([FIRST, "1997-01-01"]) == Calendar.cuts(["1996-01-01", "1997-01-01"])


def calendars() -> st.SearchStrategy[Calendar]:
    number = INT64
    cuts = st.sets(number | st.none(), min_size=2).map(
        lambda s: sorted(c for c in s if c is not None)
    )
    return st.one_of(
        st.builds(Calendar.yearly, st.integers(0, 5000), st.none() | st.integers(5000, 9999)),
        st.builds(Calendar.weekly, DATES, st.none() | st.just("2200-01-01")),
        st.builds(lambda day: Calendar.monthly(f"{day:%Y-%m}"), DATES),
        st.builds(Calendar.every, st.integers(1, 2**62), number),
        st.builds(Calendar.every, st.integers(1, 10**6), INSTANTS, st.none()),
        cuts.filter(bool).map(Calendar.cuts),
        cuts.filter(lambda c: len(c) > 1).map(lambda c: Calendar.cuts(c[:-1], end=c[-1])),
        st.sets(INSTANTS, min_size=1).map(lambda s: Calendar.cuts(sorted(s))),
    )


@given(calendar=calendars())
def test_plain_data_round_trip(calendar: Calendar) -> None:
    data = json.loads(json.dumps(calendar.to_dict()))
    again = Calendar.from_dict(data)
    assert again == calendar
    assert hash(again) == hash(calendar)
    assert again.describe() == calendar.describe()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"cuts": [1, 2]},
        {"cuts": [1, 2], "end": None, "extra": 1},
        {"cuts": 5, "end": None},
        {"every": 1, "unit": "month", "first": "1996", "last": None},
        {"every": 1, "unit": "year", "first": 1996, "last": None},
        {"every": "1", "unit": "year", "first": "1996", "last": None},
    ],
)
def test_damaged_plain_data_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Calendar.from_dict(data)


@pytest.mark.parametrize(
    ("times", "every", "expected"),
    [
        ([1999, 1997, None], "year", Calendar.yearly(1997)),
        (["1999-05-06", " 1997-02 ", "rubbish"], "month", Calendar.monthly("1997-02")),
        ([dt.date(1999, 5, 6), dt.date(1997, 2, 3)], "week", Calendar.weekly("1997-02-03")),
        (["1999-05-06", "1997-06"], "quarter", Calendar.quarterly("1997-04")),
        ([dt.date(1999, 5, 6), dt.date(1997, 2, 3)], "day", Calendar.daily("1997-02-03")),
        ([30, 20, float("nan")], 5, Calendar.every(5, 20)),
        (["1999-05-06T10:00Z", "1997-02-03"], 5, Calendar.every(5, "1997-02-03")),
        (["rubbish"], "year", Calendar.yearly(1970)),
        ([], 3, Calendar.every(3, 0)),
    ],
)
def test_spanning(times: list[object], every: str | int, expected: Calendar) -> None:
    assert Calendar.spanning(times, every) == expected


def test_spanning_folds_nothing() -> None:
    years = pl.Series(np.random.default_rng(1).integers(1900, 2000, 300_000))
    column = Calendar.spanning(years).steps_of(years)
    assert column.folded == 0
    assert column.steps.min() == 0
    assert np.array_equal(column.steps, years.to_numpy() - int(years.to_numpy().min()))


@pytest.mark.parametrize("every", ["decade", "", 0, -1, True, 1.5, None])
def test_spanning_refuses_other_rhythms(every: int) -> None:
    with pytest.raises(
        ParameterError, match="every: must be 'year', 'quarter', 'month', 'week', 'day' or"
    ):
        Calendar.spanning([1996], every)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Calendar.yearly(-1), "first"),
        (lambda: Calendar.yearly(10_000), "first"),
        (lambda: Calendar.yearly(None), "first"),
        (lambda: Calendar.yearly(2000, 1999), "last"),
        (lambda: Calendar.monthly(1996), "first"),
        (lambda: Calendar.monthly("1996"), "first"),
        (lambda: Calendar.monthly("1996-13"), "first"),
        (lambda: Calendar.weekly("1996-01"), "first"),
        (lambda: Calendar.weekly("1996-01-01", last="1995-12-31"), "last"),
        (lambda: Calendar.every(0, 0), "n"),
        (lambda: Calendar.every(2**63, 0), "n"),
        (lambda: Calendar.every(1.5, 0), "n"),  # type: ignore[arg-type]
        (lambda: Calendar.every(1, 2**63), "first"),
        (lambda: Calendar.every(1, "rubbish"), "first"),
        (lambda: Calendar.every(1, 0, last="1996-01-01"), "last"),
        (lambda: Calendar.every(1, 0, last=2**40), "last"),
        (lambda: Calendar.cuts([]), "cuts"),
        (lambda: Calendar.cuts("1996"), "cuts"),
        (lambda: Calendar.cuts([3, 2]), "cuts"),
        (lambda: Calendar.cuts([2, 2]), "cuts"),
        (lambda: Calendar.cuts([1, "1996"]), "cuts"),
        (lambda: Calendar.cuts([1, None]), "cuts"),
        (lambda: Calendar.cuts([True, 2]), "cuts"),
        (lambda: Calendar.cuts([1, 2], end=2), "cuts"),
        (lambda: Calendar.cuts(["0", "1996-03"]), "cuts"),
    ],
)
def test_wrong_arguments_are_named(make: Callable[[], Calendar], parameter: str) -> None:
    with pytest.raises(ParameterError) as caught:
        make()
    assert caught.value.parameter == parameter


def test_importing_the_calendar_does_not_import_polars() -> None:
    code = "import sys, graphveil.calendar.calendar; sys.exit('polars' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("text", ["1996-01-01T13+01:30", "1996-01-01 10-0130", "1996-01-01t11:30z"])
def test_digits_of_an_offset_are_not_taken_for_seconds(text: str) -> None:
    around = Calendar.cuts(["1996-01-01", "1996-01-01T11:30", "1996-01-01T11:30:00.000001"])
    assert around.step_of(text) == 1
