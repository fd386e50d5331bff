"""Post-processing: what may be published beside the raw values, at no cost in privacy.

Everything here is a function of published numbers and of public facts, so it spends nothing.
The raw value is unbiased and processed ones are not: they stand beside it, never in its place.
Two tempting ideas are left out because they can hurt: clipping noisy increments at zero, and
the running maximum. `docs/postprocessing.md` shows by how much.

The whole history of a series can be estimated again from all that was published. First values stay
as they are; a revision is published beside them (`docs/revisions.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf
from typing import TYPE_CHECKING, Protocol, TypeAlias

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.mechanisms.following import Answer
from graphveil.mechanisms.planning.covariance import (
    LEAST,
    Floats,
    Mask,
    Part,
    Precision,
    covariance,
    has_noise_of_its_own,
    news_precision,
    precision_rows,
)
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.state import corrected_answers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Values: TypeAlias = "NDArray[np.float64]"
# Stretches of equal fitted values, the last one first: its sum, its length, and those before it.
Stretches: TypeAlias = "tuple[float, int, Stretches] | None"
EXACT = 1e-10  # what is off by less than this part of the largest number is not wrong
PATIENCE = 3  # rounds of exchanging all that is wrong before single exchanges
ROUNDS = 100  # of looking for the price of the end; it takes a handful


class StatisticFacts(Protocol):
    """The public facts about a statistic that its published numbers are estimated with."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def monotone(self) -> bool:
        """Whether its totals can never fall."""

    @property
    def vector(self) -> bool:
        """Whether a release has one number per degree."""

    @property
    def cumulative(self) -> bool:
        """Whether the numbers of a vector never rise with the degree."""


@dataclass(frozen=True)
class AnnouncedFacts:
    """The same as a ledger states them, of a statistic that is not installed here."""

    name: str
    monotone: bool
    vector: bool
    cumulative: bool


@dataclass(frozen=True)
class Processed:
    """What may be published beside the raw values of a series.

    Attributes:
        values: one row per release; the shape of the raw history.
        histogram: for a degree CCDF, how many nodes have exactly each degree.
        done: what was done, for readers.
    """

    values: Values
    done: str
    histogram: Values | None = None


def clipped(raw: ArrayLike, lowest: float = 0, highest: float | None = None) -> Values:
    """Values moved into the range in which the truth is known to lie.

    Guarantees: no value is farther from a truth within the range than it was.
    """
    if highest is not None and highest < lowest:
        raise ParameterError("highest", f"must be at least {lowest}")
    return np.clip(np.asarray(raw, dtype=np.float64), lowest, highest)


def online_isotonic(raw: ArrayLike) -> Values:
    """For every step t, the largest mean of raw values over s..t: the end of the best fit so far.

    It looks at the past only and revises nothing; hence it may fall from step to step, though
    every value is the end of a rising fit. Tables are treated column by column.
    """
    return _by_column(raw, _ends)


def refitted(raw: ArrayLike) -> Values:
    """The non-decreasing history that is nearest to the raw one, in squares.

    Guarantees: the sum of squared errors over the history never grows, if the truth never
    falls. Earlier values change when later ones are known.
    """
    return _by_column(raw, _fit)


def monotone_in_degree(raw: ArrayLike) -> Values:
    """Each row as the nearest one that never rises with the degree.

    Guarantees: no row is farther, in squares, from a truth that never rises.
    """
    return -refitted(-np.asarray(raw, dtype=np.float64).T).T


def monotone_ccdf(raw: ArrayLike, *, online: bool) -> Values:
    """A degree CCDF, (releases, degrees), that is consistent in degree, in time and in sign.

    First each row is fitted over the degrees, then each column over time, then all is clipped
    at 0. Fitting over time keeps the order of columns, because a fit of larger values is
    larger: so no second round is needed, and every row ends up non-increasing.

    Guarantees: refitted (`online=False`), the table never falls over time either, and its sum
    of squared errors is never more than the raw one's: each of the three is a projection onto
    a convex set that holds the truth.
    """
    in_degree = monotone_in_degree(raw)
    in_time = online_isotonic(in_degree) if online else refitted(in_degree)
    # Only the last bit of a float can still rise with the degree; no bin may show that.
    return clipped(np.minimum.accumulate(in_time, axis=1))


