"""Sharing: how a budget is split among series, and what another share would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.hints import Hint
from graphveil.noise.exact_numbers import as_text

if TYPE_CHECKING:
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.mechanisms.planning.pooling import Curve, ShareCandidate, Split
    from graphveil.steward.outlook import Outlook
    from graphveil.steward.requests import SeriesRequest
    from graphveil.study import Promise, SeriesPromise
    from graphveil.study.promise import Pool


@dataclass(frozen=True)
class Share:
    """The share of a series, with the predicted error that it minimises.

    Attributes:
        series: its name.
        epsilon: the share, as text; None in a pool.
        pool: the share of the pool, as text; None of a series with an ε of its own.
        minimise: which error that is.
        error: how large it will be.
        more: the same for a fifth more.
        less: the same for a fifth less.
        part: the error as a part of the size that is expected; None where none is.
    """

    series: str
    epsilon: str | None
    pool: str | None
    minimise: str
    error: float
    more: float
    less: float
    part: float | None

    @property
    def share(self) -> str:
        """What it gets, for people."""
        return self.epsilon or f"{self.pool} of the pool"

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "series": self.series,
            "epsilon": self.epsilon,
            "pool": self.pool,
            "minimise": self.minimise,
            "error": self.error,
            "part_of_expected": self.part,
            "with_a_fifth_more": self.more,
            "with_a_fifth_less": self.less,
        }


@dataclass(frozen=True)
class Sharing:
    """The shares of series that named none.

    Attributes:
        how: they were chosen, in a sentence.
        shares: one for each of them.
        pool: what those in a pool have together, and what more or less of it would do, in
            sentences; None if there is no pool.
    """

    how: str
    shares: tuple[Share, ...]
    pool: str | None = None

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        shares = [each.as_data() for each in self.shares]
        return {"how": self.how, "pool": self.pool, "series": shares}


def shared(promise: Promise, requests: Sequence[SeriesRequest]) -> Promise:
    """The study in which series that named no share split the same ε in the best way.

    Only where the sizes of all of them are expected: others keep their equal shares.
    """
    from graphveil.mechanisms.planning.pooling import best_split
    from graphveil.mechanisms.planning.shares import checked

    require_purpose(requests)
    asking = _asking(requests)
    if len(asking) < 2 or _unsized(asking):
        return promise
    if has_risk_to_share(promise, asking):
        return pooled(promise, asking, _weights(asking))
    series = series_of(promise, asking)
    total = sum((each.price[0] for each in series), Fraction())
    curves = [error_curve(promise, each) for each in series]
    shares = checked(best_split(total, curves, _weights(asking)), total)
    texts = {each.name: as_text(share) for each, share in zip(series, shares, strict=True)}
    return promise.with_shares({name: {"epsilon": share} for name, share in texts.items()})


def _weights(requests: Sequence[SeriesRequest]) -> list[float]:
    """What an error of 1 of each series counts in the sum that is minimised."""
    from graphveil.mechanisms.planning.shares import positive

    return [
        float(positive("weight", request.weight or 1) / (request.expected or 1))
        for request in requests
    ]


def sharing(outlooks: Sequence[Outlook], requests: Sequence[SeriesRequest]) -> Sharing | None:
    """How the series that named no share came to theirs; None if there are not two of them."""
    asking = _asking(requests)
    if len(asking) < 2:
        return None
    names = [each.called for each in asking]
    theirs = [each for each in outlooks if each.series.name in names]
    shares = tuple(share_of(each) for each in theirs)
    return Sharing(_how(asking, theirs), shares, advice(theirs))


def share_of(outlook: Outlook) -> Share:
    """The share of a series, with what another one would do."""
    series = outlook.series
    if series.pool is None:
        curve = error_curve(outlook.promise, series, outlook.first_step)
    else:
        curve = other_shares(outlook.plan)
    now = Fraction(series.pool or series.epsilon or 0)
    error = curve(now)
    return Share(
        series=series.name,
        epsilon=series.epsilon,
        pool=series.pool,
        minimise=str(outlook.plan.request.minimise),
        error=error,
        more=curve(now * (1 + A_FIFTH)),
        less=curve(now * (1 - A_FIFTH)),
        part=None if series.judged_size is None else error / series.judged_size,
    )


def _how(asking: Sequence[SeriesRequest], outlooks: Sequence[Outlook]) -> str:
    pool = outlooks[0].promise.budget.pool
    spent = sum((each.series.price[0] for each in outlooks), Fraction())
    if pool is not None and any(each.series.pool is not None for each in outlooks):
        spent += pool.price[0]
    total = as_text(spent)
    if unsized := _unsized(asking):
        return (
            f"Equal shares of ε = {total}, since no size is expected of {', '.join(unsized)}; with "
            "one for each series, the best split is found."
        )
    weighted = ", by their weights" if any(each.weight for each in asking) else ""
    return (
        f"The best split of ε = {total} for these sizes: it has the smallest sum of errors in "
        f"percent of what is expected{weighted}. For another, give shares, such as edges@1/2."
    )


def _asking(requests: Sequence[SeriesRequest]) -> list[SeriesRequest]:
    """The series that named no share."""
    return [each for each in requests if each.names_no_share]


def _unsized(requests: Sequence[SeriesRequest]) -> list[str]:
    return [each.called for each in requests if each.expected is None]


def require_purpose(requests: Sequence[SeriesRequest]) -> None:
    """Refuse a weight that would have no effect."""
    asking = _asking(requests)
    for each in requests:
        if each.weight is None:
            continue
        if not each.names_no_share:
            problem = f"of series '{each.called}' has no use: its share of ε is given"
            raise ParameterError("weight", problem, hint="Leave one of the two out.")
        if unsized := _unsized(asking):
            problem = f"needs an expected size of every series; {', '.join(unsized)[:80]} has none"
            raise ParameterError("weight", problem, hint=Hint("expected"))


# Pools: which series of a new study share one ε and δ, and what another pool would do.


A_FIFTH = Fraction(1, 5)  # by which shares are changed to show what that would do


def has_risk_to_share(promise: Promise, asking: Sequence[SeriesRequest]) -> bool:
    """Whether there is a δ for series that name no share, and no pool yet."""
    without = promise.budget.pool is None and any(each.delta is None for each in asking)
    return promise.budget.delta is not None and without


def series_of(promise: Promise, requests: Sequence[SeriesRequest]) -> list[SeriesPromise]:
    """The requested series, as the study has them."""
    named = {each.name: each for each in promise.series}
    return [named[each.called] for each in requests]


def pooled(promise: Promise, asking: Sequence[SeriesRequest], weights: Sequence[float]) -> Promise:
    """The study in which series that named no share have the best, with a pool if that pays.

    Args:
        promise: with equal shares, for the time being.
        asking: the series that named no share; each has an expected size.
        weights: of their errors in the sum that is minimised.
    """
    from graphveil.mechanisms.planning.pooling import best_pool

    series = series_of(promise, asking)
    total = sum((each.price[0] for each in series), Fraction())
    delta = _risk_left(promise, asking)
    rivals = [
        _alternative(promise, total, delta, each, request, weight)
        for each, request, weight in zip(series, asking, weights, strict=True)
    ]
    split = best_pool(total, delta, rivals)
    prices = _prices(split, delta, [each.delta for each in asking])
    by_name = {each.name: price for each, price in zip(series, prices, strict=True)}
    pool = _pool(split.pool, delta) if len(split.members) > 1 else None
    return promise.with_pool(pool).with_shares(by_name)


def _prices(
    split: Split, delta: Fraction, risks: Sequence[str | None]
) -> Iterator[dict[str, str | None]]:
    """What the study file says of each series: a share of the pool, or an ε and perhaps a δ."""
    lone = len(split.members) == 1  # a series that is alone in a pool has all of it
    for place, (share, risk) in enumerate(zip(split.shares, risks, strict=True)):
        if place not in split.members:
            yield {"epsilon": as_text(share), "delta": risk}
        elif lone:
            yield {"epsilon": as_text(split.pool), "delta": as_text(delta)}
        else:
            yield {"epsilon": None, "delta": None, "pool": as_text(share)}


def _pool(epsilon: Fraction, delta: Fraction) -> Pool:
    from graphveil.study.promise import Pool

    return Pool(epsilon=as_text(epsilon), delta=as_text(delta))


def _risk_left(promise: Promise, asking: Sequence[SeriesRequest]) -> Fraction:
    """δ that no series has to itself: not one that names it, nor one whose share of ε is given."""
    from graphveil.steward.drafting import settled_series

    names = [each.called for each in asking]
    fixed = [settled_series(promise, each, 0) for each in promise.series if each.name not in names]
    taken = [each.price[1] for each in fixed] + [Fraction(each.delta or 0) for each in asking]
    return promise.budget_total()[1] - sum(taken, Fraction())


def _alternative(
    promise: Promise,
    total: Fraction,
    delta: Fraction,
    series: SeriesPromise,
    request: SeriesRequest,
    weight: float,
) -> ShareCandidate:
    """A series with its errors inside a pool and outside; with a δ of its own, only outside."""
    from graphveil.mechanisms.planning.pooling import ShareCandidate

    if request.delta is not None:
        return ShareCandidate(weight, error_curve(promise, series), None)
    alone = error_curve(promise, series.model_copy(update={"delta": None}))
    inside = None
    if delta > 0:
        inside = possible(pool_curve(promise.with_pool(_pool(total, delta)), series), Fraction(1))
    if inside is None:
        alone(total)  # refuses with its reason what cannot be published at all
    return ShareCandidate(weight, possible(alone, total), inside)


def possible(curve: Curve, at: Fraction) -> Curve | None:
    """A curve, if there is noise for it."""
    try:
        curve(at)
    except ParameterError:
        return None
    return curve


def pool_curve(promise: Promise, series: SeriesPromise) -> Curve:
    """The predicted error that a series keeps small, for shares of the study's pool."""
    return _curve(promise, series.pooled, 0)


def error_curve(promise: Promise, series: SeriesPromise, first_step: int = 0) -> Curve:
    """The predicted error that a series keeps small, for other shares than it has."""
    return _curve(promise, lambda epsilon: series.costing(epsilon, series.horizon), first_step)


def _curve(
    promise: Promise, at_share: Callable[[Fraction], SeriesPromise], first_step: int
) -> Curve:
    from graphveil.mechanisms.planning.plan import achieved
    from graphveil.study.opening import series_plan

    return lambda share: achieved(series_plan(promise, at_share(share), first_step))


def other_shares(plan: Plan) -> Curve:
    """The errors of a series in a pool for other shares of it."""
    from graphveil.mechanisms.planning.plan import Plan, achieved

    def error(share: Fraction) -> float:
        return achieved(Plan.of(plan.mechanism, replace(plan.request, pool_share=share)))

    return error


def advice(outlooks: Sequence[Outlook]) -> str | None:
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
