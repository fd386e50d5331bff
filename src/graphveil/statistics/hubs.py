"""What one person can change under any promise: of degrees, or with hubs."""

from __future__ import annotations

from math import isqrt

from graphveil.graph.bound import Bound
from graphveil.graph.hub_bound import HubBound
from graphveil.statistics.sensitivity import PROOFS, Sensitivity
from graphveil.statistics.shape import Mass, Shape
from graphveil.statistics.statistic import Statistic


def sensitivity_under(statistic: Statistic, bound: Bound) -> Sensitivity:
    """What one person can change under a promise, in what is counted under it.

    Guarantees:
        With hubs, the person's own links, as under the bound within, and lost links of
        others, at most one for each hub that the promise admits; a hub more or less is none of
        an edge's business, so that an edge takes one lost link at each end.
        Proof: docs/sensitivities.md#hubs.
    """
    if not isinstance(bound, HubBound):
        return statistic.sensitivity(bound)
    statistic.require_domain(directed=bound.directed)
    within, l1 = statistic.sensitivity(bound.within), statistic.hub_l1(bound)
    lost = sum(bound.hubs) * within.edge_l1
    return Sensitivity(
        l1=l1,
        static_l1=min(l1, within.static_l1 + lost),
        l2_squared=min(l1**2, _squared_sum(within.l2_squared, lost)),
        edge_l1=3 * within.edge_l1,
        exact_for=frozenset(),
        assumption=bound.assumption,
        proof=f"{PROOFS}#hubs",
        variation=min(l1**2, _squared_sum(within.variation_squared, lost)),
    )


def shape_under(statistic: Statistic, bound: Bound) -> Shape:
    """What the change of one person can look like; with hubs, Γ in any way."""
    if isinstance(bound, HubBound):
        return Mass(statistic.hub_l1(bound))
    return statistic.shape(bound)


def _squared_sum(squared: int, added: int) -> int:
    """(√squared + added)², rounded up."""
    mixed = 4 * squared * added**2
    root = isqrt(mixed)
    return squared + added**2 + root + (root**2 < mixed)
