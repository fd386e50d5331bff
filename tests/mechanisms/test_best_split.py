"""The best split: against every split of a grid by the planner's own numbers, and by formula."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil import DegreeBound, Plan, best_shares, plan, statistic
from graphveil.errors import ParameterError
from graphveil.mechanisms.planning.plan import achieved
from graphveil.mechanisms.planning.pooling import FINEST, best_split
from graphveil.mechanisms.planning.shares import at_another_price
from graphveil.noise.exact_numbers import Exact, as_text

BOUND = DegreeBound(6)
WANTED: tuple[tuple[str, dict[str, int]], ...] = (
    ("nodes", {}),
    ("edges", {}),
    ("high-degree", {"tau": 3}),
    ("triangles", {}),
)
SIZES = (900, 1500, 200, 400)


def plans(number: int, horizon: int = 8) -> list[Plan]:
    return [
        plan(statistic(name, **given), BOUND, epsilon="1", horizon=horizon)
        for name, given in WANTED[:number]
    ]


def error(
    made: Sequence[Plan], shares: Sequence[Fraction], sizes: Sequence[int], weights: Sequence[int]
) -> float:
    """What is to be small, by the planner."""
    each = zip(made, shares, sizes, weights, strict=True)
    return sum(w * achieved(at_another_price(p, e)) / size for p, e, size, w in each)


def splits(total: Fraction, parts: int, series: int) -> list[list[Fraction]]:
    """Every split into so many parts."""
    found = []
    for cuts in combinations(range(1, parts), series - 1):
        ends = (0, *cuts, parts)
        found.append([total * (b - a) / parts for a, b in pairwise(ends)])
    return found


@pytest.mark.parametrize("total", [Fraction(1, 10), Fraction(2), Fraction(12)])
@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 1, 9)])
def test_no_split_of_a_grid_is_better(total: Fraction, weights: tuple[int, ...]) -> None:
    made, sizes = plans(3), SIZES[:3]
    shares = best_shares(total, made, sizes, weights)
    assert sum(shares) == total
    tried = min(error(made, each, sizes, weights) for each in splits(total, 24, 3))
    assert error(made, shares, sizes, weights) <= 1.003 * tried


def test_wide_laplace_noise_is_split_by_square_roots() -> None:
    made = plans(4)
    shares = best_shares("0.3", made, SIZES)
    roots = [sqrt(achieved(p) / size) for p, size in zip(made, SIZES, strict=True)]
    for share, root in zip(shares, roots, strict=True):
        assert float(share) == pytest.approx(0.3 * root / sum(roots), abs=0.3 / 25)


def test_it_is_better_than_equal_shares_and_follows_weights() -> None:
    made = plans(4)
    best = best_shares(2, made, SIZES)
    equal = [Fraction(1, 2)] * 4
    assert error(made, best, SIZES, [1] * 4) < 0.9 * error(made, equal, SIZES, [1] * 4)
    heavier = best_shares(2, made, SIZES, [1, 1, "4", 1])
    assert heavier[2] > 1.3 * best[2]
    assert best_shares(2, made, SIZES, [7] * 4) == best


@given(
    total=st.fractions(min_value=Fraction(1, 100), max_value=50, max_denominator=1000),
    scales=st.lists(st.floats(0.01, 1000), min_size=1, max_size=6),
)
def test_shares_use_up_the_total_exactly(total: Fraction, scales: list[float]) -> None:
    shares = best_split(total, [lambda epsilon: 1 / float(epsilon)] * len(scales), scales)
    assert sum(shares) == total
    assert min(shares) > 0
    roots = [sqrt(each) for each in scales]
    least = sum(roots) ** 2 / float(total)  # by Cauchy and Schwarz
    floor = len(scales) * max(scales) / float(total) / FINEST  # where a unit is more than needed
    found = sum(scale / float(share) for scale, share in zip(scales, shares, strict=True))
    assert found <= 1.01 * least + floor


def test_shares_read_well() -> None:
    texts = [as_text(each) for each in best_shares(2, plans(4), SIZES)]
    assert texts == ["0.15", "0.25", "0.85", "0.75"]
    assert all(len(as_text(each)) <= 5 for each in best_shares("1.25", plans(4), SIZES))
    third = best_shares("1/3", plans(4), SIZES)
    assert sum(third) == Fraction(1, 3)
    assert all(each.denominator <= 600 for each in third)


def test_equal_series_get_equal_shares() -> None:
    assert best_shares(1, plans(1) * 3, [50] * 3) == (Fraction(1, 3),) * 3


def test_one_series_takes_all() -> None:
    assert best_shares("0.7", plans(1), [3]) == (Fraction(7, 10),)


def test_a_curve_that_is_not_convex_is_searched_all_the_same() -> None:
    """Little helps up to a half, and much from there on: equal shares are the worst."""

    def late(epsilon: Fraction) -> float:
        found: float = float(2 * epsilon) ** (-0.05 if epsilon < Fraction(1, 2) else -3.3)
        return found

    shares = best_split(Fraction(1), [late, late], [1.0, 1.0])
    assert max(shares) > Fraction(4, 5)
    assert sum(map(late, shares)) < 0.7 * (2 * late(Fraction(1, 2)))


def test_noise_that_vanishes_leaves_shares_that_add_up() -> None:
    shares = best_shares(4000, plans(3), SIZES[:3])
    assert sum(shares) == 4000


@pytest.mark.parametrize(
    ("total", "sizes", "weights", "named"),
    [
        (0, [1, 1], None, "total"),
        (1, [1], None, "expected"),
        (1, [1, 0], None, "expected"),
        (1, [1, 1], [1], "weights"),
        (1, [1, 1], [1, 0], "weights"),
        (1, [1, 1], [1, "x"], "weights"),
    ],
)
def test_refusals(total: Exact, sizes: list[int], weights: list[Exact] | None, named: str) -> None:
    with pytest.raises(ParameterError, match=rf"^{named}: must"):
        best_shares(total, plans(2), sizes, weights)


def test_a_share_too_small_for_any_noise_is_not_asked_for_again() -> None:
    def possible_from_a_tenth(epsilon: Fraction) -> float:
        if epsilon < Fraction(1, 10):
            raise ParameterError("mechanism", "none is possible")
        return float(1 / epsilon)

    def error(epsilon: Fraction) -> float:
        return float(1 / epsilon)

    assert best_split(Fraction(2), [possible_from_a_tenth, error], [1, 1]) == (
        Fraction(1),
        Fraction(1),
    )
    with pytest.raises(ParameterError, match="none is possible"):
        best_split(Fraction(1, 20), [possible_from_a_tenth, error], [1, 1])
