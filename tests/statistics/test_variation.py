"""V², to which Gaussian noise is calibrated, is what the shape of a change allows, and no less."""

from __future__ import annotations

from graphveil.statistics.shape import Bins, Mass, Moves, Shape
from graphveil.testing.attacks.sweep import BOUNDS, admits, every_statistic


def most(shape: Shape) -> int:
    """(All rises)² + (all falls)², summed over the numbers of a release."""
    if isinstance(shape, Mass):
        return shape.total**2  # everything at once, one way
    assert isinstance(shape, Moves | Bins)
    each = [shape] if isinstance(shape, Moves) else shape.bins
    return sum(moves.rises**2 + moves.falls**2 for moves in each)


def test_the_variation_is_that_of_the_shape() -> None:
    claims = [(each, bound) for each in every_statistic() for bound in BOUNDS]
    admitted = [(each, bound) for each, bound in claims if admits(each, bound)]
    assert len(admitted) > 50
    for example, bound in admitted:
        stated = example.sensitivity(bound)
        assert stated.variation_squared == most(example.shape(bound)), (example, bound)
        assert stated.l2_squared <= stated.variation_squared <= stated.l1**2
