"""Recent, Gaussian: fresh Gaussian noise on every value of a recent network."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.gaussian_mechanism import GaussianMechanism
from graphveil.mechanisms.mechanism import Measured, register
from graphveil.mechanisms.request import Epoch, Request


@register
@dataclass(frozen=True)
class RecentGaussian(GaussianMechanism):
    """Discrete Gaussian noise on each value, for a long window or for vectors.

    One person moves all values together by √w·s in L2, where they move by w·s in L1.

    Guarantees: (ε, δ)-node-DP for the whole series, of any length, through ρ-zCDP
        (`docs/mechanisms.md#recent`).
    """

    name = "recent-gaussian"
    summary = "fresh Gaussian noise on every value of a recent network, quoted as (ε, δ)"
    measured = Measured.RECENT
    needs_horizon = False
    proof = "docs/mechanisms.md#recent"

    def change_squared(self, request: Request) -> int:
        """The squared L2 distance of all values together."""
        return request.sensitivity.l2_squared

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        return self.gaussian_epoch(request, single_step())
