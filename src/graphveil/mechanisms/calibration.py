"""How the noise of an epoch follows from the privacy parameters and the factorisation."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from graphveil.errors import ParameterError
from graphveil.mechanisms.factorisation import Factorisation
from graphveil.mechanisms.laws import DiscreteGaussian, DiscreteLaplace
from graphveil.mechanisms.mechanism import Epoch, Request

SPREAD_UNIT = 2**20


def horizon_of(request: Request) -> int:
    """The number of releases, which the caller has to know."""
    if request.horizon is None:
        raise ParameterError("horizon", "must be known", mend="Choose 'epochs' if it is not.")
    return request.horizon


def laplace_epoch(request: Request, factorisation: Factorisation) -> Epoch:
    """Discrete Laplace noise of scale Γ·‖C‖₁/ε.

    Guarantees: ε-DP for the epoch, and for any number of such epochs
        (`docs/mechanisms.md#any-factorisation-at-pure-ε`).
    """
    stretched = request.sensitivity.l1 * factorisation.column_l1()
    return Epoch(factorisation, DiscreteLaplace(Fraction(stretched) / request.epsilon))


def gaussian_epoch(request: Request, factorisation: Factorisation, rho: Fraction) -> Epoch:
    """Discrete Gaussian noise of spread V²·‖C‖²/(2ρ), for lower-triangular C without negatives.

    V² is the statistic's `variation_squared`: its L2 distance is not enough, because C may
    line up what a person changes at different steps.

    Guarantees: ρ-zCDP (`docs/mechanisms.md#gaussian-noise`).
    """
    stretched = request.sensitivity.variation_squared * factorisation.column_l2_squared()
    spread = Fraction(stretched) / (2 * rho)
    return Epoch(factorisation, DiscreteGaussian(Fraction(ceil(spread * SPREAD_UNIT), SPREAD_UNIT)))
