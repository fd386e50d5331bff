"""The local engine: compiled kernels on this machine's memory and cores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphveil.backends.backend import ExactCounts, extent, require_earlier
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound
from graphveil.graph.thresholds import FollowingBound, ForestBound, WholeNetwork
from graphveil.statistics.change import tally_under
from graphveil.statistics.statistic import Statistic

if TYPE_CHECKING:
    from graphveil.backends.backend import CheckpointFormat
    from graphveil.graph.degrees import FinalDegrees
    from graphveil.graph.sequence import GraphSequence


@dataclass(frozen=True)
class LocalEngine:
    """Counts on this machine.

    Attributes:
        threads: how many run side by side; None takes every core this process may use.
            The answers do not depend on it.

    Examples:
        >>> records = from_rows([("ann", 2021), ("bob", 2021)], [("ann", "bob")])
        >>> sequence, _ = GraphSequence.begin(Calendar.yearly(2021)).extend(records)
        >>> LocalEngine().keeps_bound(sequence, DegreeBound(1))
        True
    """

    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is not None and self.threads < 1:
            raise ParameterError("threads", f"must be at least 1, not {self.threads}")

    def count(
        self,
        sequence: GraphSequence,
        statistics: Iterable[Statistic],
        *,
        after: ExactCounts | None = None,
        bound: Bound | None = None,
        since: int = 0,
    ) -> ExactCounts:
        """Count every step, or only those new since `after`; see `Engine.count`."""
        from graphveil.backends.local.counters import answer_all  # compiles: only when counting
        from graphveil.backends.local.work import Work

        statistics = tuple(statistics)
        for statistic in statistics:
            statistic.require_domain(directed=sequence.directed)
        if after is not None:
            require_earlier(after, sequence)
        tallies = dict.fromkeys(tally_under(statistic, bound) for statistic in statistics)
        answers = answer_all(tallies, Work(sequence, self.threads, since), after)
        return ExactCounts(statistics, extent(sequence, sequence.steps), answers, bound)

    def project(
        self, sequence: GraphSequence, threshold: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """The greedy projection; forests drop nothing, and one that follows is made later.

        See `Engine.project`.
        """
        from graphveil.graph.projection import Projected, greedy_projection

        if isinstance(threshold, ForestBound | FollowingBound | WholeNetwork):
            return sequence
        before = after if isinstance(after, Projected) else None
        return greedy_projection(sequence, threshold, before)

    def counted_part(
        self, sequence: GraphSequence, bound: Bound, *, after: GraphSequence | None = None
    ) -> GraphSequence:
        """The links that a promise lets count; see `Engine.counted_part`."""
        from graphveil.graph.projection import Projected, counted_part

        return counted_part(sequence, bound, after if isinstance(after, Projected) else None)

    def keeps_bound(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> bool:
        """Whether nobody has more links than promised; see `Engine.keeps_bound`."""
        from graphveil.graph.degrees import keeps_bound

        return keeps_bound(sequence, bound, after)

    def people_beyond(
        self, sequence: GraphSequence, bound: Bound, *, after: FinalDegrees | None = None
    ) -> int:
        """How many people are linked to more hubs than promised; see `Engine.people_beyond`."""
        from graphveil.graph.degrees import people_beyond

        return people_beyond(sequence, bound, after)

    @property
    def checkpoint_format(self) -> CheckpointFormat:
        """The format of its checkpoints; see `Engine.checkpoint_format`."""
        from graphveil.backends.local.counters import LocalKeeping

        return LocalKeeping()
