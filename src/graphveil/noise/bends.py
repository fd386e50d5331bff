"""Bends: how far a − 2b + c reaches, for three whole numbers drawn alike from 0, …, m − 1.

What is new in a step, against the step before, is such a sum of three releases, and noise that is
uniform within a random size is a mixture of such laws.
"""

from __future__ import annotations

from graphveil.deferred import np
from graphveil.noise.laws import Floats


def is_bend(weights: list[int]) -> bool:
    """Whether a sum with these weights, of which none is 0, is a bend or its opposite."""
    return sorted(weights) in ([-2, 1, 1], [-1, -1, 2])


def bends_beyond(choices: Floats, width: int) -> Floats:
    """P(|a − 2b + c| > width) for each number m ≥ 1 of choices.

    By symmetry twice the chance that a + c ≥ y = 2b + width + 1. Of the pairs (a, c), those with
    a + c ≥ y are C(2m − y, 2) if y ≥ m − 1, and m² − C(y + 1, 2) if 0 ≤ y ≤ m.
    """
    last = choices - 1
    # The b for which y is at most m − 1, and those for which it is at most 2m − 2.
    low = np.clip((last - width - 1) // 2, -1, last)
    high = np.clip((2 * last - width - 1) // 2, low, last)
    few = (low + 1) * choices**2 - _pairs(width + 2, low)
    many = _pairs(width + 2 - 2 * choices, high) - _pairs(width + 2 - 2 * choices, low)
    return np.asarray(2 * (few + many) / choices**3)


def _pairs(first: Floats | int, last: Floats) -> Floats:
    """Σ C(first + 2b, 2) over b = 0, …, last, which may be −1; also of negative first + 2b.

    C(−n, 2) = C(n + 1, 2), so that it also sums C(2m − y, 2), with first = y − 2m + 1 at b = 0.
    """
    terms = last + 1
    ones, squares = last * terms / 2, last * terms * (2 * last + 1) / 6
    return (first * (first - 1) * terms + (4 * first - 2) * ones + 4 * squares) / 2
