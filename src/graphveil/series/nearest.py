"""The nearest point of a cone: weighted least squares under linear inequalities, step by step.

Numbers of one step may be tied to each other and to those of the step before, in any linear way, so
all matrices are banded, and ten years of days cost only a few products. A primal-dual
interior-point method (Mehrotra 1992): it needs no starting point, does not mind inequalities that
say the same twice, and takes about twenty rounds whatever the size
(`docs/revisions.md#the-joint-estimate`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROUNDS = 100  # it takes about twenty
EXACT = 1e-11  # what is off by less than this part of the largest number is not wrong
STEP = 0.995  # how far a round goes towards the nearest wall
STIFF = 1e-13  # by which part diagonals are raised, so that rounding leaves a root
LEAST_BLOCK = (
    16  # numbers that are solved for together; smaller ones cost more calls than they save
)
APART = 1e10  # how often the heaviest weight is the lightest, at most; more would not be seen


@dataclass(frozen=True, eq=False)
class Rows:
    """A sparse matrix, row by row.

    Attributes:
        row: of each entry, ascending.
        column: of each entry.
        value: of each entry.
        count: how many rows there are.
    """

    row: Integers
    column: Integers
    value: Floats
    count: int

    @classmethod
    def of(cls, rows: Sequence[Sequence[tuple[int, float]]]) -> Rows:
        """From the entries of each row: column and value."""
        lengths = [len(each) for each in rows]
        entries = [entry for each in rows for entry in each]
        return cls(
            np.repeat(np.arange(len(rows)), lengths),
            np.array([column for column, _ in entries], dtype=np.int64),
            np.array([value for _, value in entries], dtype=np.float64),
            len(rows),
        )

    @classmethod
    def stacked(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of several matrices."""
        before = np.cumsum([0, *(each.count for each in parts)])
        return cls(
            np.concatenate([each.row + first for each, first in zip(parts, before, strict=False)]),
            np.concatenate([each.column for each in parts]),
            np.concatenate([each.value for each in parts]),
            int(before[-1]),
        )

    def repeated(self, times: int, column: int, stride: int) -> Rows:
        """The same rows again and again, each time so many columns further, from a column on."""
        turn = np.arange(times)[:, np.newaxis]
        return Rows(
            (self.row + self.count * turn).ravel(),
            (column + self.column + stride * turn).ravel(),
            np.tile(self.value, times),
            self.count * times,
        )

    def pairs(self) -> tuple[Integers, Integers]:
        """The columns of 1 and of −1, of rows that have nothing else."""
        sizes = np.bincount(self.row, minlength=self.count)
        first = np.cumsum(sizes) - sizes
        two = first[sizes == 2]
        ones = np.abs(self.value[two]) == 1
        two = two[ones & (self.value[two] == -self.value[two + 1])]
        ahead = self.value[two] > 0
        return self.column[np.where(ahead, two, two + 1)], self.column[
            np.where(ahead, two + 1, two)
        ]

    def times(self, values: Floats) -> Floats:
        """The product with a vector."""
        return np.bincount(self.row, self.value * values[self.column], self.count).astype(
            np.float64
        )

    def transposed(self, values: Floats, width: int) -> Floats:
        """The product of the transposed matrix with a vector."""
        return np.bincount(self.column, self.value * values[self.row], width).astype(np.float64)


class _Gram:
    """AᵀDA as the lower bands of a matrix, for ever new diagonals D."""

    def __init__(self, rows: Rows, width: int, bands: int) -> None:
        ends = np.searchsorted(rows.row, np.arange(rows.count), side="right")
        reach = ends[rows.row] - np.arange(
            len(rows.row)
        )  # each entry with all later ones of its row
        one = np.repeat(np.arange(len(rows.row)), reach)
        other = one + np.arange(len(one)) - np.repeat(np.cumsum(reach) - reach, reach)
        high = np.maximum(rows.column[one], rows.column[other])
        low = np.minimum(rows.column[one], rows.column[other])
        self._place = (high - low) * width + low
        self._product = rows.value[one] * rows.value[other]
        self._row = rows.row[one]
        self._shape = (bands, width)

    def of(self, diagonal: Floats) -> Floats:
        """The bands."""
        entries = np.bincount(
            self._place, self._product * diagonal[self._row], self._shape[0] * self._shape[1]
        )
        return entries.reshape(self._shape).astype(np.float64)


def bands_of(*matrices: Rows) -> int:
    """How far apart two entries of a row are at most, and one more."""
    widest = 0
    for each in matrices:
        if each.count:
            first, last = np.full(each.count, np.iinfo(np.int64).max), np.full(each.count, -1)
            np.minimum.at(first, each.row, each.column)
            np.maximum.at(last, each.row, each.column)
            widest = max(widest, int((last - first).max()))
    return widest + 1


def nearest(measured: Rows, values: Floats, weights: Floats, walls: Rows, width: int) -> Floats:
    """The numbers z with the least Σ weight·(measured·z − value)², where walls·z ≥ 0.

    Guarantees: in these weighted squares, no farther than the values from any truth that no wall
        excludes.

    Args:
        measured: what was measured, as combinations of the numbers; together they determine all.
        values: what came out.
        weights: of each; its precision.
        walls: what cannot be negative.
        width: how many numbers there are.
    """
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    light = float(weights.min())
    capped = np.minimum(weights / light, APART)
    problem = _Problem(measured, values / size, capped, walls, width)
    return problem.solved() * size


