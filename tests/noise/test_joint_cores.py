"""Cores of joint laws, and what is computed from them, beside plain sums over whole numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import count
from math import ceil, comb, exp, inf, log, sqrt

import numpy as np
import pytest

from graphveil.noise.joint_laws import (
    LARGEST_CORE,
    LONGEST,
    BoxNoise,
    JointLaw,
    MovesNoise,
    RangeNoise,
)
from graphveil.noise.tails import MARGIN

KINDS: list[type[MovesNoise | RangeNoise | BoxNoise]] = [MovesNoise, RangeNoise, BoxNoise]
COUNTS: dict[type[JointLaw], Callable[[int, int], int]] = {
    MovesNoise: lambda core, steps: comb(core + steps, steps) ** 2,
    RangeNoise: lambda core, steps: (core + 1) ** (steps + 1) - core ** (steps + 1),
    BoxNoise: lambda core, steps: (2 * core + 1) ** steps,
}
LAWS = [
    kind(scale, steps)
    for kind in KINDS
    for scale in (Fraction(1, 4), Fraction(3), Fraction(20))
    for steps in (1, 2, 7, 40)
]


@cache
def core_of(law: JointLaw) -> list[float]:
    """P(core = k): so many vectors have it, each with exp(−norm/scale); to the last that matters.

    The norm is the core, for moves twice the core.
    """
    rate = (2 if isinstance(law, MovesNoise) else 1) / float(law.scale)
    logs: list[float] = []
    highest = -inf
    for core in count():
        logs.append(log(COUNTS[type(law)](core, law.steps)) - rate * core)
        highest = max(highest, logs[-1])
        if logs[-1] < highest - 80:
            break
    sizes = [exp(each - highest) for each in logs]
    whole = sum(sizes)
    return [size / whole for size in sizes]


def mean(law: JointLaw, value: Callable[[int], float]) -> float:
    return sum(chance * value(core) for core, chance in enumerate(core_of(law)))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_a_core_is_as_likely_as_its_vectors_are_many(law: JointLaw) -> None:
    exact, found = core_of(law), law.core
    both = min(len(exact), len(found))
    assert found[:both] == pytest.approx(exact[:both], rel=1e-8, abs=1e-15)
    assert sum(exact[both:]) + sum(found[both:]) < 1e-12
    assert not law.too_large


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(30)])
@pytest.mark.parametrize("steps", [1, 12, 1024])
def test_what_is_not_tabulated_is_negligible(
    kind: type[JointLaw], scale: Fraction, steps: int
) -> None:
    core = kind(scale, steps).core
    assert core[-1] < 1e-14
    assert core.argmax() < 0.9 * len(core)  # and it has been falling for long
    assert core.sum() == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_core_that_is_not_tabulated_is_too_large(kind: type[JointLaw]) -> None:
    assert not kind(Fraction(1), LONGEST).too_large
    assert kind(Fraction(1), LONGEST + 1).too_large
    reached = bisect_left(
        range(10**6), LARGEST_CORE, key=lambda n: kind(Fraction(n, 4), 50)._farthest
    )
    widest = kind(Fraction(reached, 4), 50)
    while widest._farthest > LARGEST_CORE:  # as near as a quarter is not near enough
        widest = kind(widest.scale - Fraction(1, 2000), 50)
    assert widest._farthest == LARGEST_CORE
    assert not widest.too_large
    assert kind(widest.scale + 1, 50).too_large


SMALL = [law for law in LAWS if law.steps < 10 and law.scale < 10]


@pytest.mark.parametrize("law", [law for law in LAWS if isinstance(law, BoxNoise)], ids=str)
def test_entries_of_a_box_are_uniform_given_the_core(law: BoxNoise) -> None:
    """Var = core·(core + 1)/3, and entries do not depend on each other's signs."""
    one = mean(law, lambda core: core * (core + 1) / 3)
    given = np.arange(law.steps) - 1
    assert law.variance(given) == pytest.approx(one * float((given**2).sum()), rel=1e-8)
    single = law.combination(np.eye(law.steps, dtype=np.int64)[0])
    for width in (0, 1, int(law.scale), 4 * int(law.scale)):
        inside = mean(law, lambda core: min(1.0, (2 * width + 1) / (2 * core + 1)))  # noqa: B023
        assert single.outside(width) == pytest.approx(1 - inside + MARGIN, abs=1e-10)


