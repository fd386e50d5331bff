"""Optimised: the factorisation found numerically for a known horizon."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.optimiser import optimised
from graphveil.mechanisms.mechanism import Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request

LONGEST = 4096  # beyond it the numerics take minutes


@register
@dataclass(frozen=True)
class Optimised(Mechanism):
    """C without restriction of its shape: a diagonal and some dense rows, tuned to the horizon.

    The factorisation depends on the horizon, and on what is to be minimised. It is found once and
    stored with the plan: another version of the numerical libraries may find a slightly
    different one.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#optimised`).
    """

    name = "optimised"
    summary = "the factorisation with the smallest error, found numerically"
    proof = "docs/mechanisms.md#optimised"

    def refusal(self, request: Request) -> str | None:
        """Very long horizons are refused."""
        if request.horizon is not None and request.horizon > LONGEST:
            return f"is computed for horizons up to {LONGEST} only"
        return super().refusal(request)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        steps = request.known_horizon()
        return None if number else laplace_epoch(request, optimised(steps, request.aim()))
