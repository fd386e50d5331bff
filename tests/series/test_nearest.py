"""The nearest point of a cone: where slopes balance, and against a plain solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import nnls

from graphveil.series.nearest import Rows, bands_of, nearest

Floats = NDArray[np.float64]


def dense(rows: Rows, width: int) -> Floats:
    found = np.zeros((rows.count, width))
    np.add.at(found, (rows.row, rows.column), rows.value)
    return found


def plainly(measured: Floats, values: Floats, weights: Floats, walls: Floats) -> Floats:
    """The same by the dual: prices ≥ 0 of walls, by non-negative least squares."""
    root = np.linalg.cholesky(measured.T @ (weights[:, None] * measured))
    pull = np.linalg.solve(root, measured.T @ (weights * values))
    pressed = np.linalg.solve(root, walls.T)
    prices, _ = nnls(pressed, -pull, maxiter=10_000)
    return np.asarray(np.linalg.solve(root.T, pull + pressed @ prices))


@given(st.integers(0, 2**32 - 1))
def test_it_is_what_a_plain_solver_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width = int(rng.integers(1, 9))
    rows = [[(column, 1.0)] for column in range(width)]
    rows += [
        [(int(c), float(rng.integers(1, 4))) for c in np.flatnonzero(rng.random(width) < 0.5)]
        for _ in range(int(rng.integers(0, 4)))
    ]
    walls = [
        [(int(c), float(rng.integers(-2, 3))) for c in np.flatnonzero(rng.random(width) < 0.6)]
        for _ in range(int(rng.integers(1, 12)))
    ]
    walls += walls[:2]  # said twice
    measured, limits = Rows.of([each for each in rows if each]), Rows.of(walls)
    values = rng.normal(0, 10.0 ** rng.integers(-1, 4), measured.count)
    weights = 10.0 ** rng.uniform(-4, 2, measured.count)
    found = nearest(measured, values, weights, limits, width)
    expected = plainly(dense(measured, width), values, weights, dense(limits, width))
    near = 1e-6 * max(1e-9, float(np.abs(values).max()))
    assert dense(limits, width) @ found == pytest.approx(
        np.maximum(dense(limits, width) @ found, 0), abs=near
    )
    cost = [weights @ (dense(measured, width) @ each - values) ** 2 for each in (found, expected)]
    assert cost[0] == pytest.approx(cost[1], rel=1e-6, abs=near**2 * weights.max())


def test_values_that_no_wall_excludes_stay() -> None:
    found = nearest(
        Rows.of([[(0, 1.0)], [(1, 1.0)]]),
        np.array([3.0, 5.0]),
        np.array([1.0, 9.0]),
        Rows.of([[(0, -1.0), (1, 1.0)]]),
        2,
    )
    assert found == pytest.approx([3, 5])


def test_two_that_must_not_fall_meet_at_their_weighted_mean() -> None:
    found = nearest(
        Rows.of([[(0, 1.0)], [(1, 1.0)]]),
        np.array([8.0, 0.0]),
        np.array([1.0, 3.0]),
        Rows.of([[(0, -1.0), (1, 1.0)]]),
        2,
    )
    assert found == pytest.approx([2, 2])


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e15, 1e299])
def test_numbers_of_any_size(size: float) -> None:
    rows = Rows.of([[(0, 1.0)], [(1, 1.0)]])
    found = nearest(rows, np.array([4.0, -2.0]) * size, np.ones(2), rows, 2)
    assert found / size == pytest.approx([4, 0], abs=1e-6)


def test_precisions_that_differ_by_many_powers_of_ten() -> None:
    """As of a count of hardly any noise beside one of a lot."""
    rows = Rows.of([[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]])
    order = Rows.of([[(0, 1.0), (1, -1.0)], [(1, 1.0), (2, -1.0)]])
    found = nearest(rows, np.array([100.0, 900.0, -50.0]), np.array([1e9, 1e-6, 1e-6]), order, 3)
    assert found == pytest.approx([100, 100, -50], abs=1e-3)


def test_rows_know_their_bands_and_pairs() -> None:
    rows = Rows.of([[(0, 1.0), (1, -1.0)]]).repeated(3, 2, 2)
    assert bands_of(rows) == 2
    assert [each.tolist() for each in rows.pairs()] == [[2, 4, 6], [3, 5, 7]]
    both = Rows.stacked([rows, Rows.of([[(0, 2.0), (9, -1.0)]])])
    assert bands_of(both) == 10
    assert both.count == 4
    assert len(both.pairs()[0]) == 3
