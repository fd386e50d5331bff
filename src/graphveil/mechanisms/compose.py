"""Compose: the paper's baselines, which publish every total with a T-th of the budget."""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.mechanism import Measured, Mechanism, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import laplace_for

NO_PROJECTION = "has no known sensitivity after projection for this statistic"


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

    def refusal(self, request: Request) -> str | None:
        """Needs a sensitivity after projection."""
        return super().refusal(request) or (NO_PROJECTION if request.projected_l1 is None else None)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """Every release is an epoch of its own, up to the horizon."""
        assert request.projected_l1 is not None, "refused before"
        return composed(request, request.projected_l1, number)


def composed(request: Request, static: int, number: int) -> Epoch | None:
    """One of T releases, each of which has ε/T for a sensitivity of `static`."""
    if request.horizon is None or number >= request.horizon:
        return None
    return Epoch(single_step(), laplace_for(static, request.epsilon / request.horizon))
