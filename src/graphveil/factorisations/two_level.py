"""Two levels: every difference is measured, and every block of k differences once more."""

from __future__ import annotations

from functools import lru_cache
from math import isqrt, lcm
from typing import TYPE_CHECKING

from graphveil.deferred import np
from graphveil.factorisations.bordered import Bordered, identity

if TYPE_CHECKING:
    from numpy.typing import NDArray


@lru_cache(maxsize=32)
def bridged(steps: int, block: int) -> Bordered:
    """The factorisation with blocks of `block` steps, the last of them shorter if need be.

    A finished block of length k has the weight k/(k+1), one that is under way for r steps
    r/(k+1): least squares, in closed form.
    """
    if block % 2:
        raise ValueError("the block must be even, for odd denominators")
    blocks = [(first, _even(steps - first, block)) for first in range(0, steps - 1, block)]
    if not blocks:
        return identity(steps)
    grid = lcm(*(length + 1 for _, length in blocks))
    rows = [[int(first <= j < first + length) for j in range(steps)] for first, length in blocks]
    weights = [
        [min(max(t - first, 0), length) * (grid // (length + 1)) for first, length in blocks]
        for t in range(1, steps + 1)
    ]
    return Bordered((1,) * steps, tuple(map(tuple, rows)), tuple(map(tuple, weights)), grid)


def bridged_squares(steps: int, block: int) -> NDArray[np.float64]:
    """The squared lengths of the decoder's rows, in closed form."""
    t = np.arange(1, steps + 1)
    finished = t // block
    inside = t - finished * block
    last = _even(steps % block, block)
    length = np.where(t > steps - steps % block, last, block)
    squares = finished * block / (block + 1) + inside - inside**2 / (length + 1)
    if steps % 2:  # the last step of a rest of odd length is in no block
        squares[-1] = 1 + (squares[-2] if steps > 1 else 0)
    return np.asarray(squares)


@lru_cache(maxsize=32)
def best_block(steps: int) -> int:
    """The even block length with the smallest mean standard deviation, from the horizon alone."""
    longest = min(max(steps, 2), 8 * (isqrt(steps) + 1))
    blocks = range(2, longest + 1, 2)
    return min(blocks, key=lambda block: float(np.sqrt(bridged_squares(steps, block)).mean()))


def _even(left: int, block: int) -> int:
    """The length of a block where this many steps are left; even, for odd denominators."""
    return min(left - left % 2, block)