BOXES = [law for law in LAWS if isinstance(law, BoxNoise) and law.steps > 1]


@pytest.mark.parametrize("law", [*BOXES, BoxNoise(Fraction(20), 600)], ids=str)
def test_changes_of_a_box_are_triangles_given_the_core(law: BoxNoise) -> None:
    """A long one reaches beyond all cores that are tabulated."""
    weights = np.zeros(law.steps, dtype=np.int64)
    weights[[0, -1]] = 1, -1
    for width in (0, 1, 2, int(law.scale), 5 * int(law.scale), 20_100):

        def inside(core: int, width: int = width) -> float:
            whole, reach = 2 * core + 1, min(width, 2 * core)
            return (whole + 2 * reach * whole - reach * (reach + 1)) / whole**2

        found = law.combination(weights).outside(width)
        assert found == pytest.approx(1 - mean(law, inside) + MARGIN, abs=1e-9)
        tripled = law.combination(3 * weights).outside(3 * width + 2)
        assert tripled == found


def ranged(core: int, steps: int, width: int) -> float:
    """P(|w_s − w_t| ≤ width) for two entries of a vector between 0 and the core that touches 0.

    A pair of values counts as often as the others can be chosen, where all vectors count but
    those that stay above 0.
    """
    others = steps - 1

    def pairs(largest: int) -> int:
        near = sum(largest + 1 - x for x in range(1, min(width, largest) + 1))
        return (largest + 1) + 2 * near if largest >= 0 else 0

    whole = (core + 1) ** (steps + 1) - core ** (steps + 1)
    near = pairs(core) * (core + 1) ** others - pairs(core - 1) * core**others
    return float(Fraction(near, whole))


@pytest.mark.parametrize(
    "law", [law for law in LAWS if isinstance(law, RangeNoise) and law.scale < 10], ids=str
)
def test_releases_and_changes_of_a_range_have_one_law(law: RangeNoise) -> None:
    release = np.zeros(law.steps, dtype=np.int64)
    release[0] = 1
    asked = [release]
    if law.steps > 1:
        asked.append(np.append(-release[:-1], 1))
    for weights in asked:
        noise = law.combination(weights)
        for width in (0, 1, 2, 5, 12):
            inside = mean(law, lambda core: ranged(core, law.steps, width))  # noqa: B023
            assert noise.outside(width) == pytest.approx(1 - inside + MARGIN, abs=1e-9)


LONG = [
    MovesNoise(Fraction(300), 1),
    MovesNoise(Fraction(1), 5),
    MovesNoise(Fraction(20), 11),
    MovesNoise(Fraction(196, 10), 1024),
]


