"""The optimiser: the factorisation with the smallest mean error for a known horizon."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from graphveil.factorisations.bordered import Bordered, border, identity, least_squares
from graphveil.factorisations.lbfgs import minimised

Matrix = NDArray[np.float64]

GRID = 1023  # columns of C add up to this at most; odd
IDENTITY_UP_TO = 9  # no other C is better on so few steps
LEAVES_UP_TO = 24  # with a sum over all steps, no further rows are better on so few
LEAST_LEAF = 0.15  # of a column; keeps the equations well-conditioned, and costs nothing
MOST_ROUNDS, TOLERANCE = 300, 1e-8
MOST_COLUMNS = 1024  # with more steps, neighbouring ones share a column while it is tuned, …
SHARED_COLUMNS = 400  # … so that about so many are left: hardly worse, and many times faster


@lru_cache(maxsize=8)
def optimised(steps: int) -> Bordered:
    """A local optimum of the mean standard deviation, on an integer grid."""
    if steps <= IDENTITY_UP_TO:
        return identity(steps)
    return least_squares(*_on_grid(_columns(steps, sums=0)))


@lru_cache(maxsize=8)  # every series of a study tries the same few weights
def optimised_with_sum(steps: int, weight: Fraction = Fraction(1)) -> Bordered:
    """The same, with one row more, which sums over all steps; the others are tuned beside it.

    Where one person's changes move, that row costs next to nothing: what leaves one step and
    enters another stays in the sum.

    Args:
        steps: how many steps there are.
        weight: that of a step in the sum, as a part of all else that is measured of it.
    """
    leaves, rows = _beside_a_sum(steps)
    return least_squares(leaves, [*rows, [round(GRID * weight)] * steps])


@lru_cache(maxsize=8)
def _beside_a_sum(steps: int) -> tuple[list[int], list[list[int]]]:
    if steps <= LEAVES_UP_TO:
        return [GRID] * steps, []
    return _on_grid(_columns(steps, sums=1))


def _on_grid(columns: Matrix) -> tuple[list[int], list[list[int]]]:
    """Columns that add up to 1 as whole numbers that add up to the grid, with odd leaves."""
    rows = np.rint(GRID * columns[1:]).astype(np.int64)
    rows = rows[rows.any(axis=1)]
    leaves = GRID - rows.sum(axis=0)
    leaves -= leaves % 2 == 0
    return leaves.tolist(), rows.tolist()


def _columns(steps: int, *, sums: int) -> Matrix:
    """The tuned columns of all steps, beside so many rows that sum over all of them."""
    each = 1 if steps <= MOST_COLUMNS else -(-steps // SHARED_COLUMNS)
    tuned = _tuned(_start(-(-steps // each), _levels(steps)), each, sums)
    return np.repeat(tuned, each, axis=1)[:, :steps]


def mean_deviation(diagonal: Matrix, rows: Matrix, each: int = 1) -> tuple[float, Matrix, Matrix]:
    """The mean over steps of √(2·v_t), and its gradients.

    v_t = a_tᵀ(CᵀC)⁻¹a_t, with a_t the row of prefix sums, is the least variance at step t. With
    C a diagonal and k rows it takes only prefix sums and one k × k inverse.

    Args:
        diagonal: of C.
        rows: the other rows of C.
        each: how many steps share a column; the mean is then over the last step of each.
    """
    leaves, reach, schur = border(diagonal, rows, each)
    solved = _times(np.asarray(np.linalg.inv(schur), dtype=np.float64), reach)
    deviations = np.sqrt(2 * (leaves - (reach * solved).sum(axis=0)))
    pull = 1 / (len(diagonal) * deviations)
    by_leaf = _later(pull)
    by_reach = -2 * _later(pull * solved)
    by_schur = _times(np.einsum("it,jt->ij", pull * solved, solved), rows)
    by_inverse = by_leaf + (rows * (by_reach + by_schur)).sum(axis=0)
    by_rows = each * (by_reach + 2 * by_schur) / diagonal**2
    return float(deviations.mean()), -2 * each * by_inverse / diagonal**3, by_rows


def _times(square: Matrix, wide: Matrix) -> Matrix:
    """A small matrix times a wide one, on one thread."""
    return np.asarray(np.einsum("ij,jt->it", square, wide))


def _later(values: Matrix) -> Matrix:
    """For each step, the sum from it on."""
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]


def _start(steps: int, levels: tuple[int, ...]) -> Matrix:
    """Columns made of a leaf, sums of blocks, and a little of everything, to be tuned."""
    rows = np.vstack([_blocks(steps, max(2, round(steps / count))) for count in levels])
    shares = np.vstack([np.ones(steps), 0.3 * rows + 0.06 / len(rows) * (1 - rows)])
    return np.asarray(shares / shares.sum(axis=0))


def _levels(steps: int) -> tuple[int, ...]:
    """In how many blocks the horizon is cut at each level; found by trial."""
    if steps <= 30:
        return (1,)
    if steps <= 150:
        return (max(2, round(steps / 25)),)
    if steps <= 250:
        return (round(steps / 20), 2)
    return (18, 3) if steps <= 500 else (30, 6, 2)


def _blocks(steps: int, length: int) -> Matrix:
    """The indicators of consecutive blocks."""
    place = np.arange(steps) // length
    return np.asarray(place == np.arange(place[-1] + 1)[:, None], dtype=np.float64)


def _tuned(start: Matrix, each: int, sums: int) -> Matrix:
    """Columns, not negative and adding up to 1, at a local minimum of the mean deviation.

    A column is its leaf's least share, plus the rest in proportion to squares, so that every
    point of the search is admissible. Beside them stand rows of ones, one for each of the `sums`.
    """
    rest = 1 - LEAST_LEAF

    def columns(point: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        roots = point.reshape(start.shape)
        squares = roots**2
        whole = squares.sum(axis=0)
        return roots, whole, squares / whole

    def objective(point: Matrix) -> tuple[float, Matrix]:
        roots, whole, shares = columns(point)
        rows = np.vstack([rest * shares[1:], np.ones((sums, start.shape[1]))])
        mean, by_leaf, by_rows = mean_deviation(LEAST_LEAF + rest * shares[0], rows, each)
        by_share = rest * np.vstack([by_leaf, by_rows[: len(shares) - 1]])
        inward = by_share - (by_share * shares).sum(axis=0)
        return mean, (2 * roots * inward / whole).ravel()

    found = minimised(objective, np.sqrt(start).ravel(), MOST_ROUNDS, TOLERANCE)
    best = rest * columns(found)[2]
    best[0] += LEAST_LEAF
    return best
