"""The degree CCDF: for every degree d, how many nodes have at least d links."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, ClassVar

from graphveil.deferred import np
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, HubBound
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
    PROOFS,
    Bins,
    Cells,
    Moves,
    Sensitivity,
    Shape,
    StaticChange,
)
from graphveil.statistics.statistic import Statistic, described, register
from graphveil.statistics.tallies import Counts, DegreeReach

if TYPE_CHECKING:
    from numpy.typing import NDArray


SOME = (1, 2, 3, 5, 10)  # levels that planners compare with all


def whole_numbers(given: str | int) -> object:
    """Several whole numbers from their text; anything else is returned unchanged, to be refused."""
    if isinstance(given, int):
        return (given,)
    texts = [each.strip() for each in given.split(",")]
    return tuple(map(int, texts)) if all(re.fullmatch("[0-9]{1,9}", t) for t in texts) else given


@dataclass(frozen=True)
class CcdfOfDegrees(DegreeStatistic, ABC):
    """For d = 0, 1, 2, …: how many nodes have a degree of at least d.

    Attributes:
        levels: the only degrees d that are counted, ascending; None counts all.
    """

    vector = True
    cumulative = True
    by_groups = True

    levels: tuple[int, ...] | None = field(
        default=None,
        metadata=described(
            "--levels",
            metavar="N,N,…",
            meaning="The only degrees that a degree CCDF tells of: fewer have less noise.",
            parse=whole_numbers,
        ),
    )

    def __post_init__(self) -> None:
        if self.levels is None:
            return
        hint = "Write them as 1,2,3,5,10; for a single one use 'high-degree'."
        whole = isinstance(self.levels, tuple) and all(type(each) is int for each in self.levels)
        if not whole or len(self.levels) < 2 or min(self.levels) < 0:
            raise ParameterError("levels", "must be two whole numbers or more", hint=hint)
        if any(one >= other for one, other in pairwise(self.levels)):
            raise ParameterError("levels", "must ascend, each once", hint=hint)

    @classmethod
    def examples(cls) -> Iterable[Statistic]:
        """All degrees, and some; those above a bound are refused by `sensitivity`."""
        return cls(), cls((0, 2)), cls((1, 3))

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Whether links are counted where they end, and the levels, if not all are counted."""
        return (int(self.direction == "in"), *(self.levels or ()))

    def width(self, bound: Bound) -> int:
        """One number per level."""
        return len(self.counted(self.reach(bound)))

    def degrees(self, bound: Bound) -> tuple[int, ...]:
        """The levels."""
        return self.counted(self.reach(bound))

    def narrower(self, bound: Bound) -> dict[str, str] | None:
        """A few levels, closer together where most people are."""
        some = [level for level in SOME if level <= self.reach(bound).highest]
        if self.levels is not None or len(some) < len(SOME):
            return None
        return {"levels": ",".join(map(str, some))}

    def counted(self, reach: Reach) -> tuple[int, ...]:
        """The degrees that are counted; refuses those that nobody can have."""
        if self.levels is None:
            return tuple(range(reach.highest + 1))
        if self.levels[-1] > reach.highest:
            raise ParameterError(
                "levels",
                f"{self.levels[-1]} is above the degree bound, so the count is always 0",
                hint=f"Choose levels up to {reach.highest}.",
            )
        return self.levels

    def differences(self, tallied: DegreeReach, width: int | None = None) -> Counts:
        """The nodes that first reach each degree."""
        if self.levels is not None:
            return tallied.table(self.levels[-1])[:, self.levels]
        return tallied.table(highest_column(tallied, width))

    def facts(self, width: int) -> tuple[Combination, ...]:
        """People with at least each degree."""
        return tuple({at_least(self.direction, d): 1} for d in self.levels or range(width))

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """One crossing per threshold and touched node, and those of the person.

        Guarantees:
            Exact in every measure; of some levels in an undirected graph, the sum of squares is
            an upper bound. Proof: docs/sensitivities.md#degree-ccdf.
        """
        reach = self.reach(bound)
        moves = self._moves(reach)
        tied = reach.tied and self.levels is not None
        return Sensitivity(
            l1=sum(each.rises + each.falls for each in moves),
            static_l1=reach.touched + len(moves),
            l2_squared=self._l2_squared(reach, moves),
            edge_l1=reach.ends * self._crossings(reach),
            exact_for=EVERY_MEASURE - {"l2_squared"} if tied else EVERY_MEASURE,
            assumption=bound.assumption,
            proof=f"{PROOFS}#degree-ccdf",
            variation=sum(each.rises**2 + each.falls**2 for each in moves),
        )

    def _moves(self, reach: Reach) -> tuple[Moves, ...]:
        """Level by level: the person and all touched nodes rise, all touched nodes fall."""
        every = tuple(starmap(Moves, _rises_and_falls(reach)))
        return tuple(every[level] for level in self.counted(reach))

    def _crossings(self, reach: Reach) -> int:
        """How often a node that is one degree higher is counted earlier, or no longer later."""
        levels = self.counted(reach)
        return 2 * sum(level > 0 for level in levels) - (levels[-1] == reach.highest)

    def _l2_squared(self, reach: Reach, moves: tuple[Moves, ...]) -> int:
        if self.levels is None:
            return _l2_squared(reach)
        return sum(each.rises**2 + each.falls**2 for each in moves)

    def static_change(self, bound: Bound) -> StaticChange:
        """A touched node passes one threshold, perhaps all the same; the person passes all below.

        Guarantees:
            Exact. Proof: docs/sensitivities.md#one-release.
        """
        reach = self.reach(bound)
        levels = len(self.counted(reach))
        squared = (reach.touched + 1) ** 2 + levels - 1
        return StaticChange.rising(reach.touched + levels, reach.ends, l2_squared=squared)

    def shape(self, bound: Bound) -> Shape:
        """Threshold by threshold.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/mechanisms.md#gaussian-noise.
        """
        return Bins(self._moves(self.reach(bound)))

    def hub_shape(self, bound: HubBound) -> Shape:
        """Threshold by threshold, and one fall of each hub at some threshold.

        Guarantees:
            At most `rises` increases and `falls` decreases.
            Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_shape(bound)
        (hubs,) = bound.hubs
        return Bins(self._hub_moves(bound), loose=hubs)

    def _hub_moves(self, bound: HubBound) -> tuple[Moves, ...]:
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        every = ccdf_with_hubs(degree, hubs)
        return tuple(every[level] for level in self.counted(self.reach(bound.within)))

    def hub_l1(self, bound: HubBound) -> int:
        """What moves at each threshold, and one fall of each hub.

        Guarantees:
            2D(D + H) + 1 for all levels. Proof: docs/sensitivities.md#degree-vectors-and-hubs.
        """
        if bound.directed:
            return super().hub_l1(bound)
        (hubs,) = bound.hubs
        return sum(each.rises + each.falls for each in self._hub_moves(bound)) + hubs

    def cell_shape(self, bound: Bound) -> Cells:
        """At each threshold a move of each touched node; the person, and the highest one, alone.

        Guarantees:
            Proof: docs/sensitivities.md#breakdowns.
        """
        reach = self.reach(bound)
        return Cells(reach.touched * (reach.highest - 1), reach.touched + reach.highest + 1)

    def hub_cell_shape(self, bound: HubBound) -> Cells:
        """Far ends move as neighbours do; a hub falls once.

        Guarantees:
            Proof: docs/sensitivities.md#degree-vectors-and-hubs, person by person.
        """
        if bound.directed:
            return super().hub_cell_shape(bound)
        degree, (hubs,) = bound.within.limit("total"), bound.hubs
        return Cells((degree + hubs) * (degree - 1), 2 * degree + 1 + 2 * hubs)

    def projected_l1(self, threshold: Bound) -> int:
        """The person at all thresholds up to its degree, and one for each degree that changes.

        Guarantees:
            Whatever the degrees in the graph. Proof: docs/sensitivities.md#after-projection.
        """
        reach = self.reach(threshold)
        if reach.tied:
            return reach.touched + reach.highest + 1
        return reach.touched + max(reach.highest + 1, 2 * reach.highest - 1)

    @staticmethod
    def definition(
        links: NDArray[np.uint8], present: NDArray[np.uint8], given: Counts, out: Counts
    ) -> None:
        """Count each node at every threshold up to its own degree, or at those in given[1:]."""
        for u in range(len(present)):
            degree = 0
            for v in range(len(present)):
                if links[v, u] if given[0] else links[u, v]:
                    degree += 1
            if present[u] and len(given) == 1:
                for threshold in range(degree + 1):
                    out[threshold] += 1
            if present[u]:
                for place in range(1, len(given)):
                    if degree >= given[place]:
                        out[place - 1] += 1


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
class DegreeCcdf(OfTotalDegrees, CcdfOfDegrees):
    """For every degree d, how many nodes of an undirected graph have at least d links."""

    name = "degree-ccdf"
    summary = "number of nodes with degree ≥ d, for every d from 0 to D"
    formulas: ClassVar[dict[str, str]] = {
        "undirected": "2D² + 1; of m levels from 1 to D − 1: m(2D + 1)"
    }


@register
@dataclass(frozen=True)
class OutDegreeCcdf(OfOutDegrees, CcdfOfDegrees):
    """For every degree d, how many nodes of a directed graph have at least d out-links."""

    name = "out-degree-ccdf"
    summary = "number of nodes with out-degree ≥ d, for every d from 0 to Dout"
    formulas: ClassVar[dict[str, str]] = {"directed": "Din·(2·Dout − 1) + Dout + 1"}


@register
@dataclass(frozen=True)
class InDegreeCcdf(OfInDegrees, CcdfOfDegrees):
    """For every degree d, how many nodes of a directed graph have at least d in-links."""

    name = "in-degree-ccdf"
    summary = "number of nodes with in-degree ≥ d, for every d from 0 to Din"
    formulas: ClassVar[dict[str, str]] = {"directed": "Dout·(2·Din − 1) + Din + 1"}
