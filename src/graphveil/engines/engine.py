"""The interface of an engine: everything that looks at the whole graph goes through it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from graphveil.engines.counts import Answer, ExactCounts
from graphveil.graph.promises.bound import Bound
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.sequence import GraphSequence
    from graphveil.statistics.tallies import Tally


class Keeping(Protocol):
    """How what an engine has counted becomes plain data, and is read back by the next command."""

    @property
    def form(self) -> str:
        """What the data is called; another name where anything has another meaning."""
        ...

    def packed(self, answer: Answer) -> dict[str, Any]:
        """An answer as numbers, texts and arrays."""
        ...

    def unpacked(self, tally: Tally, data: Mapping[str, Any]) -> Answer:
        """The answer to a tally that `packed` gave."""
        ...

    def agree(self, tally: Tally, one: Answer, other: Answer) -> bool:
        """Whether two answers to a tally say the same, and lead to the same ones later."""
        ...


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

    def project(
        self, sequence: GraphSequence, threshold: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """The greedy projection, in which nobody has more links than the threshold.

        Args:
            sequence: the growing graph.
            threshold: how many links are kept.
            after: what this engine made of an earlier state of the same sequence.
        """
        ...

    def counted_part(
        self, sequence: GraphSequence, bound: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """What is counted under a promise: all or, if there may be hubs, first links only.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: what this engine made of an earlier state of the same sequence.
        """
        ...

    def keeps_bound(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> bool:
        """Whether nobody has more links than promised, at any step; a private fact.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: the degrees at an earlier state of the same sequence.
        """
        ...

    def people_beyond(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> int:
        """How many people are linked to more hubs than promised, at the end; a private fact.

        Args:
            sequence: the growing graph.
            bound: the promise.
            after: the degrees at an earlier state of the same sequence.
        """
        ...

    @property
    def keeping(self) -> Keeping | None:
        """How its answers are kept between commands; None if each command counts from scratch."""
        ...
