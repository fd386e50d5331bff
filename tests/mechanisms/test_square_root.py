"""The square root of the prefix sums and the blocks of two levels, number by number."""

from __future__ import annotations

from itertools import accumulate
from math import comb

import numpy as np
import pytest

from graphveil.mechanisms.factorisations.bordered import Bordered, Dyadic, bridged
from graphveil.mechanisms.factorisations.factorisation import Factorisation
from graphveil.mechanisms.factorisations.triangular import ScaledToeplitz, square_root


@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_coefficients_are_those_of_the_series_in_units_of_255(steps: int) -> None:
    exact = [255 * comb(2 * k, k) / 4**k for k in range(steps)]  # of 1/√(1−x)
    assert square_root(steps).coefficients == tuple(round(number) for number in exact)


@pytest.mark.parametrize("steps", [1, 2, 5, 40])
def test_scales_are_the_largest_odd_ones_of_257_parts(steps: int) -> None:
    """Each column is as long as 257 times the first one's, or just below."""
    root = square_root(steps)
    lengths = list(accumulate(c * c for c in root.coefficients))[::-1]
    for scale, length in zip(root.scales, lengths, strict=True):
        assert scale % 2 == 1
        assert scale**2 * length <= 257**2 * lengths[0] < (scale + 2) ** 2 * length
    assert root.column_l2_squared() == max(
        n * n * s for n, s in zip(root.scales, lengths, strict=True)
    )


@pytest.mark.parametrize(
    "member",
    [
        ScaledToeplitz((1, 1, 0, 2), (1, 1, 3, 1)),
        ScaledToeplitz((1, 0, 1), (1, 1, 1)),
        ScaledToeplitz((3, 1), (1, 1)),
        Dyadic(5),
        Bordered((1, 1), ((1, 1),), ((1,), (3,)), 3),
    ],
    ids=str,
)
def test_whole_steps_are_those_without_denominators(member: Factorisation) -> None:
    units = np.eye(member.measurements, dtype=int).tolist()
    columns = [member.decode(unit) for unit in units]
    whole = [
        all(column[step].denominator == 1 for column in columns) for step in range(member.steps)
    ]
    assert member.integral_steps().tolist() == whole


@pytest.mark.parametrize(
    ("steps", "block", "lengths"), [(5, 2, [2, 2]), (7, 4, [4, 2]), (4, 4, [4])]
)
def test_blocks_of_two_levels_are_measured_once_each(
    steps: int, block: int, lengths: list[int]
) -> None:
    assert [sum(row) for row in bridged(steps, block).rows] == lengths


def test_blocks_of_odd_length_are_refused() -> None:
    with pytest.raises(ValueError, match="the block must be even"):
        bridged(6, 3)