def histogram_of(ccdf: ArrayLike) -> Values:
    """How many nodes have exactly each degree; no bin is negative if no row of `ccdf` rises."""
    table = np.asarray(ccdf, dtype=np.float64)
    return table - np.pad(table[..., 1:], [(0, 0)] * (table.ndim - 1) + [(0, 1)])


def processed(
    statistic: StatisticFacts,
    raw_history: ArrayLike,
    *,
    online: bool = True,
    highest: float | None = None,
) -> Processed:
    """What is admissible for this statistic, applied to all of its raw values so far.

    Args:
        statistic: decides what is known about the truth: whether it can fall, its shape.
        raw_history: the raw values of all releases so far, (releases,) or (releases, degrees).
        online: keep to what each step could know; otherwise refit the whole history.
        highest: a public upper bound of every number, such as the size of the population.
    """
    raw = np.asarray(raw_history)
    if raw.ndim != (2 if statistic.vector else 1):
        shape = "one row of numbers" if statistic.vector else "one number"
        raise ParameterError("raw_history", f"must have {shape} per release of {statistic.name}")
    clip = "clipped at 0" if highest is None else f"clipped to 0..{highest:g}"
    if not statistic.monotone and not statistic.cumulative:
        return Processed(clipped(raw, 0, highest), clip)
    if not statistic.monotone:
        falling = np.minimum.accumulate(monotone_in_degree(raw), axis=1)  # to the last bit
        falling = clipped(falling, 0, highest)
        return Processed(falling, f"falling in degree, {clip}", histogram_of(falling))
    order = "each value ends a rising fit of those before it" if online else "refitted to rise"
    if not statistic.cumulative:
        fit = online_isotonic(raw) if online else refitted(raw)
        return Processed(clipped(fit, 0, highest), f"{order}, {clip}")
    table = clipped(monotone_ccdf(raw, online=online), 0, highest)
    return Processed(table, f"falling in degree, {order}, {clip}", histogram_of(table))


@dataclass(frozen=True)
class Processing:
    """Online processing: what `processed` gives for the newest release, one release at a time.

    A value: taking a release gives another one, at the cost of that release alone.

    Attributes:
        statistic: decides what is known about the truth.
        done: what is done, for readers.
        fits: the rising fit of each number so far.
    """

    statistic: StatisticFacts
    done: str
    fits: tuple[Stretches, ...]

    @classmethod
    def of(
        cls, statistic: StatisticFacts, width: int, history: Iterable[Sequence[int]] = ()
    ) -> Processing:
        """After the releases of a history, each of `width` numbers."""
        nothing = np.zeros((0, width) if statistic.vector else 0)
        under_way = cls(statistic, processed(statistic, nothing).done, (None,) * width)
        return replace(under_way, fits=reduce(under_way._fitted, history, under_way.fits))

    def take(self, raw: Sequence[int]) -> tuple[tuple[float, ...], Processing]:
        """The values published beside a new release, and the processing for later ones."""
        if not self.statistic.monotone:
            row = processed(self.statistic, [raw] if self.statistic.vector else raw).values
            return tuple(row.ravel().tolist()), self
        after = replace(self, fits=self._fitted(self.fits, raw))
        ends = np.array([_mean(fit) for fit in after.fits])
        if self.statistic.cumulative:
            ends = np.minimum.accumulate(ends)
        return tuple(clipped(ends).tolist()), after

    def _fitted(self, fits: tuple[Stretches, ...], raw: Sequence[int]) -> tuple[Stretches, ...]:
        """The fits with one more release."""
        if not self.statistic.monotone:
            return fits
        numbers = list(map(float, raw))
        if self.statistic.cumulative:
            numbers = monotone_in_degree([numbers])[0].tolist()
        return tuple(_pooled(fit, value) for fit, value in zip(fits, numbers, strict=True))


