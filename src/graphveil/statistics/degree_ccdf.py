"""The degree CCDF: for every degree d, how many nodes have at least d links."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import starmap
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.graph.promises import Bound, HubBound
from graphveil.statistics.degrees import (
    USE_DIRECTED,
    USE_UNDIRECTED,
    DegreeStatistic,
    Reach,
    highest_column,
)
from graphveil.statistics.relations import Combination, at_least
from graphveil.statistics.sensitivity import EVERY_MEASURE, PROOFS, Sensitivity, StaticChange
from graphveil.statistics.shape import Bins, Moves, Shape
from graphveil.statistics.statistic import Domain, Statistic, register
from graphveil.statistics.tallies import Counts, DegreeReach

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class CcdfOfDegrees(DegreeStatistic, ABC):
    """For d = 0, 1, 2, …: how many nodes have a degree of at least d."""

    vector = True
    cumulative = True

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """The only member."""
        return (cls(),)

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """The nodes that first reach each degree."""
        return tallied.table(highest_column(tallied, width))

    def facts(self, width: int) -> tuple[Combination, ...]:
        """People with at least each degree."""
        return tuple({at_least(self.direction, degree): 1} for degree in range(width))

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """One crossing per threshold and touched node, and those of the person.

        Guarantees:
            Exact in every measure. Proof: docs/sensitivities.md#degree-ccdf.
        """
        reach = self.reach(bound)
        crossings_per_node = 2 * reach.highest - 1
        return Sensitivity(
            l1=reach.touched * crossings_per_node + reach.highest + 1,
            static_l1=reach.touched + reach.highest + 1,
            l2_squared=_l2_squared(reach),
            edge_l1=reach.ends * crossings_per_node,
            exact_for=EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#degree-ccdf",
            variation=sum(rises**2 + falls**2 for rises, falls in _rises_and_falls(reach)),
        )

    def static_change(self, bound: Bound) -> StaticChange:
        """A touched node passes one threshold, perhaps all the same; the person passes all below.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        reach = self.reach(bound)
        squared = (reach.touched + 1) ** 2 + reach.highest
        static = reach.touched + reach.highest + 1
        return StaticChange.rising(static, reach.ends, l2_squared=squared)

    def shape(self, bound: Bound) -> Shape:
        """Threshold by threshold.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/mechanisms.md#gaussian-noise.
        """
        return Bins(tuple(starmap(Moves, _rises_and_falls(self.reach(bound)))))

    def hub_shape(self, bound: HubBound) -> Shape:
        """Threshold by threshold, and one fall of each hub at some threshold.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_shape(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        return Bins(ccdf_with_hubs(degree, hubs), loose=hubs)

    def hub_l1(self, bound: HubBound) -> int:
        """2D − 1 for a lost link's far end, and one for its hub.

        Guarantees:
            Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_l1(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        return 2 * degree * (degree + hubs) + 1

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count each node at every threshold up to its own degree."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                if links[v, u] if given[0] else links[u, v]:
                    degree += 1
            if present[u]:
                for threshold in range(degree + 1):
                    out[threshold] += 1


def _l2_squared(reach: Reach) -> int:
    """All touched nodes climb together; the person climbs with them where it can.

    An undirected person whose edges all appear at once has climbed at that same step; a
    directed one has its own links still free and keeps the others company at every step.
    """
    touched, highest = reach.touched, reach.highest
    together = touched**2 * (2 * highest - 1) + highest + 1
    company = 1 if reach.tied else highest
    return together + 2 * touched * company


def ccdf_with_hubs(degree: int, hubs: int) -> tuple[Moves, ...]:
    """Threshold by threshold: the person, its neighbours and the far ends of lost links.

    At the highest threshold, neighbours do not fall and far ends do not rise.
    """
    between = Moves(degree + 1 + hubs, degree + hubs)
    return Moves(1, 0), *[between] * (degree - 1), Moves(degree + 1, hubs)


def _rises_and_falls(reach: Reach) -> list[tuple[int, int]]:
    """Threshold by threshold: the person and all touched nodes rise, all touched nodes fall.

    At 0 only the person counts; at the highest threshold nothing falls.
    """
    touched, highest = reach.touched, reach.highest
    return [(1, 0), *[(touched + 1, touched)] * (highest - 1), (touched + 1, 0)]


@register
@dataclass(frozen=True)
class DegreeCcdf(CcdfOfDegrees):
    """For every degree d, how many nodes of an undirected graph have at least d links."""

    name = "degree-ccdf"
    summary = "number of nodes with degree ≥ d, for every d from 0 to D"
    formulas: ClassVar[dict[str, str]] = {"undirected": "2D² + 1"}
    domain = Domain.UNDIRECTED
    direction = "total"
    advice = USE_DIRECTED


@register
@dataclass(frozen=True)
class OutDegreeCcdf(CcdfOfDegrees):
    """For every degree d, how many nodes of a directed graph have at least d out-links."""

    name = "out-degree-ccdf"
    summary = "number of nodes with out-degree ≥ d, for every d from 0 to Dout"
    formulas: ClassVar[dict[str, str]] = {"directed": "Din·(2·Dout − 1) + Dout + 1"}
    domain = Domain.DIRECTED
    direction = "out"
    advice = USE_UNDIRECTED


@register
@dataclass(frozen=True)
class InDegreeCcdf(CcdfOfDegrees):
    """For every degree d, how many nodes of a directed graph have at least d in-links."""

    name = "in-degree-ccdf"
    summary = "number of nodes with in-degree ≥ d, for every d from 0 to Din"
    formulas: ClassVar[dict[str, str]] = {"directed": "Dout·(2·Din − 1) + Din + 1"}
    domain = Domain.DIRECTED
    direction = "in"
    advice = USE_UNDIRECTED
