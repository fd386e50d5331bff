"""Shares: one total ε (or δ) split exactly over several series on the same people.

The privacy losses of series on the same graph add up, so what they get must sum to the total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import Exact, exact
from graphveil.planning.best_split import Curve, best_split
from graphveil.planning.plan import Plan
from graphveil.planning.spans import achieved

GRAIN = 10_000  # relative errors are equalised with shares in units of total / GRAIN
ROUNDS = 6  # of refining them; the error is nearly proportional to 1/ε, so few are needed


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
        weights: how much each series matters against the others; equally, unless said.

    Examples:
        >>> plans = [plan(name, 15, epsilon=1, horizon=10) for name in ("nodes", "edges")]
        >>> nodes, edges = best_shares(2, plans, expected=[500, 500])
        >>> nodes + edges == 2, nodes < edges
        (True, True)
    """
    sizes = sizes_of(expected, plans)
    importance = [1] * len(plans) if weights is None else list(weights)
    if len(importance) != len(plans):
        raise ParameterError("weights", f"must have one for each of {len(plans)} plans")
    pairs = zip(importance, sizes, strict=True)
    parts = [float(positive("weights", weight) / size) for weight, size in pairs]
    budget = positive("total", total)
    return checked(best_split(budget, [_curve(each) for each in plans], parts), budget)


def _curve(plan: Plan) -> Curve:
    return lambda epsilon: achieved(at_another_price(plan, epsilon))


def equal_relative_error(
    total: Exact, plans: Sequence[Plan], expected: Sequence[int]
) -> tuple[Fraction, ...]:
    """Such that all series have the same mean predicted error, relative to their size.

    Args:
        total: the ε to split.
        plans: one plan per series; the ε in it plays no part.
        expected: a public guess of the size of each series' number; never the number itself.
    """
    budget, sizes = positive("total", total), sizes_of(expected, plans)
    shares = list(equal_shares(budget, len(plans)))
    for _ in range(ROUNDS):
        errors = [_error(*each) for each in zip(plans, shares, sizes, strict=True)]
        wanted = [float(share) * error for share, error in zip(shares, errors, strict=True)]
        renewed = _in_grains([want / sum(wanted) for want in wanted], budget)
        if renewed == shares:
            break
        shares = renewed
    return checked(shares, budget)


def _error(plan: Plan, epsilon: Fraction, size: Fraction) -> float:
    """The mean predicted standard deviation under another ε, relative to the size."""
    return at_another_price(plan, epsilon).mean_std / float(size)


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


def _in_grains(parts: list[float], total: Fraction) -> list[Fraction]:
    """Parts of 1 in whole grains, at least one each; the largest part takes the remainder."""
    grains = [max(1, round(part * GRAIN)) for part in parts]
    grains[grains.index(max(grains))] += GRAIN - sum(grains)
    return [total * grain / GRAIN for grain in grains]


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
