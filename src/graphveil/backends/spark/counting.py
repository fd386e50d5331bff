"""The tasks of tallies: triangles by colours, degrees of a colour, components by forests.

The driver makes the tasks of a tally, each with the names of the files that it reads; workers run
them on the local engine's kernels; the driver joins what they found.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.degrees import (
    DegreeIncrements,
    Degrees,
    EdgeColumns,
    increments_of,
    reached,
)
from graphveil.backends.spark.blocks import around, block, halves, in_time_order, read_edges
from graphveil.backends.spark.graph import Part, SparkGraph, offsets_of
from graphveil.graph.promises import Direction
from graphveil.statistics.tallies import Counts, DegreeReach

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Columns = tuple[Sequence[NDArray[np.generic]], Int64s]
AT_ONCE = 4  # forests that one task merges

# Triangles: every task counts those among the nodes of three colours, two or one.
#
# Edges between three different colours make triangles of all three. All edges among two colours
# make those of both, and those of each alone, which their own tasks count, too. With p colours
# these stand in p − 1 pairs, so that the sum over triples and pairs holds them p − 2 times too
# often.


class TriangleTask(NamedTuple):
    """The triangles among some colours, from a step on."""

    graph: SparkGraph
    colours: tuple[int, ...]
    since: int

    @property
    def classes(self) -> list[tuple[int, int]]:
        """What it reads: between three colours, or all among two or one."""
        if len(self.colours) == 3:
            return list(permutations(self.colours, 2))
        return [(a, b) for a in self.colours for b in self.colours]


def triangle_tasks(graph: SparkGraph, since: int) -> list[tuple[int, TriangleTask]]:
    """How often each task's triangles count, and the task; the largest come first."""
    p = graph.colours
    tasks = [
        (weight, TriangleTask(graph, colours, since))
        for size, weight in ((3, 1), (2, 1), (1, 2 - p))
        if weight
        for colours in combinations(range(p), size)
    ]
    return [(weight, task._replace(graph=graph.only(task.classes))) for weight, task in tasks]


def triangles(task: TriangleTask) -> Counts:
    """Triangles by step and kind among the task's colours; runs on a worker."""
    from graphveil.backends.local.patterns import count_triangles
    from graphveil.backends.local.work import Work

    graph = block(task.graph, task.colours, task.classes, touching=task.since)
    return count_triangles(Work(graph, 1), task.since)


def weighted(weights: list[int], found: list[Counts]) -> Counts:
    """What all tasks come to."""
    counted = [weight * each for weight, each in zip(weights, found, strict=True)]
    return np.asarray(np.sum(counted, axis=0), np.int64)


# Degrees: each task lifts the nodes of one colour along their half-edges.


class DegreeTask(NamedTuple):
    """The nodes of one colour; `state` names a file with their degrees before the step `since`."""

    graph: SparkGraph
    colour: int
    direction: Direction
    width: int
    since: int
    state: str | None


class DegreesFound(NamedTuple):
    """The nonzero entries of the table R of one colour, and the file of its degrees."""

    steps: np.ndarray
    degrees: np.ndarray
    counts: np.ndarray
    runs: np.ndarray
    state: str


def degree_tasks(
    graph: SparkGraph, direction: Direction, width: int, since: int, states: Sequence[str] | None
) -> list[DegreeTask]:
    """One for every colour."""
    return [
        DegreeTask(
            graph.only(around(graph, colour)),
            colour,
            direction,
            width,
            since,
            states[colour] if states else None,
        )
        for colour in range(graph.colours)
    ]


def degrees(task: DegreeTask) -> DegreesFound:
    """R of one colour from a step on; runs on a worker."""
    import pyarrow as pa

    edges, increments = half_edges(task)
    none = np.empty(0, np.int32)
    before = Degrees(none, none, task.width)
    degree = degrees_before(task)
    if degree is not None:
        before = Degrees(degree, np.flatnonzero(degree >= task.width).astype(np.int32), task.width)
    reach, after = reached(edges, increments, task.since, before)
    state = task.graph.workspace.write("degrees", pa.table({"degree": after.degree}))
    steps, reached_degrees = at = np.nonzero(reach.low)
    return DegreesFound(steps, reached_degrees, reach.low[at], reach.runs, state)


def degrees_before(task: DegreeTask) -> np.ndarray | None:
    """The degrees of the colour's nodes before the first step that is counted."""
    if task.state is None:
        return None
    degree: np.ndarray = task.graph.workspace.read(task.state)["degree"].to_numpy()
    return degree


def half_edges(task: DegreeTask) -> tuple[EdgeColumns, DegreeIncrements]:
    """The links of a colour's nodes as columns of edges, and which ends of these are lifted."""
    graph = task.graph
    increments = increments_of(task.direction, directed=graph.directed)
    found = [
        ((half.node,), half.cuts) for half in halves(graph, task.colour, increments, task.since)
    ]
    columns, cuts = in_time_order(found, graph.steps) if found else ([np.empty(0, np.int32)], None)
    node = columns[0]
    ends = np.zeros(graph.steps + 1, np.int64) if cuts is None else cuts
    node_offsets = offsets_of(graph, task.colour)
    # Each half-edge is a late edge that lifts its newer end alone; nobody arrives with links.
    edges = EdgeColumns(
        node_offsets,
        np.zeros(int(node_offsets[-1]) + 1, np.int64),
        np.empty(0, np.int32),
        ends,
        node.astype(np.int32, copy=False),
        np.ones(len(node), np.int32),
    )
    return edges, DegreeIncrements(older=0, newer=1)


