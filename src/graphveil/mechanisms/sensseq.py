"""SensSeq: the paper's other baselines, which publish all T totals as one long vector.

The L1 sensitivity of (f(G_1), …, f(G_T)) is T times the static one: it is at most that, as
each total moves by at most the static sensitivity, and it is reached by two sequences that
differ as much as can be at the first step and then stay as they are. So the noise has the
scale T·static/ε, which is just Compose's static/(ε/T). The paper calls SensSeq worse than
Compose; with the exact sequence sensitivity it is equal, and a smaller one does not exist.
It is kept so that this can be checked, not because anybody should use it.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphveil.factorisations.bordered import single_step
from graphveil.mechanisms.compose import NO_PROJECTION
from graphveil.mechanisms.mechanism import Measured, Mechanism, register
from graphveil.mechanisms.request import Epoch, Request
from graphveil.noise.calibration import laplace_for


@register
@dataclass(frozen=True)
class SensSeqDBounded(Mechanism):
    """All totals at once, with the sequence's sensitivity under the degree bound.

    Guarantees: ε-node-DP for T releases on sequences within the bound; one Laplace mechanism
    on a vector whose L1 sensitivity is T·static. Proof: docs/mechanisms.md#sensseq.
    """

    name = "sensseq-d-bounded"
    summary = "the paper's SensSeq-D-bounded: all totals as one vector; never beats Compose"
    measured = Measured.TOTALS
    proof = "docs/mechanisms.md#sensseq"

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The entries of the vector have independent noise: each is an epoch of its own."""
        return entry(request, request.sensitivity.static_l1, number)


@register
@dataclass(frozen=True)
class SensSeqProjection(Mechanism):
    """All totals of the projected sequence at once.

    Guarantees: ε-node-DP for T releases on every sequence, whatever its degrees. Projecting
    does not help the sequence: the paper shows that its sensitivity is at least T times the
    static one after projection, and it is no more than that, step by step.
    Proof: docs/mechanisms.md#sensseq.
    """

    name = "sensseq-projection"
    summary = "the paper's SensSeq-projection: all projected totals as one vector"
    measured = Measured.PROJECTED_TOTALS
    proof = "docs/mechanisms.md#sensseq"

    def refusal(self, request: Request) -> str | None:
        """Needs a sensitivity after projection."""
        return super().refusal(request) or (NO_PROJECTION if request.projected_l1 is None else None)

    def epoch(self, request: Request, number: int) -> Epoch | None:
        """The entries of the vector have independent noise: each is an epoch of its own."""
        assert request.projected_l1 is not None, "refused before"
        return entry(request, request.projected_l1, number)


def entry(request: Request, static: int, number: int) -> Epoch | None:
    """One entry of the vector of T totals, whose L1 sensitivity is T·static."""
    if request.horizon is None or number >= request.horizon:
        return None
    of_the_sequence = request.horizon * static
    return Epoch(single_step(), laplace_for(of_the_sequence, request.epsilon))
