"""Scaled sums: how they are made, and how far any rising person can move what is measured."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest

from graphveil.mechanisms.factorisations.triangular import ScaledSums, rising_square, shared


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 20, 365, 1000])
def test_rows_have_the_largest_odd_factors_that_their_unit_allows(steps: int) -> None:
    found = shared(steps)
    first = found.columns[0]
    assert found.columns == tuple(range(first, first + 2 * steps, 2))
    assert abs(first - 2 * sqrt(steps)) <= 1
    assert first % 2 == 1
    unit = 1024 * (found.columns[-1] + 2)
    for k, n in zip(found.rows, found.columns, strict=True):
        assert k % 2 == 1
        assert k**2 * n * (n + 2) <= unit**2 < (k + 2) ** 2 * n * (n + 2)


@pytest.mark.parametrize("steps", [1, 2, 3, 5, 8, 11])
@pytest.mark.parametrize("height", [1, 3])
def test_nobody_moves_more_than_the_bound_and_somebody_nearly_as_much(
    steps: int, height: int
) -> None:
    """The square is convex in the totals, so that it is largest where each is 0 or `height`."""
    found = shared(steps)
    strategy = found.strategy().astype(object)
    moved = [
        sum(int(each) ** 2 for each in strategy @ np.diff([0, *totals]).astype(object))
        for totals in product((0, height), repeat=steps)
    ]
    bound = rising_square(found, height)
    assert 0.99 * float(bound) <= max(moved) <= bound


def test_the_bound_is_that_of_columns_that_rise_by_two() -> None:
    for columns in ((3, 5, 9), (3, 3, 5), (5, 3, 1)):
        with pytest.raises(ValueError, match="rise by 2"):
            rising_square(ScaledSums((1, 1, 1), columns), 1)
    # unit = max(1·3·5, 9·5·7) = 315, and high − 2·high²/7 is largest at 2
    assert rising_square(ScaledSums((1, 3), (3, 5)), 2) == 315 * 4 * Fraction(6, 7)
    # Where columns begin far from 0, all totals are best, and there are no more than the steps.
    assert rising_square(ScaledSums((1, 1), (101, 103)), 1) == 103 * 105 * (2 - Fraction(8, 105))
