"""Gaussian factorisation: for vectors, whose L2 distance is far below their L1 distance."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.errors import ParameterError
from graphveil.mechanisms.calibration import gaussian_epoch
from graphveil.mechanisms.mechanism import Epoch, Mechanism, Request, register
from graphveil.mechanisms.toeplitz import square_root
from graphveil.mechanisms.zcdp import rho_of

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
        rho = rho_of(request.epsilon, request.delta)
        return gaussian_epoch(request, square_root(steps), rho)


def _steps(horizon: int | None, number: int) -> int:
    """How long an epoch is; 0 after the last one."""
    if horizon is None:
        return min(16 << 2 * number, LONGEST_EPOCH)
    count = -(-horizon // LONGEST_EPOCH)
    return horizon * (number + 1) // count - horizon * number // count if number < count else 0
