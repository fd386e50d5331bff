"""The drawings: what is written below and beside them, and that everything stays on the paper."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.drawing.svg import PAPER
from graphveil.report.charts import MANY, drawing
from graphveil.report.frame import (
    BAND,
    NARROW,
    PROCESSED,
    RAW,
    WIDE,
    Counts,
    Size,
    step_ticks,
)
from graphveil.study.public_part import PublicPart
from public_parts import promise, published
from tries import crossed

STYLE = files("graphveil.report").joinpath("templates/page.css").read_text(encoding="utf-8")
SVG = "{http://www.w3.org/2000/svg}"
CALENDARS: dict[str, dict[str, Any]] = {
    "years": {"every": 1, "unit": "year", "first": "2005"},
    "five years": {"every": 5, "unit": "year", "first": "1903"},
    "months": {"every": 1, "unit": "month", "first": "2019-05"},
    "quarters": {"every": 3, "unit": "month", "first": "2019-04"},
    "weeks": {"every": 7, "unit": "day", "first": "2020-03-02"},
    "days": {"every": 1, "unit": "day", "first": "2022-01-15"},
    "instants": {"every": 1, "unit": "day", "first": "2022-01-15T09:30:00Z"},
    "numbers": {"every": 1, "unit": "number", "first": 3},
    "first days of all": {"every": 1, "unit": "day", "first": "0001-01-01"},
}


def at_most(many: int) -> Any:
    return lambda ticks: len(ticks) <= many


def texts(calendar: Calendar, count: int, room: int, first: int = 0) -> list[str]:
    return [tick.text for tick in step_ticks(calendar, first, count, at_most(room))]


def part_of(steps: int, **changes: Any) -> PublicPart:
    return PublicPart.of(published(promise(**changes), steps).rows)


def drawn(steps: int, place: int = 1, size: Size = WIDE, **changes: Any) -> ElementTree.Element:
    part = part_of(steps, **changes)
    return ElementTree.fromstring(drawing(part.series[place], part.promise.calendar, size))


@pytest.mark.parametrize(
    ("first", "count", "room", "expected"),
    [
        ("2005", 3, 9, ["2005", "2006", "2007"]),
        ("2005", 20, 12, [str(year) for year in range(2006, 2025, 2)]),
        ("2003", 20, 5, ["2005", "2010", "2015", "2020"]),
        ("1905", 100, 10, [str(year) for year in range(1910, 2005, 10)]),
        ("2005", 1, 9, ["2005"]),
    ],
)
def test_years_do_not_jump(first: str, count: int, room: int, expected: list[str]) -> None:
    assert texts(Calendar.yearly(first), count, room) == expected


def test_a_series_that_was_opened_later_has_its_own_years() -> None:
    assert texts(Calendar.yearly("2003"), 6, 4, first=5) == ["2008", "2010", "2012"]


def test_long_daily_series_are_marked_by_months() -> None:
    days = Calendar.every(1, "2022-01-15")
    assert texts(days, 730, 9) == [
        "Apr 2022", "Jul 2022", "Oct 2022", "Jan 2023", "Apr 2023", "Jul 2023", "Oct 2023",
        "Jan 2024",
    ]  # fmt: skip
    assert texts(days, 200, 9) == [
        f"{month} 2022" for month in ("Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug")
    ]
    assert texts(days, 20, 6) == ["15 Jan 2022", "22 Jan", "29 Jan"]
    assert texts(days, 4000, 9) == ["2024", "2026", "2028", "2030", "2032"]


def test_months_and_quarters_are_marked_at_whole_years() -> None:
    assert texts(Calendar.monthly("2019-05"), 50, 8) == [
        "Jul 2019", "Jan 2020", "Jul 2020", "Jan 2021", "Jul 2021", "Jan 2022", "Jul 2022",
        "Jan 2023",
    ]  # fmt: skip
    assert texts(Calendar.monthly("2019-05"), 50, 5) == ["2020", "2021", "2022", "2023"]
    assert texts(Calendar.every(3, "2019-04"), 12, 4) == ["2020", "2021", "2022"]


@crossed(4, name=CALENDARS, count=[1, 2, 7, 45, 400], room=[2, 5, 12])
def test_ticks_fit_and_are_evenly_spaced(name: str, count: int, room: int) -> None:
    calendar = promise(calendar={"last": None, **CALENDARS[name]}).calendar
    ticks = step_ticks(calendar, 0, count, at_most(room))
    assert 1 <= len(ticks) <= room
    assert ticks == sorted(set(ticks), key=lambda tick: tick.place)
    apart = [after.place - before.place for before, after in pairwise(ticks)]
    longest = max(apart, default=1)
    # Months and years differ in length, by a tenth and by a step.
    assert all(each >= 0.85 * longest - 1 for each in apart)


def test_explicit_cuts_are_named_as_they_are() -> None:
    cuts = Calendar.cuts(["2001-01-01", "2001-02-01", "2003-01-01"])
    assert texts(cuts, 3, 5) == ["2001-01-01", "2001-02-01", "2003-01-01"]


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ([0, 10], ["0", "2", "4", "6", "8", "10"]),
        ([3, 3], ["0", "1", "2", "3"]),
        ([0, 0], ["0", "1"]),
        ([-3, 5], ["−2", "0", "2", "4", "6"]),
        ([-30, -5], ["−30", "−20", "−10", "0"]),
        ([1_000_000, 1_000_050], [f"1,000,0{tens}0" for tens in range(6)]),
        ([0, 40_000_000], ["0", "10M", "20M", "30M", "40M"]),
    ],
)
def test_counts_are_round_and_begin_at_zero_unless_that_hides_everything(
    values: list[float], lines: list[str]
) -> None:
    counts = Counts.of(values)
    assert [counts.written(count) for count in counts.lines] == lines
    assert all(0 <= counts.share(value) <= 1 for value in values)


@crossed(
    5, size=[WIDE, NARROW], steps=[1, 2, 40, 400], place=[1, 3],
    calendar=["years", "days", "instants"],
)  # fmt: skip
def test_everything_stays_on_the_paper(size: Size, steps: int, place: int, calendar: str) -> None:
    if place == 3 and steps == 400:
        return  # one release is drawn, whatever their number
    found = drawn(steps, place, size, calendar={"last": None, **CALENDARS[calendar]})
    width, height = float(found.get("width", "")), float(found.get("height", ""))
    assert width == size.width
    for path in found.iter(f"{SVG}path"):
        for x, y in re.findall(r"([-\d.]+),([-\d.]+)", path.get("d", "")):
            assert 0 <= float(x) <= width
            assert 0 <= float(y) <= height
    for text in found.iter(f"{SVG}text"):
        half = len(text.text or "") * 12 * 0.56 / 2 if text.get("text-anchor") == "middle" else 0
        assert float(text.get("x", "")) - half >= -0.1
        assert float(text.get("x", "")) + half <= width + 0.1


def test_dots_lie_below_the_line_and_long_series_have_none() -> None:
    few, many = drawn(MANY - 1), drawn(MANY)
    marks = [each.get("stroke") or each.get("fill") for each in few]
    dots = [number for number, colour in enumerate(marks) if colour == RAW]
    assert len(dots) == MANY  # one of them in the legend
    assert max(dots) < max(number for number, colour in enumerate(marks) if colour == PROCESSED)
    assert not list(many.iter(f"{SVG}circle"))
    assert [each.get("stroke-width") for each in many if each.get("stroke") == RAW] == [
        "0.8",
        "0.8",
    ]


def test_the_line_and_the_band_go_through_every_release() -> None:
    found = drawn(40)
    paths = {
        each.get("stroke") or each.get("fill"): len(re.findall(",", each.get("d", "")))
        for each in found.iter(f"{SVG}path")
        if len(each.get("d", "")) > 100
    }
    assert paths[PROCESSED] == 40
    assert {colour: many for colour, many in paths.items() if many > 40} == {BAND: 80}


def test_foreign_texts_are_escaped() -> None:
    part = part_of(1)
    series = part.series[1].model_copy(update={"statistic": "new", "summary": '<b>&"x"</b>'})
    found = ElementTree.fromstring(drawing(series, part.promise.calendar))
    assert '<b>&"x"</b>' in [each.text for each in found.iter(f"{SVG}text")]


@pytest.mark.parametrize(("steps", "place"), [(1, 1), (8, 1), (8, 3), (MANY, 1)])
def test_every_colour_has_another_one_in_the_dark(steps: int, place: int) -> None:
    part = part_of(steps)
    text = drawing(part.series[place], part.promise.calendar, titled=False).decode()
    for use, colour in set(re.findall(r'(fill|stroke)="(#[0-9a-f]{6})"', text)) - {("fill", PAPER)}:
        assert f'figure svg [{use}="{colour}"] {{ {use}: var(--' in STYLE
    assert f'figure svg > rect[fill="{PAPER}"]' in STYLE


def test_lines_lie_over_their_dots_and_many_dots_become_a_line() -> None:
    found = [
        (each.tag.removeprefix(SVG), each.get("fill"), each.get("stroke"))
        for each in reversed(list(drawn(3).iter()))  # the legend comes before
    ]
    above = [("path", "none", PROCESSED), ("circle", RAW, None), ("path", BAND, None)]
    places = [found.index(each) for each in above]
    assert places == sorted(places)
    assert not list(drawn(MANY).iter(f"{SVG}circle"))
