"""Minimising a smooth function by limited-memory BFGS, the same on busy and idle machines.

Libraries do this with multi-threaded linear algebra, which is slow on small problems when
other programs run, and whose sums depend on the number of threads. Here sums are plain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from graphveil.deferred import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


Vector: TypeAlias = "NDArray[np.float64]"
Objective: TypeAlias = Callable[[Vector], tuple[float, Vector]]

MEMORY = 20
ENOUGH_FALL, ENOUGH_TURN = 1e-4, 0.9  # what a step must achieve, as parts of the first slope
MOST_TRIALS = 30


def minimised(objective: Objective, start: Vector, rounds: int, tolerance: float) -> Vector:
    """A point near a local minimum.

    Args:
        objective: gives the value and the gradient.
        start: where to begin.
        rounds: how many steps at most.
        tolerance: stop when a step lowers the value by less than this part of it.
    """
    point, (value, slope) = start, objective(start)
    memory: deque[_Seen] = deque(maxlen=MEMORY)
    for _ in range(rounds):
        direction = -_inverse_times(memory, slope)
        length = 1.0 if memory else min(1.0, 0.1 / float(np.sqrt(dot(slope, slope))))
        found = _step(objective, point, value, slope, direction, length)
        if found is None:
            break
        ahead, lower, turned = found
        memory.append(_Seen.of(ahead - point, turned - slope))
        fall, point, value, slope = value - lower, ahead, lower, turned
        if fall <= tolerance * abs(value):
            break
    return point


def dot(a: Vector, b: Vector) -> float:
    """The inner product, on one thread."""
    return float(np.einsum("i,i->", a, b))


class _Seen(NamedTuple):
    """A step that was made.

    Attributes:
        moved: by how much the point changed.
        turned: by how much the slope did.
        product: of the two, which every later step needs.
    """

    moved: Vector
    turned: Vector
    product: float

    @classmethod
    def of(cls, moved: Vector, turned: Vector) -> _Seen:
        return cls(moved, turned, dot(moved, turned))


def _inverse_times(memory: deque[_Seen], slope: Vector) -> Vector:
    """The inverse Hessian, as the last steps saw it, times the slope."""
    result, shares = slope.copy(), []
    for moved, turned, product in reversed(memory):
        share = dot(moved, result) / product
        result -= share * turned
        shares.append(share)
    if memory:
        newest = memory[-1]
        result *= newest.product / dot(newest.turned, newest.turned)
    for (moved, turned, product), share in zip(memory, reversed(shares), strict=True):
        result += (share - dot(turned, result) / product) * moved
    return result


def _step(
    objective: Objective,
    point: Vector,
    value: float,
    slope: Vector,
    direction: Vector,
    length: float,
) -> tuple[Vector, float, Vector] | None:
    """A step that lowers the value enough and flattens the slope enough, by halving intervals."""
    fall, low, high = dot(slope, direction), 0.0, np.inf
    for _ in range(MOST_TRIALS):
        ahead = point + length * direction
        reached, turned = objective(ahead)
        if not reached <= value + ENOUGH_FALL * length * fall:  # also where it is no number
            high = length
        elif dot(turned, direction) < ENOUGH_TURN * fall:
            low = length
        else:
            return ahead, reached, turned
        length = 2 * low if np.isinf(high) else (low + high) / 2
    return None
