"""`--minimise`, as a steward types it, from the table to the study that follows it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from steward import contents, drafted, opened, people, run, run_json

TRIANGLES = ("plan", "triangles", "--bound", "9", "--epsilon", "1", "--horizon", "20")
OBJECTIVES = ["mean", "mean:equal", "relative", "last", "worst", "differences"]


def planned(*more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(graphveil(*TRIANGLES, *more, "--json").out)
    return found


def test_the_table_shows_every_objective_for_every_mechanism() -> None:
    finished = graphveil(*TRIANGLES, "--minimise", "windows:4", "--all")
    heading = next(line for line in finished.out.splitlines() if "mechanism" in line)
    assert heading.split()[-7:] == ["windows:4", *OBJECTIVES]
    short = graphveil(*TRIANGLES, "--minimise", "windows:4").out
    heading = next(line for line in short.splitlines() if "mechanism" in line)
    assert heading.split() == ["mechanism", "windows:4", "mean", "last", "worst", "differences"]
    assert "Minimised: windows:4, the mean error of what is new over K steps." in finished.out
    for each in planned("--minimise", "windows:4")["mechanisms"]:
        assert list(each["errors"]) == ["windows:4", *OBJECTIVES]
        assert min(each["errors"].values()) > 0


@pytest.mark.parametrize("text", OBJECTIVES)
def test_the_choice_is_the_best_at_what_was_asked(text: str) -> None:
    found = planned("--minimise", text)
    errors = {each["name"]: each["errors"][text] for each in found["mechanisms"]}
    assert found["minimise"] == text
    assert errors[found["choice"]] <= 1.001 * min(errors.values())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("mena", "Did you mean 'mean'?"),
        ("mean:1,2", "has 2 weights for 20 releases"),
        ("windows:21", "longer than 20 releases"),
    ],
)
def test_nonsense_is_refused_with_a_hint(text: str, complaint: str) -> None:
    finished = graphveil(*TRIANGLES, "--minimise", text)
    assert finished.code == 2
    assert complaint in finished.err
    assert finished.out == ""


def series_of(root: Path) -> dict[str, Any]:
    text = (root / "public" / "study.toml").read_text(encoding="utf-8")
    return {each["name"]: each for each in tomllib.loads(text)["series"]}


def test_a_new_study_says_what_it_minimises(tmp_path: Path) -> None:
    usual = drafted(tmp_path / "usual")
    assert {each["minimise"] for each in series_of(usual).values()} == {"mean"}
    told = drafted(
        tmp_path / "told", "--minimise", "worst", "--series", "nodes:minimise=windows:2@1/8"
    )
    named = {name: each["minimise"] for name, each in series_of(told).items()}
    assert named.pop("nodes") == "windows:2"
    assert set(named.values()) == {"worst"}
    assert {each["minimise"] for each in run_json("plan", told)["series"]} == {"worst", "windows:2"}


def test_what_does_not_fit_the_calendar_leaves_no_study(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"longer than 4 releases"):
        drafted(tmp_path / "study", "--minimise", "windows:5")
    assert not (tmp_path / "study").exists()


def test_a_series_that_is_opened_later_follows_its_own(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    before = contents(root)
    asked = ("series", root, "--open", "triangles", "--epsilon", "1/8")
    assert run_json(*asked, "--minimise", "last", "--dry-run")["minimise"] == "last"
    assert graphveil(*map(str, asked), "--minimise", "mean:1,2").code == 2
    assert contents(root) == before
    run(*asked, "--minimise", "last")
    assert series_of(root)["triangles"]["minimise"] == "last"
    run("publish", root)
    run("verify", root)


def test_a_study_that_says_nothing_is_as_it_was(tmp_path: Path) -> None:
    """Studies were begun before it could be said: they follow the plain mean, and stay so."""
    root = drafted(tmp_path / "study")
    file = root / "public" / "study.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('minimise = "mean"\n', ""), encoding="utf-8")
    assert {each["minimise"] for each in run_json("plan", root)["series"]} == {"mean:equal"}
    run("add", root, *people(tmp_path / "files"))
    run("publish", root)
    run("verify", root)
    assert "minimise" not in file.read_text(encoding="utf-8")