def degree_reach(found: Sequence[DegreesFound], steps: int, width: int) -> DegreeReach:
    """R of all colours."""
    low = np.zeros((steps, width), np.int64)
    for each in found:
        np.add.at(low, (each.steps, each.degrees), each.counts)
    return DegreeReach(low, np.concatenate([np.empty((0, 3), np.int64), *(f.runs for f in found)]))


# Components by forests: each task keeps the edges that join something, in order of time.
#
# What a forest joins at each step is what all of its edges join. So forests are merged as graphs
# are, some at a time, until one is left; each of its edges then takes one component away, at its
# step. A forest is a file with the columns `newer`, `older` and `step`, in order of time.


class ForestTask(NamedTuple):
    """Edges of some files from a step on, and forests, to make one forest of."""

    graph: SparkGraph
    parts: tuple[Part, ...]
    forests: tuple[str, ...]
    since: int


class ForestFile(NamedTuple):
    """A forest's file, and how many of its edges each step has."""

    name: str
    joins: Counts


def leaves(graph: SparkGraph, since: int, at_least: int, rows: int) -> list[ForestTask]:
    """The files of a graph from a step on, some for each task.

    Args:
        graph: the whole.
        since: the first step.
        at_least: how many tasks run side by side.
        rows: how many edges one of them may hold.
    """
    parts = sorted(
        (part for part in graph.parts if part.last_step >= since), key=lambda part: -part.rows
    )
    total = sum(part.rows for part in parts)
    count = max(1, min(len(parts), max(at_least, -(-total // rows))))
    shares: list[list[Part]] = [[] for _ in range(count)]
    loads = [0] * count
    for part in parts:  # the next file goes to the task with the fewest rows
        place = loads.index(min(loads))
        shares[place].append(part)
        loads[place] += part.rows
    light = graph.only(())
    return [ForestTask(light, tuple(share), (), since) for share in shares if share]


def merges(graph: SparkGraph, forests: Sequence[str]) -> list[ForestTask]:
    """The tasks of one round of merging."""
    light = graph.only(())
    groups = [tuple(forests[at : at + AT_ONCE]) for at in range(0, len(forests), AT_ONCE)]
    return [ForestTask(light, (), group, 0) for group in groups]


def grow(task: ForestTask) -> ForestFile:
    """One forest of a task's edges and forests; runs on a worker."""
    import pyarrow as pa

    from graphveil.backends.local.components import join_in_order

    graph = task.graph
    (newer, older), cuts = _in_order(task)
    parent, chosen = np.arange(graph.nodes, dtype=np.int32), np.empty(len(newer), np.bool_)
    join_in_order(newer, older, parent, chosen)
    steps = np.repeat(np.arange(graph.steps, dtype=np.int32), np.diff(cuts))[chosen]
    columns = {"newer": newer[chosen], "older": older[chosen], "step": steps}
    name = graph.workspace.write("forest", pa.table(columns))
    return ForestFile(name, np.bincount(steps, minlength=graph.steps))


def _in_order(task: ForestTask) -> tuple[tuple[Int32s, Int32s], Int64s]:
    nobody = np.empty(0, np.int32)
    pieces: list[Columns] = [((nobody, nobody), np.zeros(task.graph.steps + 1, np.int64))]
    pieces += [*_edges(task), *(_forest(task, name) for name in task.forests)]
    (newer, older), cuts = in_time_order(pieces, task.graph.steps)
    return (newer.astype(np.int32, copy=False), older.astype(np.int32, copy=False)), cuts


def _edges(task: ForestTask) -> list[Columns]:
    files = (read_edges(task.graph, part).since(task.since) for part in task.parts)
    return [((edges.newer, edges.entries >> np.int32(2)), edges.cuts) for edges in files]


def _forest(task: ForestTask, name: str) -> Columns:
    table = task.graph.workspace.read(name)
    cuts = np.searchsorted(table["step"].to_numpy(), np.arange(task.graph.steps + 1))
    return (table["newer"].to_numpy(), table["older"].to_numpy()), cuts.astype(np.int64)


def as_late_edges(graph: SparkGraph, forest: str) -> tuple[Int32s, Int32s, Int64s]:
    """A forest as a sequence has late edges: newer ends, entries, and where steps begin."""
    columns, cuts = _forest(ForestTask(graph, (), (), 0), forest)
    newer, older = (column.astype(np.int32, copy=False) for column in columns)
    return newer, older << np.int32(2), cuts


class ClusterTask(NamedTuple):
    """The forest of a whole graph, whose components of at least so many nodes are counted."""

    graph: SparkGraph
    forest: str
    least: tuple[int, ...]


def clusters(task: ClusterTask) -> list[Counts]:
    """The changes of clusters at every step, for each least size; runs on a worker."""
    from graphveil.backends.local.components import Forest, join_late

    graph = task.graph
    newer, entries, cuts = as_late_edges(graph, task.forest)
    by_size = []
    for least in task.least:
        nodes = np.arange(graph.nodes, dtype=np.int32)
        alone = Forest(nodes, np.ones(graph.nodes, np.int32))
        changes = np.zeros((graph.steps, 2), np.int64)
        for step, change in enumerate(changes):
            share = slice(int(cuts[step]), int(cuts[step + 1]))
            if share.start < share.stop:
                join_late(newer[share], entries[share], min(least, graph.nodes + 1), alone, change)
        by_size.append(changes)
    return by_size
