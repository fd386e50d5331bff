"""Gaussian factorisation: for vectors, whose L2 distance is far below their L1 distance."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.toeplitz import square_root
from graphveil.mechanisms.gaussian_mechanism import GaussianMechanism
from graphveil.mechanisms.mechanism import register
from graphveil.mechanisms.request import Epoch, Request

LONGEST_EPOCH = 1024  # beyond it, exact fractions grow too long to be handy


@register
@dataclass(frozen=True)
class Gaussian(GaussianMechanism):
    """Discrete Gaussian noise, correlated by a square root of the prefix sums.

    A horizon beyond 1024 is covered by several epochs of about equal length. For an unknown
    horizon epochs have 16, 64, 256 and then always 1024 steps.

    Guarantees: (ε, δ)-node-DP for the whole series, through ρ-zCDP
        (`docs/mechanisms.md#gaussian-noise`).
    """

    name = "gaussian"
    summary = "square-root factorisation with Gaussian noise, quoted as (ε, δ)"
    needs_horizon = False
    proof = "docs/mechanisms.md#gaussian-noise"

    def change_squared(self, request: Request) -> int:
        """V²: the L2 distance is not enough, because C may line up changes at different steps."""
        return request.sensitivity.variation_squared

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The square root of its length, with the full ρ."""
        steps = _steps(request.horizon, number)
        return self.gaussian_epoch(request, square_root(steps)) if steps else None


def _steps(horizon: int | None, number: int) -> int:
    """How long an epoch is; 0 after the last one."""
    if horizon is None:
        return min(16 << 2 * number, LONGEST_EPOCH)
    count = -(-horizon // LONGEST_EPOCH)
    return horizon * (number + 1) // count - horizon * number // count if number < count else 0
