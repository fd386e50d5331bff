"""Losses beyond the promise: what it costs a person to be linked to more hubs than promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.mechanisms import charges
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import Request
from graphveil.mechanisms.planning.plan import Plan
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.statistic import Statistic

FURTHER = (1, 2, 5, 10, 50, 100)  # hubs beyond the promise, for which the price is published


def losses_beyond(
    plan: Plan, statistic: Statistic, bound: Bound, further: Sequence[int] = FURTHER
) -> dict[int, Fraction]:
    """ε of a person by how many more hubs it is linked to than promised.

    Nothing where nobody loses more: the series projects, or what breaks the promise is refused.

    Guarantees: everybody who is linked to no more hubs than promised has the ε of the plan, and
        whoever is linked to more at most this, whatever others do
        (docs/sensitivities.md#a-broken-promise).
    """
    if not _depends(plan, bound):
        return {}
    assert isinstance(bound, HubBound), "nobody else can be linked to more than promised"
    return {more: loss_beyond(plan, statistic, bound, more) for more in further}


def rhos_beyond(
    plan: Plan, statistic: Statistic, bound: Bound, further: Sequence[int] = FURTHER
) -> dict[int, Fraction]:
    """The same in ρ, for a series in a pool: these are what adds up over its series.

    Guarantees: docs/mechanisms.md#a-pool-of-several-series.
    """
    if plan.request.pool_share is None or not _depends(plan, bound):
        return {}
    member = plan.mechanism
    assert isinstance(member, GaussianMechanism), "no other noise shares a pool"
    assert isinstance(bound, HubBound), "nobody else can be linked to more than promised"
    return {
        more: max(
            member.rho_beyond(plan.request, _exposed(plan, statistic, own))
            for own in bound.exceeded(more)
        )
        for more in further
    }


def times_beyond(plan: Plan, statistic: Statistic, bound: Bound) -> dict[int, Fraction]:
    """What a person loses, by how many more hubs it is linked to than promised.

    In multiples of the ε of the series; of one in a pool, of what it costs by itself. A bound
    without hubs is taken as a promise of which nobody is sure, as a study takes it that goes on
    where it is broken.
    """
    unsure = _unsure(bound)
    losses = losses_beyond(plan, statistic, unsure)
    if not losses or not isinstance(unsure, HubBound):
        return {}
    own = plan.request.epsilon
    if plan.request.pool_share is not None:
        own = loss_beyond(plan, statistic, unsure, 0)
    return {more: loss / own for more, loss in losses.items()}


def _unsure(bound: Bound) -> Bound:
    """The same promise, if nothing stops where it is broken."""
    if isinstance(bound, DegreeBound | InOutBound):
        return HubBound(bound, (0,) * len(bound.limits), checked=False)
    return bound


def _depends(plan: Plan, bound: Bound) -> bool:
    """Whether somebody can lose more than promised, by an amount that the series states."""
    return isinstance(bound, HubBound) and not bound.checked and not plan.mechanism.projects


def loss_beyond(plan: Plan, statistic: Statistic, bound: HubBound, further: int) -> Fraction:
    """ε of a person with so many hubs more than promised, of whichever kind costs most.

    Losses are convex in the numbers of hubs, so a mixture of both kinds costs at most as much.
    """
    return max(loss_of(plan, statistic, own) for own in bound.exceeded(further))


def loss_of(plan: Plan, statistic: Statistic, own: HubBound) -> Fraction:
    """ε of a person of whom this is true."""
    request, exposed = plan.request, _exposed(plan, statistic, own)
    if plan.mechanism.whole and plan.mechanism.adds_up and len(plan.epochs) > 1:
        return charges.loss(plan.mechanism, exposed, plan.epochs)  # it went on, for a price
    return plan.mechanism.loss(request, exposed)


def _exposed(plan: Plan, statistic: Statistic, own: HubBound) -> Request:
    """What the noise was made for, with what that person can change instead."""
    request = plan.request
    return replace(
        request,
        sensitivity=sensitivity_under(statistic, own),
        shape=None if request.shape is None else shape_under(statistic, own),
    )
