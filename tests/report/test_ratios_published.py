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

from graphveil.errors import StudyError
from graphveil.report import artefacts
from graphveil.report.histories import revisions
from graphveil.report.ratios import ANYTHING, NOTHING, all_ratios
from graphveil.study import StoredStudy
from graphveil.study.public.public_part import PublicPart
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