def _by_column(raw: ArrayLike, fit: Callable[[Sequence[float]], list[float]]) -> Values:
    values = np.asarray(raw)
    if values.ndim == 1:
        return np.array(fit(values.tolist()))
    columns = [fit(column) for column in values.T.tolist()]
    return np.array(columns).reshape(values.shape[::-1]).T


def _ends(values: Sequence[float]) -> list[float]:
    """The last fitted value of the fit to every beginning of `values`."""
    fit: Stretches = None
    ends: list[float] = []
    for value in values:
        fit = _pooled(fit, value)
        ends.append(_mean(fit))
    return ends


def _fit(values: Sequence[float]) -> list[float]:
    """The non-decreasing fit with the least squares."""
    fit: Stretches = None
    for value in values:
        fit = _pooled(fit, value)
    fitted: list[float] = []
    while fit is not None:
        fitted += [_mean(fit)] * fit[1]
        fit = fit[2]
    return fitted[::-1]


def _pooled(fit: Stretches, value: float) -> Stretches:
    """The fit with one more value: the last stretches are merged while their means do not rise."""
    total, length = value, 1
    while fit is not None and fit[0] * length >= total * fit[1]:
        total, length, fit = total + fit[0], length + fit[1], fit[2]
    return total, length, fit


def _mean(fit: Stretches) -> float:
    """The last fitted value."""
    assert fit is not None, "nothing was fitted"
    return fit[0] / fit[1]


def revised(statistic: StatisticFacts, raw_history: ArrayLike, plan: Plan) -> Floats:
    """The history as it is estimated now, (releases,) or (releases, degrees).

    Guarantees: whatever holds of the truth holds of it: no number is negative, none falls over
        time that cannot, and what counts "at least d links" never rises with d.

    Args:
        statistic: decides what is known about the truth.
        raw_history: the raw values of all releases so far.
        plan: how they were published.
    """
    raw = np.asarray(raw_history, dtype=np.float64)
    if statistic.monotone and len(raw):
        fit = Rising(plan, len(raw))
        columns = raw.T if statistic.vector else raw[np.newaxis]
        fitted = np.array([fit.of(column) for column in columns])
        raw = fitted.T if statistic.vector else fitted[0]
    if statistic.vector and statistic.cumulative and len(raw):
        # A fit of larger values is larger: so what rises over time still does.
        raw = np.minimum.accumulate(monotone_in_degree(raw), axis=1)
    return clipped(raw)


def revised_at_thresholds(plan: Plan, answers: Sequence[Sequence[Answer]]) -> Floats:
    """The same for a series whose threshold follows: of all links, not of those it has counted.

    What thresholds drop is allowed for; an answer weighs as little as its noise is large.

    Args:
        plan: how it was published.
        answers: of each release; the last is what was released.
    """
    corrected = [float(each) for each in corrected_answers(plan, answers)]
    weights = [1 / asked[-1].threshold ** 2 for asked in answers]
    return clipped(rising(np.array(corrected), np.array(weights)))


class Rising:
    """Rising histories from raw ones of the same plan and length."""

    def __init__(self, plan: Plan, steps: int) -> None:
        self._weights = 1 / np.maximum(np.square(plan.standard_deviations(steps)), LEAST)
        self._precision = _precision(plan, steps)

    def of(self, raw: Floats) -> Floats:
        """The mean of two rising fits: of totals step by step, and of what is new at all steps.

        The second has the precision of the noise, which the first has not; but where noise is large
        it only ever adds, so it may not end above the first.
        """
        levels = clipped(rising(raw, self._weights))
        if self._precision is None:
            return levels
        news = nearest_news(self._precision, np.diff(raw, prepend=0), float(levels[-1]))
        return np.asarray((levels + np.cumsum(news)) / 2)

    def weighed(self, news: Floats) -> Floats:
        """What is new at each step, times the precision of the noise in it."""
        if self._precision is not None:
            return self._precision.times(news)
        totals = self._weights * np.cumsum(news)
        return np.asarray(np.cumsum(totals[::-1])[::-1])


