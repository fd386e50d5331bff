"""Components by forests: each task keeps the edges that join something, in order of time.

What a forest joins at each step is what all of its edges join. So forests are merged as graphs
are, some at a time, until one is left; each of its edges then takes one component away, at its
step. A forest is a file with the columns `newer`, `older` and `step`, in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import Part, SparkGraph
from graphveil.statistics.tallies import Counts

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Columns = tuple[Sequence[NDArray[np.generic]], Int64s]
AT_ONCE = 4  # forests that one task merges


class Task(NamedTuple):
    """Edges of some files from a step on, and forests, to make one forest of."""

    graph: SparkGraph
    parts: tuple[Part, ...]
    forests: tuple[str, ...]
    since: int


class ForestFile(NamedTuple):
    """A forest's file, and how many of its edges each step has."""

    name: str
    joins: Counts


def leaves(graph: SparkGraph, since: int, at_least: int, rows: int) -> list[Task]:
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
    return [Task(light, tuple(share), (), since) for share in shares if share]


def merges(graph: SparkGraph, forests: Sequence[str]) -> list[Task]:
    """The tasks of one round of merging."""
    light = graph.only(())
    groups = [tuple(forests[at : at + AT_ONCE]) for at in range(0, len(forests), AT_ONCE)]
    return [Task(light, (), group, 0) for group in groups]


def grow(task: Task) -> ForestFile:
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


def _in_order(task: Task) -> tuple[tuple[Int32s, Int32s], Int64s]:
    from graphveil.backends.spark.blocks import in_time_order

    nobody = np.empty(0, np.int32)
    pieces: list[Columns] = [((nobody, nobody), np.zeros(task.graph.steps + 1, np.int64))]
    pieces += [*_edges(task), *(_forest(task, name) for name in task.forests)]
    (newer, older), cuts = in_time_order(pieces, task.graph.steps)
    return (newer.astype(np.int32, copy=False), older.astype(np.int32, copy=False)), cuts


def _edges(task: Task) -> list[Columns]:
    from graphveil.backends.spark.blocks import read_edges

    files = (read_edges(task.graph, part).since(task.since) for part in task.parts)
    return [((edges.newer, edges.entries >> np.int32(2)), edges.cuts) for edges in files]


def _forest(task: Task, name: str) -> Columns:
    table = task.graph.workspace.read(name)
    cuts = np.searchsorted(table["step"].to_numpy(), np.arange(task.graph.steps + 1))
    return (table["newer"].to_numpy(), table["older"].to_numpy()), cuts.astype(np.int64)


def as_late_edges(graph: SparkGraph, forest: str) -> tuple[Int32s, Int32s, Int64s]:
    """A forest as a sequence has late edges: newer ends, entries, and where steps begin."""
    columns, cuts = _forest(Task(graph, (), (), 0), forest)
    newer, older = (column.astype(np.int32, copy=False) for column in columns)
    return newer, older << np.int32(2), cuts


class Sizes(NamedTuple):
    """The forest of a whole graph, whose components of at least so many nodes are counted."""

    graph: SparkGraph
    forest: str
    least: tuple[int, ...]


def clusters(task: Sizes) -> list[Counts]:
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
