"""Parallel epochs: for a series whose number of releases is not known in advance."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.two_level import bridged
from graphveil.mechanisms.mechanism import Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request


@register
@dataclass(frozen=True)
class Epochs(Mechanism):
    """Epochs of 16, 64, 256, … steps, each two-level bridged, and each with the full ε.

    Blocks are of 8, 16, 32, … steps: a closed form without any numerics, so that the same
    epochs come out in ten years, on any machine.

    Guarantees: ε-node-DP for the whole series, of any length (`docs/mechanisms.md#epochs`).
    """

    name = "epochs"
    summary = "ever longer epochs, each bridged, for an unknown horizon"
    needs_horizon = False
    proof = "docs/mechanisms.md#epochs"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Epoch number e has 16·4^e steps in blocks of 8·2^e; there is always a next one."""
        return laplace_epoch(request, bridged(16 << 2 * number, 8 << number))
