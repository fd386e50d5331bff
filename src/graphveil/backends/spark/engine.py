"""The Spark engine: the same integers as the local one, of graphs that stay on the workers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from graphveil.backends.backend import ExactCounts
from graphveil.backends.spark import projection
from graphveil.backends.spark.blocks import around
from graphveil.backends.spark.counters import Work, answer_all, require_counted
from graphveil.backends.spark.graph import SparkGraph, Workspace
from graphveil.backends.spark.jobs import Cluster
from graphveil.errors import EngineError, ParameterError
from graphveil.graph.degrees import require_fit
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.thresholds import ForestBound, WholeNetwork
from graphveil.statistics.change import tally_under
from graphveil.statistics.statistic import Statistic


@dataclass(frozen=True)
class SparkEngine:
    """Counts on the workers of a Spark session; made by `SparkEngine(SparkCluster(opened()))`.

    Attributes:
        cluster: where its tasks run.
        scratch: where files of one command lie, if it works on a study.
        keeping: None; the backend of a study writes checkpoints of its own.
    """

    cluster: Cluster = field(repr=False)
    scratch: Workspace | None = field(default=None, repr=False)
    checkpoint_format: None = None

    def count(
        self,
        graph: SparkGraph,
        statistics: Iterable[Statistic],
        *,
        after: ExactCounts | None = None,
        bound: Bound | None = None,
        since: int = 0,
    ) -> ExactCounts:
        """Count every step, or only those new since `after`; see `Engine.count`."""
        statistics = tuple(statistics)
        for statistic in statistics:
            statistic.require_domain(directed=graph.directed)
            require_counted([tally_under(statistic, bound)], statistic.name)
        if after is not None:
            _require_earlier(after, graph)
        tallies = dict.fromkeys(tally_under(statistic, bound) for statistic in statistics)
        work = partial(self._work, graph)
        answers = answer_all(tallies, work, after)
        return ExactCounts(statistics, graph.extent(graph.steps), answers, bound)

    def _work(self, graph: SparkGraph, since: int, forest: str | None) -> Work:
        return Work(self.cluster, graph, since, forest)

    def project(self, graph: SparkGraph, threshold: Bound, *, after: object = None) -> SparkGraph:
        """Refused: it takes links one after the other, or all of a connected part at once."""
        if isinstance(threshold, WholeNetwork):
            return graph
        if isinstance(threshold, ForestBound):
            raise EngineError(
                "projection: forests are solved for a connected part as a whole, so that they "
                "cannot be shared among workers. The local engine counts them."
            )
        raise EngineError(
            "projection: the greedy projection takes links one after the other, so that it cannot "
            "be shared among workers. The local engine projects; promises with hubs need none."
        )

    def counted_part(self, graph: SparkGraph, bound: Bound, *, after: object = None) -> SparkGraph:
        """The links that a promise lets count; see `Engine.counted_part`."""
        require_fit(graph, bound)
        if bound.counted == bound:
            return graph
        limits = projection.limits_of(bound.counted)
        colours = range(graph.colours)
        tasks = [projection.CutTask(graph.only(around(graph, c)), c, limits) for c in colours]
        cuts = self.cluster.run(projection.cut, tasks)
        classes = [(a, b) for a in colours for b in colours]
        keep_tasks = [
            projection.KeepTask(graph.only([(a, b)]), cuts[a], cuts[b]) for a, b in classes
        ]
        retained = self.cluster.run(projection.keep, keep_tasks)
        nothing = np.zeros(graph.steps, np.int64)
        return replace(
            graph,
            parts=tuple(part for each in retained for part in each.parts),
            prompt=sum((each.prompt for each in retained), nothing),
            late=sum((each.late for each in retained), nothing),
            edges=sum((each.edges for each in retained), nothing),
        )

    def keeps_bound(self, graph: SparkGraph, bound: Bound, *, after: object = None) -> bool:
        """Whether nobody has more links than promised; see `Engine.keeps_bound`."""
        require_fit(graph, bound)
        within = bound.within if isinstance(bound, HubBound) else bound
        if not isinstance(within, DegreeBound | InOutBound):
            return True
        found = self._hubs(graph, within)
        outward = np.array([each.outward for each in found])
        inward = np.array([each.inward for each in found])
        if within.kept_by(outward, inward):
            return True
        if not isinstance(bound, HubBound):
            return False
        hub_adjacency = self._beside(graph, found, bound)
        most = (max(b.to_hubs for b in hub_adjacency), max(b.from_hubs for b in hub_adjacency))
        return all(linked <= allowed for linked, allowed in zip(most, bound.hubs, strict=False))

    def people_beyond(self, graph: SparkGraph, bound: Bound, *, after: object = None) -> int:
        """How many people are linked to more hubs than promised; see `Engine.people_beyond`."""
        require_fit(graph, bound)
        if not isinstance(bound, HubBound):
            return 0
        found = self._hubs(graph, bound.within)
        return sum(each.beyond for each in self._beside(graph, found, bound))

    def _hubs(self, graph: SparkGraph, within: DegreeBound | InOutBound) -> list[projection.Hubs]:
        limits = within.limit("in"), within.limit("out")
        colours = range(graph.colours)
        tasks = [projection.DegreeTask(graph.only(around(graph, c)), c, *limits) for c in colours]
        return self.cluster.run(projection.degrees, tasks)

    def _beside(
        self, graph: SparkGraph, found: list[projection.Hubs], bound: HubBound
    ) -> list[projection.HubAdjacency]:
        colours = range(graph.colours)
        tasks = [
            projection.HubAdjacencyTask(graph.only(around(graph, c)), c, tuple(found), bound.hubs)
            for c in colours
        ]
        return self.cluster.run(projection.hub_adjacency, tasks)


def _require_earlier(after: ExactCounts, graph: SparkGraph) -> None:
    steps = after.extent.steps
    if steps > graph.steps or after.extent != graph.extent(steps):
        raise ParameterError(
            "after",
            "was not counted on an earlier state of this graph",
            hint="Count from the start instead.",
        )
