"""Triangles: undirected, cyclic and transitive ones."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound, InOutBound
from graphveil.statistics.relations import Fact, Known, Relation, never_negative
from graphveil.statistics.sensitivity import Sensitivity, sensitivity_of_copies
from graphveil.statistics.stars import Stars
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import Counts, TriangleTally

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class TriangleCount(Statistic, ABC):
    """How many triangles of one kind there are.

    Attributes:
        kind: the column of the tally that holds them.
    """

    kind: ClassVar[int]
    by_groups = True

    def tally(self) -> TriangleTally:
        """New triangles per step, by kind."""
        return TriangleTally()

    def differences(self, tallied: Counts, width: int | None = None) -> Counts:
        """The new triangles of this kind."""
        return tallied[:, self.kind]


@register
@dataclass(frozen=True)
class Triangles(TriangleCount):
    """How many triples of nodes are all linked to each other."""

    name = "triangles"
    summary = "number of triangles"
    formulas: ClassVar[dict[str, str]] = {"undirected": "C(D, 2)"}
    domain = Domain.UNDIRECTED
    only_adds = True
    kind = TriangleTally.UNDIRECTED
    advice = (
        "On a directed graph use 'cyclic-triangles' or 'transitive-triangles', "
        "or read the graph as undirected."
    )

    def relations(self, known: Known) -> Iterator[Relation]:
        """A triangle has three stars of two links."""
        (triangles,) = self.facts(1)
        stars = {fact: -3 * times for fact, times in triangles.items()}
        yield never_negative({Fact(str(Stars(2))): 1, **stars})

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Every two of the person's neighbours may be linked.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#triangles.
        """
        degree = self.require_undirected(bound).degree
        copies = comb(degree, 2)
        return sensitivity_of_copies(copies, degree - 1, bound, anchor="triangles", paper=copies)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Look at every three nodes."""
        for u in range(len(present)):
            for v in range(u):
                for w in range(v):
                    if links[u, v] and links[v, w] and links[u, w]:
                        out[0] += 1


@register
@dataclass(frozen=True)
class CyclicTriangles(TriangleCount):
    """How many ways there are round three nodes, u→v→w→u."""

    name = "cyclic-triangles"
    summary = "number of cyclic triangles u→v→w→u (the paper's triangle I)"
    formulas: ClassVar[dict[str, str]] = {"directed": "min(Din, Dout)²"}
    domain = Domain.DIRECTED
    only_adds = True
    kind = TriangleTally.CYCLIC
    advice = "On an undirected graph use 'triangles'."

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Each of the person's links on one side closes at most m triangles.

        Guarantees:
            Exact in every measure, oriented or not.
            Proof: docs/sensitivities.md#cyclic-triangles.
        """
        limits = self.require_directed(bound)
        return sensitivity_of_copies(
            limits.smaller**2,
            limits.smaller,
            bound,
            anchor="cyclic-triangles",
            paper=limits.inward * limits.outward,
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Go round from the largest of the three nodes, so that each is met once."""
        for u in range(len(present)):
            for v in range(u):
                for w in range(u):
                    if links[u, v] and links[v, w] and links[w, u]:
                        out[0] += 1


@register
@dataclass(frozen=True)
class TransitiveTriangles(TriangleCount):
    """How many triples there are with u→v→w and u→w."""

    name = "transitive-triangles"
    summary = "number of transitive triangles u→v→w, u→w (the paper's triangle II)"
    formulas: ClassVar[dict[str, str]] = {
        "directed": "(m − 1)(m + 2M), m = min(Din, Dout), M = max(Din, Dout)",
        "oriented": "(m − 1)(m + 2M) / 2",
    }
    domain = Domain.DIRECTED
    only_adds = True
    kind = TriangleTally.TRANSITIVE
    advice = "On an undirected graph use 'triangles'."

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """A person has three roles; a pair of its links may serve several at once.

        Guarantees:
            Exact in every measure, oriented or not. The paper's C(Din + Dout, 2) is too
            small with reciprocal edges, e.g. 15 for (3, 3) where 18 is reached, and is
            only reported. Proof: docs/sensitivities.md#transitive-triangles.
        """
        limits = self.require_directed(bound)
        through_node, through_edge = _transitive_copies(limits)
        return sensitivity_of_copies(
            through_node,
            through_edge,
            bound,
            anchor="transitive-triangles",
            paper=comb(limits.inward + limits.outward, 2),
        )

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Look at every ordered three nodes."""
        for u in range(len(present)):
            for v in range(len(present)):
                for w in range(len(present)):
                    if links[u, v] and links[v, w] and links[u, w]:
                        out[0] += 1


def _transitive_copies(limits: InOutBound) -> tuple[int, int]:
    """The most transitive triangles through a node and through an edge."""
    m, larger = limits.smaller, limits.larger
    if m == 1:  # the last node of such a triangle has two in-links, the first two out-links
        return 0, 0
    doubled = (m - 1) * (m + 2 * larger)
    if limits.oriented:
        return doubled // 2, m + larger - 2
    return doubled, 2 * m + larger - 3
