"""Promised ratios: refused where they mean nothing, and published as page, card and tables."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from graphveil import Study
from graphveil.errors import GraphveilError, IntegrityError, StudyError
from graphveil.graph.promises import DegreeBound
from graphveil.report.artefacts import artefacts
from graphveil.report.estimates import revisions
from graphveil.report.ratios import ANYTHING, NOTHING, all_ratios
from graphveil.series.ratios import Number, named_places
from graphveil.study import StoredStudy
from graphveil.study.history import History
from graphveil.study.promise import Promise
from graphveil.study.promise_entries import places_of
from graphveil.study.public_part import PublicPart
from studies import opened, promise

SERIES: list[dict[str, Any]] = [
    {"name": "people", "statistic": "nodes", "epsilon": "4"},
    {"name": "links", "statistic": "edges", "epsilon": "4"},
    {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "4"},
]
RATIOS = [
    {"name": "links per person", "formula": "2*links/people"},
    {"name": "with a link, in percent", "formula": "100*degrees[1]/degrees[0]"},
    {"name": "growth", "formula": "(links - before(links))/before(links)"},
]
BUDGET = {"epsilon": "20", "justification": "a test"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StoredStudy:
    place = tmp_path_factory.mktemp("ratios") / "study"
    made = opened(place, series=SERIES, ratios=RATIOS, budget=BUDGET)
    made.publish(through=2)
    return made


def part_of(study: StoredStudy) -> PublicPart:
    return PublicPart.read(study.folder.public)


def content(part: PublicPart, path: str) -> str:
    (found,) = (each for each in artefacts(part) if each.path == path)
    return found.make().decode()


def test_a_ratio_is_that_of_the_revised_values(study: StoredStudy) -> None:
    part = part_of(study)
    revised = {(row.series, row.step, row.degree): row.revised for row in revisions(part)}
    rows = [row for row in all_ratios(part) if row.ratio == "links per person"]
    assert [row.step for row in rows] == [0, 1, 2]
    for row in rows:
        exact = 2 * revised["links", row.step, None] / revised["people", row.step, None]
        assert row.value == pytest.approx(exact, abs=0.06)
        assert row.low is not None
        assert row.low <= exact
        assert row.high is None or exact <= row.high


def test_growth_begins_with_the_second_step(study: StoredStudy) -> None:
    rows = [row for row in all_ratios(part_of(study)) if row.ratio == "growth"]
    assert [row.step for row in rows] == [1, 2]


def test_page_card_and_table_have_them(study: StoredStudy) -> None:
    part = part_of(study)
    table = list(csv.DictReader(io.StringIO(content(part, "ratios.csv"))))
    assert [row["ratio"] for row in table][:3] == ["links per person"] * 3
    text = html.unescape(re.sub(r"<[^>]+>", " ", content(part, "report.html")))
    newest = {row["ratio"]: row["said"] for row in table}
    assert all(said in text for said in newest.values())
    card = json.loads(content(part, "card.json"))
    assert [each["ratio"] for each in card["ratios"]] == [each["name"] for each in RATIOS]
    assert "choice of ratios" in text


def test_without_ratios_nothing_is_said_of_them(tmp_path: Path) -> None:
    plain = opened(tmp_path / "plain", series=SERIES, budget=BUDGET)
    plain.publish(through=0)
    part = part_of(plain)
    assert "ratios.csv" not in [each.path for each in artefacts(part)]
    assert "ratios" not in json.loads(content(part, "card.json"))
    assert "ratios" not in plain.folder.study_file.read_text()
    assert plain.ledger().versions[-1].to_data()["format"] == 1


def test_a_study_file_with_ratios_has_a_format_of_its_own(study: StoredStudy) -> None:
    made = study.ledger().versions[-1]
    assert made.to_data()["format"] == 3
    assert "format = 3" in study.folder.study_file.read_text()
    assert type(made).from_toml(made.to_toml()) == made


def test_intervals_without_an_end_are_said_in_words(tmp_path: Path) -> None:
    noisy = [each | {"epsilon": "1/1000"} for each in SERIES]
    made = opened(tmp_path / "noisy", series=noisy, ratios=RATIOS[:1], budget=BUDGET)
    made.publish(through=1)
    for row in all_ratios(part_of(made)):
        assert row.said in (ANYTHING, NOTHING) or "at least" in row.said or "between" in row.said
        assert row.high is not None or "may be 0" in row.said


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("links/nobody", "there is no series 'nobody'"),
        ("links/degrees", "one number per degree"),
        ("degrees[9]/people", "one number per degree"),
        ("links[1]/people", "single number"),
        ("links/(people - links)", "may be 0"),
        ("links", "one sum over another"),
        ("recent/people", "different windows"),
        ("cut/links", "different projections"),
    ],
)
def test_ratios_that_mean_nothing_are_refused(formula: str, problem: str) -> None:
    series = [
        *SERIES,
        {"name": "recent", "statistic": "edges", "parameters": {"window": 2}, "epsilon": "1"},
        {"name": "cut", "statistic": "edges", "projection": 2, "epsilon": "1"},
    ]
    with pytest.raises(StudyError, match=re.escape(problem)) as caught:
        promise(series=series, ratios=[{"name": "r", "formula": formula}], budget=BUDGET)
    assert len(str(caught.value)) < 300


def test_people_may_be_divided_by_whatever_projection(tmp_path: Path) -> None:
    series = [SERIES[0], {"name": "cut", "statistic": "edges", "projection": 2, "epsilon": "1"}]
    ratios = [{"name": "r", "formula": "cut/people"}]
    assert promise(series=series, ratios=ratios, budget=BUDGET).ratios[0].formula == "cut/people"


def test_two_ratios_of_one_name_are_refused() -> None:
    with pytest.raises(StudyError, match="two ratios have the same name"):
        promise(series=SERIES, ratios=RATIOS[:1] * 2, budget=BUDGET)


# Ratios of cells, and ratios that are promised later.


BY_REGION: list[dict[str, Any]] = [
    {"name": "links", "statistic": "edges", "epsilon": "4"},
    {"name": "people", "statistic": "nodes", "parameters": {"by": "region"}, "epsilon": "4"},
    {"name": "among", "statistic": "edges", "parameters": {"by": "region"}, "epsilon": "4"},
    {
        "name": "alike",
        "statistic": "edges",
        "parameters": {"by": "region", "cells": "alike"},
        "epsilon": "2",
    },
    {"name": "reach", "statistic": "degree-ccdf", "parameters": {"by": "region"}, "epsilon": "4"},
]
GROUPS = {"region": {"labels": ["North", "South/East"]}}
OF_CELLS = (
    "among[between]/links",
    "among[Within]/links",
    "alike[between]/alike[mixed]",
    "among[south/east and north]/among",
    "people[South/East]/people",
    "reach[North][2]/reach[0]",
)


def divided_promise(**changes: Any) -> Promise:
    return promise(series=BY_REGION, groups=GROUPS, budget=BUDGET, **changes)


@pytest.mark.parametrize("formula", OF_CELLS)
def test_cells_are_named_as_the_page_calls_them(formula: str) -> None:
    made = divided_promise(ratios=[{"name": "a ratio", "formula": formula}])
    assert made.to_data()["format"] == 5
    assert type(made).from_toml(made.to_toml()) == made


def test_cells_within_and_between_are_all_of_them() -> None:
    places = places_of(divided_promise().series[2].counted(), DegreeBound(4))
    within, between = (
        named_places(Number("among", (word,)), places) for word in ("within", "between")
    )
    assert len(places) == 10
    assert sorted([*within, *between]) == list(range(10))
    assert [places[at][0] for at in within] == [
        {"region": each, "region_2": each} for each in ("North", "South/East", "other", "unknown")
    ]
    assert named_places(Number("among"), places) == tuple(range(10))


@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("among[North]/links", "no cell 'North'"),
        ("people[between]/people", "no cell 'between'"),
        ("people[North][2]/people", "single number"),
        ("reach[North]/people", "one number per degree"),
        ("reach[North][17]/people", "one number per degree"),
        ("reach[Mars][2]/people", "no cell 'Mars'"),
        ("links[North]/people", "single number"),
    ],
)
def test_cells_that_are_not_there_are_refused(formula: str, problem: str) -> None:
    with pytest.raises(StudyError, match=problem) as caught:
        divided_promise(ratios=[{"name": "a ratio", "formula": formula}])
    assert len(str(caught.value)) < 300


def test_a_ratio_of_cells_is_that_of_their_sum(tmp_path: Path) -> None:
    made = Study.create(
        tmp_path / "cells",
        title="Cells",
        population="made-up people",
        publisher="nobody",
        first=2001,
        last=2003,
        bound=4,
        bound_reason="a test",
        epsilon=9,
        epsilon_reason="a test",
        groups={"region": ["North", "South"]},
        series=["nodes:by=region@4=people", "edges@1=links", "edges:by=region@4=among"],
        ratios={"North": "people[North]/people", "between": "among[between]/links"},
    )
    people = [(f"p{n}", 2001 + n % 3, "North" if n % 4 else "South") for n in range(300)]
    (tmp_path / "people.csv").write_text(
        "node,time,region\n" + "".join(f"{a},{b},{c}\n" for a, b, c in people)
    )
    links = "".join(f"p{n},p{n + 1}\n" for n in range(299))
    (tmp_path / "links.csv").write_text("source,target\n" + links)
    made.add(tmp_path / "people.csv", tmp_path / "links.csv", groups={"region": "region"})
    made.publish(through="2003")
    part = PublicPart.read(tmp_path / "cells" / "public")
    revised = revisions(part)
    newest = {row.ratio: row for row in all_ratios(part) if row.step == 2}

    def estimate(series: str, cell: dict[str, str]) -> float:
        return sum(
            row.revised
            for row in revised
            if (row.series, row.step) == (series, 2) and cell.items() <= vars(row).items()
        )

    north = estimate("people", {"region": "North"}) / estimate("people", {})
    assert newest["North"].value == pytest.approx(north, abs=0.01)
    low, high = newest["North"].low, newest["North"].high
    assert low is not None
    assert high is not None
    assert low <= north <= high < 0.85
    assert newest["between"].value == pytest.approx(0.5, abs=0.2)  # 150 of 299 are, beside noise


def test_a_ratio_can_be_promised_later(tmp_path: Path) -> None:
    made = opened(tmp_path / "later", series=SERIES, budget=BUDGET)
    made.publish(through=1)
    before = made.folder.public.joinpath("ledger.jsonl").read_bytes()
    made.promise_ratio("links per person", "2*links/people")
    made.publish(through=2)
    part = part_of(made)
    assert made.folder.public.joinpath("ledger.jsonl").read_bytes().startswith(before)
    assert [row.step for row in all_ratios(part)] == [0, 1, 2]
    (entry,) = json.loads(content(part, "card.json"))["ratios"]
    assert entry["opened"] == part.steps[2].label
    assert part.promise.to_data()["format"] == 5
    assert f"(since {part.steps[2].label})" in html.unescape(content(part, "report.html"))
    assert made.ledger().history.spent == part_of(made).history.spent


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("", "links/people"),
        ("one", "links/people"),
        ("other", "links/nobody"),
        ("other", "links"),
        ("x" * 65, "links/people"),
    ],
)
def test_a_later_ratio_that_means_nothing_changes_nothing(
    tmp_path: Path, name: str, formula: str
) -> None:
    ratios = [{"name": "one", "formula": "links/people"}]
    made = opened(tmp_path / "refused", series=SERIES, budget=BUDGET, ratios=ratios)
    before = made.folder.public.joinpath("ledger.jsonl").read_bytes()
    with pytest.raises(GraphveilError) as caught:
        made.promise_ratio(name, formula)
    assert len(str(caught.value)) < 300
    assert "as a whole" not in str(caught.value)
    assert made.folder.public.joinpath("ledger.jsonl").read_bytes() == before
    made.publish(through=0)


@pytest.mark.parametrize("change", ["before the step", "another formula", "without a beginning"])
def test_a_forged_ratio_is_refused(tmp_path: Path, change: str) -> None:
    made = opened(tmp_path / "forged", series=SERIES, budget=BUDGET)
    made.publish(through=0)
    made.promise_ratio("links per person", "2*links/people")
    rows = [row.announcement for row in made.ledger().rows if row.public is not None]
    fact = json.loads(str(rows[-1].fact))
    if change == "before the step":
        fact["step"] = 0
    elif change == "another formula":
        fact["ratio"]["formula"] = "2*links/nobody"
    else:
        del fact["ratio"]["opened"]
    forged = rows[-1]._replace(fact=json.dumps(fact))
    assert History.of(rows, "the ledger").versions[-1].ratios
    with pytest.raises(IntegrityError):
        History.of([*rows[:-1], forged], "the ledger")
