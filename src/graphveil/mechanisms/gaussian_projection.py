"""Gaussian projection: all projected totals at once, with Gaussian noise, for many releases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.factorisations.factorisation import Factorisation
from graphveil.factorisations.scaled_sums import ScaledSums, rising_square, shared
from graphveil.factorisations.totals import Totals
from graphveil.mechanisms.compose import NO_PROJECTION
from graphveil.mechanisms.gaussian_mechanism import GaussianMechanism
from graphveil.mechanisms.mechanism import Measured, register
from graphveil.mechanisms.request import Epoch, Request

LONGEST = 1024  # beyond it, exact fractions grow too long to be handy


@register
@dataclass(frozen=True)
class GaussianProjection(GaussianMechanism):
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

    def change_squared(self, request: Request) -> int:
        """The square of what one person can change in one total."""
        assert request.projected_l1 is not None, "refused before"
        return request.projected_l1**2

    def distance_squared(self, request: Request, matrix: Factorisation) -> int | Fraction:
        """Of all totals at once; those that only rise share a part of their noise."""
        assert request.projected_l1 is not None, "refused before"
        if isinstance(matrix, ScaledSums):
            return rising_square(matrix, request.projected_l1)
        return matrix.steps * self.change_squared(request)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon, with the full ρ."""
        steps = request.known_horizon()
        matrix = shared(steps) if request.projected_rises else Totals(steps)
        return None if number else self.gaussian_epoch(request, matrix)
