"""A tester needs a test: wrong claims of every sort must be caught."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab import QUICK, Effort, Finding, attack, exhaustive, replay
from graphveil.lab.pairs import MEASURES, Definition, Relation
from graphveil.statistics.sensitivity import Measure, Sensitivity
from graphveil.statistics.statistic import Statistic, statistic


@dataclass(frozen=True)
class Claiming:
    """A statistic that claims `number` for one measure, and to be exact in it."""

    honest: Statistic
    measure: Measure
    number: int

    @property
    def definition(self) -> Definition:
        return self.honest.definition

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        return self.honest.definition_arguments(directed=directed)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        truth = self.honest.sensitivity(bound)
        exact_for = truth.exact_for | {self.measure}
        stored = "variation" if self.measure == "variation_squared" else self.measure
        changed = {stored: self.number}
        return replace(truth, exact_for=exact_for, **changed)  # type: ignore[arg-type]


def relation_of(measure: Measure) -> Relation:
    return "edge" if measure in MEASURES["edge"] else "node"


def verdict_on(claim: Claiming, bound: Bound, effort: Effort = QUICK) -> Finding:
    outcome = attack(claim, bound, relation=relation_of(claim.measure), effort=effort)
    return outcome.finding(claim.measure)


HISTOGRAM = statistic("degree-histogram")
TRANSITIVE = statistic("transitive-triangles")
TOO_SMALL = {
    "the paper's transitive triangles": (TRANSITIVE, "l1", 15, InOutBound(3, 3)),
    "oriented transitive triangles, not oriented": (TRANSITIVE, "l1", 9, InOutBound(3, 3)),
    "2D for high degree": (statistic("high-degree", tau=2), "l1", 6, DegreeBound(3)),
    "4D² − 2 for the histogram, D = 2": (HISTOGRAM, "l1", 14, DegreeBound(2)),
    "4D² − 2 for the histogram, D = 3": (HISTOGRAM, "l1", 34, DegreeBound(3)),
    "half of the triangles": (statistic("triangles"), "l1", 3, DegreeBound(4)),
    "a static number": (statistic("high-degree", tau=2), "static_l1", 3, DegreeBound(3)),
    "a static number as if nothing were recounted": (HISTOGRAM, "static_l1", 1, DegreeBound(2)),
    "an L2 number": (statistic("degree-ccdf"), "l2_squared", 18, DegreeBound(2)),
    "L2² in place of V²": (statistic("degree-ccdf"), "variation_squared", 19, DegreeBound(2)),
    "L1 in place of L2²": (statistic("triangles"), "l2_squared", 6, DegreeBound(4)),
    "an edge-level number": (HISTOGRAM, "edge_l1", 11, DegreeBound(2)),
    "clusters that never merge": (statistic("clusters"), "l1", 4, DegreeBound(3)),
    "clusters of three, too": (statistic("clusters", k=3), "l1", 5, DegreeBound(3)),
    "clusters along one link": (statistic("clusters", k=3), "edge_l1", 3, DegreeBound(2)),
    "people never outgrow": (statistic("clustered", k=3), "l1", 7, DegreeBound(3)),
    "one person short": (statistic("clustered", k=3), "l1", 24, InOutBound(3, 3)),
    "a directed edge-level number": (TRANSITIVE, "edge_l1", 5, InOutBound(3, 3)),
}


@pytest.mark.parametrize("case", TOO_SMALL.values(), ids=TOO_SMALL.keys())
def test_a_claim_that_is_too_small_is_broken(case: tuple[Statistic, Measure, int, Bound]) -> None:
    honest, measure, number, bound = case
    finding = verdict_on(Claiming(honest, measure, number), bound)
    assert finding.broken
    assert finding.verdict == "broken"
    assert finding.witness is not None
    assert finding.witness.respects(bound)
    apart = replay(honest, finding.witness)
    distance = apart.l1 if measure == "edge_l1" else getattr(apart, measure)
    assert distance == finding.found > number


TOO_LARGE = {
    "the paper's high degree at τ = D": (statistic("high-degree", tau=3), "l1", 7, DegreeBound(3)),
    "the paper's histogram": (HISTOGRAM, "l1", 43, DegreeBound(3)),
    "one too many for components": (statistic("components"), "l1", 7, DegreeBound(3)),
    "weak components at min = 1": (statistic("components"), "l1", 8, InOutBound(1, 3)),
    "one too many for clusters": (statistic("clusters"), "l1", 5, DegreeBound(2)),
    "weak clusters at min = 1": (statistic("clusters", k=3), "l1", 8, InOutBound(1, 3)),
    "one too many in clusters": (statistic("clustered", k=3), "l1", 10, DegreeBound(2)),
    "a static number": (HISTOGRAM, "static_l1", 6, DegreeBound(2)),
    "an L2 number": (statistic("degree-ccdf"), "l2_squared", 20, DegreeBound(2)),
    "an edge-level number": (HISTOGRAM, "edge_l1", 13, DegreeBound(2)),
}


@pytest.mark.parametrize("case", TOO_LARGE.values(), ids=TOO_LARGE.keys())
def test_a_claim_to_be_exact_that_is_too_large_is_not_reached(
    case: tuple[Statistic, Measure, int, Bound],
) -> None:
    honest, measure, number, bound = case
    claim = Claiming(honest, measure, number)
    finding = verdict_on(claim, bound)
    assert finding.unconfirmed
    assert not finding.broken
    assert not finding.reached
    assert not attack(claim, bound, relation=relation_of(measure)).reached


def test_the_search_alone_catches_an_error_beyond_the_enumerated_sizes() -> None:
    """The smallest pair that breaks 4D² − 2 at D = 3 has more than five nodes."""
    small = exhaustive(HISTOGRAM, QUICK.undirected, relation="node", directed=False)
    assert small.best(DegreeBound(3), 0)[0] <= 34
    search_only = replace(QUICK, undirected=())
    assert verdict_on(Claiming(HISTOGRAM, "l1", 34), DegreeBound(3), search_only).broken
