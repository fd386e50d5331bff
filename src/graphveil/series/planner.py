"""The planner: every mechanism's error in advance, from public parameters only, and the best.

And what it costs a person to be linked to more hubs than promised, which is known in advance too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from graphveil.errors import ParameterError
from graphveil.graph.promises import (
    Bound,
    BoundLike,
    DegreeBound,
    HubBound,
    InOutBound,
    NoBound,
    as_bound,
)
from graphveil.graph.thresholds import (
    BRANCHES,
    FOREST,
    WHOLE,
    FollowingBound,
    ForestBound,
    WholeNetwork,
    as_threshold,
)
from graphveil.mechanisms import mechanism as known_mechanisms
from graphveil.mechanisms.factorisations.objectives import DEFAULT, Objective, objective
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import Mechanism, Request, registered
from graphveil.mechanisms.planning import AUTO, continuation
from graphveil.mechanisms.planning.continuation import continued
from graphveil.mechanisms.planning.plan import REFERENCE_STEPS, TIE, Plan, achieved
from graphveil.noise.exact_numbers import Exact, exact_delta, exact_epsilon, exact_share
from graphveil.statistics.change import (
    counted_by_forests,
    forest_shape_of,
    projectable,
    sensitivity_under,
    shape_under,
    whole_shape_of,
)
from graphveil.statistics.sensitivity import Shape
from graphveil.statistics.statistic import Domain, Statistic, as_statistic

__all__ = ["Plan", "Prospect", "best", "compare", "continued", "plan"]

NO_THRESHOLD = "needs a projection threshold"
NO_PROMISE = "needs a degree bound"
REMEMBERED = 128  # plans: those of a study with a dozen series, which are asked for repeatedly
FURTHER = (1, 2, 5, 10, 50, 100)  # hubs beyond the promise, for which the price is published


@dataclass(frozen=True)
class Prospect:
    """One mechanism as it would do on a request: its plan, or the reason why it has none.

    Attributes:
        name: the mechanism.
        summary: what it does, in one line.
        plan: how it would publish; None where it does not admit the request.
        reason: why it does not.
    """

    name: str
    summary: str
    plan: Plan | None
    reason: str | None = None

    @property
    def std(self) -> tuple[float, ...]:
        """The predicted standard deviation of each release; empty where there is no plan."""
        return self.plan.predicted if self.plan else ()


@dataclass(frozen=True)
class _PlanRequest:
    """What was asked for, checked, and made into each mechanism's own request."""

    statistic: Statistic
    bound: Bound
    epsilon: Fraction
    delta: Fraction | None
    horizon: int | None
    projection: Bound | None
    minimise: Objective
    pool_share: Fraction | None = None

    def request(self, member: Mechanism) -> Request:
        """A projecting mechanism counts within its threshold; a pure one has no use for δ."""
        bound, after = self.bound, None
        if member.projects and self.projection is not None:
            bound = self.projection
        sensitivity = sensitivity_under(self.statistic, bound)  # refuses what is not counted so
        if member.projects and self.projection is not None:
            after = self.statistic.projected_shape(bound)
        return Request(
            sensitivity=sensitivity,
            epsilon=self.epsilon,
            delta=None if member.pure else self.delta,
            horizon=self.horizon,
            width=self.statistic.width(bound.counted),
            projected_l1=None if after is None else after.height,
            projected_rises=after is not None and after.rising,
            shape=self._shape(member, bound),
            minimise=self.minimise,
            pool_share=self.pool_share,
            guess=bound.guess if isinstance(bound, FollowingBound) else None,
        )

    def _misfit(self, member: Mechanism) -> str | None:
        """Why there is not even a request to this mechanism."""
        if member.projects:
            return NO_THRESHOLD if self.projection is None else None
        without = isinstance(self.bound, NoBound) and self.statistic.needs_bound
        return NO_PROMISE if without else None

    def _shape(self, member: Mechanism, bound: Bound) -> Shape | None:
        """Of differences; a projecting mechanism has its own, but learns of people who leave."""
        if member.projects and self.statistic.counted_for is None:
            return None
        return shape_under(self.statistic, bound)

    def prospect(self, member: Mechanism) -> Prospect:
        """The mechanism's plan, or its reason for having none."""
        reason = self._misfit(member)
        if reason is None:
            request = self.request(member)
            reason = member.refusal(request)
        if reason is not None:
            return Prospect(member.name, member.summary, None, reason)
        subject = f"{self.statistic}, {self.bound}"
        if member.projects:
            subject = f"{self.statistic}, projected to {self.projection}"
        # One of unknown length finds its errors step by step as they are asked for: not shared.
        make = Plan.of if self.horizon is None else _planned
        return Prospect(member.name, member.summary, make(member, request, subject))

    def prospects(self) -> list[Prospect]:
        """Every mechanism, the best first."""
        return sorted((self.prospect(each) for each in registered().values()), key=_rank)


