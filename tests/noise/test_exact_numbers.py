"""ε and δ are the fractions that were typed; what is no such number is refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.noise.exact_numbers import as_text, exact, exact_delta, exact_epsilon, exact_share


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("0.1", Fraction(1, 10)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        ("1e-6", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (2, Fraction(2)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Fraction(2, 7), Fraction(2, 7)),
        (" 0.5 ", Fraction(1, 2)),
    ],
)
def test_numbers_are_taken_as_typed(typed: Any, meant: Fraction) -> None:
    assert exact_epsilon(typed) == meant


@given(st.decimals(min_value="0.001", max_value=1000, places=3))
def test_a_float_means_the_decimal_that_was_typed(typed: Decimal) -> None:
    assert exact_epsilon(float(str(typed))) == Fraction(str(typed))


@pytest.mark.parametrize("bad", [0, -1, "0", "-0.5", 0.0, -0.0, Fraction(0)])
def test_epsilon_is_above_0(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon: must be greater than 0"):
        exact_epsilon(bad)


@pytest.mark.parametrize("bad", ["9e-21", "1e-300", 1e-200, 10**12 + 1, "1e13", "1e400"])
def test_epsilon_has_a_size_that_floats_can_predict(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon: must lie between 1e-20 and 1e12"):
        exact_epsilon(bad)


@pytest.mark.parametrize("least_or_most", ["1e-20", "1e12"])
def test_the_smallest_and_the_largest_epsilon_are_taken(least_or_most: str) -> None:
    assert exact_epsilon(least_or_most) == Fraction(least_or_most)


@pytest.mark.parametrize(
    "bad",
    ["abc", "", "1/0", "NaN", "inf", "1,5", float("nan"), float("inf"), Decimal("NaN"),
     Decimal("Infinity"), True, None, [1], 1j],
)  # fmt: skip
def test_what_is_no_number_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon: must be"):
        exact_epsilon(bad)
    with pytest.raises(ParameterError, match="delta: must be"):
        exact_delta(bad)


@pytest.mark.parametrize("bad", [0, 1, "1", "0", -0.1, 1.5, "2"])
def test_delta_lies_strictly_between_0_and_1(bad: Any) -> None:
    with pytest.raises(ParameterError, match="delta: must lie strictly between 0 and 1"):
        exact_delta(bad)


@pytest.mark.parametrize("bad", ["1e999999999", "1e-500", "1E+0999", Decimal("1e99999"), "1" * 500])
def test_endless_numbers_are_refused_at_once(bad: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon: must be written with at most 400 digits"):
        exact_epsilon(bad)


def test_delta_is_exact() -> None:
    assert exact_delta("1e-9") == Fraction(1, 10**9)
    assert exact("level", "0.95") == Fraction(19, 20)


@pytest.mark.parametrize("most", ["1" * 400, "1e400", "1e-400", "1e0000400"])
def test_numbers_of_400_digits_are_taken(most: str) -> None:
    assert exact("epsilon", most) == Fraction(most)


@pytest.mark.parametrize("bad", ["1" * 401, "1e401", "1e-401", "2E+0000401", "1e1000"])
def test_those_of_401_are_not(bad: str) -> None:
    with pytest.raises(ParameterError, match="at most 400 digits"):
        exact("epsilon", bad)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_called_so(bad: float) -> None:
    with pytest.raises(ParameterError, match="must be finite"):
        exact("epsilon", bad)


@given(st.fractions() | st.decimals(-1000, 1000, places=12).map(Fraction))
def test_a_number_is_shown_as_it_could_be_typed(number: Fraction) -> None:
    assert exact("epsilon", as_text(number)) == number


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (Fraction(0), "0"),
        (Fraction(3), "3"),
        (Fraction(100), "100"),
        (Fraction(1, 2), "0.5"),
        (Fraction(-7, 4), "-1.75"),
        (Fraction(1, 3), "1/3"),
        (Fraction(1, 10**12), "0.000000000001"),
        (Fraction(1, 10**13), "1/10000000000000"),
    ],
)
def test_decimals_are_shown_where_they_are_exact_and_short(number: Fraction, shown: str) -> None:
    assert as_text(number) == shown


@pytest.mark.parametrize("share", [1, "1/2", "0.001", Fraction(99, 100)])
def test_a_share_of_a_pool_is_some_of_it(share: Any) -> None:
    assert exact_share(share) == Fraction(share)


@pytest.mark.parametrize("share", [0, "-1/2", "3/2", "1.001"])
def test_what_is_no_share_of_a_pool_is_refused(share: Any) -> None:
    with pytest.raises(ParameterError, match="pool: a share of it must be above 0 and at most 1"):
        exact_share(share)
