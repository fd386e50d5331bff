"""Trees of sums: the binary tree with Honaker's estimator, two levels, and parallel epochs."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.mechanisms.factorisations.bordered import Dyadic, best_block, bridged
from graphveil.mechanisms.mechanism import Epoch, Mechanism, Request, laplace_epoch, register


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


# Two-level bridged: every difference is measured, and every block of k differences once more.


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


# Parallel epochs: for a series whose number of releases is not known in advance.


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
