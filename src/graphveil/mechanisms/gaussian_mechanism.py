"""What Gaussian mechanisms have in common: noise for a ρ, and what noise that is there costs in ρ.

ρ is what a series may cost by itself, or its share of what several series may cost together
(`docs/mechanisms.md#a-pool-of-several-series`).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from graphveil.errors import ParameterError
from graphveil.factorisations.factorisation import Factorisation
from graphveil.mechanisms.mechanism import Mechanism
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import gaussian_for
from graphveil.noise.laws import DiscreteGaussian
from graphveil.noise.zcdp import epsilon_of


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
        """The ρ that epochs cost together, found from their laws and matrices alone.

        Guarantees: ρ-zCDP with this ρ; squares of what one person changes split over epochs
            (`docs/mechanisms.md#gaussian-noise`), so that the dearest epoch is the price of all.
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
