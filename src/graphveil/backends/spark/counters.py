"""Which tasks answer which tally, and how new steps join those counted before."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from graphveil.backends.backend import Answer, ExactCounts
from graphveil.backends.spark import degrees, forests, groups, triangles
from graphveil.backends.spark.graph import SparkGraph
from graphveil.backends.spark.jobs import Cluster
from graphveil.errors import EngineError, ParameterError
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

# What tasks must hold, and refusing what does not fit before it starts.


# Estimates on the safe side of what a task holds at its worst: triangles of graph B with 1g took
# 0.65 GB, and components of ten times its nodes 2.9 GB.
BYTES_AN_EDGE = 96
BYTES_A_NODE = 72
WORKER = 350 << 20  # Python, NumPy, Arrow and the compiled kernels

_SIZE = re.compile(r"([0-9]{1,9})([kmgt]?)b?", re.IGNORECASE)


def bytes_of(text: str, setting: str) -> int:
    """A size as Spark's settings have it: 512m, 2g."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ParameterError(setting, "must be a size such as 512m or 2g")
    return int(int(match[1]) * 1024 ** " kmgt".index(match[2].lower() or " "))


def colours_for(edges: int, task_bytes: int) -> int:
    """Into how many colours nodes are divided, so that edges among three of them fit a task.

    Such a task has 6 of colours² shares of the edges.
    """
    room = max(task_bytes - WORKER, WORKER) // BYTES_AN_EDGE
    return max(1, math.ceil(math.sqrt(6 * edges / room)))


def require_forest_fits(nodes: int, task_bytes: int) -> None:
    """Refuse components of more nodes than one task can hold."""
    needed = WORKER + nodes * BYTES_A_NODE
    if needed > task_bytes:
        raise EngineError(
            f"components and clusters need one task that holds all nodes, about "
            f"{needed / 2**30:.1f} GiB, and spark.graphveil.taskMemory is "
            f"{task_bytes / 2**30:.1f} GiB. Raise it, with the workers' memory overhead."
        )


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
    def grown(self) -> forests.ForestFile:
        """The forest of the whole graph, which components and all clusters share."""
        require_forest_fits(self.graph.nodes, self.cluster.task_bytes)
        rows = max(1, (self.cluster.task_bytes - WORKER) // BYTES_AN_EDGE)
        at_least = self.cluster.cores
        leaves = forests.leaves(self.graph, self.since, at_least, rows)
        names = [each.name for each in self.cluster.run(forests.grow, leaves)]
        names = [*([self.forest] if self.forest else []), *names]
        while True:
            tasks = forests.merges(self.graph, names) or [
                forests.Task(self.graph.only(()), (), (), 0)
            ]
            merged = self.cluster.run(forests.grow, tasks)
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
    from graphveil.backends.local.degrees import dense_width

    graph, since = work.graph, work.since
    width, states = state or (dense_width(graph.steps), None)
    tasks = degrees.tasks(graph, tally.direction, width, since, states)
    tables = work.cluster.run(degrees.count, tasks)
    reach = degrees.summed(tables, graph.steps - since, width)
    return Answer(reach, (width, [each.state for each in tables]))


def _triangles(tally: TriangleTally, work: Work, state: None) -> Answer:
    weights, tasks = zip(*triangles.tasks(work.graph, work.since), strict=True)
    found = work.cluster.run(triangles.count, tasks)
    return Answer(triangles.summed(list(weights), found))


def _components(tally: ComponentTally, work: Work, state: str | None) -> Answer:
    grown = work.grown
    change: Counts = np.diff(work.graph.node_offsets) - grown.joins
    return Answer(change[work.since :], grown.name)


def _clusters(tally: ClusterTally, work: Work, state: str | None) -> Answer:
    grown = work.grown
    task = forests.Sizes(work.graph.only(()), grown.name, (tally.least,))
    [[changes]] = work.cluster.run(forests.clusters, [task])
    return Answer(changes[work.since :], grown.name)


def _groups(tally: GroupTally, work: Work, state: Any) -> Answer:
    from graphveil.backends.local.groups import require_labels

    require_labels(grouped=work.graph.grouped)
    if isinstance(tally.tally, DegreeTally):
        return _degrees_by_groups(tally, work, state)
    if isinstance(tally.tally, ClusterTally):
        task = groups.ForestTask(work.graph.only(()), work.grown.name, tally, tuple(work.strata))
        [changes] = work.cluster.run(groups.clusters, [task])
        return Answer(changes[work.since :], work.grown.name)
    weights, tasks = zip(*groups.tasks(work.graph, tally, work.since, work.strata), strict=True)
    found = work.cluster.run(groups.count, tasks)
    return Answer(triangles.summed(list(weights), found))


def _degrees_by_groups(
    tally: GroupTally, work: Work, state: tuple[int, list[str]] | None
) -> Answer:
    assert isinstance(tally.tally, DegreeTally), "which is counted here"
    states = None if state is None else state[1]
    plain = degrees.tasks(work.graph, tally.tally.direction, 0, work.since, states)
    tasks = [
        groups.DegreeTask(each, tally.axes, name)
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
