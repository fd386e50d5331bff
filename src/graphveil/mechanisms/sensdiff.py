"""SensDiff: the paper's mechanism, which adds fresh noise to every difference."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from graphveil.mechanisms.factorisation import single_step
from graphveil.mechanisms.laws import DiscreteLaplace
from graphveil.mechanisms.mechanism import Epoch, Mechanism, Request, register


@register
@dataclass(frozen=True)
class SensDiff(Mechanism):
    """Noise of scale Γ/ε on each difference; the errors of all steps add up.

    Guarantees: ε-node-DP for the whole series, of any length (`docs/mechanisms.md#sensdiff`).
    """

    name = "sensdiff"
    summary = "the paper's SensDiff: fresh Laplace noise on every difference"
    needs_horizon = False
    proof = "docs/mechanisms.md#sensdiff"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        scale = Fraction(request.sensitivity.l1) / request.epsilon
        return Epoch(single_step(), DiscreteLaplace(scale))
