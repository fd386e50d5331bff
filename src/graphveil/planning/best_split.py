"""The best split of a budget over several series: the smallest weighted sum of their errors.

An error falls with its ε about as 1/ε does, so that for Laplace noise the best shares go as the
square roots of weight times sensitivity. Noise on whole numbers, and mechanisms that take over from
each other as ε grows, only follow that roughly, and the sum need not be convex: so the errors are
asked of the planner, and all splits into equal units are searched at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import count
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

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
    """Logarithms of ε and of weight·error, at some points."""
    errors = [max(weight * curve(point), VANISHING) for point in points]
    return np.log(np.array(points, dtype=float)), np.log(np.array(errors))


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
