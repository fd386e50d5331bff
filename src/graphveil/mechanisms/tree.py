"""The binary tree with Honaker's estimator: what the field would use by default."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.dyadic import Dyadic
from graphveil.mechanisms.mechanism import Mechanism, laplace_epoch, register
from graphveil.mechanisms.request import Epoch, Request


@register
@dataclass(frozen=True)
class Tree(Mechanism):
    """Every dyadic block that lies within the horizon is measured, with noise of scale hΓ/ε.

    h is the number of levels, ⌊log₂T⌋ + 1.

    Guarantees: ε-node-DP for the whole series (`docs/mechanisms.md#binary-tree`).
    """

    name = "tree"
    summary = "binary tree of sums, with Honaker's estimator from complete nodes"
    proof = "docs/mechanisms.md#binary-tree"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """One epoch, which covers the horizon."""
        steps = request.known_horizon()
        return None if number else laplace_epoch(request, Dyadic(steps))
