"""Degrees: what their statistics share, how many nodes have at least τ links, and the h-index.

The h-index is the largest j such that at least j people have j links or more. It says how many
people with how many links form the core of a network. One person changes it by 0 or 1 in *every*
network, so it needs neither a promise nor a projection.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.errors import BoundError, ParameterError
from graphveil.graph.promises import Bound, Direction, HubBound
from graphveil.graph.thresholds import WHOLE, ProjectionEntry
from graphveil.statistics.relations import Combination, Known, Relation, at_least
from graphveil.statistics.sensitivity import (
    EVERY_MEASURE,
    PROOFS,
    Cells,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
    TotalsShape,
)
from graphveil.statistics.statistic import Domain, Statistic, described, register, require_at_least
from graphveil.statistics.tallies import Counts, DegreeReach, DegreeTally

if TYPE_CHECKING:
    from numpy.typing import NDArray

DEGREES = 64  # that are looked at first; twice as many as long as the index might be larger


@dataclass(frozen=True)
class Reach:
    """What a person, or an edge, can do to the degrees that a statistic looks at.

    Attributes:
        touched: how many other nodes a person's edges can raise, each by one.
        highest: the highest degree that the bound admits.
        ends: how many endpoints of an edge it raises, each by one.
        tied: whether each edge that raises another node also raises the person.
    """

    touched: int
    highest: int
    ends: int
    tied: bool


@dataclass(frozen=True)
class DegreeStatistic(Statistic, ABC):
    """A statistic of the degrees in one direction: of all links, out- or in-links.

    Attributes:
        direction: which links make the degree.
    """

    direction: ClassVar[Direction]

    def tally(self) -> DegreeTally:
        """Which degrees are first reached at each step."""
        return DegreeTally(self.direction)

    def reach(self, bound: Bound) -> Reach:
        """Whom a person touches under `bound`; refuses a bound of the wrong kind."""
        if self.domain is Domain.UNDIRECTED:
            degree = self.require_undirected(bound).degree
            return Reach(touched=degree, highest=degree, ends=2, tied=True)
        limits = self.require_directed(bound)
        touched = limits.limit("out" if self.direction == "in" else "in")
        return Reach(touched, limits.limit(self.direction), ends=1, tied=False)

    def relations(self, known: Known) -> Iterator[Relation]:
        """More links, fewer people."""
        return known.ordered(self.direction)

    def width(self, bound: Bound) -> int:
        """A vector has one number per degree from 0 to the highest within `bound`."""
        return self.reach(bound).highest + 1 if self.vector else 1

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """The parameters, then whether links are counted where they end."""
        return (*astuple(self), int(self.direction == "in"))


class OfTotalDegrees(DegreeStatistic, ABC):
    """Of all links of a node, in an undirected graph."""

    domain = Domain.UNDIRECTED
    direction = "total"
    advice = (
        "On a directed graph use the out- or in-degree version, or read the graph as undirected."
    )


class OfOutDegrees(DegreeStatistic, ABC):
    """Of the links from a node, in a directed graph."""

    domain = Domain.DIRECTED
    direction = "out"
    advice = "On an undirected graph use the version without 'out-' or 'in-'."


class OfInDegrees(DegreeStatistic, ABC):
    """Of the links to a node, in a directed graph."""

    domain = Domain.DIRECTED
    direction = "in"
    advice = OfOutDegrees.advice


def highest_column(tallied: DegreeReach, width: int | None) -> int:
    """The last degree that a table shows; refuses data beyond the promised width."""
    highest = tallied.highest()
    if width is None:
        return highest
    if highest >= width:
        raise BoundError(
            "the sequence breaks its promised degree bound, so no sensitivity holds for it. "
            "That this happened is private: it must not be published, nor anything counted here."
        )
    return width - 1


@dataclass(frozen=True)
class HighDegreeCount(DegreeStatistic, ABC):
    """How many nodes have a degree of at least `tau`."""

    by_groups = True

    tau: int = field(metadata=described("--tau", meaning="Threshold τ of the high-degree counts."))

    def __post_init__(self) -> None:
        require_at_least("tau", self.tau, 1, "Every node has degree 0 or more: use 'nodes'.")

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """Low thresholds; those above a bound are refused by `sensitivity`."""
        return tuple(cls(tau) for tau in range(1, 5))

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """The nodes that first reach the threshold."""
        return tallied.column(self.tau)

    def facts(self, width: int) -> tuple[Combination, ...]:
        """One number of the degree CCDF."""
        return ({at_least(self.direction, self.tau): 1},)

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """One crossing by the person, and one per touched node, made or moved earlier.

        Guarantees:
            Exact in every measure, if τ is within the bound. At τ = the bound no crossing
            can move, only appear. Proof: docs/sensitivities.md#high-degree.
        """
        reach = self.reach(bound)
        if self.tau > reach.highest:
            raise ParameterError(
                "tau",
                f"{self.tau} is above the degree bound, so the count is always 0",
                hint=f"Choose a threshold from 1 to {reach.highest}.",
            )
        appear = reach.touched + 1
        move = reach.touched if self.tau < reach.highest else 0
        return Sensitivity(
            l1=appear + move,
            static_l1=appear,
            l2_squared=appear**2 + move**2,
            edge_l1=reach.ends * (2 if self.tau < reach.highest else 1),
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#high-degree",
            variation=appear**2 + move**2,
            paper=None if self.direction == "in" else 2 * reach.touched + 1,
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """Degrees only rise: the person and all touched nodes, or both ends of an edge, may pass.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        return StaticChange.rising(self.sensitivity(bound).static_l1, self.reach(bound).ends)

    def shape(self, bound: Bound) -> Shape:
        """A crossing of each touched node moves to an earlier step; that of the person is new.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#high-degree.
        """
        rises = self.reach(bound).touched + 1
        return Moves(rises, falls=self.sensitivity(bound).l1 - rises)

    def edge_moves(self, bound: Bound) -> Moves:
        """Each end passes the threshold earlier, or passes it at all."""
        ends = self.reach(bound).ends
        return Moves(ends, falls=self.sensitivity(bound).edge_l1 - ends)

    def hub_moves(self, bound: HubBound) -> Moves | None:
        """A lost link's far end passes later; its hub may stop just below τ.

        Guarantees:
            The hub stops only beside enough other hubs, which it has not where everybody keeps the
            promise with few. Proof: docs/sensitivities.md#high-degree-and-hubs.
        """
        reach = self.reach(bound.within)
        if self.tau == reach.highest:
            return super().hub_moves(bound)
        # Only the hubs whose own degree counts can stop; those at the far end are others' hubs.
        far, near = bound.hubs * 2 if not bound.directed else bound.hubs
        if self.direction == "in":
            far, near = near, far
        stopped = 0 if bound.checked and far <= reach.highest - self.tau else near
        return Moves(rises=reach.touched + 1 + far, falls=reach.touched + far + stopped)

    def cell_shape(self, bound: Bound) -> Cells:
        """A move of each touched node, and the crossing of the person.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        reach = self.reach(bound)
        if self.tau == reach.highest:
            return Cells(0, reach.touched + 1)
        return Cells(reach.touched, 1)

    def hub_cell_shape(self, bound: HubBound) -> Cells:
        """A far end moves; a hub that stops does so alone.

        Guarantees:
            Proof: docs/sensitivities.md#high-degree-and-hubs, person by person.
        """
        moves = self.hub_moves(bound)
        if self.tau == self.reach(bound.within).highest or moves is None:
            return super().hub_cell_shape(bound)
        paired = moves.rises - 1
        return Cells(paired, 1 + moves.falls - paired)

    def without_promise(self, expected: int | None) -> ProjectionEntry:
        """On at most τ links per person: more would not be looked at, and cost noise."""
        return self.tau if self.domain is Domain.UNDIRECTED else (self.tau, self.tau)

    def projected_l1(self, threshold: Bound) -> int:
        """The person, and one degree of somebody else at the end of each retained link's chain.

        Guarantees:
            Whatever the degrees in the graph. Directed, links in one direction can only raise
            the degrees counted, and links in the other, which are those of the person itself,
            can only lower them. Proof: docs/sensitivities.md#after-projection.
        """
        static = self.sensitivity(threshold).static_l1
        return max(static, self.reach(threshold).highest - 1)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count the nodes whose row, or column, of links adds up to τ = given[0] or more."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                if links[v, u] if given[1] else links[u, v]:
                    degree += 1
            if present[u] and degree >= given[0]:
                out[0] += 1


@register
@dataclass(frozen=True)
class HighDegree(OfTotalDegrees, HighDegreeCount):
    """How many nodes of an undirected graph have at least `tau` links."""

    name = "high-degree"
    summary = "number of nodes with degree ≥ τ"
    formulas: ClassVar[dict[str, str]] = {"undirected": "2D + 1 for τ < D, D + 1 for τ = D"}


@register
@dataclass(frozen=True)
class HighOutDegree(OfOutDegrees, HighDegreeCount):
    """How many nodes of a directed graph have at least `tau` out-links."""

    name = "high-out-degree"
    summary = "number of nodes with out-degree ≥ τ"
    formulas: ClassVar[dict[str, str]] = {
        "directed": "2·Din + 1 for τ < Dout, Din + 1 for τ = Dout"
    }


@register
@dataclass(frozen=True)
class HighInDegree(OfInDegrees, HighDegreeCount):
    """How many nodes of a directed graph have at least `tau` in-links."""

    name = "high-in-degree"
    summary = "number of nodes with in-degree ≥ τ"
    formulas: ClassVar[dict[str, str]] = {
        "directed": "2·Dout + 1 for τ < Din, Dout + 1 for τ = Din"
    }


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
