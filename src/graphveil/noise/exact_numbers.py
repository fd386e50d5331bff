"""Exact numbers: ε and δ as the fractions that were typed, never as nearby floats."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from graphveil.errors import ParameterError

Exact: TypeAlias = str | int | float | Decimal | Fraction
HIGHEST_LEVEL = Fraction(999_999, 1_000_000)  # that an interval can have
MOST_DIGITS = 400  # "1e999999999" is short to type and long to compute
LEAST_EPSILON = Fraction(1, 10**20)  # noise for less is refused anyway, but floats end before
MOST_EPSILON = Fraction(10**12)


def exact(parameter: str, value: Exact) -> Fraction:
    """The fraction that `value` denotes; a float is taken as the decimal that was typed."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal | Fraction):
        raise ParameterError(parameter, f"must be a number such as '0.1' or '1/3', not {value!r}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(parameter, f"must be finite, not {value!r}")
    if isinstance(value, str | Decimal) and _endless(str(value)):
        raise ParameterError(parameter, f"must be written with at most {MOST_DIGITS} digits")
    try:
        return Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        problem = f"must be a number such as '0.1' or '1/3', not {str(value)!r}"
        raise ParameterError(parameter, problem) from error


def _endless(text: str) -> bool:
    """Whether a number has too many digits, written out."""
    exponent = re.search(r"e[+-]?0*(\d+)", text, re.IGNORECASE)
    return len(text) > MOST_DIGITS or (exponent is not None and int(exponent[1]) > MOST_DIGITS)


def exact_epsilon(value: Exact) -> Fraction:
    """ε > 0, of a size that predictions can be computed for."""
    epsilon = exact("epsilon", value)
    if epsilon <= 0:
        raise ParameterError("epsilon", "must be greater than 0")
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise ParameterError("epsilon", "must lie between 1e-20 and 1e12")
    return epsilon


def exact_delta(value: Exact) -> Fraction:
    """δ strictly between 0 and 1."""
    delta = exact("delta", value)
    if not 0 < delta < 1:
        raise ParameterError("delta", "must lie strictly between 0 and 1")
    return delta


def exact_share(value: Exact) -> Fraction:
    """A share of a pool: above 0, and at most all of it."""
    share = exact("pool", value)
    if not 0 < share <= 1:
        raise ParameterError("pool", "a share of it must be above 0 and at most 1")
    return share


@lru_cache(maxsize=256)  # a table says the price of its series in every row
def as_text(number: Fraction) -> str:
    """As it would be typed: a decimal where that is exact and short, else a fraction."""
    digits = next((n for n in range(13) if number * 10**n == int(number * 10**n)), None)
    if digits is None:
        return str(number)
    return f"{Decimal(f'{int(number * 10**digits)}e-{digits}'):f}"  # no operation, no rounding