def rising(values: Floats, weights: Floats) -> Floats:
    """The numbers that never fall and are nearest, in weighted squares.

    Neighbours that fall are pooled, and have their mean. SciPy has the same in a part that takes
    longer to import than a page takes to make.
    """
    means: list[float] = []
    sums: list[float] = []  # of the weights of those that were pooled
    lengths: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, total, length = value, weight, 1
        while means and means[-1] >= mean:
            before, heavy = means.pop(), sums.pop()
            mean = (heavy * before + total * mean) / (heavy + total)
            total, length = heavy + total, length + lengths.pop()
        means.append(mean)
        sums.append(total)
        lengths.append(length)
    return np.repeat(means, lengths)


def _precision(plan: Plan, steps: int) -> Precision | None:
    """Of the noise in what is new; None where totals have noise of their own, independently."""
    if plan.mechanism.adds_up:
        return news_precision(plan, steps)
    if has_noise_of_its_own(plan, steps):
        return None
    return Precision(np.zeros(steps), (Part(0, precision_rows(covariance(plan, steps))),))


def nearest_news(precision: Precision, raw: Floats, most: float = inf) -> Floats:
    """The numbers of at least 0, adding up to at most `most`, that are nearest to raw ones.

    Nearest is where (d − raw)ᵀ·H·(d − raw) is least, H being the precision. The bound on the sum
    has a price, which is taken off each pull; it is found by Newton's method between brackets.
    """
    pull = precision.times(raw)
    found, free = _nonnegative(precision, pull, raw > 0)
    price, low, high = 0.0, 0.0, inf
    for _ in range(ROUNDS):
        excess = float(found.sum()) - most
        if (excess <= 0 and price == 0) or abs(excess) <= EXACT * most:
            break
        low, high = (price, high) if excess > 0 else (low, price)
        price = _next_price(precision, free, price, excess, (low, high))
        found, free = _nonnegative(precision, pull - price, free)
    return found


def _next_price(
    precision: Precision, free: Mask, price: float, excess: float, between: tuple[float, float]
) -> float:
    """Where the sum would be right if no number became 0 or ceased to be."""
    low, high = between
    yielding = float(precision.solved(free, np.ones(len(free))).sum())
    offered = price + excess / yielding if yielding > 0 else low
    if low < offered < high:
        return offered
    return (low + high) / 2 if high < inf else 2 * price + 1e-300


def _nonnegative(precision: Precision, pull: Floats, free: Mask) -> tuple[Floats, Mask]:
    """The d ≥ 0 with the least dᵀHd/2 − pullᵀd, and which of its numbers are not held at 0.

    Block pivoting (Júdice and Pires): all numbers that are on the wrong side change it at once;
    if that does not get better for some rounds, only the last one does, which always ends.
    """
    fewest, patience = inf, PATIENCE
    while True:
        found = precision.solved(free, pull)
        slope = precision.times(found) - pull
        below = free & _clearly_negative(found, beside=found)
        rising = ~free & _clearly_negative(slope, beside=pull)
        wrong = np.flatnonzero(below | rising)
        if len(wrong) == 0:
            return np.maximum(found, 0), free
        if len(wrong) < fewest:
            fewest, patience = len(wrong), PATIENCE
        elif patience:
            patience -= 1
        else:
            wrong = wrong[-1:]
        free = free.copy()
        free[wrong] ^= True


def _clearly_negative(values: Floats, beside: Floats) -> Mask:
    """Which are below 0 by more than the errors of floats of such a size."""
    return np.asarray(values < -EXACT * np.abs(beside).max())
