"""Two-level bridged: every difference is measured, and every block of k differences once more."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.two_level import best_block, bridged
from graphveil.mechanisms.mechanism import Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request


@register
@dataclass(frozen=True)
class Bridged(Mechanism):
    """Leaves and block sums, both with noise of scale 2Γ/ε, put together by least squares.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#two-level-bridged`).
    """

    name = "bridged"
    summary = "two levels: differences and sums of blocks, joined by least squares"
    proof = "docs/mechanisms.md#two-level-bridged"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        steps = request.known_horizon()
        if number:
            return None
        return laplace_epoch(request, bridged(steps, best_block(steps)))
