"""The summary: five sentences, each checked against the numbers and promises it tells of."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from graphveil.report import releases, wording
from graphveil.report.news import NOTHING_MORE, Headline, headline, overview
from graphveil.report.page import _sensitivity, page
from graphveil.report.summary import summary
from graphveil.report.wording import TOO_NOISY, figure
from graphveil.study.facts import EVERY_NETWORK
from graphveil.study.history import PublishedSeries
from graphveil.study.public_part import PublicPart
from public_parts import NOISE, SERIES, SIZES, opened, promise, published
from tries import crossed

WEEKS = {"every": 7, "unit": "day", "first": "2020-03-02", "last": None}
GOING_ON = {"degree": 12, "if_broken": "continue", "justification": "known"}
CUT = {
    "name": "cut", "statistic": "edges", "epsilon": "1", "horizon": 9,
    "mechanism": "compose-projection", "projection": 4,
}  # fmt: skip
RECENT = {"name": "recent", "statistic": "edges", "parameters": {"window": 3}, "epsilon": "1"}
STUDIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "without people": {"series": SERIES[1:]},
    "clusters": {"series": [
        {"name": "groups", "statistic": "clusters", "parameters": {"k": 3}, "epsilon": "1"}]},
    "vector only": {"series": SERIES[3:]},
    "histogram": {"series": [{"name": "h", "statistic": "degree-histogram", "epsilon": "1"}]},
    "weekly": {"calendar": WEEKS},
    "directed": {
        "directed": True,
        "bound": {"inward": 4, "outward": 6, "justification": "a form has so many lines"},
        "series": [{"name": "sent", "statistic": "edges", "epsilon": "1"}],
    },
    "going on": {"bound": GOING_ON},
    "hubs": {"bound": {"degree": 5, "hubs": 2, "justification": "known"},
             "series": [{"name": "links", "statistic": "edges", "epsilon": "1"}]},
    "no bound": {"bound": "none", "series": [CUT]},
    "recent": {"series": [RECENT]},
    "with delta": {"budget": {"epsilon": "1", "delta": "1e-6", "justification": "agreed"},
                   "series": [{"name": "links", "statistic": "edges", "epsilon": "1",
                               "delta": "1e-6"}]},
    "pool": {"budget": {"epsilon": "2", "delta": "1e-6", "justification": "agreed",
                        "pool": {"epsilon": "3/2", "delta": "1e-6"}},
             "series": [*SERIES[:1], *({key: said for key, said in each.items() if key != "epsilon"}
                                       | {"pool": "0.3"} for each in SERIES[1:])]},
    "weak": {"budget": {"epsilon": "9", "justification": "agreed"}},
}  # fmt: skip


def part_of(name: str, steps: int, reach: int | None = 40) -> PublicPart:
    return PublicPart.of(published(promise(**STUDIES[name]), steps, reach).rows)


def told(part: PublicPart) -> list[str]:
    return [each.sentence for each in summary(part)]


def numbers(sentence: str) -> set[int]:
    return {int(each.replace(",", "")) for each in re.findall(r"(?<![\d.])\d[\d,]*", sentence)}


@crossed(11, name=STUDIES, steps=[0, 1, 2, 3, 12], reach=[None, 3, 4000])
def test_there_are_five_sentences_and_the_page_begins_with_them(
    name: str, steps: int, reach: int | None
) -> None:
    part = part_of(name, steps, reach)
    sentences = told(part)
    assert len(sentences) == 5
    for each in sentences:
        assert re.fullmatch(r"[A-Z].*[^.]\.", each), each
        assert not re.search(r"\{|None|  |\bd links", each), each
        assert len(each) < 400
    text = page(part).decode()
    places = [text.index(each.replace("'", "&#39;")) for each in sentences]
    assert places == sorted(places)
    assert places[-1] < text.index('id="results"')


@crossed(5, name=STUDIES, steps=[1, 2, 3, 12], reach=[3, 4000])
def test_how_many_new_and_more_follow_the_published_intervals(
    name: str, steps: int, reach: int
) -> None:
    part = part_of(name, steps, reach)
    found = headline(part)
    assert found is not None
    many, new, compared, *_ = told(part)
    made, place = found.newest, found.place
    expected = {made.low[place], made.high[place]} if made.low[place] > 0 else {made.high[place]}
    assert expected <= numbers(many)
    assert ("at most" in many.split(" was ")[1]) == (made.low[place] <= 0)
    _require_change(found, new, steps, 2, releases.NEW)
    _require_change(found, compared, steps, 3, releases.AGAINST)


def _require_change(found: Headline, said: str, steps: int, needed: int, kind: str) -> None:
    if steps < needed:
        assert "can be told from the" in said
        return
    change = found.change(kind)
    assert change is not None
    raw = [made.raw[found.place] for made in found.series.releases]
    value = raw[-1] - raw[-2] - (0 if kind == releases.NEW else raw[-2] - raw[-3])
    assert change.value == value
    ends = {abs(change.low), abs(change.high)}
    if kind == releases.NEW and found.series.monotone:
        assert (ends if change.low > 0 else {change.high}) <= numbers(said)
        assert (NOTHING_MORE in said) == (change.low <= 0)
        return
    assert ends <= numbers(said)
    assert ("clear" in said) == (change.low <= 0 <= change.high)
    assert change.clear == (re.search(r"fewer to .* more", said) is None)
    if change.clear:
        assert (" more." in said) == (change.low > 0)
        falls = found.series.monotone and change.high < 0
        assert ("The total did not fall." in said) == falls, "what is new may be less, not the sum"


def test_it_is_about_people_if_they_are_counted_and_else_about_the_first() -> None:
    assert _series(part_of("plain", 3)).series == "people"
    reordered = promise(series=[*SERIES[1:], SERIES[0]])
    assert _series(PublicPart.of(published(reordered, 3).rows)).series == "people"
    assert _series(part_of("without people", 3)).series == "links"
    assert _series(part_of("vector only", 3)).series == "links-per-person"
    assert headline(PublicPart.of(opened(promise()).rows)) is None


def _series(part: PublicPart) -> PublishedSeries:
    found = headline(part)
    assert found is not None
    return found.series


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plain", "By the end of 2016, the number of people was"),
        ("clusters", "the number of clusters (groups of at least 3 linked people) was"),
        ("vector only", "the number of people with at least 1 link was"),
        ("histogram", "the number of people with exactly 1 link was"),
        ("weekly", "By 24 May 2020, the number of people was"),
        ("no bound", "links between people, counting at most 4 links per person, was"),
        ("hubs", "links between people, counting at most 5 links per person, was"),
        ("recent", "among people who arrived in the last 3 years was"),
    ],
)  # fmt: skip
def test_it_says_what_is_counted_and_by_when(name: str, words: str) -> None:
    assert words in told(part_of(name, 12))[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plain", ", as long as everybody has at most 12 links."),
        ("directed", ", as long as everybody has at most 4 incoming and 6 outgoing links."),
        ("going on", "That limit is for people with links to nobody with more than 12 links."),
        ("hubs", ", as long as everybody has links to at most 2 people with more than 5 links."),
        ("no bound", "however many links you or others have."),
        ("with delta", " This may fail with a probability of at most 1 in 1,000,000."),
    ],
)
def test_the_promise_says_for_whom_it_holds(name: str, words: str) -> None:
    part = part_of(name, 3)
    said = told(part)[4]
    assert said.endswith(words)
    most = wording.certainties(part.total[0])[0].at_most
    assert said.startswith("A 50% guess that you are in the records could rise to at most ")
    assert f"at most {wording.chance(most)}" in said


@pytest.mark.parametrize("total", ["1.5", "2"])
def test_limits_beyond_the_promise_start_from_what_they_are_compared_with(
    total: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ε that is left is in the first limit only: those of the open series are not below theirs."""
    budget = {"epsilon": total, "justification": "agreed"}
    rows = published(promise(bound=GOING_ON, budget=budget), 3, 40).rows
    part = PublicPart.of(rows)
    spent = part.spent[0]
    beyond = tuple(
        wording.Exposure(more, spent + Fraction(more, 10), 1 + Fraction(more, 40))
        for more in (1, 10)
    )
    monkeypatch.setattr(wording, "exposures", lambda _: beyond)
    said = told(part)[4]
    limits = [float(each) for each in re.findall(r"at most ([\d.]+)%", said)]
    assert limits[1:] == sorted(limits[1:])
    assert ("by the series opened so far" in said) is (spent != part.total[0])
    if spent == part.total[0]:
        assert limits == sorted(limits)


