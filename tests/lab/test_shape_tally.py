"""The tally of shapes and hubs: what it shows, and that a claim which is too small breaks it."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from graphveil.lab.__main__ import main
from graphveil.lab.attacks.sweep import SHAPE_HEADINGS, attack_shapes
from graphveil.statistics.edges import Edges
from graphveil.statistics.sensitivity import Mass
from graphveil.statistics.statistic import statistic

EDGES = statistic("edges")


def test_costs_and_hubs_are_found_as_claimed() -> None:
    rows = [
        dict(zip(SHAPE_HEADINGS, each.row(), strict=True))
        for each in attack_shapes([EDGES], moves=300)
    ]
    assert [row["graphs"] for row in rows] == ["undirected", "directed"]
    for row, cost, far in zip(rows, ("3 = 3", "4 = 4"), ("3 = 3", "4 = 4"), strict=True):
        assert (row["alone"], row["L1"], row["verdict"]) == (cost, far, "holds")
        assert row["matrices"] == "8 of 8"


def test_a_shape_that_is_too_small_breaks_the_tally(capsys: pytest.CaptureFixture[str]) -> None:
    def too_small(self: Edges, bound: Any) -> Mass:
        return Mass(self.sensitivity(bound).l1 - 1)

    with mock.patch.object(Edges, "shape", too_small):
        assert main(["edges", "--shapes"]) == 1
    assert "broken" in capsys.readouterr().out
