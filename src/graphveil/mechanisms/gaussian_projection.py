"""Gaussian projection: all projected totals at once, with Gaussian noise, for many releases."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.errors import ParameterError
from graphveil.factorisations.scaled_sums import rising_square, shared
from graphveil.factorisations.totals import Totals
from graphveil.mechanisms.compose import NO_PROJECTION
from graphveil.mechanisms.mechanism import Measured, Mechanism, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import gaussian_for
from graphveil.noise.zcdp import rho_of

LONGEST = 1024  # beyond it, exact fractions grow too long to be handy


@register
@dataclass(frozen=True)
class GaussianProjection(Mechanism):
    """Totals of the projected graph, each of which one person changes by at most Δ.

    Where a person can only raise them, their noise has a part in common, which halves it;
    otherwise each has its own. Better than range and box noise for many releases: at ε = 1 and
    δ = 10⁻⁶ from about 35 and 60 on.

    Guarantees: (ε, δ)-node-DP for T releases on *every* sequence, whatever its degrees, through
        ρ-zCDP (`docs/mechanisms.md#gaussian-noise-on-projected-totals`).
    """

    name = "gaussian-projection"
    summary = "all projected totals at once, with Gaussian noise, quoted as (ε, δ)"
    measured = Measured.PROJECTED_TOTALS
    pure = False
    whole = True
    proof = "docs/mechanisms.md#gaussian-noise-on-projected-totals"

    def refusal(self, request: Request) -> str | None:
        """Needs a sensitivity after projection, of one number."""
        reason = super().refusal(request)
        if reason is None and request.projected_l1 is None:
            reason = NO_PROJECTION
        if reason is None and request.width > 1:
            reason = "publishes one number per release only"
        if reason is None and request.known_horizon() > LONGEST:
            reason = f"is computed for horizons up to {LONGEST} only"
        return reason

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon, with the full ρ."""
        if request.delta is None:
            raise ParameterError("delta", f"is needed by '{self.name}'")
        assert request.projected_l1 is not None, "refused before"
        steps, rho = request.known_horizon(), rho_of(request.epsilon, request.delta)
        if number:
            return None
        if request.projected_rises:
            together = shared(steps)
            most = rising_square(together, request.projected_l1)
            return Epoch(together, gaussian_for(most, rho))
        return Epoch(Totals(steps), gaussian_for(steps * request.projected_l1**2, rho))
