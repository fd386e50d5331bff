"""The table of how often intervals hold, at a small size: its program runs and finds them held."""

from __future__ import annotations

import runpy
from typing import Any

import numpy as np
import pytest

from commands import ROOT
from graphveil.lab.simulation import simulate
from graphveil.statistics.statistic import statistic


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "benchmarks" / "interval_coverage.py"))


@pytest.mark.parametrize("counted", [statistic("edges"), statistic("edges", window=4)], ids=str)
def test_every_interval_holds_as_often_as_it_says(program: dict[str, Any], counted: Any) -> None:
    for plan in program["plans"](counted):
        noise = simulate(plan, 1_000, np.random.default_rng(4), program["STEPS"])
        held = [program["of_level"](plan, noise)]
        held += [program["of_change"](plan, change, noise) for change in program["CHANGES"]]
        assert all(each.shares.mean() > 0.94 for each in held), plan.mechanism.name


def test_the_table_has_a_row_for_each_mechanism(program: dict[str, Any]) -> None:
    shown = (ROOT / "benchmarks" / "INTERVALS.md").read_text(encoding="utf-8")
    for counted in program["COUNTED"]:
        for plan in program["plans"](counted):
            assert f"| {counted} | {program['named'](plan)} |" in shown
