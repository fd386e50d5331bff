"""Budgets: the error of each series for less ε and for more, to decide on a total beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from graphveil.errors import ParameterError
from graphveil.steward.planning.sharing import possible

if TYPE_CHECKING:
    from pathlib import Path

    from graphveil.graph.promises import Bound
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.mechanisms.planning.pooling import Contender, Split
    from graphveil.mechanisms.planning.usefulness import Judgement
    from graphveil.steward.planning.outlook import Outlook
    from graphveil.steward.planning.requests import SeriesRequest

LEADING = ("1", "1.5", "2", "3", "5", "7")  # digits of the totals that are tried
WIDEST = 10**6  # by how much the largest total may exceed the smallest
SCALED = "Every series keeps its part of the total, as in the study file."
BEST = "Each total is split in the best way for the sizes that are expected."
POOLED = " Those with a * share a pool: one ε and δ for their Gaussian noise together."
EQUAL = "Each total is split equally; with a size expected of each series, in the best way."
ALONE = "The series takes all."


@dataclass(frozen=True)
class SeriesAtPrice:
    """What a series would be like for some ε.

    Attributes:
        name: of the series.
        epsilon: its share of the total; in a pool, that of the pool.
        pool: its share of the pool; None of a series with an ε of its own.
        std: the predicted standard deviation at the last release.
        expected: a public guess of the number's size, if there is one.
    """

    name: str
    epsilon: Fraction
    std: float
    expected: int | None
    pool: Fraction | None = None

    @property
    def judgement(self) -> Judgement | None:
        """What the noise leaves of the size that is expected."""
        from graphveil.mechanisms.planning.usefulness import Judgement

        return None if self.expected is None else Judgement(self.std, self.expected)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.noise.exact_numbers import as_text

        judgement = self.judgement
        return {
            "series": self.name,
            "epsilon": as_text(self.epsilon),
            "pool": None if self.pool is None else as_text(self.pool),
            "last_std": self.std,
            "expected": self.expected,
            "relative_error": judgement.share if judgement else None,
            "usefulness": str(judgement.word) if judgement else None,
        }


@dataclass(frozen=True)
class Budget:
    """A total ε with what every series would get for it."""

    total: Fraction
    series: tuple[SeriesAtPrice, ...]


@dataclass(frozen=True)
class Budgets:
    """The errors for totals from small to large.

    Attributes:
        title: what it is about.
        how: a total is split, in a sentence.
        budgets: one for each total.
    """

    title: str
    how: str
    budgets: tuple[Budget, ...]

    @property
    def sized(self) -> bool:
        """Whether a size is expected of every series."""
        return all(each.expected is not None for each in self.budgets[0].series)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        from graphveil.noise.exact_numbers import as_text

        return {
            "title": self.title,
            "spent": False,
            "shares": self.how,
            "budgets": [
                {
                    "epsilon": as_text(each.total),
                    "series": [series.as_data() for series in each.series],
                }
                for each in self.budgets
            ],
        }


def read_range(text: str) -> tuple[Fraction, Fraction]:
    """The smallest and the largest total of LOW:HIGH."""
    from graphveil.noise.exact_numbers import exact

    low, colon, high = text.partition(":")
    if not colon:
        raise ParameterError("budget", f"must be LOW:HIGH, such as 0.1:10, not '{text[:40]}'")
    lowest, highest = exact("budget", low.strip()), exact("budget", high.strip())
    if not 0 < lowest < highest <= WIDEST * lowest:
        raise ParameterError("budget", "must go from above 0 to more, at most a millionfold")
    return lowest, highest


def totals(low: Fraction, high: Fraction) -> list[Fraction]:
    """Round numbers from low to high, evenly on a logarithmic scale, and both ends."""
    return sorted({low, high, *(each for each in _round(low, high) if low < each < high)})


def _round(low: Fraction, high: Fraction) -> Iterator[Fraction]:
    power = Fraction(1)
    while power > low:
        power /= 10
    while power <= high:
        yield from (Fraction(digits) * power for digits in LEADING)
        power *= 10


@dataclass(frozen=True)
class Price:
    """What a series is planned for: ε and δ of its own, or those of a pool and a share of it."""

    epsilon: Fraction
    delta: Fraction | None = None
    pool_share: Fraction | None = None


@dataclass(frozen=True)
class _Candidate:
    """A series that takes part: how it is planned for an ε, its size and its weight."""

    name: str
    planned: Callable[[Price], Plan]
    expected: int | None
    weight: Fraction = Fraction(1)
    risk: Fraction | None = None  # a δ of its own

    def error(self, price: Price) -> float:
        from graphveil.mechanisms.planning.spans import achieved

        return achieved(self.planned(price))

    def at(self, price: Price) -> SeriesAtPrice:
        std = self.planned(price).last_std
        return SeriesAtPrice(self.name, price.epsilon, std, self.expected, price.pool_share)

    @property
    def counted_as(self) -> float:
        """What an error of 1 counts in the sum that is minimised."""
        return float(self.weight / (self.expected or 1))


def study_budgets(
    folder: Path, low: Fraction, high: Fraction, sizes: Mapping[str, int] | None = None
) -> Budgets:
    """The series of a study, if it had another total; every one keeps its part of it."""
    from graphveil.steward.planning.outlook import study_outlook

    outlook = study_outlook(folder)
    known = [each.name for each in outlook.promise.series]
    for name in (sizes or {}).keys() - set(known):
        raise ParameterError("expected", f"there is no series '{name[:64]}'")
    outlooks = outlook.expecting(sizes or {}).series
    (total, _), (left, _) = outlook.promise.budget_total(), outlook.promise.budget_left()
    budgets = [
        Budget(each, tuple(_scaled(series, each / (total - left)) for series in outlooks))
        for each in totals(low, high)
    ]
    return Budgets(outlook.promise.title, SCALED + _pooled(budgets), tuple(budgets))


def _pooled(budgets: Sequence[Budget]) -> str:
    """What a mark means, if there is one."""
    return POOLED if any(one.pool for each in budgets for one in each.series) else ""


def _scaled(outlook: Outlook, factor: Fraction) -> SeriesAtPrice:
    """A series of a study, if it had another part of ε, or the pool that it shares had."""
    from graphveil.study.lifecycle.opening import series_plan

    promise, series = outlook.promise, outlook.series
    epsilon, delta, share = promise.price_of(series)
    if promise.budget.pool is not None and share is not None:
        pool = promise.budget.pool.model_copy(update={"epsilon": str(factor * epsilon)})
        promise = promise.with_pool(pool)
    else:
        series = series.costing(factor * epsilon, series.horizon)
    planned = series_plan(promise, series, outlook.first_step)
    price = Price(factor * epsilon, delta, share)
    return _Candidate(series.name, lambda _: planned, series.expected).at(price)


def series_budgets(
    requests: Sequence[tuple[SeriesRequest, Bound]],
    low: Fraction,
    high: Fraction,
    *,
    horizon: int | None,
    delta: str | None = None,
    minimise: str | None = None,
) -> Budgets:
    """Series that share each total in the best way, or equally if a size is missing.

    Args:
        requests: the series, each with what is promised about links.
        low: the smallest total.
        high: the largest.
        horizon: how many releases there will be, of series that do not say it.
        delta: the probability of a loss above ε, by all series together.
        minimise: which error is to be small, in series that do not say it.
    """
    from graphveil.noise.exact_numbers import exact_delta

    risk = None if delta is None else exact_delta(delta)
    candidates = [_alternative(*each, horizon, minimise) for each in requests]
    names = [each.name for each in candidates]
    if len(set(names)) < len(names):
        raise ParameterError("series", "two have the same name", hint="Write edges=NAME.")
    budgets = [
        Budget(total, tuple(each.at(price) for each, price in zip(candidates, prices, strict=True)))
        for total, prices in _splits(candidates, risk, low, high)
    ]
    how = ALONE if len(names) == 1 else BEST if _sized(candidates) else EQUAL
    how += _pooled(budgets)
    length = "with no fixed end" if horizon is None else f"over {horizon} releases"
    return Budgets(f"{', '.join(names)} {length}", how, tuple(budgets))


def _alternative(
    asked: SeriesRequest,
    bound: Bound,
    horizon: int | None,
    minimise: str | None,
) -> _Candidate:
    """A candidate from a request; refuses a share of its own, and invalid sizes and weights."""
    from graphveil.graph.thresholds import threshold_of
    from graphveil.mechanisms.factorisations.objectives import DEFAULT
    from graphveil.mechanisms.planning.shares import positive
    from graphveil.mechanisms.planning.usefulness import Judgement
    from graphveil.noise.exact_numbers import exact_delta
    from graphveil.series.planner import plan
    from graphveil.statistics.statistic import statistic

    if not asked.names_no_share:
        raise ParameterError("budget", f"'{asked.called}' has a share of its own", hint="Drop @E.")
    if asked.expected is not None:
        Judgement(0.0, asked.expected)  # refuses what is no size
    planned = partial(
        plan,
        statistic(asked.statistic, **asked.parameters),
        bound,
        horizon=asked.horizon or horizon,
        mechanism=asked.mechanism or "auto",
        projection=threshold_of(asked.projection),
        minimise=asked.minimise or minimise or DEFAULT,
    )
    return _Candidate(
        asked.called,
        lambda price: planned(**vars(price)),
        asked.expected,
        positive("weight", 1 if asked.weight is None else asked.weight),
        None if asked.delta is None else exact_delta(asked.delta),
    )


def _sized(candidates: Sequence[_Candidate]) -> bool:
    return all(each.expected is not None for each in candidates)


def _splits(
    candidates: Sequence[_Candidate], risk: Fraction | None, low: Fraction, high: Fraction
) -> Iterator[tuple[Fraction, Sequence[Price]]]:
    """Every total with what each series gets of it."""
    from graphveil.mechanisms.planning.shares import equal_shares

    if not _sized(candidates):
        number = len(candidates)
        part = None if risk is None else risk / number
        for total in totals(low, high):
            shares = zip(candidates, equal_shares(total, number), strict=True)
            yield total, [Price(share, each.risk or part) for each, share in shares]
        return
    yield from _best_splits(candidates, risk, low, high)


def _best_splits(
    candidates: Sequence[_Candidate], risk: Fraction | None, low: Fraction, high: Fraction
) -> Iterator[tuple[Fraction, Sequence[Price]]]:
    """The best for each total; with a δ, also pools."""
    from graphveil.mechanisms.planning.pooling import best_pool
    from graphveil.noise.zcdp import rho_of

    own = sum((each.risk or Fraction() for each in candidates), Fraction())
    delta = max((risk or Fraction()) - own, Fraction())
    rivals = [_rival(each, delta, low, high) for each in candidates]
    for total in totals(low, high):
        part = rho_of(total, delta) / rho_of(high, delta) if delta else Fraction(1)
        split = best_pool(total, delta, [_of_part(each, part) for each in rivals], worth=1.0)
        yield total, list(_prices(split, delta, [each.risk for each in candidates]))


def _rival(each: _Candidate, delta: Fraction, low: Fraction, high: Fraction) -> Contender:
    """Its errors for any total from low to high, interpolated between a few computed ones."""
    from graphveil.mechanisms.planning.pooling import Contender, known_between
    from graphveil.noise.zcdp import rho_of

    def alone(epsilon: Fraction) -> float:
        return each.error(Price(epsilon, each.risk))

    def pooled(share: Fraction) -> float:
        return each.error(Price(high, delta, share))

    inside = possible(pooled, Fraction(1)) if delta and each.risk is None else None
    outside = possible(alone, high) if inside else alone  # which refuses with its reason
    least = rho_of(low, delta) / rho_of(high, delta) if inside else Fraction(1)
    return Contender(
        each.counted_as,
        outside and known_between(outside, low, high),
        inside and known_between(inside, least, Fraction(1)),
    )


def _of_part(rival: Contender, part: Fraction) -> Contender:
    """The same where the whole pool is only a part of the largest."""
    inside = rival.pooled
    if inside is None:
        return rival
    return replace(rival, pooled=lambda share: inside(share * part))


def _prices(split: Split, delta: Fraction, risks: Sequence[Fraction | None]) -> Iterator[Price]:
    lone = len(split.members) == 1  # a series that is alone in a pool has all of it
    for place, (share, risk) in enumerate(zip(split.shares, risks, strict=True)):
        if place in split.members:
            yield Price(split.pool, delta, None if lone else share)
        else:
            yield Price(share, risk)
