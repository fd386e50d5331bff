"""Sums of blocks: bordered factorisations, dyadic ones and those of two levels.

Bordered: every step is measured, and a few sums of steps once more. Dyadic and two-level: sums of
blocks, decoded from complete ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from math import isqrt, lcm
from operator import mul
from typing import TYPE_CHECKING, Any

from graphveil.deferred import np
from graphveil.mechanisms.factorisations.factorisation import Factorisation, farthest_pair, register

if TYPE_CHECKING:
    from numpy.typing import NDArray

FINE_GRID = 2**20 + 1  # the unit of rounded weights; odd


@register
@dataclass(frozen=True)
class Bordered(Factorisation):
    """C = a diagonal on top of a few rows; B follows from the weights of those rows.

    With diagonal d, rows E and weights W (one row per step, in units of 1/grid),
    B·z at step t = Σ_{j≤t} z_j/d_j + Σ_r W[t,r]/grid · (y_r − Σ_j E[r,j]·z_j/d_j),
    where y is the noise of the rows. Whatever W is, B·C = A holds exactly: W only decides
    how good the estimates are.

    Attributes:
        diagonal: d, odd positive integers, one per step.
        rows: E, integers, each row one per step.
        weights: W, integers, (steps, rows); empty if there are no rows.
        grid: the unit of the weights is 1/grid; odd.
    """

    kind = "bordered"
    diagonal: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...] = ()
    weights: tuple[tuple[int, ...], ...] = ()
    grid: int = 1

    def __post_init__(self) -> None:
        if any(d < 1 or d % 2 == 0 for d in (*self.diagonal, self.grid)):
            raise ValueError("the diagonal and the grid must be odd and positive")
        if any(len(row) != self.steps for row in self.rows):
            raise ValueError("every row needs one entry per step")
        shape = {len(row) for row in self.weights} or {0}
        if self.rows and (len(self.weights) != self.steps or shape != {len(self.rows)}):
            raise ValueError("every step needs one weight per row")

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return len(self.diagonal)

    @property
    def measurements(self) -> int:
        """One per step and one per row."""
        return len(self.diagonal) + len(self.rows)

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        rows = np.array(self.rows, dtype=np.int64).reshape(len(self.rows), self.steps)
        return np.vstack([np.diag(np.array(self.diagonal, dtype=np.int64)), rows])

    def column_l1(self) -> int:
        """The largest column sum of |C|."""
        return self._l1

    def column_l2_squared(self) -> int:
        """The largest column sum of squares of C."""
        return max(sum(entry * entry for entry in column) for column in self._columns())

    def pair_l1(self, rises: int, falls: int) -> int:
        """The largest of ‖rises·c_s − falls·c_t‖₁, s ≠ t, ‖rises·c_s‖₁ and ‖falls·c_t‖₁."""
        if (rises, falls) not in self._pairs:
            rows = np.array(self.rows, dtype=np.int64).reshape(len(self.rows), self.steps)
            diagonal = np.array(self.diagonal, dtype=np.int64)
            found = farthest_pair(diagonal, rows, rises, falls, self.column_l1())
            self._pairs[rises, falls] = found
        return self._pairs[rises, falls]

    def decoder(self) -> NDArray[np.float64]:
        """B as floats."""
        diagonal, rows, weights = self._floats
        prefix = np.tril(np.ones((self.steps, self.steps)))
        return np.hstack([(prefix - weights @ rows) / diagonal, weights])

    def decoder_squares(self) -> NDArray[np.float64]:
        """The squared length of each row of B, without forming B."""
        return self._squares.copy()

    def combined_row(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ coefficient·row of B, without forming B."""
        diagonal, rows, weights = self._floats
        borders = coefficients @ weights
        leaves = np.cumsum(coefficients[::-1])[::-1] - borders @ rows
        return np.concatenate([leaves / diagonal, borders])

    def single_row(self, place: int) -> NDArray[np.float64]:
        """One row of B, without forming the others."""
        diagonal, rows, weights = self._floats
        step = place % self.steps
        leaves = (np.arange(self.steps) <= step) - weights[step] @ rows
        return np.concatenate([leaves / diagonal, weights[step]])

    def integral_steps(self) -> NDArray[np.bool_]:
        """Where the weights are whole, if no measurement of a step is scaled."""
        if any(entry != 1 for entry in self.diagonal):
            return np.zeros(self.steps, dtype=bool)
        weights = np.array(self.weights, dtype=np.int64)
        whole = weights.reshape(self.steps, len(self.rows)) % self.grid == 0
        return np.asarray(whole.all(axis=1))

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly, in integers over one common denominator."""
        unit = lcm(*self.diagonal)
        leaves = [z * (unit // d) for z, d in zip(noise, self.diagonal, strict=False)]
        slack = [
            y * unit - sum(map(mul, row, leaves))
            for y, row in zip(noise[self.steps :], self.rows, strict=True)
        ]
        weights = self.weights or ((),) * self.steps
        return [
            Fraction(self.grid * prefix + sum(map(mul, row, slack)), self.grid * unit)
            for prefix, row in zip(accumulate(leaves), weights, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {
            "kind": self.kind,
            "diagonal": list(self.diagonal),
            "rows": [list(row) for row in self.rows],
            "weights": [list(row) for row in self.weights],
            "grid": self.grid,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Bordered:
        """What `to_dict` gave."""
        rows, weights = (tuple(map(tuple, data[part])) for part in ("rows", "weights"))
        return cls(tuple(data["diagonal"]), rows, weights, data["grid"])

    def _columns(self) -> zip[tuple[int, ...]]:
        """The entries of each column of C that are on the diagonal or in the rows."""
        return zip(self.diagonal, *self.rows, strict=True)

    # One matrix serves every ε, and each plan asks for these values again: they are cached.

    @cached_property
    def _l1(self) -> int:
        return max(sum(map(abs, column)) for column in self._columns())

    @cached_property
    def _pairs(self) -> dict[tuple[int, int], int]:
        return {}

    @cached_property
    def _squares(self) -> NDArray[np.float64]:
        diagonal, rows, weights = self._floats
        leaves, reach, schur = border(diagonal, rows)
        mixed = (weights * (weights @ schur - 2 * reach.T)).sum(axis=1)
        return np.asarray(leaves + mixed)

    @cached_property
    def _floats(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Diagonal, rows and weights."""
        rows = np.array(self.rows, dtype=np.float64).reshape(len(self.rows), self.steps)
        weights = np.array(self.weights, dtype=np.float64).reshape(self.steps, len(self.rows))
        return np.array(self.diagonal, dtype=np.float64), rows, weights / self.grid


