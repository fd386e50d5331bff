"""The Spark engine: the same integers as the local one, of graphs that stay on the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np

from graphveil.backends.backend import Answer, ExactCounts
from graphveil.backends.local.degrees import dense_width
from graphveil.backends.spark import counting, groups, projection
from graphveil.backends.spark.blocks import around
from graphveil.backends.spark.graph import SparkGraph, Workspace
from graphveil.backends.spark.jobs import Cluster
from graphveil.backends.spark.session import BYTES_AN_EDGE, WORKER, require_forest_fits
from graphveil.errors import EngineError, ParameterError
from graphveil.graph.degrees import require_fit
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.graph.thresholds import ForestBound, WholeNetwork
from graphveil.statistics.change import tally_under
from graphveil.statistics.statistic import Statistic
from graphveil.statistics.tallies import (
    ClusterTally,
    ComponentTally,
    Counts,
    DegreeTally,
    EdgeTally,
    GroupTally,
    NodeTally,
    Tally,
    TriangleTally,
)


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


# Which tasks answer which tally, and how new steps join those counted before.


@dataclass(frozen=True, eq=False)
class Work:
    """One run of the engine.

    Attributes:
        cluster: where tasks run.
        graph: what is counted.
        since: the first step to count.
        forest: the file of the forest of all steps before `since`.
    """

    cluster: Cluster
    graph: SparkGraph
    since: int
    forest: str | None = None

    @cached_property
    def grown(self) -> counting.ForestFile:
        """The forest of the whole graph, which components and all clusters share."""
        require_forest_fits(self.graph.nodes, self.cluster.task_bytes)
        rows = max(1, (self.cluster.task_bytes - WORKER) // BYTES_AN_EDGE)
        at_least = self.cluster.cores
        leaves = counting.leaves(self.graph, self.since, at_least, rows)
        names = [each.name for each in self.cluster.run(counting.grow, leaves)]
        names = [*([self.forest] if self.forest else []), *names]
        while True:
            tasks = counting.merges(self.graph, names) or [
                counting.ForestTask(self.graph.only(()), (), (), 0)
            ]
            merged = self.cluster.run(counting.grow, tasks)
            if len(merged) == 1:
                return merged[0]
            names = [each.name for each in merged]

    @cached_property
    def strata(self) -> list[str]:
        """The file of everybody's labels in all groups, colour by colour."""
        return self.cluster.run(groups.sort_strata, groups.sort_tasks(self.graph))


Counter: TypeAlias = Callable[[Any, Work, Any], Answer]


def _nodes(tally: NodeTally, work: Work, state: None) -> Answer:
    return Answer(np.diff(work.graph.node_offsets)[work.since :])


def _edges(tally: EdgeTally, work: Work, state: None) -> Answer:
    return Answer(work.graph.edges[work.since :])


def _degrees(tally: DegreeTally, work: Work, state: tuple[int, list[str]] | None) -> Answer:
    graph, since = work.graph, work.since
    width, states = state or (dense_width(graph.steps), None)
    tasks = counting.degree_tasks(graph, tally.direction, width, since, states)
    tables = work.cluster.run(counting.degrees, tasks)
    reach = counting.degree_reach(tables, graph.steps - since, width)
    return Answer(reach, (width, [each.state for each in tables]))


def _triangles(tally: TriangleTally, work: Work, state: None) -> Answer:
    weights, tasks = zip(*counting.triangle_tasks(work.graph, work.since), strict=True)
    found = work.cluster.run(counting.triangles, tasks)
    return Answer(counting.weighted(list(weights), found))


def _components(tally: ComponentTally, work: Work, state: str | None) -> Answer:
    grown = work.grown
    change: Counts = np.diff(work.graph.node_offsets) - grown.joins
    return Answer(change[work.since :], grown.name)


def _clusters(tally: ClusterTally, work: Work, state: str | None) -> Answer:
    grown = work.grown
    task = counting.ClusterTask(work.graph.only(()), grown.name, (tally.least,))
    [[changes]] = work.cluster.run(counting.clusters, [task])
    return Answer(changes[work.since :], grown.name)


def _groups(tally: GroupTally, work: Work, state: Any) -> Answer:
    from graphveil.backends.local.groups import require_labels

    require_labels(grouped=work.graph.grouped)
    if isinstance(tally.tally, DegreeTally):
        return _degrees_by_groups(tally, work, state)
    if isinstance(tally.tally, ClusterTally):
        task = groups.CellClusterTask(
            work.graph.only(()), work.grown.name, tally, tuple(work.strata)
        )
        [changes] = work.cluster.run(groups.clusters, [task])
        return Answer(changes[work.since :], work.grown.name)
    weights, tasks = zip(
        *groups.block_tasks(work.graph, tally, work.since, work.strata), strict=True
    )
    found = work.cluster.run(groups.count, tasks)
    return Answer(counting.weighted(list(weights), found))


def _degrees_by_groups(
    tally: GroupTally, work: Work, state: tuple[int, list[str]] | None
) -> Answer:
    assert isinstance(tally.tally, DegreeTally), "which is counted here"
    states = None if state is None else state[1]
    plain = counting.degree_tasks(work.graph, tally.tally.direction, 0, work.since, states)
    tasks = [
        groups.CellDegreeTask(each, tally.axes, name)
        for each, name in zip(plain, work.strata, strict=True)
    ]
    tables = work.cluster.run(groups.count_degrees, tasks)
    reached = groups.joined_degrees(tables)
    return Answer(reached, (reached.shape[2], [each.state for each in tables]))


COUNTERS: dict[type, Counter] = {
    NodeTally: _nodes,
    EdgeTally: _edges,
    DegreeTally: _degrees,
    TriangleTally: _triangles,
    ComponentTally: _components,
    ClusterTally: _clusters,
    GroupTally: _groups,
}


def require_counted(tallies: Iterable[Tally], name: str) -> None:
    """Refuse what this engine does not count, and name the one that does."""
    if any(type(tally) not in COUNTERS for tally in tallies):
        raise EngineError(
            f"{name}: the Spark engine counts nodes, edges, degrees, triangles, components and "
            "clusters of all steps; copies of other patterns, and recent networks, would need all "
            "of a person's surroundings on one worker. The local engine counts them."
        )


def answer_all(
    tallies: Iterable[Tally], work: Callable[[int, str | None], Work], after: ExactCounts | None
) -> dict[Tally, Answer]:
    """Every tally's answer for all steps; only steps that are not in `after` are counted."""
    begun = work(0, None)
    states = [] if after is None else [after.answers[t].state for t in _joined(after)]
    resumed = begun if after is None else work(after.extent.steps, next(iter(states), None))
    return {tally: _answer(tally, begun, resumed, after) for tally in tallies}


def _joined(after: ExactCounts) -> list[Tally]:
    """The tallies whose state is a forest."""
    return [
        tally
        for tally in after.answers
        if isinstance(divided(tally), ComponentTally | ClusterTally)
    ]


def divided(tally: Tally) -> Tally:
    """What a tally by groups divides; any other tally as it is."""
    return tally.tally if isinstance(tally, GroupTally) else tally


def _answer(tally: Tally, begun: Work, resumed: Work, after: ExactCounts | None) -> Answer:
    count = COUNTERS[type(tally)]
    if after is None or tally not in after.answers:
        return count(tally, begun, None)
    from graphveil.backends.local.counters import joined

    before = after.answers[tally]
    new = count(tally, resumed, before.state)
    return Answer(joined((before.tallied, new.tallied)), new.state)