@lru_cache(maxsize=REMEMBERED)
def _planned(member: Mechanism, request: Request, subject: str) -> Plan:
    """A plan is a function of these public parameters, and a long one takes long to make."""
    return Plan.of(member, request, subject)


def plan(
    statistic: Statistic | str,
    bound: BoundLike,
    *,
    epsilon: Exact,
    delta: Exact | None = None,
    horizon: int | None,
    mechanism: str = AUTO,
    projection: BoundLike | str | None = None,
    minimise: str | Objective = DEFAULT,
    pool_share: Exact | None = None,
    **parameters: int | str,
) -> Plan:
    """Plan how to publish a statistic of a growing graph.

    Args:
        statistic: what is counted, or its name.
        bound: the promise: a number of links, two in a directed network (to and from a person),
            a bound with hubs, or `NoBound`.
        epsilon: the privacy loss of the whole series; best given as text, such as "0.1".
        delta: the probability of more than ε; without it only pure-ε mechanisms are used.
        horizon: how many releases there will be; None if that is not known.
        mechanism: a name, or "auto" for the smallest predicted error.
        projection: the threshold of a projecting mechanism, "forest:C" for forests,
            "follow:LINKS[:THRESHOLD]" for a threshold that follows what was published, or "whole"
            for what needs none. With it, "auto" chooses among those that project, and without it
            among the others.
        minimise: which error is to be small, such as "mean", "last" or "windows:4"; see
            `docs/planning.md#what-to-minimise`.
        pool_share: the share that the series has of an ε and a δ which are for several series
            together; see `docs/planning.md#a-pool-for-gaussian-noise`.
        parameters: of the statistic, if it is given by its name.

    Examples:
        >>> chosen = plan("high-degree", 15, epsilon=1, horizon=20, tau=3)
        >>> chosen.mechanism.name, len(chosen.predicted)
        ('moves', 20)
    """
    counted = as_statistic(statistic, parameters)
    requested = _plan_request(
        counted, bound, epsilon, delta, horizon, projection, minimise, pool_share
    )
    if mechanism == AUTO:
        if projection is not None:
            require_projectable(counted, as_threshold(projection), horizon)
        return best(requested.prospects(), projecting=projection is not None)
    prospect = requested.prospect(known_mechanisms.mechanism(mechanism))
    if prospect.plan is None:
        raise ParameterError("mechanism", f"{prospect.name} {prospect.reason}")
    return prospect.plan


def require_projectable(statistic: Statistic, threshold: Bound, horizon: int | None) -> None:
    """Refuse what no mechanism that projects can publish."""
    if statistic.counted_for is not None:
        raise ParameterError(
            "projection",
            "does not go with a window: one person could change releases long after they left",
            hint="Leave one of the two out.",
        )
    if isinstance(threshold, ForestBound):
        forest_shape_of(statistic, threshold)
    elif isinstance(threshold, WholeNetwork):
        whole_shape_of(statistic)
    elif type(statistic).projected_l1 is Statistic.projected_l1:
        others = projectable(directed=statistic.domain is Domain.DIRECTED)
        own = f"{WHOLE} with {statistic.name}" if statistic.whole_shape() else "others need a bound"
        raise ParameterError(
            "projection",
            f"nothing is known about '{statistic.name}' after a projection",
            hint=f"It works with {', '.join(others)}, and {FOREST}:{BRANCHES} with "
            f"{', '.join(counted_by_forests())}; {own}.",
        )
    if horizon is None:
        raise ParameterError(
            "horizon",
            "must be known where a series projects",
            hint="Give the calendar its last step, or the series a number of releases (horizon=N).",
        )


