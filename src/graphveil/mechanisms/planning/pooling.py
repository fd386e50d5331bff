"""Pooling: which series share one ε and δ for Gaussian noise, and which have an ε of their own.

Costs of Gaussian noise add up as squares do (`docs/mechanisms.md#a-pool-of-several-series`), so
that many series in one pool need less of it than with shares of ε. Where errors go as 1/ε outside
of the pool and as 1/√ρ in it, those that gain most are in every best pool that has any of the
others: so pools are tried in that order, each with its best split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.noise.zcdp import rho_of

# The best split of a budget over several series: the smallest weighted sum of their errors.
#
# An error falls with its ε about as 1/ε does, so that for Laplace noise the best shares go as
# the square roots of weight times sensitivity. Noise on whole numbers, and mechanisms that take
# over from each other as ε grows, only follow that roughly, and the sum need not be convex: so
# the errors are asked of the planner, and all splits into equal units are searched at once.


Floats = NDArray[np.float64]
Curve: TypeAlias = Callable[[Fraction], float]  # the error of a series for its ε

HALVINGS = 7  # of the total: where curves are asked for; between, they are powers of ε
FINEST = 1500  # units into which a total is split at most
WORTH = 1.003  # a sum of errors that is larger by a third of a percent, for shares that read well
VANISHING = 1e-12  # errors below are as good as none


def best_split(
    total: Fraction, curves: Sequence[Curve], weights: Sequence[float], worth: float = WORTH
) -> tuple[Fraction, ...]:
    """Shares that sum to the total, with nearly the smallest Σ weight·error.

    Args:
        total: what is split.
        curves: the error of each series.
        weights: of their errors in the sum.
        worth: by which factor the sum may be larger, for shares that read well.
    """
    if len(curves) == 1:
        return (total,)
    pairs = zip(curves, weights, strict=True)
    sampled = [_sampled(_halves(total), curve, weight) for curve, weight in pairs]
    units = list(_units(total, len(curves)))
    least = _split(total, units[-1], sampled)[0]
    equal = (total / len(curves),) * len(curves)
    if _sum(sampled, equal) <= worth * least:
        return equal
    splits = (_split(total, unit, sampled) for unit in units)
    return next(shares for error, shares in splits if error <= worth * least)


def known_between(curve: Curve, low: Fraction, high: Fraction) -> Curve:
    """The same curve for shares of any total from low to high, asked for only here and there."""
    sampled = _sampled(_halves(high, low), curve, 1.0)
    return lambda epsilon: float(_errors(sampled, np.array([float(epsilon)]))[0])


def _halves(total: Fraction, smallest: Fraction | None = None) -> list[Fraction]:
    """A total and its halves, the largest last; some more below a smaller total."""
    more = int(total / (smallest or total)).bit_length()
    return [total / 2**halving for halving in range(HALVINGS + more - 1, -1, -1)]


def _sampled(points: list[Fraction], curve: Curve, weight: float) -> tuple[Floats, Floats]:
    """Logarithms of ε and of weight·error, at some points, from the smallest that is possible.

    A mechanism may have no noise for a tiny ε; the two largest points have to be possible.
    """
    errors: list[float] = []
    for point in reversed(points):
        try:
            errors.append(max(weight * curve(point), VANISHING))
        except ParameterError:
            if len(errors) < 2:
                raise
            break
    possible = np.array(points[len(points) - len(errors) :], dtype=float)
    return np.log(possible), np.log(np.array(errors[::-1]))


def _errors(sampled: tuple[Floats, Floats], shares: Floats) -> Floats:
    """weight·error at some shares; below the smallest point as it goes on from there."""
    points, errors = sampled
    places = np.log(shares)
    slope = (errors[1] - errors[0]) / (points[1] - points[0])
    below = errors[0] + slope * np.minimum(places - points[0], 0.0)
    found: Floats = np.exp(np.where(places < points[0], below, np.interp(places, points, errors)))
    return found


def _sum(sampled: Sequence[tuple[Floats, Floats]], shares: Sequence[Fraction]) -> float:
    pairs = zip(sampled, shares, strict=True)
    return sum(float(_errors(each, np.array([float(share)]))[0]) for each, share in pairs)


def _units(total: Fraction, series: int) -> Iterator[Fraction]:
    """Units of which the total has a whole number, such as 0.5, 0.2 and 0.1, coarse ones first.

    Where the total is no short decimal, tenths, twentieths and so on of it.
    """
    most = max(FINEST, 2 * series)
    short = [unit for unit in _decimals(total, most) if (total / unit).denominator == 1]
    fits = [unit for unit in short if series < total / unit <= most]
    parts = (m * 10**power for power in range(1, len(str(most))) for m in (1, 2, 5))
    yield from fits or (total / part for part in parts if series < part <= most)


def _decimals(total: Fraction, most: int) -> Iterator[Fraction]:
    """5, 2 and 1 times every power of ten that splits the total into at most so many parts."""
    power = next(place for place in count() if 10**place > total)
    for place in count():
        for digit in (5, 2, 1):
            unit = digit * Fraction(10) ** (power - place)
            if total / unit > most:
                return
            yield unit


def _split(
    total: Fraction, unit: Fraction, sampled: Sequence[tuple[Floats, Floats]]
) -> tuple[float, tuple[Fraction, ...]]:
    """The best of all splits into units, at least one for each series, and its error.

    least[b] is the smallest error with which the series so far use up b units.
    """
    units = int(total / unit)
    sizes = np.arange(1, units + 1, dtype=np.float64) * float(unit)
    least, taken = np.full(units + 1, np.inf), []
    least[0] = 0.0
    for each in sampled:
        least, chosen = _with_one_more(least, _errors(each, sizes))
        taken.append(chosen)
    found, left = [], units
    for chosen in reversed(taken):
        found.append(int(chosen[left]))
        left -= found[-1]
    return float(least[units]), tuple(unit * number for number in reversed(found))


def _with_one_more(before: Floats, errors: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """The smallest errors with a series more, and how many units it then takes."""
    least, chosen = np.full_like(before, np.inf), np.zeros(len(before), dtype=np.int64)
    for number, error in enumerate(errors.tolist(), start=1):
        tried = before[:-number] + error
        better = tried < least[number:]
        least[number:][better] = tried[better]
        chosen[number:][better] = number
    return least, chosen


PAYS = 1.01  # of two pools whose errors differ by less than a hundredth, the smaller is taken
ALL = Fraction(1)


@dataclass(frozen=True)
class ShareCandidate:
    """A series that takes part in a split.

    Attributes:
        weight: of its error in the sum that is minimised.
        alone: its error for an ε of its own; None if it has no noise of pure ε.
        pooled: its error for a part of the ρ that the whole ε and δ allow; None if it has no
            Gaussian noise.
    """

    weight: float
    alone: Curve | None
    pooled: Curve | None


@dataclass(frozen=True)
class Split:
    """Shares of a total.

    Attributes:
        pool: the ε of the pool; 0 if there is none.
        members: the places of the series that share it.
        shares: of each series: of the pool's ρ, or an ε of its own.
    """

    pool: Fraction
    members: frozenset[int]
    shares: tuple[Fraction, ...]


def best_pool(
    total: Fraction, delta: Fraction, candidates: Sequence[ShareCandidate], worth: float = WORTH
) -> Split:
    """The split with nearly the smallest Σ weight·error; of nearly equal ones the smallest pool.

    Args:
        total: the ε that is split: all ε of single series and that of the pool sum to it.
        delta: of the pool.
        candidates: the series.
        worth: by which factor the sum may be larger, for shares that read well.
    """
    known = [_known(each, total) for each in candidates]
    trial = _Trial(total, delta, tuple(known), worth)
    splits = [trial.split(members) for members in trial.pools()]
    errors = [trial.error(each) for each in splits]
    least = min(errors)
    return next(each for each, error in zip(splits, errors, strict=True) if error <= PAYS * least)


def _known(candidate: ShareCandidate, total: Fraction) -> ShareCandidate:
    """The same with curves that are asked for only here and there."""
    alone, pooled = candidate.alone, candidate.pooled
    return ShareCandidate(
        candidate.weight,
        None if alone is None else known_between(alone, total, total),
        None if pooled is None else known_between(pooled, ALL, ALL),
    )


@dataclass(frozen=True)
class _Trial:
    """Pools of one total, tried one after the other."""

    total: Fraction
    delta: Fraction
    candidates: tuple[ShareCandidate, ...]
    worth: float

    def pools(self) -> Iterable[frozenset[int]]:
        """Every pool that may be the best: first the series that need one, then one more each."""
        bound = {place for place, each in enumerate(self.candidates) if each.alone is None}
        free = [place for place, each in enumerate(self.candidates) if each.alone and each.pooled]
        free.sort(key=self._reluctance)
        return [frozenset({*bound, *free[:number]}) for number in range(len(free) + 1)]

    def _reluctance(self, place: int) -> float:
        """The smaller, the sooner a series gains from a pool: b^(4/3)/a for errors a/ε and b/√ρ."""
        each = self.candidates[place]
        assert each.alone is not None, "it has the choice"
        own = each.weight * each.alone(self.total)
        return float(self._in_pool(place) ** (4 / 3)) / own

    def _in_pool(self, place: int) -> float:
        """What the error would weigh if the series had all of ρ."""
        each = self.candidates[place]
        assert each.pooled is not None, "it has Gaussian noise"
        return each.weight * each.pooled(ALL)

    @cached_property
    def _rho(self) -> Fraction:
        return rho_of(self.total, self.delta)

    def _part(self, pool: Fraction) -> Fraction:
        """Which part of all ρ a pool has."""
        return rho_of(pool, self.delta) / self._rho

    def split(self, members: frozenset[int]) -> Split:
        """The best one with this pool, which is split like one series more."""
        curves, weights = [], []
        if members:
            together = sum(self._in_pool(place) ** (2 / 3) for place in members) ** (3 / 2)
            curves, weights = [lambda pool: together / sqrt(self._part(pool))], [1.0]
        for place, each in enumerate(self.candidates):
            if place not in members:
                assert each.alone is not None, "else it is in every pool"
                curves, weights = [*curves, each.alone], [*weights, each.weight]
        parts = list(best_split(self.total, curves, weights, self.worth))
        pool = parts.pop(0) if members else Fraction()
        inside = iter(self._shares(sorted(members)))
        shares = (
            next(inside) if place in members else parts.pop(0)
            for place in range(len(self.candidates))
        )
        return Split(pool, members, tuple(shares))

    def _shares(self, members: Sequence[int]) -> tuple[Fraction, ...]:
        """Shares of the pool; the best ones do not depend on its size."""
        inside = [self.candidates[place] for place in members]
        curves = [each.pooled for each in inside if each.pooled is not None]
        return (
            best_split(ALL, curves, [each.weight for each in inside], self.worth) if inside else ()
        )

    def error(self, split: Split) -> float:
        """The sum that is minimised."""
        part = self._part(split.pool) if split.members else Fraction()
        weighted_sum = 0.0
        for place, each in enumerate(self.candidates):
            share = split.shares[place]
            curve, at = (
                (each.pooled, share * part) if place in split.members else (each.alone, share)
            )
            assert curve is not None, "it is in the pool exactly if it may"
            weighted_sum += each.weight * curve(at)
        return weighted_sum
