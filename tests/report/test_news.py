"""What readers are told is new: numbers, sentences, files; and nothing where it is unknown."""

from __future__ import annotations

import csv
import io

import pytest

from graphveil.errors import IntegrityError
from graphveil.report import releases
from graphveil.report.estimates import now
from graphveil.report.news import news, reading, verdict
from graphveil.report.public_tables import TABLES
from graphveil.report.releases import measurements
from graphveil.study.facts import ReleaseMade
from graphveil.study.public_part import PublicPart
from public_parts import promise, published

(TABLE,) = (each for each in TABLES if each.file == "changes.csv")


def with_changes(steps: int, width: int = 40) -> PublicPart:
    """A made-up study whose releases say how sure one can be of changes."""
    return PublicPart.of(published(promise(), steps, width).rows)


def test_new_is_what_was_published_less_what_was_before() -> None:
    part = with_changes(12)
    links = part.series[1]
    found = {(each.kind, each.over): each for each in releases.changes(links, links.releases[11])}
    raw = [each.raw[0] for each in links.releases]
    assert found[releases.NEW, 1].value == raw[11] - raw[10]
    assert found[releases.NEW, 5].value == raw[11] - raw[6]
    assert found[releases.AGAINST, 1].value == raw[11] - 2 * raw[10] + raw[9]
    assert found[releases.AGAINST, 5].value == raw[11] - 2 * raw[6] + raw[1]
    new = found[releases.NEW, 1]
    assert (new.low, new.high) == (max(new.value - 40, 0), new.value + 40)


def test_every_file_tells_the_same() -> None:
    part = with_changes(4)
    rows = list(csv.DictReader(io.StringIO(TABLE.content(part).decode())))
    single = [row for row in rows if row["kind"] == "new" and row["over"] == "1"]
    told = [row for row in measurements(part) if row.new is not None]
    assert len(single) == len(told) > 0
    for row, each in zip(single, told, strict=True):
        assert (row["series"], row["label"], int(row["value"])) == (
            each.series,
            each.label,
            each.new,
        )
        assert (int(row["low"]), int(row["high"])) == (each.new_low, each.new_high)


def test_older_releases_have_no_changes_and_still_read() -> None:
    part = PublicPart.of(published(promise(), 3).rows)
    assert list(releases.all_changes(part)) == []
    assert {row.new for row in measurements(part)} == {None}
    links = part.series[1]
    assert news(links, links.releases[-1], part.promise.calendar) == []


def test_sentences_say_by_when_and_how_it_compares() -> None:
    part = with_changes(12)
    calendar, links = part.promise.calendar, part.series[1]
    last = links.releases[-1]
    assert reading(links, last, calendar).startswith("By the end of 2016, the true number in all")
    told = news(links, last, calendar)
    assert told[0].startswith("New in 2016: ")
    assert told[1].startswith("New in 2016 against 2015: ")
    assert told[2].startswith("New in the 5 years to the end of 2016: ")


@pytest.mark.parametrize(
    ("every", "first", "words"),
    [
        (1, "2020-03-02", "New on 4 March 2020 against 3 March 2020: "),
        (7, "2020-03-02", "New from 16 March 2020 to 22 March 2020 against 9 March 2020 to 15 "),
    ],
)
def test_days_and_weeks_are_compared_in_plain_words(every: int, first: str, words: str) -> None:
    calendar = {"every": every, "unit": "day", "first": first, "last": None}
    part = PublicPart.of(published(promise(calendar=calendar), 3, 40).rows)
    links = part.series[1]
    told = news(links, links.releases[-1], part.promise.calendar)
    assert [each for each in told if each.startswith(words)] == told[1:2]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (3, 1200, "3 to 1,200 more"),
        (-9, -2, "2 to 9 fewer"),
        (-31, 12, "no clear change (31 fewer to 12 more)"),
        (0, 0, "no clear change (0 fewer to 0 more)"),
    ],
)
def test_a_change_in_words(low: int, high: int, words: str) -> None:
    change = releases.PublishedChange(
        "links", 3, "2008", None, releases.AGAINST, 1, 0, 1.0, "0.95", low, high
    )
    assert verdict(change) == words
    assert change.clear == ("no clear" not in words)


@pytest.mark.parametrize(("half", "drowned"), [(40, False), (50, False), (51, True), (400, True)])
def test_a_value_that_is_smaller_than_its_interval_is_too_noisy(half: int, drowned: bool) -> None:
    links = with_changes(1).series[1]
    made = links.releases[0].model_copy(
        update={"raw": (100,), "processed": (100.0,), "low": (100 - half,), "high": (100 + half,)}
    )
    assert now(links, made).too_noisy is drowned
    said = reading(links, made, promise().calendar)
    assert ("too large to say more" in said) is drowned


def test_a_comparison_with_what_was_never_said_is_refused() -> None:
    made = published(promise(), 1)
    row = made.rows[-1]
    told = ReleaseMade.model_validate(row.fact).to_data()
    told["changes"] = [{"over": 1, "against": False, "std": 1.0, "width": 2}]
    chain = type(made)()
    for each in made.rows[:-1]:
        chain.add(each.event, each.fact)
    chain.add(row.event, told)
    with pytest.raises(IntegrityError, match="never said"):
        PublicPart.of(chain.rows)
