"""Bends against all triples, and which sums are bends."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from graphveil.noise.laws import bends_beyond, is_bend


@pytest.mark.parametrize("choices", range(1, 10))
def test_every_triple_is_counted(choices: int) -> None:
    bends = [abs(a - 2 * b + c) for a, b, c in product(range(choices), repeat=3)]
    for width in range(2 * choices + 2):
        counted = sum(bend > width for bend in bends)
        found = bends_beyond(np.array([float(choices)]), width)[0] * choices**3
        assert found == pytest.approx(counted, abs=1e-9)


def test_many_numbers_of_choices_at_once() -> None:
    together = bends_beyond(np.arange(1.0, 40.0), 7)
    alone = [bends_beyond(np.array([float(choices)]), 7)[0] for choices in range(1, 40)]
    assert together.tolist() == alone
    assert (np.diff(together) >= 0).all()


def test_what_is_a_bend() -> None:
    for one in (1, -1):
        assert all(is_bend(list(each)) for each in permutations((one, -2 * one, one)))
    for other in ([1], [1, -1], [1, -2], [1, 1, 2], [1, -2, 1, 1], [2, -4, 2], [1, 2, -3]):
        assert not is_bend(other)
