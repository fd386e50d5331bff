"""How far apart two columns of C lie, against forming every pair, whatever the size of a block."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.mechanisms.factorisations import factorisation
from graphveil.mechanisms.factorisations.bordered import Bordered, Dyadic, identity, single_step
from graphveil.mechanisms.factorisations.factorisation import (
    Dense,
    Factorisation,
    Integers,
    farthest_pair,
)
from graphveil.mechanisms.factorisations.triangular import ScaledToeplitz


@st.composite
def parts(draw: st.DrawFn) -> tuple[Integers, Integers]:
    """A diagonal and some rows of as many steps."""
    steps, count = draw(st.integers(1, 7)), draw(st.integers(0, 3))
    diagonal = draw(st.lists(st.integers(0, 5), min_size=steps, max_size=steps))
    row = st.lists(st.integers(-6, 6), min_size=steps, max_size=steps)
    rows = draw(st.lists(row, min_size=count, max_size=count))
    return np.array(diagonal), np.array(rows, dtype=np.int64).reshape(count, steps)


def formed(matrix: Integers, rises: int, falls: int) -> int:
    """By forming every difference of two columns."""
    steps = range(matrix.shape[1])
    pairs = [rises * matrix[:, s] - falls * matrix[:, t] for s in steps for t in steps if s != t]
    alone = [max(rises, falls) * matrix[:, s] for s in steps]
    return max(int(np.abs(each).sum()) for each in [*pairs, *alone])


@given(parts(), st.integers(0, 5), st.integers(0, 5), st.sampled_from([1, 5, 12, 20, 2**22]))
def test_the_farthest_pair_is_the_farthest_of_all(
    of: tuple[Integers, Integers], rises: int, falls: int, entries: int
) -> None:
    diagonal, rows = of
    matrix = np.vstack([np.diag(diagonal), rows])
    longest = int(np.abs(matrix).sum(axis=0).max())
    with mock.patch.object(factorisation, "MOST_ENTRIES", entries):
        found = farthest_pair(diagonal, rows, rises, falls, longest)
    assert found == formed(matrix, rises, falls)
    assert Dense(matrix).pair_l1(rises, falls) == found
    assert Dense(matrix).column_l1() == longest


@pytest.mark.parametrize("times", [2**61, 2**61 + 1])
def test_where_64_bits_could_overflow_the_sum_of_norms_is_taken(times: int) -> None:
    """Of two equal columns, which are not apart at all."""
    found = Dense(np.array([[1, 1]])).pair_l1(times, times)
    assert found == (times if times == 2**61 else 2 * times)


@pytest.mark.parametrize(
    "member",
    [
        Bordered((3, 1, 5), ((1, 0, -2), (2, 2, 2)), ((1, 0), (0, 1), (1, 1)), 3),
        Dyadic(5),
        ScaledToeplitz((3, 2, 1), (1, 3, 5)),
    ],
    ids=str,
)
def test_every_form_knows_its_columns_as_if_they_were_formed(member: Factorisation) -> None:
    assert member.strategy().dtype == np.int64
    for rises, falls in [(0, 1), (1, 0), (1, 1), (4, 3), (2, 7)]:
        assert member.pair_l1(rises, falls) == formed(member.strategy(), rises, falls)


@pytest.mark.parametrize(
    ("matrix", "rises", "falls", "farthest"),
    [
        ([[1, 1]], 5, 4, 5),  # equal columns: one alone is farther than any two
        ([[1, 1]], 4, 5, 5),
        ([[3]], 2, 7, 21),
        ([[2, -1]], 3, 0, 6),
        ([[0, 0]], 1, 1, 0),
        ([[1, -1]], 2**60 + 1, 2**60, 2**61 + 1),  # beyond what a float could tell apart
    ],
)
def test_known_distances(matrix: list[list[int]], rises: int, falls: int, farthest: int) -> None:
    assert Dense(np.array(matrix)).pair_l1(rises, falls) == farthest


def test_steps_are_whole_where_their_weights_are() -> None:
    mixed = Bordered((1, 1, 1), ((1, 1, 1),), ((0,), (1,), (3,)), 3)
    scaled = Bordered((1, 3, 1), ((1, 1, 1),), ((0,), (1,), (3,)), 3)
    assert mixed.integral_steps().tolist() == [True, False, True]
    assert scaled.integral_steps().tolist() == [False, False, False]
    assert {mixed.integral_steps().dtype, scaled.integral_steps().dtype} == {np.dtype(bool)}


def test_one_step_is_measured_as_it_is() -> None:
    assert single_step() == Bordered((1,)) == identity(1)
