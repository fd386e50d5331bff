"""Studies that count components and clusters by forests: a whole life, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from commands import graphveil
from graphveil.errors import EngineError, GraphveilError
from graphveil.graph.thresholds import ForestBound, projection_of, threshold_of
from graphveil.records import from_rows
from graphveil.report import wording
from graphveil.report.card import card
from graphveil.series.planner import plan
from graphveil.steward.reporting import write_report
from graphveil.study import Promise, StoredStudy
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import PublicPart
from plain_rules import numbered, totals

GROUPS: dict[str, Any] = {
    "name": "groups", "statistic": "components", "epsilon": "1/4", "projection": "forest:2",
}  # fmt: skip
CLUSTERS = GROUPS | {"name": "clusters", "statistic": "clusters"}
FREE: dict[str, Any] = {"bound": "none", "series": [GROUPS, CLUSTERS]}
PEOPLE = [("hub", 0), *((f"p{number}", number // 2) for number in range(6))]
STAR = [("hub", f"p{number}") for number in range(6)]
STEPS = [[1], [3], [5]], [[1], [1], [1]]  # hub and two at first, then two leaves more at each step


def published(root: Path, **changed: Any) -> StoredStudy:
    study = StoredStudy.create(root, numbered(3, **FREE | changed))
    study.add(from_rows(PEOPLE, STAR))
    study.publish(2)
    return study


def test_a_star_is_published_as_it_is_counted(root: Path) -> None:
    study = published(root)
    assert (totals(study, "groups"), totals(study, "clusters")) == STEPS
    part = PublicPart.read(study.folder.public)
    assert {each.mechanism for each in part.series} == {"box-projection"}
    assert [each.sensitivity.l1 for each in part.series] == [1, 1]


def test_steps_one_by_one_are_the_same(root: Path) -> None:
    study = StoredStudy.create(root, numbered(3, **FREE))
    for step in range(3):
        people = [(name, when) for name, when in PEOPLE if when == step]
        links = [link for link in STAR if link[1] in dict(people)]
        study.add(from_rows(people, links))
        study.publish()
    assert (totals(study, "groups"), totals(study, "clusters")) == STEPS
    write_report(study.folder.public)
    assert graphveil("verify", str(root)).code == 0


def test_directions_do_not_matter(root: Path) -> None:
    study = published(root, directed=True)
    assert (totals(study, "groups"), totals(study, "clusters")) == STEPS


def test_a_series_can_be_opened_later(root: Path) -> None:
    study = StoredStudy.create(root, numbered(3, bound="none", series=[GROUPS]))
    study.add(from_rows(PEOPLE, STAR))
    study.publish()
    study.open_series(SeriesPromise(**CLUSTERS | {"projection": "forest:3"}))
    study.publish(2)
    assert totals(study, "clusters") == [[1], [1]]
    assert study.ledger().versions[-1].series[-1].threshold() == ForestBound(3)


def test_a_study_with_a_bound_may_have_them_as_well(root: Path) -> None:
    narrow = {"degree": 2, "justification": "wrong, which the forests do not mind"}
    study = published(root, bound=narrow)
    assert totals(study, "groups") == STEPS[0]


def test_words_say_what_is_counted(root: Path) -> None:
    study = published(root)
    write_report(study.folder.public)
    part = PublicPart.read(study.folder.public)
    words = "counting at most 2 joining links per person"
    assert all(words in wording.counted_things(each) for each in part.series)
    beyond = "A group that hangs on people with more may count as several."
    page = (study.folder.public / "report.html").read_text()
    assert words in page
    assert beyond in page
    assert "each release of the series by at most 1, in every network" in page
    told = card(part)["series"][0]
    assert told["projection"] == "forest:2"
    assert told["sensitivity"]["proof"] == "docs/sensitivities.md#forests"


def test_the_file_says_it() -> None:
    free = numbered(3, **FREE)
    text = free.to_toml()
    assert 'projection = "forest:2"' in text
    assert "\nformat = 2\n" in text
    assert Promise.from_toml(text) == free
    assert Promise.from_toml(text.replace("format = 2", "format = 1")) == free
    assert "\nformat = 1\n" in numbered(3).to_toml()


def test_only_forests_speak_of_groups(root: Path) -> None:
    follows = GROUPS | {"name": "links", "statistic": "edges", "projection": "follow:100"}
    study = published(root, series=[GROUPS, follows])
    groups, links = PublicPart.read(study.folder.public).series
    assert "group" in wording.beyond_links(groups)
    assert "group" not in wording.beyond_links(links)


def test_the_short_form_means_two() -> None:
    assert projection_of("forest") == "forest:2"
    assert threshold_of("forest:5") == ForestBound(5)
    assert threshold_of(None) is None


@pytest.mark.parametrize(("branches", "height"), [(1, 1), (2, 1), (3, 2), (5, 4)])
def test_noise_is_made_for_what_one_person_can_change(branches: int, height: int) -> None:
    for name in ("components", "clusters"):
        chosen = plan(name, 9, epsilon=1, horizon=5, projection=f"forest:{branches}")
        assert chosen.request.projected_l1 == height
        expected = "range-projection" if branches == 1 else "box-projection"
        assert chosen.mechanism.name == expected


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"projection": "forest:0"}, "at least 1 link per person"),
        ({"projection": "forest:-2"}, "at least 1 link per person"),
        ({"projection": "forest:two"}, "forest:C or follow:LINKS, not 'forest:two'"),
        ({"projection": "tree:2"}, "must be a number, IxO.*forest:C or follow:LINKS, not 'tree:2'"),
        ({"parameters": {"k": 3}, "statistic": "clusters"}, "do not count clusters"),
        ({"statistic": "triangles"}, "forests do not count triangles"),
        ({"statistic": "edges"}, "forests do not count edges"),
        ({"parameters": {"window": 2}}, "forests do not count"),
        ({"projection": 2}, "nothing is known about 'components'.*forest:2 with clusters"),
        ({"mechanism": "sensdiff"}, "'projection' is required for projecting mechanisms"),
    ],
)  # fmt: skip
def test_what_forests_do_not_count_is_refused(
    root: Path, changed: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(GraphveilError, match=complaint) as refused:
        StoredStudy.create(root, numbered(3, **FREE | {"series": [GROUPS | changed]}))
    assert len(str(refused.value)) < 330
    assert not root.exists()


def test_a_study_with_forests_can_be_extended(root: Path) -> None:
    study = published(root)
    finished = graphveil("extend", str(root), "--last", "3", "--yes")
    assert finished.code == 0, finished.err
    study.add(from_rows([("new", 3)], [("new", "p0")]))
    study.publish(3)
    assert totals(study, "groups")[-1] == [5]
    assert totals(study, "clusters")[-1] == [2]  # without the hub, p0 and the new one are a pair


def test_spark_says_that_it_cannot() -> None:
    pytest.importorskip("pyspark")
    from graphveil.backends.spark.engine import SparkEngine

    with pytest.raises(EngineError, match=r"forests are solved .* local engine"):
        SparkEngine(cast("Any", None)).project(cast("Any", None), ForestBound(2))
