"""One number for one fact: all statements of a page that are about the same thing agree."""

from __future__ import annotations

import html
import re
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphveil.calendar import phrases
from graphveil.report import charts, news, page_tables
from graphveil.report.degree_distribution import _quantile, distribution
from graphveil.report.estimates import Estimate, EstimatedSeries, now, wider, with_estimates
from graphveil.report.histories import revisions
from graphveil.report.page import page
from graphveil.report.summary import summary
from graphveil.report.wording import TOO_NOISY, count_range, counted_at, whole
from graphveil.study.public.public_part import PublicPart
from studies import opened

SERIES = [
    {"name": "people", "statistic": "nodes", "epsilon": "1/8"},
    {"name": "links", "statistic": "edges", "epsilon": "1/8"},
    {"name": "groups", "statistic": "components", "epsilon": "1/8"},
    {"name": "clusters", "statistic": "clusters", "epsilon": "1/8"},
    {"name": "clustered", "statistic": "clustered", "epsilon": "1/8"},
    {"name": "linked", "statistic": "high-degree", "parameters": {"tau": 1}, "epsilon": "1/8"},
    {"name": "hubs", "statistic": "high-degree", "parameters": {"tau": 3}, "epsilon": "1/8"},
    {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "1/8"},
    {"name": "bins", "statistic": "degree-histogram", "epsilon": "1/8"},
    {"name": "stars", "statistic": "stars", "parameters": {"k": 2}, "epsilon": "1/8"},
    {"name": "triangles", "statistic": "triangles", "epsilon": "1/8"},
]


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> PublicPart:
    place: Path = tmp_path_factory.mktemp("agreement") / "study"
    study = opened(place, series=SERIES, budget={"epsilon": "2", "justification": "a test"})
    study.publish(through=3)
    return with_estimates(PublicPart.read(study.folder.public))


def numbers(part: PublicPart) -> dict[tuple[str, int, int], tuple[object, Estimate]]:
    """Every number of every release: what it is, and what is said of it."""
    return {
        (each.series, made.step, place): (
            frozenset(each.promise.counted().facts(each.width)[place].items()),
            now(each, made, place),
        )
        for each in part.series
        for made in each.releases
        for place in range(each.width)
    }


def test_two_numbers_that_are_one_fact_are_one_number(part: PublicPart) -> None:
    """Every pair of statements of the study."""
    pairs = 0
    for (one, (fact, said)), (other, (same, again)) in combinations(numbers(part).items(), 2):
        if one[1] == other[1] and fact == same:
            pairs += 1
            assert (said.value, said.low, said.high) == (again.value, again.low, again.high)
            changed = [(each.kind, each.value, each.low, each.high) for each in said.changes]
            assert changed == [
                (each.kind, each.value, each.low, each.high) for each in again.changes
            ]
    assert pairs == 4 * (1 + 3 + 1 + 1)  # people, linked (three times), hubs, the highest bin


def test_sums_are_the_sums_of_what_is_said(part: PublicPart) -> None:
    told = {key: each.value for key, (_, each) in numbers(part).items()}
    for step in range(4):
        degrees = [told["degrees", step, d] for d in range(5)]
        assert 2 * told["links", step, 0] == pytest.approx(sum(degrees[1:]))
        bins = [told["bins", step, d] for d in range(5)]
        assert sum(bins) == pytest.approx(told["people", step, 0])
        assert told["stars", step, 0] == pytest.approx(
            sum(b * d * (d - 1) / 2 for d, b in enumerate(bins))
        )
        alone = told["people", step, 0] - told["linked", step, 0]
        assert told["groups", step, 0] == pytest.approx(alone + told["clusters", step, 0])
        assert 3 * told["triangles", step, 0] <= told["stars", step, 0] + 0.5
        assert 2 * told["clusters", step, 0] <= told["clustered", step, 0] + 0.5


