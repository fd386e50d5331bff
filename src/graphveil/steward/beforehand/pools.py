"""Pools: which series of a new study share one ε and δ, and what another pool would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.planning.best_split import Curve
    from graphveil.planning.plan import Plan
    from graphveil.planning.pooling import Contender, Split
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.wishes import SeriesWish
    from graphveil.study import Promise, SeriesPromise
    from graphveil.study.promise.budget import Pool

A_FIFTH = Fraction(1, 5)  # by which shares are changed to show what that would do


def has_risk_to_share(promise: Promise, asking: Sequence[SeriesWish]) -> bool:
    """Whether there is a δ for series that name no share, and no pool yet."""
    without = promise.budget.pool is None and any(each.delta is None for each in asking)
    return promise.budget.delta is not None and without


def series_of(promise: Promise, wishes: Sequence[SeriesWish]) -> list[SeriesPromise]:
    """The series that were wished for, as the study has them."""
    named = {each.name: each for each in promise.series}
    return [named[each.called] for each in wishes]


def pooled(promise: Promise, asking: Sequence[SeriesWish], weights: Sequence[float]) -> Promise:
    """The study in which series that named no share have the best, with a pool if that pays.

    Args:
        promise: with equal shares, for the time being.
        asking: the series that named no share; each has an expected size.
        weights: of their errors in the sum that is minimised.
    """
    from graphveil.planning.pooling import best_pool

    series = series_of(promise, asking)
    total = sum((each.price[0] for each in series), Fraction())
    delta = _risk_left(promise, asking)
    rivals = [
        _contender(promise, total, delta, each, wish, weight)
        for each, wish, weight in zip(series, asking, weights, strict=True)
    ]
    split = best_pool(total, delta, rivals)
    prices = _prices(split, delta, [each.delta for each in asking])
    found = {each.name: price for each, price in zip(series, prices, strict=True)}
    pool = _pool(split.pool, delta) if len(split.members) > 1 else None
    return promise.with_pool(pool).with_shares(found)


def _prices(
    split: Split, delta: Fraction, risks: Sequence[str | None]
) -> Iterator[dict[str, str | None]]:
    """What the study file says of each series: a share of the pool, or an ε and perhaps a δ."""
    from graphveil.noise.exact_numbers import as_text

    lone = len(split.members) == 1  # whoever is alone in a pool has it all
    for place, (share, risk) in enumerate(zip(split.shares, risks, strict=True)):
        if place not in split.members:
            yield {"epsilon": as_text(share), "delta": risk}
        elif lone:
            yield {"epsilon": as_text(split.pool), "delta": as_text(delta)}
        else:
            yield {"epsilon": None, "delta": None, "pool": as_text(share)}


def _pool(epsilon: Fraction, delta: Fraction) -> Pool:
    from graphveil.noise.exact_numbers import as_text
    from graphveil.study.promise.budget import Pool

    return Pool(epsilon=as_text(epsilon), delta=as_text(delta))


def _risk_left(promise: Promise, asking: Sequence[SeriesWish]) -> Fraction:
    """δ that no series has to itself: not one that names it, nor one whose share of ε is given."""
    from graphveil.steward.beforehand.drafting import settled_series

    names = [each.called for each in asking]
    fixed = [settled_series(promise, each, 0) for each in promise.series if each.name not in names]
    taken = [each.price[1] for each in fixed] + [Fraction(each.delta or 0) for each in asking]
    return promise.budget_total()[1] - sum(taken, Fraction())


def _contender(
    promise: Promise,
    total: Fraction,
    delta: Fraction,
    series: SeriesPromise,
    wish: SeriesWish,
    weight: float,
) -> Contender:
    """A series with its errors inside a pool and outside; with a δ of its own, only outside."""
    from graphveil.planning.pooling import Contender

    if wish.delta is not None:
        return Contender(weight, error_curve(promise, series), None)
    alone = error_curve(promise, series.model_copy(update={"delta": None}))
    inside = None
    if delta > 0:
        inside = possible(pool_curve(promise.with_pool(_pool(total, delta)), series), Fraction(1))
    if inside is None:
        alone(total)  # refuses with its reason what cannot be published at all
    return Contender(weight, possible(alone, total), inside)


def possible(curve: Curve, at: Fraction) -> Curve | None:
    """A curve, if there is noise for it."""
    try:
        curve(at)
    except ParameterError:
        return None
    return curve


def pool_curve(promise: Promise, series: SeriesPromise, first_step: int = 0) -> Curve:
    """The predicted error that a series keeps small, for shares of the study's pool."""
    from graphveil.planning.spans import achieved
    from graphveil.study.course.opening import series_plan

    def error(share: Fraction) -> float:
        return achieved(series_plan(promise, series.pooled(share), first_step))

    return error


def error_curve(promise: Promise, series: SeriesPromise, first_step: int = 0) -> Curve:
    """The predicted error that a series keeps small, for other shares than it has."""
    from graphveil.planning.spans import achieved
    from graphveil.study.course.opening import series_plan

    def error(epsilon: Fraction) -> float:
        at_this_price = series.costing(epsilon, series.horizon)
        return achieved(series_plan(promise, at_this_price, first_step))

    return error


def other_shares(plan: Plan) -> Curve:
    """The errors of a series in a pool for other shares of it."""
    from graphveil.planning.plan import Plan
    from graphveil.planning.spans import achieved

    def error(share: Fraction) -> float:
        return achieved(Plan.of(plan.mechanism, replace(plan.request, pool_share=share)))

    return error


def told(outlooks: Sequence[Outlook]) -> str | None:
    """What a pool is, which series are in it, and what more or less of it would do."""
    from graphveil.noise.zcdp import rho_of

    inside = [each.series.name for each in outlooks if each.series.pool is not None]
    pool = outlooks[0].promise.budget.pool
    if pool is None or not inside:
        return None
    epsilon, delta = pool.price
    now = rho_of(epsilon, delta)
    more, less = (
        sqrt(now / rho_of(epsilon * factor, delta)) - 1 for factor in (1 + A_FIFTH, 1 - A_FIFTH)
    )
    return (
        f"{', '.join(inside)} share a pool of ε = {pool.epsilon} and δ = {pool.delta}: their "
        "Gaussian noise is priced together, which needs less of it than an ε for each. With a "
        f"fifth more ε for the pool, all its errors would be {-more:.0%} smaller, with a fifth "
        f"less {less:.0%} larger."
    )
