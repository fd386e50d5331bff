"""Gaussian factorisation: for vectors, whose L2 distance is far below their L1 distance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.factorisations.factorisation import Factorisation
from graphveil.factorisations.toeplitz import square_root
from graphveil.mechanisms.mechanism import Mechanism, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import gaussian_for
from graphveil.noise.zcdp import epsilon_of, rho_of

LONGEST_EPOCH = 1024  # beyond it, exact fractions grow too long to be handy


@register
@dataclass(frozen=True)
class Gaussian(Mechanism):
    """Discrete Gaussian noise, correlated by a square root of the prefix sums.

    A horizon beyond 1024 is covered by several epochs of about equal length. For an unknown
    horizon epochs have 16, 64, 256 and then always 1024 steps.

    Guarantees: (ε, δ)-node-DP for the whole series, through ρ-zCDP
        (`docs/mechanisms.md#gaussian-noise`).
    """

    name = "gaussian"
    summary = "square-root factorisation with Gaussian noise, quoted as (ε, δ)"
    pure = False
    needs_horizon = False
    proof = "docs/mechanisms.md#gaussian-noise"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The square root of its length, with the full ρ."""
        if request.delta is None:
            raise ParameterError("delta", "is needed by 'gaussian'")
        steps = _steps(request.horizon, number)
        if steps == 0:
            return None
        return gaussian_epoch(request, square_root(steps), rho_of(request.epsilon, request.delta))

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """ρ grows as V² does; the ε is that of the same δ."""
        return gaussian_loss(request, exposed)


def gaussian_epoch(request: Request, factorisation: Factorisation, rho: Fraction) -> Epoch:
    """Discrete Gaussian noise with σ² = V²·‖C‖²/(2ρ), for lower-triangular C without negatives.

    V² is the statistic's `variation_squared`: its L2 distance is not enough, because C may
    line up what a person changes at different steps.

    Guarantees: ρ-zCDP (`docs/mechanisms.md#gaussian-noise`).
    """
    change = request.sensitivity.variation_squared * factorisation.column_l2_squared()
    return Epoch(factorisation, gaussian_for(change, rho))


def gaussian_loss(request: Request, exposed: Request) -> Fraction:
    """ε, at the same δ, of somebody whose V² is larger than noise was made for."""
    assert request.delta is not None, "a Gaussian plan has a δ"
    now, made_for = (each.sensitivity.variation_squared for each in (exposed, request))
    rho = rho_of(request.epsilon, request.delta) * Fraction(now, made_for)
    return epsilon_of(rho, request.delta)


def _steps(horizon: int | None, number: int) -> int:
    """How long an epoch is; 0 after the last one."""
    if horizon is None:
        return min(16 << 2 * number, LONGEST_EPOCH)
    count = -(-horizon // LONGEST_EPOCH)
    return horizon * (number + 1) // count - horizon * number // count if number < count else 0
