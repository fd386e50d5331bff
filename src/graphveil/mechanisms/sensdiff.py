"""SensDiff: the paper's mechanism, which adds fresh noise to every difference."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request


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
        return laplace_epoch(request, single_step())