class BandedRoot:
    """The Cholesky root of a positive definite matrix that is given by its lower bands.

    The matrix is cut into square blocks no narrower than its bands, so that each block row has one
    block beside the diagonal; what is small enough for NumPy to do fast is done block by block.
    """

    def __init__(self, bands: Floats) -> None:
        count, self._width = bands.shape
        side = max(count - 1, LEAST_BLOCK)
        own, beside = _blocks(bands, side)
        self._inverse, self._beside = np.empty_like(own), np.empty_like(beside)
        left = own[0]
        for place in range(len(own)):
            self._inverse[place] = np.linalg.inv(np.linalg.cholesky(left))
            if place + 1 < len(own):
                self._beside[place] = beside[place] @ self._inverse[place].T
                left = own[place + 1] - self._beside[place] @ self._beside[place].T

    def solved(self, wanted: Floats) -> Floats:
        """The vector whose product with the matrix is this one."""
        inverse, beside = self._inverse, self._beside
        found = np.zeros(inverse.shape[:2])
        found.ravel()[: self._width] = wanted
        for place in range(len(found)):
            if place:
                found[place] -= beside[place - 1] @ found[place - 1]
            found[place] = inverse[place] @ found[place]
        for place in reversed(range(len(found))):
            if place + 1 < len(found):
                found[place] -= beside[place].T @ found[place + 1]
            found[place] = inverse[place].T @ found[place]
        return found.ravel()[: self._width]


def _blocks(bands: Floats, side: int) -> tuple[Floats, Floats]:
    """The blocks on the diagonal, of which the lower halves count, and those below them.

    The last one is filled up with ones on the diagonal, which nothing meets.
    """
    width = bands.shape[1]
    count = -(-width // side)
    own = np.zeros((count, side, side))
    beside = np.zeros((count - 1, side, side))
    for apart, band in enumerate(bands):
        column = np.arange(width - apart)
        row = column + apart
        crosses = row // side > column // side
        for blocks, here in ((own, ~crosses), (beside, crosses)):
            place, low, high = column[here] // side, row[here] % side, column[here] % side
            blocks[place, low, high] = band[: width - apart][here]
    filled = np.arange(width, count * side)
    own[filled // side, filled % side, filled % side] = 1
    return own, beside


class _Problem:
    """½zᵀQz − cᵀz over all z with A·z ≥ 0; everything is of about the size of 1."""

    def __init__(
        self, measured: Rows, values: Floats, weights: Floats, walls: Rows, width: int
    ) -> None:
        bands = bands_of(measured, walls)
        self.width, self.walls = width, walls
        self.measured, self.weights = measured, weights
        self.hessian = _Gram(measured, width, bands).of(weights)
        self.pull = measured.transposed(weights * values, width)
        self.gram = _Gram(walls, width, bands)

    def solved(self) -> Floats:
        """The best z, to the precision of floats."""
        z = self._root(np.zeros(self.walls.count))(self.pull)
        if not self.walls.count:
            return z
        slack = self.walls.times(z)
        if slack.min() >= 0:
            return z
        slack = np.maximum(slack, 1e-2)
        price = np.full(self.walls.count, 1e-2)
        steep = inf
        for _ in range(ROUNDS):
            slope, others = self._slope_off(z, price), self._others_off(z, slack, price)
            if others <= EXACT and (slope <= EXACT or slope > steep / 2):
                break  # there, or as near as floats can tell
            steep = slope
            try:
                z, slack, price = self._next(z, slack, price)
            except np.linalg.LinAlgError:
                break
        return z

    def _slope_off(self, z: Floats, price: Floats) -> float:
        """How far any number would like to go."""
        return float(np.abs(self._slope(z, price) / self.hessian[0]).max())

    def _others_off(self, z: Floats, slack: Floats, price: Floats) -> float:
        """How far behind a wall, and what is paid for walls that are not reached."""
        return max(float(np.abs(self.walls.times(z) - slack).max()), float(slack @ price))

    def _slope(self, z: Floats, price: Floats) -> Floats:
        weighed = self.weights * self.measured.times(z)
        own = self.measured.transposed(weighed, self.width) - self.pull
        return np.asarray(own - self.walls.transposed(price, self.width))

    def _root(self, stiffness: Floats) -> Callable[[Floats], Floats]:
        """Solves the equations of a round."""
        bands = self.hessian + self.gram.of(stiffness)
        bands[0] *= 1 + STIFF
        return BandedRoot(bands).solved

    def _next(self, z: Floats, slack: Floats, price: Floats) -> tuple[Floats, Floats, Floats]:
        """One round: a step towards the walls' corner, corrected for how it bends."""
        slope, gap = self._slope(z, price), self.walls.times(z) - slack
        solve, mean = self._root(price / slack), float(slack @ price) / len(slack)

        def towards(product: Floats) -> tuple[Floats, Floats, Floats]:
            pressed = self.walls.transposed((product + price * gap) / slack, self.width)
            along = solve(-slope - pressed)
            wider = self.walls.times(along) + gap
            return along, wider, -(product + price * wider) / slack

        _, wider, dearer = towards(slack * price)
        far = min(_farthest(slack, wider), _farthest(price, dearer))
        after = float((slack + far * wider) @ (price + far * dearer)) / len(slack)
        centre = (after / mean) ** 3 * mean
        along, wider, dearer = towards(slack * price + wider * dearer - centre)
        far = min(1.0, STEP * _farthest(slack, wider), STEP * _farthest(price, dearer))
        return z + far * along, slack + far * wider, price + far * dearer


def _farthest(values: Floats, change: Floats) -> float:
    """How often a change can be made before a number is negative; once at most."""
    falling = change < 0
    with np.errstate(over="ignore"):
        return float((values[falling] / -change[falling]).min(initial=1.0))
