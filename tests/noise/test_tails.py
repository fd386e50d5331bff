"""Tails: what is known of a noise by how likely it is beyond each width."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.noise.tails import MARGIN, NoiseTails, in_parts

Floats = NDArray[np.float64]
halves = st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any)


def whole(half: list[int]) -> Floats:
    """P(noise = x) for x from −n to n, of which the upper half was given up to a factor."""
    chances = np.array([*half[:0:-1], *half], dtype=float)
    return np.asarray(chances / chances.sum())


def beyond(chances: Floats, width: float) -> float:
    """P(|noise| > width)."""
    places = np.abs(np.arange(len(chances)) - len(chances) // 2)
    return float(chances[places > width].sum())


def tails(half: list[int], variance: float = 1.0, factor: int = 1) -> NoiseTails:
    return NoiseTails.of_half(np.array(half, dtype=float), variance, factor)


@given(halves)
def test_tails_are_those_of_the_whole_law(half: list[int]) -> None:
    noise, chances = tails(half, 2.5), whole(half)
    assert noise.variance() == 2.5
    assert NoiseTails.of_half(np.array(half, dtype=float), 2.5).outside(1) == noise.outside(1)
    for width in range(len(half) + 3):
        truth = min(1.0, beyond(chances, width))
        assert truth <= noise.outside(width) == pytest.approx(min(1, truth + MARGIN), abs=1e-12)
    assert noise.outside(-1) == noise.outside(-7) == 1


@given(halves, st.integers(1, 5))
def test_a_multiple_is_beyond_a_width_where_the_noise_is_beyond_its_part(
    half: list[int], factor: int
) -> None:
    noise, chances = tails(half, 7.0, factor), whole(half)
    assert noise.variance() == 7
    for width in range(factor * len(half) + 3):
        truth = beyond(chances, width / factor)
        assert noise.outside(width) == pytest.approx(min(1, truth + MARGIN), abs=1e-12)


@given(halves, st.integers(1, 5), st.sampled_from(["0.01", "0.3", "0.5", "0.9", "0.999"]))
def test_a_half_width_is_the_smallest_that_holds(half: list[int], factor: int, level: str) -> None:
    noise, allowed = tails(half, 7.0, factor), 1 - float(Fraction(level))
    widths = range(factor * len(half) + 1)
    assert noise.half_width(Fraction(level)) == next(
        width for width in widths if noise.outside(width) <= allowed
    )


def test_a_width_that_holds_just_so_often_holds() -> None:
    noise = NoiseTails(lambda width: 0.5 if width < 3 else 0.25 if width < 100 else 0.0, 1.0)
    assert noise.half_width(Fraction(3, 4)) == 3
    assert noise.half_width(Fraction(1, 2)) == 0
    assert noise.half_width(Fraction(4, 5)) == 100


def test_what_is_next_to_the_margin_has_no_width() -> None:
    """A noise that is always 0 lies within 0, at every level that can be shown."""
    assert tails([1]).half_width(Fraction(999_999, 10**6)) == 0
    assert tails([1]).half_width(Fraction(1, 2)) == 0


@given(halves, halves, st.integers(1, 2))
def test_a_sum_is_never_beyond_a_width_more_often_than_it_says(
    first: list[int], second: list[int], factor: int
) -> None:
    """Of a multiple only tails are known: there, no way to divide a short width would say less."""
    both = tails(first, 3.0, factor) + tails(second, 4.0)
    assert both.variance() == 7
    spread = np.zeros(factor * (len(first) * 2 - 2) + 1)
    spread[::factor] = whole(first)
    chances = np.convolve(spread, whole(second))
    for width in range(factor * len(first) + len(second) + 2):
        said = both.outside(width)
        assert said >= min(1.0, beyond(chances, width))
        parts = [
            tails(first, 3.0, factor).outside(part) + tails(second).outside(width - part)
            for part in range(width + 1)
        ]
        assert said <= min(1.0, *parts) + 4 * MARGIN
        assert factor == 1 or said == min(1.0, *parts)
    assert both.outside(-1) == 1


@given(halves, halves)
@example([2 ** (50 - k) for k in range(50)], [1, 1])  # of which the end is negligible
@example([2 ** (50 - k) for k in range(50)], [3 ** (20 - k) for k in range(20)])
def test_the_sum_of_laws_that_are_known_is_known_but_for_one_side(
    first: list[int], second: list[int]
) -> None:
    """Where one noise alone is beyond, the other could bring it back: that is not counted."""
    both, one = tails(first) + tails(second), whole(first)
    chances = np.convolve(one, whole(second))
    for width in range(len(first) + len(second) + 2):
        assert both.outside(width) >= min(1.0, beyond(chances, width))
        truth = beyond(chances, width) + beyond(one, width)
        assert both.outside(width) <= min(1.0, truth + 4 * MARGIN)


def test_a_long_width_is_divided_in_41_ways() -> None:
    """Here only a fortieth for the one noise, and the rest for the other, holds both."""
    near, far = NoiseTails(lambda w: 0.0 if w >= 25 else 1.0, 0.0), tails([1])
    away = NoiseTails(lambda w: 0.0 if w >= 975 else 1.0, 0.0)
    for both in (near + away, away + near):
        assert both.outside(1000) == 0
        assert both.outside(999) == 1
    assert (near + far).half_width(Fraction(1, 2)) == 25
    assert sum([far, near], start=tails([1])).half_width(Fraction(1, 2)) == 25


def test_a_sum_in_parts_is_never_called_nearer_than_it_is() -> None:
    """Of many noises, too: each is asked once, not once for each division of the others."""
    chances = np.exp(-np.arange(200) / 6.0)
    one = NoiseTails.of_half(chances, 71.0)
    wide = NoiseTails.of_half(np.exp(-np.arange(900) / 30.0), 1800.0)
    half = chances / (2 * chances.sum() - chances[0])
    law = np.concatenate([half[:0:-1], half])
    both = np.convolve(np.convolve(law, law), law)
    far = np.abs(np.arange(len(both)) - len(both) // 2)
    together = in_parts([one, one, one])
    for width in range(0, 120, 7):
        assert together.outside(width) >= both[far > width].sum() - 1e-12
    assert together.half_width(Fraction(19, 20)) < 3 * one.half_width(Fraction(59, 60)) + 3
    assert in_parts([one] * 30 + [wide]).half_width(Fraction(19, 20)) > 0
