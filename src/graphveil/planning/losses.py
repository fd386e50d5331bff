"""Losses beyond the promise: what it costs a person to be linked to more hubs than promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from graphveil.graph.bound import Bound
from graphveil.graph.hub_bound import HubBound
from graphveil.planning.plan import Plan
from graphveil.statistics.hubs import sensitivity_under, shape_under
from graphveil.statistics.statistic import Statistic

FURTHER = (1, 2, 5, 10)  # hubs beyond the promise, of which the public is told the price


def losses_beyond(
    plan: Plan, statistic: Statistic, bound: Bound, further: Sequence[int] = FURTHER
) -> dict[int, Fraction]:
    """ε of a person by the number of hubs, for some numbers beyond those promised.

    Nothing where nobody loses more: the series projects, or what breaks the promise is refused.

    Guarantees: everybody who is linked to no more hubs than promised has the ε of the plan, and
        whoever is linked to more at most this, whatever others do
        (docs/sensitivities.md#a-broken-promise).
    """
    if bound.checked or not isinstance(bound, HubBound) or plan.mechanism.projects:
        return {}
    promised = sum(bound.hubs)
    return {
        promised + more: loss_beside(plan, statistic, bound, promised + more) for more in further
    }


def loss_beside(plan: Plan, statistic: Statistic, bound: HubBound, hubs: int) -> Fraction:
    """ε of a person who is linked to so many hubs in all."""
    own, request = bound.of_somebody_beside(hubs), plan.request
    exposed = replace(
        request,
        sensitivity=sensitivity_under(statistic, own),
        shape=None if request.shape is None else shape_under(statistic, own),
    )
    return plan.mechanism.loss(request, exposed)
