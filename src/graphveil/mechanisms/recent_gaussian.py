"""Recent, Gaussian: fresh Gaussian noise on every value of a recent network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Measured, Mechanism, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import gaussian_for
from graphveil.noise.zcdp import epsilon_of, rho_of


@register
@dataclass(frozen=True)
class RecentGaussian(Mechanism):
    """Discrete Gaussian noise on each value, for a long window or for vectors.

    One person moves all values together by √w·s in L2, where they move by w·s in L1.

    Guarantees: (ε, δ)-node-DP for the whole series, of any length, through ρ-zCDP
        (`docs/mechanisms.md#recent`).
    """

    name = "recent-gaussian"
    summary = "fresh Gaussian noise on every value of a recent network, quoted as (ε, δ)"
    measured = Measured.RECENT
    pure = False
    needs_horizon = False
    proof = "docs/mechanisms.md#recent"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        if request.delta is None:
            raise ParameterError("delta", f"is needed by '{self.name}'")
        rho = rho_of(request.epsilon, request.delta)
        return Epoch(single_step(), gaussian_for(request.sensitivity.l2_squared, rho))

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """ρ grows as the squared L2 distance does; the ε is that of the same δ."""
        assert request.delta is not None, "a Gaussian plan has a δ"
        now, made_for = (each.sensitivity.l2_squared for each in (exposed, request))
        rho = rho_of(request.epsilon, request.delta) * Fraction(now, made_for)
        return epsilon_of(rho, request.delta)
