"""The h-index: the largest j such that at least j people have j links or more.

It says how many people with how many links form the core of a network. One person changes it by 0
or 1 in *every* network, so it needs neither a promise nor a projection.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound
from graphveil.graph.thresholds import WHOLE
from graphveil.statistics.degrees import DegreeStatistic
from graphveil.statistics.sensitivity import PROOFS, Sensitivity, StaticChange
from graphveil.statistics.shape import Moves, Shape, TotalsShape
from graphveil.statistics.statistic import Domain, register
from graphveil.statistics.tallies import Counts, DegreeReach

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREES = 64  # that are looked at first; twice as many as long as the index might be larger


@register
@dataclass(frozen=True)
class HIndex(DegreeStatistic):
    """The largest j such that at least j nodes have a degree of at least j."""

    name = "h-index"
    summary = "largest h such that at least h nodes have degree ≥ h"
    formulas: ClassVar[dict[str, str]] = {"undirected": "2D, and 1 in each release"}
    domain = Domain.UNDIRECTED
    direction = "total"
    advice = "Directions do not matter to it: read the graph as undirected."

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """From index to index: how many have at least d links so far decides each."""
        return np.diff(_indices(np.cumsum(_table(tallied), axis=0)), prepend=0)

    def values(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """The index of each recent network."""
        return _indices(_table(tallied))

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Each of D values is reached earlier, or the last of them at all.

        Guarantees:
            An edge does no more than a person. Proof: docs/sensitivities.md#h-index.
        """
        most = 2 * self.reach(bound).highest
        return Sensitivity(
            l1=most,
            static_l1=1,
            l2_squared=most,
            edge_l1=most,
            exact_for=frozenset({"static_l1"}),
            assumption=bound.assumption,
            proof=f"{PROOFS}#h-index",
            variation=most * most // 2,
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """One release changes by 0 or 1.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#h-index.
        """
        return StaticChange.rising(1, 1)

    def shape(self, bound: Bound) -> Shape:
        """Each value is reached earlier: a rise there, and a fall where it was reached before.

        Guarantees:
            At most `rises` increases and `falls` decreases. Proof: docs/sensitivities.md#h-index.
        """
        highest = self.reach(bound).highest
        return Moves(highest, highest)

    def edge_moves(self, bound: Bound) -> Moves:
        """As a person does."""
        highest = self.reach(bound).highest
        return Moves(highest, highest)

    def whole_shape(self) -> TotalsShape:
        """Every total rises by 0 or 1, in every network.

        Guarantees:
            Proof: docs/sensitivities.md#h-index.
        """
        return TotalsShape(1, rising=True)

    def without_promise(self, expected: int | None) -> str:
        """On the whole network: nothing has to be left out."""
        return WHOLE

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Try every j; given[0] is not needed, since directions do not matter."""
        for j in range(1, len(present) + 1):
            people = 0
            for u in range(len(present)):
                degree = 0
                for v in range(len(present)):
                    degree += links[u, v]
                if degree >= j:
                    people += 1
            if people >= j:
                out[0] = j


def _table(tallied: DegreeReach) -> Counts:
    """How many nodes reach each degree, up to one that the index cannot reach at any step."""
    highest = DEGREES
    while True:
        table = tallied.table(highest)
        if int(_indices(table.sum(axis=0, keepdims=True))[0]) < highest:
            return table
        highest *= 2


def _indices(at_least: Counts) -> Counts:
    """The index of each row, which says how many nodes have at least d links for every d.

    These fall with d, so that all d up to the index are reached and none beyond it.
    """
    degrees = np.arange(at_least.shape[1])
    indices: Counts = np.count_nonzero(at_least >= degrees, axis=1) - 1
    return indices.astype(np.int64)
