"""`graphveil rehearse`: a whole page before anything is spent, with the truth on it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from commands import ROOT, graphveil
from graphveil.lab.rehearsal import at_budget, made_up, rehearse
from graphveil.study import Promise
from steward import PROMISE, contents, drafted, opened, run, run_json
from studies import promise

SIZES = ("--people", "80", "--links", "60")
CLINIC = (
    "--like", str(ROOT / "examples/clinic/nodes.csv"),
    "--like", str(ROOT / "examples/clinic/edges.csv"),
)  # fmt: skip


def test_a_draft_is_played_to_its_end_and_nothing_is_spent(tmp_path: Path) -> None:
    study = drafted(tmp_path / "study")
    before = contents(study)
    finished = run("rehearse", study, *SIZES, "--to", tmp_path)
    assert "Nothing is spent" in finished.out
    page = (tmp_path / "rehearsal-of-study.html").read_text(encoding="utf-8")
    assert "Rehearsal: A study for tests" in page
    assert "everybody on this page is made up" in page
    assert ">true<" in page, "the truth is drawn, too"
    assert "ledger.jsonl" not in page, "there is nothing to download"
    assert contents(study) == before
    assert "draft" in run("status", study).out


def test_budgets_stand_side_by_side(tmp_path: Path) -> None:
    study = drafted(tmp_path / "study")
    budgets = ("--epsilon", "1/2", "--epsilon", "1000", "--epsilon", "0.5")
    found = run_json("rehearse", study, *SIZES, *budgets, "--to", tmp_path / "pages")
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == [
        "rehearsal-of-study-epsilon-0.5.html",
        "rehearsal-of-study-epsilon-1000.html",
    ]
    noisy, sharp = found["numbers"]
    assert noisy["true"] == sharp["true"], "the same people"
    assert sharp["published"] == sharp["true"], "with almost no noise"


def test_the_sizes_that_are_expected_are_taken(tmp_path: Path) -> None:
    series = ("--series", "nodes@1/4")
    sizes = ("--expected", "nodes=90", "--expected", "edges=70", "--yes")
    study = drafted(tmp_path / "study", *series, *sizes)
    found = run_json("rehearse", study, "--to", tmp_path)["numbers"]
    assert {each["series"]: each["true"] for each in found}["nodes"] == 90
    refused = graphveil("rehearse", str(drafted(tmp_path / "other")))
    assert refused.code == 2
    assert "--people N" in refused.err or "--links N" in refused.err


def test_every_cell_of_a_breakdown_stands_beside_its_truth(tmp_path: Path) -> None:
    group = ("--group", "region=North|South")
    study = drafted(tmp_path / "study", *group, "--series", "nodes:by=region@1/4=people")
    people = {
        each["series"]: each["true"]
        for each in run_json("rehearse", study, *SIZES, "--to", tmp_path)["numbers"]
        if each["series"].startswith("people, ")
    }
    assert list(people) == [f"people, {each}" for each in ("North", "South", "other", "unknown")]
    assert sum(people.values()) == 80
    assert "people, North" in (tmp_path / "rehearsal-of-study.html").read_text(encoding="utf-8")


def test_of_distributions_alone_no_empty_table_is_shown(tmp_path: Path) -> None:
    study = tmp_path / "study"
    run("new", study, *PROMISE, "--series", "degree-ccdf@1", "--yes")
    assert "The truth" not in run("rehearse", study, *SIZES, "--to", tmp_path).out


def test_a_public_network_is_stretched_over_the_calendar(tmp_path: Path) -> None:
    study = drafted(tmp_path / "study")
    run("rehearse", study, *CLINIC, "--to", tmp_path)
    page = (tmp_path / "rehearsal-of-study.html").read_text(encoding="utf-8")
    assert "the people of a public network" in page
    assert "2001 to 2004" in page


def test_records_of_a_study_are_not_rehearsed_with(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    batch = next((study / "private").rglob("*.parquet"))
    refused = graphveil("rehearse", str(study), "--like", str(batch))
    assert refused.code != 0
    assert "belongs to the records of a study" in refused.err
    assert not list(Path().glob("rehearsal-of-*"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--people", "-3", "--links", "4"), "people: must be a whole number"),
        (("--people", "9", "--links", "a few"), "links: must be a whole number"),
        (("--people", "999999999", "--links", "4"), "people: must be from 1 to 200,000"),
        ((*SIZES, "--epsilon", "0"), "epsilon: must"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, options: tuple[str, ...], message: str) -> None:
    refused = graphveil("rehearse", str(drafted(tmp_path / "study")), *options)
    assert refused.code == 2
    assert message in refused.err


def test_every_series_keeps_its_part_of_the_budget() -> None:
    scaled = at_budget(promise(), Fraction(3))
    assert [each.epsilon for each in scaled.series] == ["0.75", "0.75"]
    assert scaled.budget.epsilon == "3"


def test_made_up_people_keep_the_promise_and_come_evenly() -> None:
    found = made_up(promise(), 40, 50)
    assert found.nodes.frame["time"].value_counts()["count"].to_list() == [10] * 4
    ends = [*found.edges.frame["source"], *found.edges.frame["target"]]
    assert max(ends.count(each) for each in set(ends)) <= 4


def test_a_rehearsal_shows_the_truth_of_every_step() -> None:
    mine: Promise = promise()
    found = rehearse(mine, made_up(mine, 40, 30))
    assert len(found.part.steps) == 4
    edges = [values[0] for values in found.truth["edges"]]
    assert edges == sorted(edges)
    assert edges[-1] == len(made_up(mine, 40, 30).edges.frame)
    assert all(len(values) == 5 for values in found.truth["degrees"])
