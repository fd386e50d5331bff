"""Revising: the whole history of a series, estimated again from all that was published.

A function of published numbers and of public facts, so it spends nothing. First values stay as
they are; a revision is published beside them (`docs/revisions.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import ArrayLike

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
from graphveil.series.following import corrected_answers
from graphveil.series.postprocessing import StatisticFacts, clipped, monotone_in_degree

EXACT = 1e-10  # what is off by less than this part of the largest number is not wrong
PATIENCE = 3  # rounds of exchanging all that is wrong before single exchanges
ROUNDS = 100  # of looking for the price of the end; it takes a handful


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
