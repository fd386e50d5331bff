"""Projected totals, all at once: range, box and Gaussian noise without a degree bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from graphveil.mechanisms.factorisations.factorisation import Factorisation, Totals
from graphveil.mechanisms.factorisations.triangular import ScaledSums, rising_square, shared
from graphveil.mechanisms.gaussian import GaussianMechanism
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    joint_refusal,
    register,
)
from graphveil.noise.joint_laws import BoxNoise, JointLaw, RangeNoise


@dataclass(frozen=True)
class JointProjection(Mechanism):
    """Totals of the projected graph, with joint noise for all of them.

    Guarantees: ε-node-DP for T releases on *every* sequence, whatever its degrees: the projection,
    not a promise, limits what one person can change (`docs/mechanisms.md#range-and-box`).
    """

    law: ClassVar[type[RangeNoise | BoxNoise]]
    measured = Measured.PROJECTED_TOTALS
    whole = True
    proof = "docs/mechanisms.md#range-and-box"

    def refusal(self, request: Request) -> str | None:
        """Needs a sensitivity after projection, of one number."""
        reason = super().refusal(request) or _many_numbers(request)
        if reason is None and self.law is RangeNoise and not request.projected_rises:
            reason = "needs totals that one person can only raise: take 'box-projection'"
        return reason or joint_refusal(self.noise(request))

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        return None if number else Epoch(Totals(request.known_horizon()), self.noise(request))

    def noise(self, request: Request) -> JointLaw:
        """The law of all totals' noise together."""
        return self.law(request.known_projected_l1() / request.epsilon, request.known_horizon())


@register
@dataclass(frozen=True)
class RangeProjection(JointProjection):
    """Totals of the projected graph that one person can only raise, by at most Δ each."""

    name = "range-projection"
    summary = "all projected totals at once, with noise that fits totals that only rise"
    law = RangeNoise


@register
@dataclass(frozen=True)
class BoxProjection(JointProjection):
    """Totals of the projected graph that one person can raise or lower, by at most Δ each."""

    name = "box-projection"
    summary = "all projected totals at once, with noise that fits totals that rise and fall"
    law = BoxNoise


def _many_numbers(request: Request) -> str | None:
    """Several numbers may change at different steps: what one release changes does not bound it.

    Each at its own worst step, D numbers of a degree distribution change by about D, which costs
    more than Compose from D = 4 on (docs/sensitivities.md#after-projection).
    """
    return ONE_NUMBER if request.width > 1 else None


# Gaussian projection: all projected totals at once, with Gaussian noise, for many releases.


ONE_NUMBER = "publishes one number per release only"
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
        reason = super().refusal(request) or _many_numbers(request)
        if reason is None and request.known_horizon() > LONGEST:
            reason = f"is computed for horizons up to {LONGEST} only"
        return reason

    def change_squared(self, request: Request) -> int:
        """The square of what one person can change in one total."""
        return request.known_projected_l1() ** 2

    def distance_squared(self, request: Request, matrix: Factorisation) -> int | Fraction:
        """Of all totals at once; those that only rise share a part of their noise."""
        if isinstance(matrix, ScaledSums):
            return rising_square(matrix, request.known_projected_l1())
        return matrix.steps * self.change_squared(request)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon, with the full ρ."""
        steps = request.known_horizon()
        matrix = shared(steps) if request.projected_rises else Totals(steps)
        return None if number else self.gaussian_epoch(request, matrix)