def test_all_places_of_the_page_say_the_same_of_a_series(part: PublicPart) -> None:
    """Table at a glance, sentence, table of releases, and chart."""
    calendar = part.promise.calendar
    glance = {each.series: each for each in news.overview(part)}
    for series in part.series:
        assert isinstance(series, EstimatedSeries)
        if series.vector:
            continue
        last = series.releases[-1]
        known = now(series, last)
        told = whole(known.value), count_range(known.low, known.high)
        (table,) = page_tables.release_tables(series)
        row = dict(zip(table.header, table.rows[-1], strict=True))
        assert row["in all"].removesuffix(f" ({TOO_NOISY})") == told[0]
        assert row["95% interval"] == told[1]
        assert glance[series.series].now == news.cell_of(known)
        assert news.place_of(known) in news.reading(series, last, calendar)
        assert f"and {told[0]} in {last.label}" in charts.description(series, calendar)
    top = news.headline(part)
    assert top is not None
    assert news.place_of(top.known) in summary(part)[0].sentence


def test_what_was_published_first_stands_beside_it(part: PublicPart) -> None:
    text = html.unescape(re.sub(r"<[^>]+>", " ", page(part).decode()))
    assert "first published" in text
    assert f"as revised after {part.steps[-1].label}" in text
    assert phrases.by(part.promise.calendar, 3) in text


def test_what_limits_an_interval_from_outside_is_wider_than_its_own() -> None:
    """Ten times less likely to be wrong: 1.77 times as far for 95%, twice for 90%."""
    assert wider(110, 90, "0.95") == 118
    assert wider(90, 110, "0.95") == 82
    assert wider(110, 90, "0.9") == 120


@pytest.mark.parametrize("levels", [None, "1,2,4"])
def test_the_distribution_is_told_in_words(tmp_path: Path, levels: str | None) -> None:
    parameters = {"parameters": {"levels": levels}} if levels else {}
    series = [
        {"name": "people", "statistic": "nodes", "epsilon": "20"},
        {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "60"} | parameters,
    ]
    budget = {"epsilon": "80", "justification": "a test"}
    study = opened(tmp_path / "study", series=series, budget=budget)
    study.publish(through=3)
    part = with_estimates(PublicPart.read(study.folder.public))
    people, degrees = part.series
    told = distribution(degrees, part)
    assert [each.split(" ha")[0] for each in told[-3:]] == [
        "Half of all people",
        "One person in ten",
        "One person in a hundred",
    ]
    assert [each.partition(":")[0] for each in told[:-3]] == [] if levels else ["Links per person"]
    assert distribution(people, part) == []
    assert (
        counted_at(degrees, 1)
        == f"people with at least {2 if levels else 1} link{'s' * bool(levels)}"
    )
    assert degrees.degrees == ((1, 2, 4) if levels else (0, 1, 2, 3, 4))
    rows = [row for row in revisions(part) if row.series == "degrees" and row.step == 3]
    assert tuple(row.degree for row in rows) == degrees.degrees
    assert "(levels=1,2,4)" in page(part).decode() or levels is None


def test_the_quantiles_of_a_distribution_that_is_known_exactly() -> None:
    numbers = [Estimate(value, value, value, ("d", 0)) for value in (1000, 600, 400, 90, 9)]
    series = SimpleNamespace(
        degrees=(0, 1, 2, 3, 4),
        vector=True,
        releases=[SimpleNamespace(level="0.95", low=[0] * 5, high=[0] * 5)],
        statistic="degree-ccdf",
        parameters={},
        spans={},
        places=[({}, degree) for degree in range(5)],
        breakdown=None,
        counted_links=None,
        follows=False,
        projection=None,
    )
    told = [_quantile(series, numbers, numbers[0], part, "Some have") for part in (2, 10, 100)]  # type: ignore[arg-type]
    assert told == [
        "Some have at least 1 link.",
        "Some have at least 2 links.",
        "Some have at least 3 links.",
    ]
