"""One number for one fact: all statements of a page that are about the same thing agree."""

from __future__ import annotations

import html
import re
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphveil import Study
from graphveil.calendar import phrases
from graphveil.report import charts, news, page_tables
from graphveil.report.estimates import (
    Estimate,
    EstimatedSeries,
    now,
    revisions,
    wider,
    with_estimates,
)
from graphveil.report.page import page
from graphveil.report.ratios import all_ratios
from graphveil.report.summary import _quantile, distribution, summary
from graphveil.report.wording import TOO_NOISY, count_range, counted_at, whole
from graphveil.study.public_part import PublicPart
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


# The same of breakdowns, and of ratios.


BY_REGION = {
    "people": "nodes@1=people",
    "links": "edges@1=links",
    "people-by-region": "nodes:by=region@1=people-by-region",
    "links-by-region": "edges:by=region@1=links-by-region",
    "alike": "edges:by=region,cells=alike@1=alike",
    "linked": "high-degree:tau=1,by=region@1=linked",
    "clustered": "clustered:k=2,by=region@1=clustered",
    "degrees": "degree-ccdf:by=region@1=degrees",
    "bins": "degree-histogram:by=region@1=bins",
}
RATIOS = {
    "links each": "2*links/people",
    "within": "links-by-region[within]/links",
    "alike": "alike[alike]/links",
    "North": "people-by-region[North]/people",
    "North of all": "degrees[North][0]/people-by-region",
    "linked": "linked/people",
    "clustered": "clustered/people",
}


@pytest.fixture(scope="module")
def divided(tmp_path_factory: pytest.TempPathFactory) -> PublicPart:
    place = tmp_path_factory.mktemp("divided")
    study = Study.create(
        place / "study",
        title="Regions",
        population="made-up people",
        publisher="nobody",
        first=2001,
        last=2004,
        bound=3,
        bound_reason="a test",
        epsilon=9,
        epsilon_reason="a test",
        groups={"region": ["North", "South"]},
        series=list(BY_REGION.values()),
        ratios=RATIOS,
    )
    people = [f"p{n},{2001 + n % 4},{('North', 'South', 'Mars')[n % 3]}\n" for n in range(120)]
    (place / "people.csv").write_text("node,time,region\n" + "".join(people))
    links = [f"p{n},p{n + 1}\n" for n in range(119) if n % 5]
    (place / "links.csv").write_text("source,target\n" + "".join(links))
    study.add(place / "people.csv", place / "links.csv", groups={"region": "region"}, yes=True)
    study.publish(through="2004")
    return with_estimates(PublicPart.read(place / "study" / "public"))


def test_cells_that_are_one_fact_are_one_number(divided: PublicPart) -> None:
    """Every pair of statements: people, and people with a link, of each cell, three times."""
    pairs = 0
    for (one, (fact, said)), (other, (same, again)) in combinations(numbers(divided).items(), 2):
        if one[1] == other[1] and fact == same:
            pairs += 1
            assert (said.value, said.low, said.high) == (again.value, again.low, again.high)
            assert [each.value for each in said.changes] == [each.value for each in again.changes]
            assert len(said.changes) <= 4
    assert pairs == 4 * 4 * (1 + 3 + 1)  # the highest bin, too


def test_cells_add_up_to_what_is_said_of_all(divided: PublicPart) -> None:
    told = {key: each.value for key, (_, each) in numbers(divided).items()}

    def whole(series: str, step: int, every: int = 1, first: int = 0) -> float:
        width = next(each.width for each in divided.series if each.series == series)
        return sum(told[series, step, place] for place in range(first, width, every))

    for step in range(4):
        assert whole("people-by-region", step) == pytest.approx(told["people", step, 0])
        assert whole("degrees", step, every=4) == pytest.approx(told["people", step, 0])
        assert whole("bins", step) == pytest.approx(told["people", step, 0])
        for series in ("links-by-region", "alike"):
            assert whole(series, step) == pytest.approx(told["links", step, 0])
        ends = sum(whole("degrees", step, every=4, first=degree) for degree in (1, 2, 3))
        assert ends == pytest.approx(2 * told["links", step, 0])


def test_ratios_are_those_of_what_is_said(divided: PublicPart) -> None:
    """Of every pair of ratios of the same facts, and of each with the numbers beside it."""
    revised = {
        (row.series, row.step, tuple(vars(row).get(each) for each in ("region", "degree"))): row
        for row in revisions(divided)
    }
    rows = {(row.ratio, row.step): row for row in all_ratios(divided)}
    assert len(rows) == len(RATIOS) * 4
    text = html.unescape(re.sub(r"<[^>]+>", " ", page(divided).decode()))
    for step in range(4):
        for one, other in (("North", "North of all"), ("linked", "clustered")):
            assert rows[one, step].value == rows[other, step].value
        people, links = (revised[each, step, (None, None)].revised for each in ("people", "links"))
        north = revised["people-by-region", step, ("North", None)].revised
        for name, exact in (("links each", 2 * links / people), ("North", north / people)):
            row = rows[name, step]
            assert row.value == pytest.approx(exact, abs=0.006)
            assert row.low is None or row.low <= exact
            assert row.high is None or exact <= row.high
    assert all(rows[name, 3].said in text for name in RATIOS)


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
