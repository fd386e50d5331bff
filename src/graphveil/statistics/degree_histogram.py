"""The degree histogram: for every degree d, how many nodes have exactly d links."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound, HubBound
from graphveil.statistics.degree_ccdf import ccdf_with_hubs
from graphveil.statistics.degrees import (
    DegreeStatistic,
    OfInDegrees,
    OfOutDegrees,
    OfTotalDegrees,
    Reach,
    highest_column,
)
from graphveil.statistics.relations import Combination, at_least
from graphveil.statistics.sensitivity import (
    EVERY_MEASURE,
    EVERY_STATIC,
    PROOFS,
    Bins,
    Cells,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
)
from graphveil.statistics.statistic import register
from graphveil.statistics.tallies import Counts, DegreeReach

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class HistogramOfDegrees(DegreeStatistic, ABC):
    """For d = 0, 1, 2, …: how many nodes have a degree of exactly d."""

    vector = True
    monotone = False
    by_groups = True

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """The nodes that reach d, less those that go on to d + 1."""
        bins = tallied.table(highest_column(tallied, width))
        bins[:, :-1] -= bins[:, 1:]
        return bins

    def facts(self, width: int) -> tuple[Combination, ...]:
        """People with at least each degree, less those with more."""
        reached = [at_least(self.direction, degree) for degree in range(width)]
        steps = ({one: 1, more: -1} for one, more in pairwise(reached))
        return *steps, {reached[-1]: 1}

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """Every touched node is one bin higher; every move of either changes two bins.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#degree-histogram.
        """
        reach = self.reach(bound)
        moves_per_node = 4 * reach.highest - 2
        return Sensitivity(
            l1=reach.touched * moves_per_node + 2 * reach.highest + 1 - _unavoidable_loss(reach),
            static_l1=2 * reach.touched + 1,
            l2_squared=_l2_squared(reach),
            edge_l1=reach.ends * moves_per_node,
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#degree-histogram",
            variation=sum(rises**2 + falls**2 for rises, falls in _rises_and_falls(reach)),
            paper=self._paper(reach),
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """A touched node goes from one bin to the next, perhaps all to the bin of the person.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        reach = self.reach(bound)
        return StaticChange(
            l1=2 * reach.touched + 1,
            l2_squared=(reach.touched + 1) ** 2 + reach.touched**2,
            edge_l1=2 * reach.ends,
            span=4 * reach.touched + 2,
            edge_span=4 * reach.ends,
            exact_for=EVERY_STATIC,
        )

    def shape(self, bound: Bound) -> Shape:
        """Bin by bin.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/mechanisms.md#gaussian-noise.
        """
        return Bins(tuple(starmap(Moves, _rises_and_falls(self.reach(bound)))))

    def _paper(self, reach: Reach) -> int | None:
        """What the paper states: for degrees and out-degrees only."""
        if self.direction == "in":
            return None
        return 4 * reach.touched * reach.highest + 2 * reach.highest + 1

    def hub_shape(self, bound: HubBound) -> Shape:
        """Bin by bin: what rises at a threshold rises in its bin, and falls in the one below.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_shape(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        thresholds = ccdf_with_hubs(degree, hubs)
        bins = (
            Moves(own.rises + above.falls, own.falls + above.rises)
            for own, above in zip(thresholds, (*thresholds[1:], Moves(0, 0)), strict=True)
        )
        return Bins(tuple(bins), loose=2 * hubs)

    def hub_l1(self, bound: HubBound) -> int:
        """Twice what the CCDF pays, but for its first number.

        Guarantees:
            Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_l1(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        return 4 * degree * (degree + hubs) + 1

    def cell_shape(self, bound: Bound) -> Cells:
        """As the CCDF, in two bins each; what the person and a neighbour share may be two cells.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        reach = self.reach(bound)
        moves = reach.touched * (2 * reach.highest - 2) + reach.highest
        return Cells(moves, 2 * reach.touched + 1)

    def hub_cell_shape(self, bound: HubBound) -> Cells:
        """The same with far ends and hubs.

        Guarantees:
            Proof: docs/sensitivities.md#degree-vectors-and-hubs, person by person.
        """
        if bound.directed:
            return super().hub_cell_shape(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        moves = 2 * (degree + hubs) * (degree - 1) + degree
        return Cells(moves, 2 * degree + 4 * hubs + 1)

    def projected_l1(self, threshold: Bound) -> int:
        """The person in its bin, and two bins for each changed degree.

        Guarantees:
            Whatever the degrees in the graph. Proof: docs/sensitivities.md#after-projection.
        """
        reach = self.reach(threshold)
        return 2 * (reach.touched if reach.tied else reach.touched + reach.highest) + 1

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count each node at its own degree."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                if links[v, u] if given[0] else links[u, v]:
                    degree += 1
            if present[u]:
                out[degree] += 1


def _unavoidable_loss(reach: Reach) -> int:
    """What always cancels in L1: an undirected person leaves bin 1 as a neighbour enters it."""
    return 2 if reach.tied and reach.highest > 1 else 0


def _l2_squared(reach: Reach) -> int:
    """All touched nodes climb together; the person climbs with them where it can.

    An undirected person whose edges all appear at once makes one jump beside them; only
    for D = 1 does the jump also end where theirs end. A directed one climbs beside them.
    """
    touched, highest = reach.touched, reach.highest
    others = touched**2 * (6 * highest - 4)
    if reach.tied:
        return others + (2 * touched + 3 if highest > 1 else 7)
    return others + 2 * touched * (3 * highest - 1) + 2 * highest + 1


def _rises_and_falls(reach: Reach) -> list[tuple[int, int]]:
    """Bin by bin: how often a touched node can rise and fall there, and the person once each."""
    touched, highest = reach.touched, reach.highest
    rises = [1, *[2] * (highest - 2), 1, 1] if highest > 1 else [0, 1]
    falls = [1, *[2] * (highest - 1), 0]
    leaves = [1] * highest + [0]
    return [
        (touched * rise + 1, touched * fall + leave)
        for rise, fall, leave in zip(rises, falls, leaves, strict=True)
    ]


@register
@dataclass(frozen=True)
class DegreeHistogram(OfTotalDegrees, HistogramOfDegrees):
    """For every degree d, how many nodes of an undirected graph have exactly d links."""

    name = "degree-histogram"
    summary = "number of nodes with degree d, for every d from 0 to D"
    formulas: ClassVar[dict[str, str]] = {"undirected": "4D² − 1 for D ≥ 2, 5 for D = 1"}


@register
@dataclass(frozen=True)
class OutDegreeHistogram(OfOutDegrees, HistogramOfDegrees):
    """For every degree d, how many nodes of a directed graph have exactly d out-links."""

    name = "out-degree-histogram"
    summary = "number of nodes with out-degree d, for every d from 0 to Dout"
    formulas: ClassVar[dict[str, str]] = {"directed": "4·Din·Dout − 2·Din + 2·Dout + 1"}


@register
@dataclass(frozen=True)
class InDegreeHistogram(OfInDegrees, HistogramOfDegrees):
    """For every degree d, how many nodes of a directed graph have exactly d in-links."""

    name = "in-degree-histogram"
    summary = "number of nodes with in-degree d, for every d from 0 to Din"
    formulas: ClassVar[dict[str, str]] = {"directed": "4·Dout·Din − 2·Dout + 2·Din + 1"}
