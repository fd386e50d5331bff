"""Recent: fresh noise on every value of a recent network, which never grows and needs no end."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Measured, Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request


@register
@dataclass(frozen=True)
class RecentValues(Mechanism):
    """Noise of scale w·s/ε on each value: one person changes w of them, each by at most s.

    Guarantees: ε-node-DP for the whole series, of any length (`docs/mechanisms.md#recent`).
    """

    name = "recent"
    summary = "fresh Laplace noise on every value of a recent network"
    measured = Measured.RECENT
    needs_horizon = False
    proof = "docs/mechanisms.md#recent"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every step is an epoch of its own."""
        return laplace_epoch(request, single_step())