def border(
    diagonal: NDArray[np.float64], rows: NDArray[np.float64], each: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """What least squares needs of C, with A the matrix of prefix sums.

    Each column of C may stand for several steps, at the last of which it is looked at.

    Returns:
        The diagonal of A·D⁻²·Aᵀ, (steps,); E·D⁻²·Aᵀ, (rows, steps); and the Schur complement
        I + E·D⁻²·Eᵀ, (rows, rows).
    """
    inverse = each * diagonal**-2.0
    scaled = rows * inverse
    schur = np.eye(len(rows)) + np.einsum("it,jt->ij", scaled, rows)  # on one thread
    return np.cumsum(inverse), np.cumsum(scaled, axis=1), schur


def least_squares(
    diagonal: Sequence[int], rows: Sequence[Sequence[int]], grid: int = FINE_GRID
) -> Bordered:
    """The best decoder for independent noise of equal variance, its weights on a grid.

    The best weights are A·D⁻²·Eᵀ·(I + E·D⁻²·Eᵀ)⁻¹. Rounding them moves the variance by a part in
    10¹⁰ or so, and exactness not at all.
    """
    matrix = np.array(rows, dtype=np.float64).reshape(len(rows), len(diagonal))
    _, reach, schur = border(np.array(diagonal, dtype=np.float64), matrix)
    weights = np.rint(np.linalg.solve(schur, reach).T * grid).astype(np.int64)
    return Bordered(
        tuple(diagonal),
        tuple(map(tuple, rows)),
        tuple(map(tuple, weights.tolist())) if len(rows) else (),
        grid,
    )


def identity(steps: int) -> Bordered:
    """Every difference measured as it is, which is SensDiff over a known stretch."""
    return Bordered(diagonal=(1,) * steps)


@cache
def single_step() -> Bordered:
    """The epoch of one step: its difference is measured as it is."""
    return identity(1)


@register
@dataclass(frozen=True)
class Dyadic(Factorisation):
    """C = the indicators of all complete dyadic blocks; B = the best estimate from below.

    The sum of a block is known from its own measurement and from its two halves. Weighing
    both by their variances gives its estimate the variance v_j = 2^j / (2^{j+1} − 1) at
    height j, and its own measurement the weight v_j. Step t adds up the blocks that the
    binary digits of t name. Measurements are ordered by height, then by place.
    """

    length: int

    kind = "dyadic"

    @property
    def steps(self) -> int:
        """How many steps the epoch has."""
        return self.length

    @property
    def levels(self) -> int:
        """The heights that occur, 0 for single steps."""
        return self.steps.bit_length()

    @property
    def measurements(self) -> int:
        """One per complete block."""
        return sum(self.steps >> height for height in range(self.levels))

    def strategy(self) -> NDArray[np.int64]:
        """C as a dense matrix."""
        rows = []
        for height in range(self.levels):
            level = np.repeat(np.eye(self.steps >> height, dtype=np.int64), 1 << height, axis=1)
            rows.append(np.pad(level, ((0, 0), (0, self.steps - level.shape[1]))))
        return np.vstack(rows)

    def column_l1(self) -> int:
        """The first step lies in a block of every height."""
        return self.levels

    def column_l2_squared(self) -> int:
        """As `column_l1`, since the entries are 0 and 1."""
        return self.levels

    def decoder(self) -> NDArray[np.float64]:
        """B as floats, (steps, measurements)."""
        units = np.eye(self.measurements)
        places = np.cumsum([0] + [self.steps >> height for height in range(self.levels)])
        blocks = [units[: self.steps]]
        for height in range(1, self.levels):
            own = units[places[height] : places[height + 1]]
            count = len(own)
            halves = blocks[-1][0 : 2 * count : 2] + blocks[-1][1 : 2 * count : 2]
            weight = float(own_weight(height))
            blocks.append(weight * own + (1 - weight) * halves)
        sums = [
            sum((blocks[height][place] for height, place in dyadic(t)), np.zeros(len(units)))
            for t in range(1, self.steps + 1)
        ]
        return np.array(sums)

    def decoder_squares(self) -> NDArray[np.float64]:
        """Σ v_j over the digits of t, since the blocks of one step share no measurement."""
        variances = [float(own_weight(height)) for height in range(self.levels)]
        steps = range(1, self.steps + 1)
        return np.array([sum(variances[height] for height, _ in dyadic(t)) for t in steps])

    def single_row(self, place: int) -> NDArray[np.float64]:
        """One row of B: of each block that the step names, all that its estimate is made of."""
        row = np.zeros(self.measurements)
        firsts = np.cumsum([0] + [self.steps >> height for height in range(self.levels)])
        for height, block in dyadic(place % self.steps + 1):
            share = 1.0
            for below in range(height + 1):  # heights under the block's own
                own = float(own_weight(height - below))
                first = firsts[height - below] + (block << below)
                row[first : first + (1 << below)] = share * own
                share *= 1 - own
        return row

    def integral_steps(self) -> NDArray[np.bool_]:
        """Only the first: every later block is weighed against its halves."""
        return np.asarray(np.arange(self.steps) == 0)

    def decode(self, noise: Sequence[int]) -> list[Fraction]:
        """B·z exactly."""
        left = iter(noise)
        blocks = [[Fraction(next(left)) for _ in range(self.steps)]]
        for height in range(1, self.levels):
            weight = own_weight(height)
            pairs = zip(blocks[-1][::2], blocks[-1][1::2], strict=False)
            blocks.append([weight * next(left) + (1 - weight) * (a + b) for a, b in pairs])
        return [
            sum((blocks[height][place] for height, place in dyadic(t)), Fraction())
            for t in range(1, self.steps + 1)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data to store."""
        return {"kind": self.kind, "steps": self.steps}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Dyadic:
        """What `to_dict` gave."""
        return cls(data["steps"])


def own_weight(height: int) -> Fraction:
    """The weight of a block's own measurement, which is also the variance of its estimate."""
    return Fraction(2**height, 2 ** (height + 1) - 1)


def dyadic(t: int) -> Iterator[tuple[int, int]]:
    """The blocks, as (height, place), into which the first t steps fall apart."""
    for height in range(t.bit_length()):
        if t >> height & 1:
            yield height, (t >> height) - 1


# Two levels: every difference is measured, and every block of k differences once more.


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
