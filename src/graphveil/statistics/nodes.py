"""The number of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound
from graphveil.statistics.relations import PEOPLE, Combination
from graphveil.statistics.sensitivity import EVERY_MEASURE, PROOFS, Sensitivity
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import Counts, NodeTally

if TYPE_CHECKING:
    from numpy.typing import NDArray


@register
@dataclass(frozen=True)
class Nodes(Statistic):
    """How many nodes there are."""

    name = "nodes"
    summary = "number of nodes"
    formulas: ClassVar[dict[str, str]] = {"undirected": "1", "directed": "1"}
    domain = Domain.BOTH
    only_adds = True
    by_groups = True
    projection_rises = True
    needs_bound = False

    def tally(self) -> NodeTally:
        """Arrivals per step."""
        return NodeTally()

    def differences(self, tallied: Counts, width: int | None = None) -> Counts:
        """The arrivals themselves."""
        return tallied

    def facts(self, width: int) -> tuple[Combination, ...]:
        """Everybody."""
        return ({PEOPLE: 1},)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """One person is one node.

        Guarantees:
            Exact for every bound. Proof: docs/sensitivities.md#nodes-and-edges.
        """
        return Sensitivity(
            l1=1,
            static_l1=1,
            l2_squared=1,
            edge_l1=0,
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#nodes-and-edges",
        )

    def projected_l1(self, threshold: Bound) -> int:
        """One person is one node; a projection drops edges only.

        Guarantees:
            Whatever the degrees in the graph. Proof: docs/sensitivities.md#after-projection.
        """
        return self.sensitivity(threshold).static_l1

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count the nodes that are present."""
        for v in range(len(present)):
            out[0] += present[v] > 0
