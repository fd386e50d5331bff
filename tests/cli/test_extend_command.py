"""`extend`, as a steward runs it: what it shows, what it asks, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

from commands import graphveil
from steward import PROMISE, contents, people, run, run_json

SERIES = ("--series", "edges@1/4", "--series", "components:mechanism=moves@1/4=groups")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A study of four years, all of them published."""
    run("new", tmp_path / "study", *PROMISE, *SERIES)
    run("add", tmp_path / "study", *people(tmp_path / "files"))
    run("publish", tmp_path / "study", "--all", "--no-report")
    return tmp_path / "study"


def test_a_study_is_extended_once_its_price_is_confirmed(root: Path) -> None:
    before = contents(root)
    shown = run("extend", root, "--last", "2006", "--dry-run").out
    assert "From 2004 to 2006" in shown
    assert "Budget before: ε = 1, of which 0.5 is left." in shown
    assert "Budget after:  ε = 1, of which 0.375 is left." in shown
    assert "Nothing was changed." in shown
    refused = graphveil("extend", str(root), "--last", "2006")
    assert (refused.code, "Give --yes" in refused.err) == (2, True)
    assert contents(root) == before
    told = run_json("extend", root, "--last", "2006", "--yes")
    assert (told["end"], told["last"], told["price"], told["extended"]) == (
        "2004", "2006", "0.125", True,
    )  # fmt: skip
    edges, groups = told["series"]
    assert (edges["price"], groups["price"], groups["epsilon"]) == ("0", "0.125", "0.375")
    assert groups["last_new"] > groups["first_new"] > groups["last_planned"] > 0
    assert "Extended on" in (root / "public" / "report.html").read_text()
    planned = run_json("plan", root)["series"][1]
    assert planned["std"][3:] == pytest.approx(
        [groups["last_planned"], groups["first_new"], groups["last_new"]]
    )  # what it is, not what it would be if it had been planned for six years
    status = run_json("status", root)
    assert (status["next_step"], status["budget"]["epsilon_left"]) == ("2005", "0.375")
    run("publish", root, "--all")
    assert "2006" in run("releases", root).out
    assert run_json("verify", root)["verified"]


def test_what_costs_nothing_needs_no_yes(root: Path, tmp_path: Path) -> None:
    free = tmp_path / "free"
    run("new", free, *PROMISE, "--series", "edges@1/4")
    run("add", free, *people(tmp_path / "more"))
    run("publish", free, "--no-report")
    shown = run("extend", free, "--steps", "3").out
    assert "none" in shown
    assert "Extended: the last step is 2007 now." in shown
    paid = run_json("extend", root, "--steps", "1", "--price", "groups=1/20", "--yes")
    assert paid["price"] == "0.05"


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (["--last", "2003"], 7, "goes on to 2004 already"),
        ([], 2, "either the new last step"),
        (["--last", "2006", "--steps", "2"], 2, "either the new last step"),
        (["--last", "next year"], 3, "cannot be read"),
        (["--steps", "2", "--price", "groups"], 2, "NAME=E"),
        (["--steps", "2", "--price", "groups=x"], 2, "must be a number"),
        (["--steps", "2", "--price", "groups=-1"], 2, "negative"),
        (["--steps", "2", "--price", "groups=1", "--price", "groups=2"], 2, "twice"),
        (["--steps", "2", "--price", "nodes=1/4"], 2, "there is no series 'nodes'"),
        (["--steps", "2", "--price", "groups=3/4"], 8, "0.5 is left"),
    ],
)
def test_what_is_refused_changes_nothing(
    root: Path, given: list[str], code: int, words: str
) -> None:
    before = contents(root)
    refused = graphveil("extend", str(root), *given, "--yes")
    assert words in refused.err
    assert refused.code == code
    assert len(refused.err) < 320
    assert contents(root) == before


def test_an_adoption_with_a_price_shows_it_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "old"))
    root = tmp_path / "study"
    run("new", root, *PROMISE, "--series", "components:mechanism=optimised-moves@1/2=groups")
    run("add", root, *people(tmp_path / "files"))
    run("publish", root, "--no-report")
    copy = copytree(root, tmp_path / "copy")
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "new"))
    asked = graphveil("adopt", str(copy), "--reason", "moved")
    assert asked.code == 2
    assert "Fresh noise for groups costs ε = 0." in asked.out
    assert "Budget after: ε = 1, of which 0." in asked.out
    done = json.loads(
        run("adopt", copy, "--reason", "moved", "--price", "groups=0.2", "--yes", "--json").out
    )
    assert (done["price"], done["budget"]["epsilon_left"]) == ("0.2", "0.3")
    run("publish", copy)
    assert run_json("verify", copy)["verified"]
