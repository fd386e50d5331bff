"""Noise is never less than what one person can change asks for, and hardly more."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.noise import zcdp
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace
from graphveil.noise.zcdp import VARIANCE_UNIT, gaussian_for, laplace_for, rho_of

changes = st.integers(1, 10**9)
budgets = st.fractions(min_value=Fraction(1, 10**6), max_value=100)
deltas = st.integers(2, 10**12).map(lambda number: Fraction(1, number))


def missing_laplace(change: int, epsilon: Fraction) -> Fraction:
    """By how much the scale falls short of change/ε; negative where it is larger."""
    return change / epsilon - laplace_for(change, epsilon).scale


def missing_gaussian(change_squared: int, rho: Fraction) -> Fraction:
    """By how much σ² falls short of change²/(2ρ); negative where it is larger."""
    return change_squared / (2 * rho) - gaussian_for(change_squared, rho).sigma_squared


@given(changes, budgets)
def test_laplace_noise_is_just_what_is_needed(change: int, epsilon: Fraction) -> None:
    assert missing_laplace(change, epsilon) == 0
    assert change * laplace_for(change, epsilon).privacy_loss == epsilon


@given(changes, budgets)
def test_gaussian_noise_is_enough_and_within_a_unit(change: int, rho: Fraction) -> None:
    assert -Fraction(1, VARIANCE_UNIT) < missing_gaussian(change, rho) <= 0
    assert change * gaussian_for(change, rho).privacy_loss <= rho


@given(changes, budgets)
def test_gaussian_noise_is_stored_in_short_fractions(change: int, rho: Fraction) -> None:
    """The stored text stays short, however long the fraction of the budget is."""
    assert VARIANCE_UNIT % gaussian_for(change, rho).sigma_squared.denominator == 0


@pytest.mark.parametrize("wrong", [floor, round, lambda number: floor(number) - 1])
def test_rounding_towards_less_noise_is_caught(
    wrong: Callable[[Fraction], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zcdp, "ceil", wrong)
    asked = [(change, Fraction(1, n)) for change in range(1, 6) for n in (3, 7, 11, 10**7 + 1)]
    asked = [(change, rho * 3 / 7) for change, rho in asked]
    assert any(missing_gaussian(change, rho) > 0 for change, rho in asked)


@given(changes, changes, budgets)
def test_more_change_never_means_less_noise(one: int, other: int, budget: Fraction) -> None:
    less, more = sorted((one, other))
    assert laplace_for(less, budget).size <= laplace_for(more, budget).size
    assert gaussian_for(less, budget).size <= gaussian_for(more, budget).size


@given(changes, budgets, budgets)
def test_more_budget_never_means_more_noise(change: int, one: Fraction, other: Fraction) -> None:
    tight, loose = sorted((one, other))
    assert laplace_for(change, tight).size >= laplace_for(change, loose).size
    assert gaussian_for(change, tight).size >= gaussian_for(change, loose).size


@given(changes, st.integers(2, 50), budgets)
def test_a_budget_in_parts_costs_the_same_budget(change: int, parts: int, budget: Fraction) -> None:
    """Composition: what `parts` releases of a share each cost adds up to the whole, exactly."""
    share = laplace_for(change, budget / parts)
    assert parts * change * share.privacy_loss == budget
    assert share == laplace_for(parts * change, budget)


def test_each_calibration_gives_its_own_law() -> None:
    assert laplace_for(3, Fraction(1, 2)) == DiscreteLaplace(Fraction(6))
    assert gaussian_for(9, Fraction(1, 2)) == DiscreteGaussian(Fraction(9))


@given(budgets, budgets, deltas)
def test_rho_rises_with_epsilon(one: Fraction, other: Fraction, delta: Fraction) -> None:
    tight, loose = sorted((one, other))
    assert 0 < rho_of(tight, delta) <= rho_of(loose, delta)


@given(budgets, deltas, deltas)
def test_rho_rises_with_delta(epsilon: Fraction, one: Fraction, other: Fraction) -> None:
    rare, frequent = sorted((one, other))
    assert rho_of(epsilon, rare) <= rho_of(epsilon, frequent)