@pytest.mark.parametrize("law", [*SMALL, *LONG], ids=str)
def test_variances_add_up_the_tails(law: JointLaw) -> None:
    """E y² = Σ (2w + 1)·P(|y| > w), also where a vector is long, and of its middle."""
    moves = isinstance(law, MovesNoise)
    summed_up = max(1, law.steps // 2) if moves else 1
    weights = np.array([1] * summed_up + [0] * (law.steps - summed_up))
    noise = law.combination(weights)
    farthest = ceil(25 * sqrt(law.variance(weights))) + 90
    beyond = [noise.outside(width) - MARGIN for width in range(farthest)]
    summed = sum((2 * width + 1) * chance for width, chance in enumerate(beyond))
    assert law.variance(weights) == pytest.approx(summed, rel=1e-6)


@pytest.mark.parametrize("steps", [2, 7, 40])
def test_moves_return_to_zero(steps: int) -> None:
    """All entries with the hidden one are alike, and add up to 0."""
    law = MovesNoise(Fraction(3), steps)
    one, parts = law.variance(np.eye(steps, dtype=np.int64)[0]), steps + 1
    for some in range(1, steps + 1):
        weights = np.array([1] * some + [0] * (steps - some))
        share = some * (parts - some) / (parts - 1)
        assert law.variance(weights) == pytest.approx(one * share, rel=1e-9)
        noise, others = law.combination(weights), np.array([1] * (parts - some) + [0] * (some - 1))
        if some > 1:  # the others add up to as much
            assert noise.outside(3) == pytest.approx(law.combination(others).outside(3), abs=1e-10)
        assert law.combination(-5 * weights).outside(19) == noise.outside(3)


def laplace(scale: Fraction, exponent: float) -> float:
    """Log E exp(exponent·L), summed."""
    k = np.arange(-4000, 4001)
    alone = np.exp(-np.abs(k) / float(scale))
    return log(float(np.exp(exponent * k - np.abs(k) / float(scale)).sum() / alone.sum()))


def adding_up_to_nothing(scale: Fraction, parts: int) -> float:
    """P(so many independent discrete Laplace numbers add up to 0)."""
    single = np.exp(-np.abs(np.arange(-200, 201)) / float(scale))
    found = np.ones(1)
    for _ in range(parts):
        found = np.convolve(found, single / single.sum())
    return float(found[len(found) // 2])


@pytest.mark.parametrize("weights", [(2, 1), (3, -1, 2), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(4)])
def test_other_sums_of_moves_have_the_bound_of_chernoff(
    weights: tuple[int, ...], scale: Fraction
) -> None:
    """As docs/mechanisms.md states it, with α that centres the weights; λ on a fine grid."""
    law = MovesNoise(scale, len(weights))
    assert law._chance_of_zero() == pytest.approx(adding_up_to_nothing(scale, law.steps + 1))
    noise = law.combination(np.array(weights))
    centred = np.array([*weights, 0]) - sum(weights) / (law.steps + 1)
    steepest = 1 / float(scale) / float(np.abs(centred).max())
    slopes = [steepest * share / 40 for share in range(1, 40)]
    moments = [sum(laplace(scale, slope * each) for each in centred) for slope in slopes]
    for width in (3, 20, 60, 200):
        bounds = [
            moment - slope * (width + 1) for moment, slope in zip(moments, slopes, strict=True)
        ]
        least = min(1.0, 2 * exp(min(bounds)) / adding_up_to_nothing(scale, law.steps + 1))
        assert noise.outside(width) == pytest.approx(min(1.0, least + MARGIN), rel=0.02)


@pytest.mark.parametrize("kind", [RangeNoise, BoxNoise])
@pytest.mark.parametrize("weights", [(2, 1), (3, -1, 2), (1, 2, 3, 4, 5)])
def test_other_sums_of_totals_have_the_bound_of_hoeffding(
    kind: type[RangeNoise | BoxNoise], weights: tuple[int, ...]
) -> None:
    """Σ weight·entry over independent entries in intervals of length 2·core, or core.

    For the range, what is summed has one entry more, and is known to touch 0.
    """
    law = kind(Fraction(3), len(weights))
    box = kind is BoxNoise
    summed = weights if box else (*weights, -sum(weights))

    def outside(core: int, width: int) -> float:
        lengths = sum((each * core * (2 if box else 1)) ** 2 for each in summed)
        touching = 1.0 if box else 1 - (core / (core + 1)) ** (law.steps + 1)
        bound = 2 * exp(-2 * (width + 1) ** 2 / lengths) if core else 0.0
        return min(1.0, bound / touching)

    noise = law.combination(np.array(weights))
    assert noise.variance() == law.variance(np.array(weights))
    for width in (0, 5, 40, 150, 400):
        found = mean(law, lambda core: outside(core, width))  # noqa: B023
        assert noise.outside(width) == pytest.approx(min(1.0, found + MARGIN), rel=1e-6)


def test_the_sum_of_two_releases_of_a_box_has_the_triangle_too() -> None:
    law = BoxNoise(Fraction(3), 4)
    both, apart = np.array([0, 1, 1, 0]), np.array([1, 0, 0, -1])
    assert law.combination(both).outside(7) == law.combination(apart).outside(7)


def test_a_long_bridge_is_nearly_normal() -> None:
    """Its middle after 60 of 119 entries; a sum of so many has the tails of its variance."""
    law = MovesNoise(Fraction(8), 119)
    weights = np.array([1] * 60 + [0] * 59)
    spread = sqrt(law.variance(weights))
    noise = law.combination(weights)
    assert noise.outside(round(1.96 * spread)) == pytest.approx(0.05, abs=0.003)
    assert noise.outside(round(6.5 * spread)) < 1e-6
