"""Ten years of days: the page stays small, the drawing says that it is thinned, files have all."""

from __future__ import annotations

import random
import re
from typing import Any
from xml.etree import ElementTree

import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.drawing.svg import SMALL, width_of
from graphveil.report import frame as ticks
from graphveil.report import page_tables
from graphveil.report.charts import LONG, PARTS, _drawn, drawing
from graphveil.report.frame import (
    APART,
    NARROW,
    PROCESSED,
    RAW,
    WIDE,
    Counts,
    Frame,
)
from graphveil.report.page import page
from graphveil.report.public_tables import series_table
from graphveil.report.releases import NEW, changes, new_at
from graphveil.study.history import PublishedSeries
from graphveil.study.public_part import PublicPart
from public_parts import SERIES, promise, published

DAYS = 3_650
MOST_BYTES = 1_000_000
PATH = "{http://www.w3.org/2000/svg}path"
CALENDAR = {"every": 1, "unit": "day", "first": "2010-01-01"}


def days(steps: int) -> PublicPart:
    """The made-up study, day by day, with a fifth series."""
    more = {"name": "triples", "statistic": "triangles", "epsilon": "1/8"}
    series: list[dict[str, Any]] = [each | {"horizon": DAYS} for each in [*SERIES, more]]
    study = promise(calendar=CALENDAR, series=series)
    return PublicPart.of(published(study, steps, reach=30).rows)


@pytest.fixture(scope="module")
def decade() -> PublicPart:
    return days(DAYS)


def text_of(part: PublicPart) -> str:
    return page(part).decode()


def test_the_page_of_a_decade_is_small_and_says_what_it_leaves_out(decade: PublicPart) -> None:
    text = text_of(decade)
    assert len(text.encode()) < MOST_BYTES
    assert text.count("Thinned: of every 15 steps") == 4  # a curve over degrees is not
    assert "The newest 400 of 3,650 releases; links.csv has every one" in text
    assert "The newest 307 of 3,650 releases; links-per-person.csv has every one" in text


def test_the_longest_that_is_drawn_in_full_is_small_too() -> None:
    part = days(LONG)
    text = text_of(part)
    assert len(text.encode()) < MOST_BYTES
    assert "Thinned" not in text
    longer = ElementTree.fromstring(drawing(days(LONG + 1).series[0], part.promise.calendar))
    (said,) = (each for each in longer.itertext() if each.startswith("Thinned"))
    assert width_of(said, SMALL) < WIDE.width - 2 * WIDE.edge


def test_a_year_of_days_is_shown_whole() -> None:
    text = text_of(days(366))
    assert "Thinned" not in text
    assert text.count("<summary>All releases</summary>") == 4
    assert "The newest 307 of 366 releases; links-per-person.csv has every one" in text


def test_the_files_have_every_step(decade: PublicPart) -> None:
    rows = series_table(decade.series[0]).splitlines()
    assert len(rows) == 1 + DAYS
    assert rows[1].startswith(b"people,nodes,0,2010-01-01,")


def test_the_newest_steps_are_those_of_the_table(decade: PublicPart) -> None:
    links = next(each for each in decade.series if each.series == "links")
    (table,) = page_tables.release_tables(links)
    labels = [row[0] for row in table.rows]
    assert labels == [made.label for made in links.releases[-page_tables.LONG :]]
    assert (
        dict(zip(table.header, table.rows[-1], strict=True))["raw"]
        == f"{links.releases[-1].raw[0]:,}"
    )


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_thinned_line_reaches_as_far_as_the_line(decade: PublicPart, size: Any) -> None:
    """No highest and no lowest value of any part is lost, and the newest is there."""
    series = decade.series[1]
    drawn = ElementTree.fromstring(drawing(series, decade.promise.calendar, size))
    for colour, values in (
        (RAW, [float(made.raw[0]) for made in series.releases]),
        (PROCESSED, [made.processed[0] for made in series.releases]),
    ):
        lines = [each for each in drawn.iter(PATH) if each.get("stroke") == colour]
        points = re.findall(r"([\d.]+),([\d.]+)", max((e.get("d") or "" for e in lines), key=len))
        assert len(points) == len(_drawn(values)) <= 2 * PARTS + 2


def test_extremes_ends_and_order_stay() -> None:
    chance = random.Random(5)
    for count in (LONG + 1, 1_777, DAYS):
        values = [chance.gauss(0, 1) for _ in range(count)]
        values[chance.randrange(count)] = 99.0
        places = list(_drawn(values))
        assert places == sorted(set(places))
        assert {0, count - 1, values.index(99.0), values.index(min(values))} <= set(places)
        for part in range(PARTS):
            inside = range(count * part // PARTS, count * (part + 1) // PARTS)
            shown = [values[place] for place in places if place in inside]
            assert (min(shown), max(shown)) == (
                min(values[place] for place in inside),
                max(values[place] for place in inside),
            )
    assert list(_drawn([0.0] * LONG)) == list(range(LONG))


def test_rules_with_too_many_ticks_would_not_fit_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are passed over unseen, and the ticks are the same as if they were tried."""
    calendars = (Calendar.every(1, "2010-01-01"), Calendar.monthly("1700-05"), Calendar.yearly("3"))
    frame = Frame(WIDE, (), (), Counts.of([0, 10]), DAYS)
    assert WIDE.width / ticks.MOST < APART  # pixels between two texts
    found = [ticks.step_ticks(each, 0, DAYS, frame.fits) for each in calendars]
    monkeypatch.setattr(ticks, "MOST", 10**9)
    assert found == [ticks.step_ticks(each, 0, DAYS, frame.fits) for each in calendars]


def test_what_is_new_is_the_change_over_a_single_step() -> None:
    part = days(12)
    for series in part.series:
        for made in series.releases:
            assert new_at(series, made) == single(series, made)


def single(series: PublishedSeries, made: Any) -> tuple[Any, ...]:
    return tuple(each for each in changes(series, made) if each.kind == NEW and each.over == 1)
