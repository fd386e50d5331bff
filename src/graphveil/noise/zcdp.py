"""Privacy accounting: calibration of noise, and the tight conversion of zCDP to (ε, δ).

ρ-zCDP implies (ε, δ)-DP whenever, for some order α > 1,

    δ ≥ exp((α−1)(αρ − ε)) · (1 − 1/α)^α / (α−1).

Every α gives a true statement, so the best α may be sought in floats; only the number that
is then claimed is computed in many digits and rounded to the safe side
(`docs/mechanisms.md#from-zcdp-to-ε-and-δ`).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, log1p

from graphveil.errors import ParameterError
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace

DIGITS = 60
SAFE_DIGITS = 30  # what is claimed; far coarser than any error made in `DIGITS`
NARROW = -16.0  # the range of log(α − 1) that is searched, up to
WIDE = 60.0


@lru_cache(maxsize=256)
def rho_of(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ for which ρ-zCDP gives (ε, δ)-DP, rounded down.

    Guarantees: ρ-zCDP with this ρ implies (ε, δ)-DP.
    """
    _require(epsilon > 0, "epsilon", "must be greater than 0")
    _require(0 < delta < 1, "delta", "must lie strictly between 0 and 1")
    e, d = float(epsilon), log(delta.numerator) - log(delta.denominator)

    def rho(beta: float) -> float:
        return (e + (d + _margin(beta)) / beta) / (1 + beta)

    with localcontext(Context(prec=DIGITS)):
        beta = Decimal(_best(lambda place: rho(exp(place))))
        margin = _exact_log(delta) + _exact_margin(beta)
        exact = (_decimal(epsilon) + margin / beta) / (1 + beta)
        return Fraction(_rounded(exact, ROUND_FLOOR))


@lru_cache(maxsize=256)
def epsilon_of(rho: Fraction, delta: Fraction) -> Fraction:
    """The smallest ε for which ρ-zCDP gives (ε, δ)-DP, rounded up.

    Guarantees: ρ-zCDP implies (ε, δ)-DP with this ε.
    """
    _require(rho > 0, "rho", "must be greater than 0")
    _require(0 < delta < 1, "delta", "must lie strictly between 0 and 1")
    r, d = float(rho), log(delta.numerator) - log(delta.denominator)

    def saving(beta: float) -> float:
        return (d + _margin(beta)) / beta - (1 + beta) * r

    with localcontext(Context(prec=DIGITS)):
        beta = Decimal(_best(lambda place: saving(exp(place))))
        margin = _exact_log(delta) + _exact_margin(beta)
        exact = (1 + beta) * _decimal(rho) - margin / beta
        return Fraction(_rounded(exact, ROUND_CEILING))


def _best(gain: Callable[[float], float]) -> float:
    """α − 1 where `gain`, a function of log(α − 1), is about largest."""
    count = 400
    width = (WIDE - NARROW) / count
    middle = max((NARROW + width * i for i in range(count + 1)), key=gain)
    low, high = middle - width, middle + width
    while high - low > 1e-7:
        third = (high - low) / 3
        if gain(low + third) < gain(high - third):
            low += third
        else:
            high -= third
    return exp((low + high) / 2)


def _margin(beta: float) -> float:
    """log(α−1) − α·log(1 − 1/α), with α = 1 + β."""
    return log(beta) + (1 + beta) * log1p(1 / beta)


def _exact_margin(beta: Decimal) -> Decimal:
    return beta.ln() + (1 + beta) * (1 + 1 / beta).ln()


def _exact_log(number: Fraction) -> Decimal:
    return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def _decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def _rounded(number: Decimal, way: str) -> Decimal:
    return Context(prec=SAFE_DIGITS, rounding=way).plus(number)


def _require(holds: bool, parameter: str, problem: str) -> None:
    if not holds:
        raise ParameterError(parameter, problem)


# Calibration: how much noise follows from what one person can change, and from the budget.


VARIANCE_UNIT = 2**20


@lru_cache(maxsize=256)
def laplace_for(change: int, epsilon: Fraction) -> DiscreteLaplace:
    """Discrete Laplace noise of scale change/ε.

    Args:
        change: by how much one person can move all that is measured, in L1.
        epsilon: what the measurements may cost.

    Guarantees: ε-DP for the measurements together
        (`docs/mechanisms.md#any-factorisation-at-pure-ε`).
    """
    return DiscreteLaplace(Fraction(change) / epsilon)


def gaussian_for(change_squared: int | Fraction, rho: Fraction) -> DiscreteGaussian:
    """Discrete Gaussian noise with σ² = change²/(2ρ), rounded up to a short fraction.

    Args:
        change_squared: the square of what one person can move all that is measured by, in L2.
        rho: what the measurements may cost, in zero-concentrated DP.

    Guarantees: ρ-zCDP (`docs/mechanisms.md#gaussian-noise`).
    """
    sigma_squared = Fraction(change_squared) / (2 * rho)
    return DiscreteGaussian(Fraction(ceil(sigma_squared * VARIANCE_UNIT), VARIANCE_UNIT))
