"""V², to which Gaussian noise is calibrated, is what the shape of a change allows, and no less."""

from __future__ import annotations

import pytest

from graphveil.graph.promises import Bound
from graphveil.lab.attacks.sweep import BOUNDS, admits, every_statistic
from graphveil.statistics.sensitivity import Bins, Mass, Moves, Recent, Shape


def most(shape: Shape) -> int:
    """(All rises)² + (all falls)², summed over the numbers of a release."""
    if isinstance(shape, Mass):
        return shape.total**2  # everything at once, one way
    if isinstance(shape, Recent):
        return (shape.window * shape.height) ** 2
    assert isinstance(shape, Moves | Bins)
    each = [shape] if isinstance(shape, Moves) else shape.bins
    return sum(moves.rises**2 + moves.falls**2 for moves in each)


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_the_variation_is_that_of_the_shape(bound: Bound) -> None:
    admitted = [each for each in every_statistic() if admits(each, bound)]
    assert len(admitted) > 5
    for example in admitted:
        stated = example.sensitivity(bound)
        assert stated.variation_squared == most(example.shape(bound)), example
        assert stated.l2_squared <= stated.variation_squared <= stated.l1**2
