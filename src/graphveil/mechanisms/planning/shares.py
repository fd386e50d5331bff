"""Shares: one total ε (or δ) split exactly over several series on the same people.

The privacy losses of series on the same graph add up, so what they get must sum to the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.mechanisms.mechanism import Mechanism, registered
from graphveil.mechanisms.planning.plan import Plan, achieved
from graphveil.mechanisms.planning.pooling import Curve, ShareCandidate, best_pool, best_split
from graphveil.noise.exact_numbers import Exact, exact, exact_delta


def equal_shares(total: Exact, series: int) -> tuple[Fraction, ...]:
    """The same for each."""
    if isinstance(series, bool) or not isinstance(series, int) or series < 1:
        raise ParameterError("series", "must be a whole number of at least 1")
    return weighted_shares(total, [1] * series)


def weighted_shares(total: Exact, weights: Sequence[Exact]) -> tuple[Fraction, ...]:
    """In proportion to the weights."""
    budget = positive("total", total)
    if not weights:
        raise ParameterError("weights", "must name at least one series")
    parts = [positive("weights", weight) for weight in weights]
    whole = sum(parts)
    return checked([budget * part / whole for part in parts], budget)


def best_shares(
    total: Exact,
    plans: Sequence[Plan],
    expected: Sequence[int],
    weights: Sequence[Exact] | None = None,
) -> tuple[Fraction, ...]:
    """The shares with the smallest sum of errors, each in parts of the size that is expected.

    The error of a series is what its plan minimises: the mean over its releases, unless it says
    otherwise. The shares add up to the total exactly, and are rounded to read well, for at most a
    third of a percent of that sum.

    Args:
        total: the ε to split.
        plans: one plan per series; the ε in it plays no part.
        expected: a public guess of the size of each series' number at the last release; never the
            number itself.
        weights: how much each series matters against the others; by default, equally.

    Examples:
        >>> plans = [plan(name, 15, epsilon=1, horizon=10) for name in ("nodes", "edges")]
        >>> nodes, edges = best_shares(2, plans, expected=[500, 500])
        >>> nodes + edges == 2, nodes < edges
        (True, True)
    """
    parts, budget = _weights(plans, expected, weights), positive("total", total)
    return checked(best_split(budget, [_curve(each) for each in plans], parts), budget)


def _curve(plan: Plan) -> Curve:
    return lambda epsilon: achieved(at_another_price(plan, epsilon))


def best_plans(
    total: Exact,
    plans: Sequence[Plan],
    expected: Sequence[int],
    weights: Sequence[Exact] | None = None,
    *,
    delta: Exact,
) -> tuple[Plan, ...]:
    """The plans with the smallest sum of errors where a δ is allowed.

    Series that gain by it share a pool: one ε, and δ, for the Gaussian noise of all of them, of
    which each has a share (`plan.request.pool_share`). The others have an ε of their own, and keep
    their mechanism. All together are (total, δ)-DP.

    Args:
        total: the ε of all series together.
        plans: one plan per series; the ε in it plays no part.
        expected: a public guess of the size of each series' number at the last release; never the
            number itself.
        weights: how much each series matters against the others; by default, equally.
        delta: the probability of more than ε, of all series together.

    Examples:
        >>> names = ("nodes", "edges", "triangles", "components")
        >>> plans = [plan(name, 10, epsilon=1, horizon=100) for name in names]
        >>> for each in best_plans(1, plans, [700, 1200, 900, 300], delta="1e-6"):
        ...     print(each.mechanism.name, each.budget)
        gaussian 0.05 of a pool of ε = 1, δ = 0.000001
        gaussian 0.15 of a pool of ε = 1, δ = 0.000001
        gaussian 0.4 of a pool of ε = 1, δ = 0.000001
        gaussian 0.4 of a pool of ε = 1, δ = 0.000001
    """
    budget, risk = positive("total", total), exact_delta(delta)
    parts = _weights(plans, expected, weights)
    pairs = zip(plans, parts, strict=True)
    candidates = [
        ShareCandidate(part, _pure(each), _pooled(each, budget, risk)) for each, part in pairs
    ]
    split = best_pool(budget, risk, candidates)
    lone = len(split.members) == 1  # a series that is alone in the pool gets all of it
    return tuple(
        _gaussian(each, split.pool, risk, None if lone else share)
        if place in split.members
        else at_another_price(each, share)
        for place, (each, share) in enumerate(zip(plans, split.shares, strict=True))
    )


def _pure(plan: Plan) -> Curve | None:
    """Its errors with an ε of its own, if its mechanism is pure."""
    return _curve(plan) if plan.mechanism.pure else None


def _pooled(plan: Plan, total: Fraction, delta: Fraction) -> Curve | None:
    """Its errors with Gaussian noise, if there is such noise for what it publishes."""
    if not _gaussian_members(plan, delta):
        return None
    return lambda share: achieved(_gaussian(plan, total, delta, share))


def _gaussian_members(plan: Plan, delta: Fraction) -> list[Mechanism]:
    """The mechanisms with Gaussian noise that publish the same numbers."""
    asked = replace(plan.request, delta=delta)
    same = (
        each for _, each in sorted(registered().items()) if each.projects == plan.mechanism.projects
    )
    return [each for each in same if not each.pure and each.refusal(asked) is None]


def _gaussian(plan: Plan, epsilon: Fraction, delta: Fraction, share: Fraction | None) -> Plan:
    """The best of them for a share of a pool, or for an ε of its own."""
    asked = replace(plan.request, epsilon=epsilon, delta=delta, pool_share=share)
    members = _gaussian_members(plan, delta)
    return min((Plan.of(each, asked, plan.subject) for each in members), key=achieved)


def _weights(
    plans: Sequence[Plan], expected: Sequence[int], weights: Sequence[Exact] | None
) -> list[float]:
    """What an error of 1 of each series counts in the sum."""
    sizes = sizes_of(expected, plans)
    importance = [1] * len(plans) if weights is None else list(weights)
    if len(importance) != len(plans):
        raise ParameterError("weights", f"must have one for each of {len(plans)} plans")
    pairs = zip(importance, sizes, strict=True)
    return [float(positive("weights", weight) / size) for weight, size in pairs]


def at_another_price(plan: Plan, epsilon: Fraction) -> Plan:
    """The same plan for another ε."""
    return Plan.of(plan.mechanism, replace(plan.request, epsilon=epsilon), plan.subject)


def sizes_of(expected: Sequence[int], plans: Sequence[Plan]) -> list[Fraction]:
    """The sizes that are expected, once there is one for each plan."""
    if not plans:
        raise ParameterError("plans", "must name at least one series")
    if len(expected) != len(plans):
        raise ParameterError("expected", f"must have one size for each of {len(plans)} plans")
    return [positive("expected", size) for size in expected]


def checked(shares: Sequence[Fraction], total: Fraction) -> tuple[Fraction, ...]:
    """The shares, once it is certain that they sum to the total, exactly."""
    if sum(shares) != total or min(shares) <= 0:
        raise ParameterError("total", "cannot be split into positive shares that sum to it")
    return tuple(shares)


def positive(parameter: str, value: Exact) -> Fraction:
    """The number that a value denotes; refuses what is not above 0."""
    number = exact(parameter, value)
    if number <= 0:
        raise ParameterError(parameter, "must be greater than 0")
    return number
