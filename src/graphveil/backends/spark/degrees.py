"""Degree reach by colour: each task lifts the nodes of one colour along their half-edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphveil.backends.spark.graph import SparkGraph, offsets_of
from graphveil.graph.promises import Direction
from graphveil.statistics.tallies import DegreeReach

if TYPE_CHECKING:
    from graphveil.backends.local.degrees import DegreeIncrements, EdgeColumns


class Task(NamedTuple):
    """The nodes of one colour; `state` names a file with their degrees before the step `since`."""

    graph: SparkGraph
    colour: int
    direction: Direction
    width: int
    since: int
    state: str | None


class Found(NamedTuple):
    """The nonzero entries of the table R of one colour, and the file of its degrees."""

    steps: np.ndarray
    degrees: np.ndarray
    counts: np.ndarray
    runs: np.ndarray
    state: str


def tasks(
    graph: SparkGraph, direction: Direction, width: int, since: int, states: Sequence[str] | None
) -> list[Task]:
    """One for every colour."""
    from graphveil.backends.spark.blocks import around

    return [
        Task(
            graph.only(around(graph, colour)),
            colour,
            direction,
            width,
            since,
            states[colour] if states else None,
        )
        for colour in range(graph.colours)
    ]


def count(task: Task) -> Found:
    """R of one colour from a step on; runs on a worker."""
    import pyarrow as pa

    from graphveil.backends.local.degrees import Degrees, reached

    edges, increments = half_edges(task)
    none = np.empty(0, np.int32)
    before = Degrees(none, none, task.width)
    degree = degrees_before(task)
    if degree is not None:
        before = Degrees(degree, np.flatnonzero(degree >= task.width).astype(np.int32), task.width)
    reach, after = reached(edges, increments, task.since, before)
    state = task.graph.workspace.write("degrees", pa.table({"degree": after.degree}))
    steps, degrees = np.nonzero(reach.low)
    return Found(steps, degrees, reach.low[steps, degrees], reach.runs, state)


def degrees_before(task: Task) -> np.ndarray | None:
    """The degrees of the colour's nodes before the first step that is counted."""
    if task.state is None:
        return None
    degree: np.ndarray = task.graph.workspace.read(task.state)["degree"].to_numpy()
    return degree


def half_edges(task: Task) -> tuple[EdgeColumns, DegreeIncrements]:
    """The links of a colour's nodes as columns of edges, and which ends of these are lifted."""
    from graphveil.backends.local.degrees import DegreeIncrements, EdgeColumns, increments_of
    from graphveil.backends.spark.blocks import halves, in_time_order

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


def summed(found: Sequence[Found], steps: int, width: int) -> DegreeReach:
    """R of all colours."""
    low = np.zeros((steps, width), np.int64)
    for each in found:
        np.add.at(low, (each.steps, each.degrees), each.counts)
    return DegreeReach(low, np.concatenate([np.empty((0, 3), np.int64), *(f.runs for f in found)]))
