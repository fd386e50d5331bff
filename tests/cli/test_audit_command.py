"""`graphveil audit` as a user runs it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from commands import Finished, graphveil
from graphveil.cli.commands.measuring import REMINDER, VIOLATION
from graphveil.statistics.edges import Edges
from graphveil.statistics.sensitivity import Sensitivity

QUICK = ("--bound", "2", "--epsilon", "1", "--horizon", "4", "--runs", "2000", "--seed", "3")


def audit(*arguments: str) -> Finished:
    return graphveil("audit", *arguments)


def test_a_sound_mechanism_passes_with_a_reminder() -> None:
    found = audit("edges", *QUICK, "--mechanism", "sensdiff")
    assert found.code == 0, found.err
    assert "no violation found" in found.out
    assert REMINDER in found.out
    assert "ε = 1" in found.out
    assert not found.err


def test_json_holds_the_whole_outcome() -> None:
    found = audit("edges", *QUICK, "--mechanism", "compose-projection", "--json")
    data: dict[str, Any] = json.loads(found.out)
    assert found.code == 0
    assert data["mechanism"] == "compose-projection"
    assert data["epsilon"] == "1"
    assert data["delta"] is None
    assert 0 <= data["lower_bound"] < 1
    assert data["violated"] is False
    assert data["simulation"]["runs"] == 2000
    assert data["release"]["runs"] == 20


def test_promises_with_hubs_are_audited() -> None:
    found = audit("edges", *QUICK, "--hubs", "1", "--json")
    assert found.code == 0, found.err
    data = json.loads(found.out)
    assert data["subject"] == "edges, at most 1 neighbours of degree above 2"
    assert 0.3 < data["lower_bound"] < 1
    assert audit("edges", *QUICK, "--hubs", "x").code == 2


def test_auto_takes_the_best_mechanism_of_an_unknown_horizon() -> None:
    found = audit("triangles", "--bound", "3", "--epsilon", "0.5", "--runs", "1000", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["horizon"] is None


def test_a_violation_ends_with_its_own_code() -> None:
    honest = Edges.sensitivity

    def too_small(self: Edges, bound: Any) -> Sensitivity:
        return replace(honest(self, bound), l1=1)

    with mock.patch.object(Edges, "sensitivity", too_small):
        found = audit("edges", *QUICK, "--mechanism", "sensdiff")
    assert found.code == VIOLATION == 6
    assert "Verdict: violation" in found.out


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("edges", "--bound", "2", "--epsilon", "0"), "epsilon"),
        (("edges", "--bound", "2", "--epsilon", "much"), "epsilon"),
        (("edges", "--bound", "0", "--epsilon", "1"), "bound"),
        (("edges", "--bound", "99", "--epsilon", "1"), "bound"),
        (("edges", "--bound", "2", "--epsilon", "1", "--horizon", "0"), "horizon"),
        (("edges", "--bound", "2", "--epsilon", "1", "--delta", "1"), "delta"),
        (("edges", "--bound", "2", "--epsilon", "1", "--runs", "5"), "runs"),
        (("edges", "--bound", "2", "--epsilon", "1", "--mechanism", "magic"), "mechanism"),
        (("high-degree", "--tau", "3", "--bound", "2", "--epsilon", "1"), "tau"),
    ],
)
def test_bad_parameters_are_named(arguments: tuple[str, ...], named: str) -> None:
    found = audit(*arguments)
    assert found.code == 2
    assert found.err.startswith(f"graphveil: {named}")
