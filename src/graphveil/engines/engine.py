"""The interface of an engine: everything that looks at the whole graph goes through it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from graphveil.engines.counts import ExactCounts
from graphveil.graph.promises.bound import Bound
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.graph.sequence import GraphSequence


class Engine(Protocol):
    """Where counting runs: chosen once, and handed down to whoever counts."""

    def count(
        self,
        sequence: GraphSequence,
        statistics: Iterable[Statistic],
        *,
        after: ExactCounts | None = None,
        bound: Bound | None = None,
        since: int = 0,
    ) -> ExactCounts:
        """Count every step, or only those that are new since `after`.

        Args:
            sequence: the growing graph.
            statistics: what to count; each must be defined on this kind of graph.
            after: what this engine counted on an earlier state of the same sequence.
                It stays as it is. Statistics that it lacks are counted from the start.
            bound: the promise that fixes how long vectors are; without one, they end at the
                highest degree in the data, which is private too.
            since: the first step of which values are wanted. Those of recent networks, which
                do not follow from each other, are 0 before it.
        """
        ...

    def project(self, sequence: GraphSequence, threshold: Bound) -> GraphSequence:
        """The greedy projection, in which nobody has more links than the threshold."""
        ...

    def counted_part(self, sequence: GraphSequence, bound: Bound) -> GraphSequence:
        """What is counted under a promise: all or, if there may be hubs, first links only."""
        ...

    def keeps_bound(self, sequence: GraphSequence, bound: Bound) -> bool:
        """Whether nobody has more links than promised, at any step; a private fact."""
        ...

    def people_beyond(self, sequence: GraphSequence, bound: Bound) -> int:
        """How many people are linked to more hubs than promised, at the end; a private fact."""
        ...
