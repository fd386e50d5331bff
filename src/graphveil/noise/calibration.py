"""Calibration: how much noise follows from what one person can change, and from the budget."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace

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
