"""The number of nodes, and the number of edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound
from graphveil.graph.thresholds import FollowingBound
from graphveil.statistics.relations import LINKS, PEOPLE, Combination, Known, Relation
from graphveil.statistics.sensitivity import (
    EVERY_MEASURE,
    PARTS,
    PROOFS,
    Sensitivity,
    sensitivity_of_copies,
)
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import Counts, EdgeTally, NodeTally

if TYPE_CHECKING:
    from numpy.typing import NDArray

SOME = 1000  # links, for which the error is predicted where nobody says how many to expect


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


@register
@dataclass(frozen=True)
class Edges(Statistic):
    """How many edges there are; u→v and v→u are two edges of a directed graph."""

    name = "edges"
    summary = "number of edges"
    formulas: ClassVar[dict[str, str]] = {"undirected": "D", "directed": "Din + Dout"}
    domain = Domain.BOTH
    only_adds = True
    by_groups = True
    projection_rises = True

    def tally(self) -> EdgeTally:
        """New edges per step."""
        return EdgeTally()

    def facts(self, width: int) -> tuple[Combination, ...]:
        """All links."""
        return ({LINKS: 1},)

    def relations(self, known: Known) -> Iterator[Relation]:
        """Each link has two ends; of one with a direction, it leaves one and enters the other."""
        yield from known.summed({LINKS: 2}, "total", lambda _: 1)
        yield from known.summed({LINKS: 1}, "out", lambda _: 1)
        yield from known.summed({LINKS: 1}, "in", lambda _: 1)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """All edges of one person.

        Guarantees:
            Exact for every bound. Proof: docs/sensitivities.md#nodes-and-edges.
        """
        links = bound.limit("total")
        return sensitivity_of_copies(links, 1, bound, anchor="nodes-and-edges", paper=links)

    def without_promise(self, expected: int | None) -> str:
        """At a threshold that follows; the size is needed for nothing but the predicted error."""
        return FollowingBound(SOME if expected is None else expected).brief

    def projected_l1(self, threshold: Bound) -> int:
        """As without projection: each retained link adds one edge, or none if its chain loses one.

        Guarantees:
            Whatever the degrees in the graph. Proof: docs/sensitivities.md#after-projection. Of a
            threshold that follows, in parts of it: docs/mechanisms.md#following.
        """
        if isinstance(threshold, FollowingBound):
            return PARTS
        return self.sensitivity(threshold).static_l1

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count the links; given[0] says how often each edge occurs in the matrix."""
        for u in range(len(present)):
            for v in range(len(present)):
                out[0] += links[u, v]
        out[0] //= given[0]

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """An undirected edge occurs in the matrix twice."""
        return (1 if directed else 2,)
