"""Between zCDP and (ε, δ): every claim holds for some order α, is nearly the best, and is rounded.

The formula is that of docs/mechanisms.md#from-zcdp-to-ε-and-δ, computed here in 90 digits.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.noise.zcdp import _best, _exact_margin, _margin, _rounded, epsilon_of, rho_of

MILLIONTH = Fraction(1, 10**6)
ALPHAS = np.geomspace(1e-6, 1e9, 20_001)  # less 1
CASES = [
    (Fraction(1), MILLIONTH),
    (Fraction(1, 100), Fraction(1, 1000)),
    (Fraction(8), Fraction(1, 10**9)),
    (Fraction(3), Fraction(1, 2)),
    (Fraction(1, 50), Fraction(3, 10**12)),
]


def log_delta(alpha: Decimal, rho: Fraction, epsilon: Fraction) -> Decimal:
    """log of exp((α−1)(αρ − ε))·(1 − 1/α)^α/(α−1)."""
    exponent = (alpha - 1) * (alpha * decimal(rho) - decimal(epsilon))
    return exponent + alpha * (1 - 1 / alpha).ln() - (alpha - 1).ln()


def decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def margins() -> NDArray[np.float64]:
    return np.log(ALPHAS) + (1 + ALPHAS) * np.log1p(1 / ALPHAS)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_rho_is_nearly_the_largest_of_all_orders(epsilon: Fraction, delta: Fraction) -> None:
    best = ((float(epsilon) + (np.log(float(delta)) + margins()) / ALPHAS) / (1 + ALPHAS)).max()
    assert float(rho_of(epsilon, delta)) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(("rho", "delta"), CASES)
def test_epsilon_is_nearly_the_smallest_of_all_orders(rho: Fraction, delta: Fraction) -> None:
    best = ((1 + ALPHAS) * float(rho) - (np.log(float(delta)) + margins()) / ALPHAS).min()
    assert float(epsilon_of(rho, delta)) == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_one_undoes_the_other_on_the_safe_side(epsilon: Fraction, delta: Fraction) -> None:
    back = epsilon_of(rho_of(epsilon, delta), delta)
    assert float(back) == pytest.approx(float(epsilon), rel=1e-9)
    there = rho_of(epsilon_of(epsilon, delta), delta)
    assert float(there) == pytest.approx(float(epsilon), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
def test_some_order_proves_what_is_claimed(epsilon: Fraction, delta: Fraction) -> None:
    """In 90 digits; the claims themselves have 30."""
    with localcontext(prec=90):
        least = decimal(delta).ln()
        rho, made = rho_of(epsilon, delta), epsilon_of(epsilon, delta)
        assert _proved(rho, epsilon, least)
        assert _proved(epsilon, made, least)
        assert len(decimal(rho).normalize().as_tuple().digits) <= 30
        assert len(decimal(made).normalize().as_tuple().digits) <= 30


def _proved(rho: Fraction, epsilon: Fraction, least: Decimal) -> bool:
    """Whether δ is reached by some order; the best is found by thirds."""
    low, high = Decimal("1e-7"), Decimal("1e9")
    for _ in range(300):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        one, two = (log_delta(1 + each, rho, epsilon) for each in (first, second))
        low, high = (low, second) if one < two else (first, high)
    return log_delta(1 + low, rho, epsilon) <= least


def test_claims_have_thirty_digits_and_no_fewer() -> None:
    """Unless they end with a 0, as one or two of them may."""
    with localcontext(prec=90):
        for convert in (rho_of, epsilon_of):
            sizes = [len(decimal(convert(*each)).normalize().as_tuple().digits) for each in CASES]
            assert max(sizes) == 30


def test_claims_are_rounded_to_thirty_digits_on_the_side_that_is_asked_for() -> None:
    number = Decimal("0." + "12345678901234567890" * 3)
    assert str(_rounded(number, ROUND_FLOOR)) == "0.123456789012345678901234567890"
    assert str(_rounded(number, ROUND_CEILING)) == "0.123456789012345678901234567891"


@given(st.floats(1e-6, 1e8))
def test_the_margin_is_the_same_in_floats_and_in_many_digits(beta: float) -> None:
    with localcontext(prec=60):
        exact = Decimal(beta).ln() + (1 + Decimal(beta)) * (1 + 1 / Decimal(beta)).ln()
        assert _exact_margin(Decimal(beta)) == exact
    assert _margin(beta) == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("top", [-15.93, -3.0, 0.0, 7.77, 59.9])
def test_the_best_place_is_found_wherever_it_is(top: float) -> None:
    assert _best(lambda place: -((place - top) ** 2)) == pytest.approx(exp(top), rel=1e-6)


@pytest.mark.parametrize("convert", [rho_of, epsilon_of])
@pytest.mark.parametrize(
    ("given_", "delta"),
    [(0, MILLIONTH), (-1, MILLIONTH), (Fraction(-1, 2), MILLIONTH), (1, Fraction()),
     (1, Fraction(1)), (1, Fraction(-1, 2)), (1, Fraction(3, 2))],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(convert: object, given_: Fraction, delta: Fraction) -> None:
    with pytest.raises(ParameterError):
        convert(Fraction(given_), delta)  # type: ignore[operator]