def test_a_weak_promise_is_called_weak() -> None:
    assert told(part_of("weak", 3))[4].startswith("The promise is weak: a 50% guess ")


@pytest.fixture
def precise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NOISE:
        monkeypatch.setitem(NOISE, name, 0.5)
        monkeypatch.setitem(SIZES, name, 900.0)


@pytest.mark.usefixtures("precise")
def test_what_drowns_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NOISE, "people", 9000.0)
    part = part_of("plain", 3, reach=90_000)
    many, new, compared, sure, _ = told(part)
    assert many.endswith(f"{figure(_series(part).releases[-1].high[0])}: {NOTHING_MORE}.")
    assert NOTHING_MORE in new
    assert compared.startswith("No clear change: ")
    assert sure.endswith("; 1 of 4 series is mostly noise.")
    assert [row.series for row in overview(part) if TOO_NOISY in row.now] == ["people"]


@pytest.mark.usefixtures("precise")
def test_what_is_not_drowned_is_not_called_so() -> None:
    assert NOTHING_MORE not in " ".join(told(part_of("plain", 3, reach=1)))


def test_a_release_of_an_older_version_says_that_nothing_was_announced() -> None:
    _, new, compared, *_ = told(part_of("plain", 4, reach=None))
    assert new == "How many were new in 2008 was not announced with that release."
    assert (
        compared == "Whether that is more or fewer than before was not announced with that release."
    )


@pytest.mark.parametrize("name", STUDIES)
def test_every_series_is_told_at_a_glance(name: str) -> None:
    part = part_of(name, 12)
    rows = list(overview(part))
    assert [row.series for row in rows] == [each.series for each in part.series]
    for row, series in zip(rows, part.series, strict=True):
        found = Headline(series, part.promise.calendar)
        assert found.newest.high[found.place] in numbers(row.now)
        new = found.change(releases.NEW)
        assert new is not None
        assert abs(new.high) in numbers(row.new)
    assert not list(overview(part_of(name, 0)))


@pytest.mark.parametrize(
    ("probability", "told"),
    [("1e-6", "1 in 1,000,000"), ("1/3", "1 in 3"), ("2/3", "2/3"), ("3e-7", "0.0000003")],
)
def test_small_probabilities_are_told_exactly(probability: str, told: str) -> None:
    from fractions import Fraction

    from graphveil.report.wording import one_in

    assert one_in(Fraction(probability)) == told


def test_where_nothing_is_assumed_no_condition_is_named() -> None:
    series = part_of("plain", 3).series[0]
    everywhere = series.sensitivity.model_copy(update={"assumption": EVERY_NETWORK})
    said = _sensitivity(series.model_copy(update={"sensitivity": everywhere}))
    assert "), in every network; proof" in said
    assert "), if " in _sensitivity(series)
