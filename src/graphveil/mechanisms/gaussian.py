"""Gaussian mechanisms: noise for a ρ, and the factorisation for vectors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.mechanisms.factorisations.factorisation import Factorisation
from graphveil.mechanisms.factorisations.triangular import square_root
from graphveil.mechanisms.mechanism import Epoch, Mechanism, Request, register
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import epsilon_of, gaussian_for

# What Gaussian mechanisms have in common: noise for a ρ, and what noise that is there costs in
# ρ.
#
# ρ is what a series may cost by itself, or its share of what several series may cost together
# (`docs/mechanisms.md#a-pool-of-several-series`).


@dataclass(frozen=True)
class GaussianMechanism(Mechanism):
    """A mechanism with discrete Gaussian noise, quoted as (ε, δ) through ρ-zCDP."""

    pure = False

    @abstractmethod
    def change_squared(self, request: Request) -> int:
        """The square of what one person can change, in the norm that the noise is made for."""

    def distance_squared(self, request: Request, matrix: Factorisation) -> int | Fraction:
        """The largest ‖C·d‖₂² over all changes d of one person, of one epoch."""
        return self.change_squared(request) * matrix.column_l2_squared()

    def gaussian_epoch(self, request: Request, matrix: Factorisation) -> Epoch:
        """Discrete Gaussian noise with σ² = ‖C·d‖²/(2ρ), for lower-triangular C.

        Guarantees: ρ-zCDP, in one epoch and in all together (`docs/mechanisms.md#gaussian-noise`).
        """
        if request.delta is None:
            raise ParameterError("delta", f"is needed by '{self.name}'")
        return Epoch(matrix, gaussian_for(self.distance_squared(request, matrix), request.rho))

    def rho_of_noise(self, request: Request, epochs: Iterable[Epoch]) -> Fraction:
        """The ρ that epochs cost together, computed from their laws and matrices alone.

        Guarantees: ρ-zCDP with this ρ; squares of what one person changes split over epochs
            (`docs/mechanisms.md#gaussian-noise`), so that the costliest epoch is the price of all.
        """
        return max(self._rho(request, epoch) for epoch in epochs)

    def _rho(self, request: Request, epoch: Epoch) -> Fraction:
        assert isinstance(epoch.law, DiscreteGaussian), "no other noise is quoted in ρ"
        return self.distance_squared(request, epoch.factorisation) / (2 * epoch.law.sigma_squared)

    def rho_beyond(self, request: Request, exposed: Request) -> Fraction:
        """ρ of somebody whose change is larger than noise was made for.

        Guarantees: `docs/mechanisms.md#more-than-promised`.
        """
        if self.projects:
            return request.rho
        return request.rho * Fraction(self.change_squared(exposed), self.change_squared(request))

    def loss(self, request: Request, exposed: Request) -> Fraction:
        """ρ grows as the square of what is changed does; the ε is that of the same δ."""
        assert request.delta is not None, "a Gaussian plan has a δ"
        if self.projects and request.pool_share is None:
            return request.epsilon
        return epsilon_of(self.rho_beyond(request, exposed), request.delta)


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
