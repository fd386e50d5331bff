"""The attack on costs: no shape may be broken, and every shape that is too small must be."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab.attacks.costs import attack_costs, matrices, replayed_cost
from graphveil.lab.attacks.sweep import BOUNDS, admits, every_statistic
from graphveil.lab.pairs import Definition
from graphveil.statistics.sensitivity import Bins, Mass, Moves, Sensitivity, Shape
from graphveil.statistics.statistic import Statistic, statistic

HIGH, LOW = statistic("high-degree", tau=1), statistic("high-out-degree", tau=1)
COMPONENTS, EDGES = statistic("components"), statistic("edges")
CCDF, HISTOGRAM = statistic("degree-ccdf"), statistic("degree-histogram")
# The bins of a histogram never do their worst together; clusters need larger graphs than these.
HARD_TO_REACH = {"degree-histogram", "clusters", "clustered"}
TWO, THREE, MIXED = DegreeBound(2), DegreeBound(3), InOutBound(1, 2)


@pytest.mark.parametrize(
    ("example", "bound"),
    [
        (HIGH, TWO),
        (HIGH, THREE),
        (LOW, MIXED),
        (COMPONENTS, TWO),
        (COMPONENTS, THREE),
        (COMPONENTS, MIXED),
        (statistic("clusters", k=2), TWO),
        (statistic("clustered", k=2), TWO),
        (EDGES, THREE),
        (CCDF, TWO),
        (HISTOGRAM, TWO),
        (statistic("out-degree-histogram"), MIXED),
        (statistic("triangles"), THREE),
    ],
    ids=str,
)
def test_no_change_is_dearer_than_its_shape_says(example: Statistic, bound: Bound) -> None:
    """And the two matrices that mechanisms live on cost just what is claimed."""
    findings = {each.matrix: each for each in attack_costs(example, bound, moves=1_000)}
    assert not [each for each in findings.values() if each.broken]
    if example.name not in HARD_TO_REACH:
        assert findings["identity"].reached
        assert findings["bridge"].reached


@pytest.mark.slow
def test_no_statistic_has_a_shape_that_breaks() -> None:
    for example in every_statistic():
        for bound in BOUNDS:
            if admits(example, bound):
                broken = [each for each in attack_costs(example, bound) if each.broken]
                assert not broken, (example, bound, broken)


def test_a_witness_can_be_replayed() -> None:
    for finding in attack_costs(HIGH, TWO, sizes=((4, 4),), moves=0):
        assert finding.witness is not None
        cost = replayed_cost(HIGH, finding.witness, matrices(4)[finding.matrix])
        assert cost == finding.found


@dataclass(frozen=True)
class Claiming:
    """A statistic that claims another shape than its own."""

    honest: Statistic
    claimed: Shape

    @property
    def definition(self) -> Definition:
        return self.honest.definition

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        return self.honest.definition_arguments(directed=directed)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        return self.honest.sensitivity(bound)

    def shape(self, bound: Bound) -> Shape:
        return self.claimed


@pytest.mark.parametrize(
    ("honest", "bound", "claimed"),
    [
        (HIGH, TWO, Moves(2, 2)),  # the person itself forgotten
        (HIGH, TWO, Moves(3, 1)),  # a move too few
        (HIGH, THREE, Moves(2, 1)),  # halved
        (HIGH, TWO, Mass(4)),
        (LOW, MIXED, Moves(2, 0)),  # moves that are denied
        (COMPONENTS, THREE, Moves(3, 2)),
        (COMPONENTS, MIXED, Moves(1, 3)),
        (EDGES, THREE, Moves(2, 1)),  # edges that appear, taken for moves
        (EDGES, THREE, Mass(2)),
        (CCDF, TWO, Bins((Moves(1, 0), Moves(3, 1), Moves(3, 0)))),
        (HISTOGRAM, TWO, Bins((Moves(3, 3), Moves(2, 3), Moves(3, 0)))),
    ],
    ids=str,
)
def test_a_shape_that_is_too_small_is_found(
    honest: Statistic, bound: Bound, claimed: Shape
) -> None:
    findings = attack_costs(Claiming(honest, claimed), bound, moves=1_000)
    assert any(each.broken for each in findings)
