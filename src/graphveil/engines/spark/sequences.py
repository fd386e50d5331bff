"""The Spark engine for a graph that this process holds, as a study's: its links are counted there.

The sequence is written as files of a workspace, once, and every tally runs on the workers. This
process needs the memory that the local engine needs; what is shared is the counting. It begins
anew each time, so that nothing of what was found before is taken up (`after`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import cast

from graphveil.engines.counts import ExactCounts
from graphveil.engines.spark.engine import SparkEngine
from graphveil.engines.spark.graph import SparkGraph
from graphveil.engines.spark.handing_over import handed_over
from graphveil.engines.spark.jobs import Cluster
from graphveil.engines.spark.sizes import colours_for
from graphveil.engines.spark.workspace import Workspace
from graphveil.graph.promises.bound import Bound
from graphveil.graph.sequence import GraphSequence
from graphveil.statistics.statistic import Statistic


@dataclass
class SequenceEngine:
    """Counts sequences on the workers of a cluster; `close` deletes what was written for it.

    Attributes:
        cluster: where its tasks run.
        workspace: that the workers reach.
        keeping: what is kept between commands: nothing.
    """

    cluster: Cluster
    workspace: Workspace
    keeping: None = None
    _last: tuple[GraphSequence, SparkGraph] | None = field(default=None, repr=False)

    @property
    def _spark(self) -> SparkEngine:
        return SparkEngine(self.cluster)

    def count(
        self,
        sequence: GraphSequence,
        statistics: Iterable[Statistic],
        *,
        after: ExactCounts | None = None,
        bound: Bound | None = None,
        since: int = 0,
    ) -> ExactCounts:
        """Count every step, whatever was counted before; see `Engine.count`."""
        return self._spark.count(self._there(sequence), statistics, bound=bound)

    def project(
        self, sequence: GraphSequence, threshold: Bound, *, after: object = None
    ) -> GraphSequence:
        """Refused; see `SparkEngine.project`."""
        return cast("GraphSequence", self._spark.project(self._there(sequence), threshold))

    def counted_part(
        self, sequence: GraphSequence, bound: Bound, *, after: object = None
    ) -> GraphSequence:
        """The links that a promise lets count: a graph that means something to this engine only."""
        return cast("GraphSequence", self._spark.counted_part(self._there(sequence), bound))

    def keeps_bound(self, sequence: GraphSequence, bound: Bound, *, after: object = None) -> bool:
        """Whether nobody has more links than promised; see `Engine.keeps_bound`."""
        return self._spark.keeps_bound(self._there(sequence), bound)

    def people_beyond(self, sequence: GraphSequence, bound: Bound, *, after: object = None) -> int:
        """How many people are linked to more hubs than promised; see `Engine.people_beyond`."""
        return self._spark.people_beyond(self._there(sequence), bound)

    def close(self) -> None:
        """Delete the files."""
        self.workspace.remove()

    def _there(self, sequence: GraphSequence | SparkGraph) -> SparkGraph:
        if isinstance(sequence, SparkGraph):
            return sequence
        if self._last is None or self._last[0] is not sequence:
            pairs = len(sequence.entries) + len(sequence.late)
            colours = colours_for(pairs, self.cluster.task_bytes)
            self._last = sequence, handed_over(sequence, self.workspace, colours)
        return self._last[1]
