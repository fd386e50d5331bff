"""Studies that promise nothing about links: what they take, say and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import GraphveilError, StudyError
from graphveil.graph.promises import DegreeBound, NoBound
from graphveil.records import from_rows
from graphveil.report import statement
from graphveil.report.card import card
from graphveil.series.planner import best, compare, plan
from graphveil.statistics.change import projectable
from graphveil.statistics.statistic import registered, statistic
from graphveil.steward.reporting import write_report
from graphveil.steward.status import status
from graphveil.study import Promise, StoredStudy
from graphveil.study.public_part import PublicPart
from plain_rules import numbered, totals

CUT: dict[str, Any] = {"name": "cut", "statistic": "edges", "epsilon": "1/4", "projection": 2}
HIGH = CUT | {"name": "high", "statistic": "high-degree", "parameters": {"tau": 2}}
NODES = {"name": "nodes", "statistic": "nodes", "epsilon": "1/4"}
FREE: dict[str, Any] = {"bound": "none", "series": [CUT, HIGH, NODES]}
PEOPLE = [("hub", 0), *((f"p{number}", number // 2) for number in range(6))]
STAR = [("hub", f"p{number}") for number in range(6)]


def opened(root: Path) -> StoredStudy:
    study = StoredStudy.create(root, numbered(3, **FREE))
    study.add(from_rows(PEOPLE, STAR))
    return study


def test_any_network_is_published(root: Path) -> None:
    study = opened(root)
    assert study.publish(2).steps == [0, 1, 2]
    assert totals(study, "cut") == [[2], [2], [2]]
    assert totals(study, "high") == [[1], [1], [1]]
    assert totals(study, "nodes") == [[3], [5], [7]]


def test_nobody_can_be_beyond_a_promise_that_is_not_made(root: Path) -> None:
    study = StoredStudy.create(root, numbered(3, **FREE))
    found = study.add(from_rows(PEOPLE, STAR)).findings
    assert (found.keeps_bound, found.people_beyond) == (True, 0)
    assert "WARNING" not in " ".join(found.lines())


def test_the_best_noise_for_projections_is_chosen(root: Path) -> None:
    study = opened(root)
    part = PublicPart.read(study.folder.public)
    named = {each.series: each.mechanism for each in part.series}
    assert (named["cut"], named["high"]) == ("range-projection", "box-projection")
    assert named["nodes"] not in ("range-projection", "box-projection")


def test_words_say_that_it_holds_for_every_network(root: Path) -> None:
    study = opened(root)
    study.publish()
    write_report(study.folder.public)
    part = PublicPart.read(study.folder.public)
    told = card(part)
    assert "holds for every network" in told["unit_of_privacy"]["assumption"]
    assert "would not be published" not in told["unit_of_privacy"]["assumption"]
    assert (
        "nothing is assumed about their degrees" in told["unit_of_privacy"]["neighbours_formally"]
    )
    assert told["choices"]["degree_bound"]["value"] == "no bound"
    cut = told["series"][0]["sensitivity"]
    assert (cut["l1"], cut["proof"]) == (2, "docs/sensitivities.md#after-projection")
    assert "every network" in cut["assumption"]
    page = (study.folder.public / "report.html").read_text()
    assert "Bound: any number of links" in page
    assert "each release of the series by at most 2, in every network" in page
    assert ("degree bound", "none") in statement.not_protected(part)
    assert "holds for every network" in status(root).promised


def test_the_file_says_it() -> None:
    free = numbered(3, **FREE)
    assert '\nbound = "none"\n' in free.to_toml()
    assert Promise.from_toml(free.to_toml()) == free
    assert free.degree_bound == NoBound()
    with pytest.raises(StudyError, match="must be a table"):
        numbered(3, **FREE | {"bound": "no"})
    with pytest.raises(StudyError, match="must be a table"):
        numbered(3, **FREE | {"bound": None})


def test_a_directed_study_does_without_as_well(root: Path) -> None:
    cut = CUT | {"projection": (1, 2)}
    study = StoredStudy.create(root, numbered(3, directed=True, bound="none", series=[cut]))
    study.add(from_rows(PEOPLE, STAR))
    study.publish(2)
    assert totals(study, "cut") == [[2], [2], [2]]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"projection": None}, "edges needs one.*or take nodes.*edges, high-degree"),
        ({"statistic": "triangles"}, "nothing is known about 'triangles'.*works with degree-ccdf"),
        ({"projection": (2, 2)}, "projection: must be one number"),
        ({"mechanism": "sensdiff"}, "'projection' is required for projecting mechanisms"),
        ({"mechanism": "range-projection", "statistic": "high-degree", "parameters": {"tau": 1}},
         "only raise"),
    ],
)  # fmt: skip
def test_what_needs_a_bound_is_refused(root: Path, changed: dict[str, Any], complaint: str) -> None:
    with pytest.raises(GraphveilError, match=complaint) as refused:
        StoredStudy.create(root, numbered(3, **FREE | {"series": [CUT | changed]}))
    assert len(str(refused.value)) < 300
    assert not root.exists()


def test_a_projection_without_an_end_is_refused(root: Path) -> None:
    endless = {"every": 1, "unit": "number", "first": 0}
    with pytest.raises(GraphveilError, match=r"horizon: must be known.*last step"):
        StoredStudy.create(root, numbered(3, **FREE | {"calendar": endless}))
    known = [CUT | {"horizon": 5}]
    promise = numbered(3, bound="none", calendar=endless, series=known)
    assert StoredStudy.create(root, promise).folder.study_file.exists()


def test_those_that_work_are_those_that_can_be_projected() -> None:
    assert {"edges", "high-degree", "stars", "degree-ccdf"} < set(projectable())
    assert "components" not in projectable()
    free = [name for name, member in registered().items() if not member.needs_bound]
    assert free == ["nodes"]


def test_the_planner_compares_what_is_left() -> None:
    found = compare(statistic("edges"), NoBound(), epsilon=1, horizon=5, projection=DegreeBound(3))
    admitted = {each.name for each in found if each.plan}
    assert {"range-projection", "compose-projection"} <= admitted
    assert "sensdiff" not in admitted
    assert best(found, projecting=True).mechanism.name == "range-projection"
    with pytest.raises(GraphveilError, match="needs a degree bound"):
        plan(statistic("edges"), NoBound(), epsilon=1, horizon=5)
    assert plan(statistic("nodes"), NoBound(), epsilon=1, horizon=None).request.sensitivity.l1 == 1


def test_the_degree_distribution_is_published_after_projection(root: Path) -> None:
    ccdf = {"name": "ccdf", "statistic": "degree-ccdf", "epsilon": "1/2", "projection": 2}
    histogram = ccdf | {"name": "histogram", "statistic": "degree-histogram"}
    study = StoredStudy.create(root, numbered(3, bound="none", series=[ccdf, histogram]))
    study.add(from_rows([("hub", 0), *((f"p{n}", 0) for n in range(4))], STAR[:4]))
    study.publish(2)
    assert totals(study, "ccdf")[-1] == [5, 3, 1], "two of four links are left"
    assert totals(study, "histogram")[-1] == [2, 2, 1]
    part = PublicPart.read(study.folder.public)
    assert {each.mechanism for each in part.series} == {"compose-projection"}


def test_noise_for_one_number_is_refused_where_there_are_several(root: Path) -> None:
    wide = {"name": "c", "statistic": "degree-ccdf", "epsilon": "1/2", "projection": 2}
    for name in ("box-projection", "range-projection"):
        with pytest.raises(GraphveilError, match="one number per release"):
            StoredStudy.create(root, numbered(3, bound="none", series=[wide | {"mechanism": name}]))
