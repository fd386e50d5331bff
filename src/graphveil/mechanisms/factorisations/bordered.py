"""Bordered factorisations: every step is measured, and a few sums of steps once more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import accumulate
from math import lcm
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
