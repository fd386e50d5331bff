"""Laplace noise in closed form: the paper's mechanisms, and trees of sums.

The paper's are SensDiff, SensSeq and Compose. Sums are measured as a binary tree with Honaker's
estimator, in two levels, and in parallel epochs.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.mechanisms.factorisations.bordered import Dyadic, best_block, bridged, single_step
from graphveil.mechanisms.mechanism import (
    Epoch,
    Measured,
    Mechanism,
    Request,
    laplace_epoch,
    register,
)
from graphveil.noise.zcdp import laplace_for


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


# Compose: the paper's baselines, which publish every total with a T-th of the budget.


@register
@dataclass(frozen=True)
class ComposeDBounded(Mechanism):
    """Each total f(G_t) is published by itself, with ε/T and the static sensitivity.

    Guarantees: ε-node-DP for T releases, by sequential composition of T mechanisms that are
    each (ε/T)-node-DP on graphs within the degree bound. It makes no use of what the totals
    have in common, so the noise of every release grows like T. What it has in its favour is
    the static sensitivity, which can be far below Γ: D + 1 against 2D + 1 for high degrees
    (better up to T = 2), 2D + 1 against 4D² − 1 for the degree histogram (better for long).
    Proof: docs/mechanisms.md#compose.
    """

    name = "compose-d-bounded"
    summary = "the paper's Compose-D-bounded: each total on its own, with ε/T"
    measured = Measured.TOTALS
    proof = "docs/mechanisms.md#compose"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every release is an epoch of its own, up to the horizon."""
        return composed(request, request.sensitivity.static_l1, number)


@register
@dataclass(frozen=True)
class ComposeProjection(Mechanism):
    """Each G_t is first projected greedily, and its total then published with ε/T.

    Guarantees: ε-node-DP for T releases on *every* sequence, whatever its degrees: the
    projection, not a promise, limits what one person can change. In exchange the totals are
    those of the projected graph, which are too small where people have more links than the
    threshold. Choosing the threshold by looking at the data is not private.
    Proof: docs/mechanisms.md#compose.
    """

    name = "compose-projection"
    summary = "the paper's Compose-projection: each projected total on its own, with ε/T"
    measured = Measured.PROJECTED_TOTALS
    proof = "docs/mechanisms.md#compose"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every release is an epoch of its own, up to the horizon."""
        return composed(request, request.known_projected_l1(), number)


def composed(request: Request, static: int, number: int) -> Epoch | None:
    """One of T releases, each of which has ε/T for a sensitivity of `static`."""
    if request.horizon is None or number >= request.horizon:
        return None
    return Epoch(single_step(), laplace_for(static, request.epsilon / request.horizon))


# SensSeq: the paper's other baselines, which publish all T totals as one long vector.
#
# The L1 sensitivity of (f(G_1), …, f(G_T)) is T times the static one: it is at most that, as
# each total moves by at most the static sensitivity, and it is reached by two sequences that
# differ as much as can be at the first step and then stay as they are. So the noise has the
# scale T·static/ε, which is just Compose's static/(ε/T). The paper calls SensSeq worse than
# Compose; with the exact sequence sensitivity it is equal, and a smaller one does not exist. It
# is included so that this can be checked, not because anybody should use it.


@register
@dataclass(frozen=True)
class SensSeqDBounded(ComposeDBounded):
    """All totals at once, with the sequence's sensitivity under the degree bound.

    The entries of the vector have independent noise: each is an epoch of its own.

    Guarantees: ε-node-DP for T releases on sequences within the bound; one Laplace mechanism
    on a vector whose L1 sensitivity is T·static. Proof: docs/mechanisms.md#sensseq.
    """

    name = "sensseq-d-bounded"
    summary = "the paper's SensSeq-D-bounded: all totals as one vector; never beats Compose"
    proof = "docs/mechanisms.md#sensseq"


@register
@dataclass(frozen=True)
class SensSeqProjection(ComposeProjection):
    """All totals of the projected sequence at once.

    Guarantees: ε-node-DP for T releases on every sequence, whatever its degrees. Projecting
    does not help the sequence: the paper shows that its sensitivity is at least T times the
    static one after projection, and it is no more than that, step by step.
    Proof: docs/mechanisms.md#sensseq.
    """

    name = "sensseq-projection"
    summary = "the paper's SensSeq-projection: all projected totals as one vector"
    proof = "docs/mechanisms.md#sensseq"


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
