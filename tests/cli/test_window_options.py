"""A window on the command line: counts, sensitivities, plans and study files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from steward import PROMISE, run

CLINIC = ["--nodes", "examples/clinic/nodes.csv", "--edges", "examples/clinic/edges.csv"]


def as_json(*arguments: str) -> Any:
    finished = graphveil(*arguments, "--json")
    assert finished.code == 0, finished.err
    return json.loads(finished.out)


def test_values_of_a_window_are_no_totals() -> None:
    plain = as_json("count", "edges", *CLINIC)
    recent = as_json("count", "edges", "--window", "2", *CLINIC)
    assert "totals" not in recent
    assert "differences" not in recent
    assert len(recent["values"]) == len(plain["totals"])
    assert recent["values"][0] == plain["totals"][0]
    assert recent["values"][-1] < plain["totals"][-1]
    long = as_json("count", "edges", "--window", "1000", *CLINIC)
    assert long["values"] == plain["totals"]
    shown = graphveil("count", "growing-clusters", "--k", "2", "--window", "3", *CLINIC)
    assert shown.code == 0
    assert "value" in shown.out
    assert "difference" not in shown.out


def test_the_sensitivity_is_of_all_releases_together() -> None:
    found = as_json("sensitivity", "clusters", "--k", "3", "--window", "3", "--bound", "10")
    assert (found["l1"], found["static_l1"], found["l2_squared"]) == (27, 9, 243)
    words = "changes of 9 in a release, each of them in no more than 3 in a row"
    assert found["shape"] == {"kind": "recent", "window": 3, "height": 9, "span": 10} | {
        "words": words
    }
    table = graphveil("sensitivity", "edges", "--window", "3", "--bound", "10", "--hubs", "2").out
    assert "all releases together, L1" in table
    assert "36" in table
    assert "difference" not in table


def test_a_plan_needs_no_horizon() -> None:
    for horizon in ("unknown", "12", "400"):
        found = as_json(
            "plan", "edges", "--window", "12", "--bound", "10", "--epsilon", "1",
            "--horizon", horizon,
        )  # fmt: skip
        assert found["choice"] == "recent-blocks"
        means = {each["name"]: each["mean_std"] for each in found["mechanisms"]}
        assert set(means) == {"recent", "recent-blocks"}
        assert means["recent-blocks"] == pytest.approx(0.612 * means["recent"], rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("sensitivity", "edges", "--window", "0"), "window: must be a whole number of at least 1"),
        (("sensitivity", "edges", "--window", "-2"), "window: must be a whole number"),
        (("sensitivity", "growing-clusters"), "window: is needed by 'growing-clusters'"),
        (
            ("sensitivity", "growing-clusters", "--window", "2", "--newest", "3"),
            "newest: 3 steps are more than the window of 2",
        ),
        (("sensitivity", "edges", "--newest", "1"), "newest: has no meaning for 'edges'"),
        (
            ("plan", "edges", "--window", "9", "--epsilon", "1", "--horizon", "8"),
            "window: of 9 steps is longer than the 8 releases",
        ),
        (
            ("plan", "edges", "--window", "3", "--epsilon", "1", "--mechanism", "sensdiff"),
            "sensdiff is for people who stay",
        ),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    finished = graphveil(*arguments, "--bound", "4")
    assert finished.code != 0
    assert problem in " ".join(finished.err.split())
    assert len(finished.err) < 300


def test_a_study_with_windows(tmp_path: Path) -> None:
    wanted = ["--series", "clusters:k=3,window=3", "--series", "growing-clusters:window=2@1/8"]
    run("new", tmp_path / "study", *PROMISE, *wanted)
    file = (tmp_path / "study" / "public" / "study.toml").read_text(encoding="utf-8")
    series = tomllib.loads(file)["series"]
    assert [each["name"] for each in series] == ["clusters-3-last-3", "growing-clusters-last-2"]
    assert series[0]["parameters"] == {"k": 3, "window": 3}
    assert [each["mechanism"] for each in series] == ["recent-blocks", "recent"]
