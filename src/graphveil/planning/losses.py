"""Losses beyond the promise: what it costs a person to be linked to more hubs than promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from graphveil.graph.promises.bound import Bound
from graphveil.graph.promises.hub_bound import HubBound
from graphveil.mechanisms import charges
from graphveil.planning.plan import Plan
from graphveil.statistics.changes.hubs import sensitivity_under, shape_under
from graphveil.statistics.statistic import Statistic

FURTHER = (1, 2, 5, 10)  # hubs beyond the promise, of which the public is told the price


def losses_beyond(
    plan: Plan, statistic: Statistic, bound: Bound, further: Sequence[int] = FURTHER
) -> dict[int, Fraction]:
    """ε of a person by how many more hubs it is linked to than promised.

    Nothing where nobody loses more: the series projects, or what breaks the promise is refused.

    Guarantees: everybody who is linked to no more hubs than promised has the ε of the plan, and
        whoever is linked to more at most this, whatever others do
        (docs/sensitivities.md#a-broken-promise).
    """
    if bound.checked or not isinstance(bound, HubBound) or plan.mechanism.projects:
        return {}
    return {more: loss_beyond(plan, statistic, bound, more) for more in further}


def loss_beyond(plan: Plan, statistic: Statistic, bound: HubBound, further: int) -> Fraction:
    """ε of a person with so many hubs more than promised, of whichever kind costs most.

    Losses are convex in the numbers of hubs, so that a mixture of both kinds costs no more.
    """
    return max(_loss(plan, statistic, own) for own in bound.exceeded(further))


def _loss(plan: Plan, statistic: Statistic, own: HubBound) -> Fraction:
    """ε of a person of whom this is true."""
    request = plan.request
    exposed = replace(
        request,
        sensitivity=sensitivity_under(statistic, own),
        shape=None if request.shape is None else shape_under(statistic, own),
    )
    if plan.mechanism.whole and plan.mechanism.adds_up and len(plan.epochs) > 1:
        return charges.loss(plan.mechanism, exposed, plan.epochs)  # it went on, for a price
    return plan.mechanism.loss(request, exposed)