def compare(
    statistic: Statistic | str,
    bound: BoundLike,
    *,
    epsilon: Exact,
    delta: Exact | None = None,
    horizon: int | None,
    projection: BoundLike | str | None = None,
    minimise: str | Objective = DEFAULT,
    pool_share: Exact | None = None,
    **parameters: int | str,
) -> list[Prospect]:
    """Every mechanism, the one with the smallest predicted error first.

    Mechanisms that do not admit the request come last, with the reason. Where the horizon is
    unknown, the first 100 releases are compared.

    Examples:
        >>> best, *others = compare("edges", 15, epsilon="1/2", horizon=20)
        >>> best.plan.last_std < others[0].plan.last_std
        True
    """
    counted = as_statistic(statistic, parameters)
    requested = _plan_request(
        counted, bound, epsilon, delta, horizon, projection, minimise, pool_share
    )
    return requested.prospects()


def best(prospects: list[Prospect], *, projecting: bool = False) -> Plan:
    """The plan with the smallest predicted error; of equals, the simplest.

    All candidates give the same guarantee or a stronger one: pure ε is (ε, δ) for every δ.
    Mechanisms that project publish counts of another graph: they are chosen where that is
    wanted, and never otherwise.
    """
    possible = [each.plan for each in prospects if each.plan]
    plans = [each for each in possible if each.mechanism.projects == projecting]
    if not plans:
        reasons = sorted({each.reason for each in prospects if each.reason} - {NO_THRESHOLD})
        raise ParameterError("mechanism", f"none is possible: each {' or '.join(reasons)}")
    errors = [achieved(plan) for plan in plans]
    near = [plan for plan, error in zip(plans, errors, strict=True) if error <= TIE * min(errors)]
    return min(near, key=_complexity)


def _plan_request(
    statistic: Statistic,
    bound: BoundLike,
    epsilon: Exact,
    delta: Exact | None,
    horizon: int | None,
    projection: BoundLike | str | None,
    minimise: str | Objective,
    pool_share: Exact | None,
) -> _PlanRequest:
    """Refuses every parameter outside its range."""
    if isinstance(horizon, bool) or not (
        horizon is None or (isinstance(horizon, int) and horizon > 0)
    ):
        raise ParameterError("horizon", "must be a whole number of at least 1, or unknown")
    exactly = exact_epsilon(epsilon), None if delta is None else exact_delta(delta)
    aim = objective(minimise) if isinstance(minimise, str) else minimise
    aim.require(horizon, REFERENCE_STEPS)
    threshold = None if projection is None else as_threshold(projection)
    share = None if pool_share is None else exact_share(pool_share)
    return _PlanRequest(statistic, as_bound(bound), *exactly, horizon, threshold, aim, share)


def _rank(prospect: Prospect) -> tuple[float, str]:
    error = achieved(prospect.plan) if prospect.plan else float("inf")
    return error, prospect.name


def _complexity(plan: Plan) -> tuple[int, bool, str]:
    """How many noises are drawn, then whether the horizon must be known, then the name."""
    steps, drawn, number = 0, 0, 0
    while steps < len(plan.predicted):
        epoch = plan.epoch(number)
        steps, drawn = steps + epoch.steps, drawn + epoch.factorisation.measurements
        number += 1
    return drawn, plan.mechanism.needs_horizon, plan.mechanism.name


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
        return continuation.loss(plan.mechanism, exposed, plan.epochs)  # it went on, for a price
    return plan.mechanism.loss(request, exposed)


def _exposed(plan: Plan, statistic: Statistic, own: HubBound) -> Request:
    """What the noise was made for, with what that person can change instead."""
    request = plan.request
    return replace(
        request,
        sensitivity=sensitivity_under(statistic, own),
        shape=None if request.shape is None else shape_under(statistic, own),
    )
