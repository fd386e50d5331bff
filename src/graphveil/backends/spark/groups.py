"""Counting by groups on the workers: blocks of people with labels, counted as on one machine.

A *stratum* is the labels of a person in all groups, as one integer. Files of nodes have them in
order of labels of nodes; tasks need those of a colour, so each colour gets a file of its own first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark import counting
from graphveil.backends.spark.blocks import block
from graphveil.backends.spark.graph import SparkGraph, nodes_of
from graphveil.errors import CountOverflowError
from graphveil.statistics.tallies import (
    ClusterTally,
    Counts,
    EdgeTally,
    GroupTally,
    NodeTally,
    TriangleTally,
)

Int32s = NDArray[np.int32]
_AT_ONCE = 1 << 20  # rows of a file of nodes that a task reads at a time


class SortTask(NamedTuple):
    """The files of all nodes, and the colour whose strata are written."""

    graph: SparkGraph
    colour: int


def sort_tasks(graph: SparkGraph) -> list[SortTask]:
    """One for every colour."""
    light = replace(graph, parts=())
    return [SortTask(light, colour) for colour in range(graph.colours)]


def sort_strata(task: SortTask) -> str:
    """Write the strata of one colour in order of its nodes; runs on a worker."""
    import pyarrow as pa

    graph = task.graph
    strata = np.empty(nodes_of(graph, task.colour), np.int32)
    place = 0
    for part in _own_strata(task):
        own = part[: len(strata) - place]  # files may go on after the last step
        strata[place : place + len(own)] = own
        place += len(own)
    assert place == len(strata), "everybody has labels"
    return graph.workspace.write("strata", pa.table({"stratum": strata}))


def _own_strata(task: SortTask) -> Iterator[Int32s]:
    """The strata of the nodes of a colour, some at a time."""
    graph = task.graph
    for part in graph.people:
        first = part.first
        for batch in graph.workspace.batches(part.name, ["stratum"], _AT_ONCE):
            begin = (task.colour - first) % graph.colours
            yield batch["stratum"].to_numpy()[begin :: graph.colours]
            first += batch.num_rows


def strata_among(graph: SparkGraph, colours: Sequence[int], files: Sequence[str]) -> Int32s:
    """The strata of the nodes of some colours, in order of labels of nodes.

    Args:
        graph: the whole.
        colours: ascending.
        files: of strata, for each of these colours.
    """
    strata = np.empty(sum(nodes_of(graph, colour) for colour in colours), np.int32)
    for place, file in enumerate(files):
        strata[place :: len(colours)] = graph.workspace.read(file)["stratum"].to_numpy()
    return strata


# Nodes, edges and triangles: each is among the nodes of one, two or three colours.


class BlockTask(NamedTuple):
    """A tally of the block of some colours, from a step on.

    Attributes:
        graph: with the files that are read.
        colours: ascending.
        classes: of edges, all between these colours.
        strata: a file for each of the colours.
        tally: what is counted.
        since: the first step.
    """

    graph: SparkGraph
    colours: tuple[int, ...]
    classes: tuple[tuple[int, int], ...]
    strata: tuple[str, ...]
    tally: GroupTally
    since: int


def block_tasks(
    graph: SparkGraph, tally: GroupTally, since: int, strata: Sequence[str]
) -> list[tuple[int, BlockTask]]:
    """How often what each task counts counts, and the task."""
    return [
        (
            weight,
            BlockTask(
                own, colours, tuple(classes), tuple(strata[each] for each in colours), tally, since
            ),
        )
        for weight, own, colours, classes in _blocks(graph, tally, since)
    ]


_Block = tuple[int, SparkGraph, tuple[int, ...], Sequence[tuple[int, int]]]


def _blocks(graph: SparkGraph, tally: GroupTally, since: int) -> Iterator[_Block]:
    """Blocks that have every object of a tally once, if they are weighted."""
    if isinstance(tally.tally, NodeTally):
        yield from ((1, graph.only(()), (colour,), ()) for colour in range(graph.colours))
    elif isinstance(tally.tally, EdgeTally):
        for pair in combinations_with_replacement(range(graph.colours), 2):
            colours = tuple(sorted(set(pair)))
            classes = tuple(dict.fromkeys([pair, pair[::-1]]))
            own = graph.only(classes)
            new = tuple(part for part in own.parts if part.last_step >= since)
            yield 1, replace(own, parts=new), colours, classes
    else:
        assert isinstance(tally.tally, TriangleTally), "all others have counters of their own"
        for weight, task in counting.triangle_tasks(graph, since):
            yield weight, task.graph, task.colours, task.classes


def count(task: BlockTask) -> Counts:
    """The tally by cells at every step; runs on a worker."""
    from graphveil.backends.local.groups import count_by_groups
    from graphveil.backends.local.work import Work

    graph = task.graph
    touching = task.since if isinstance(task.tally.tally, TriangleTally) else 0
    sequence = block(graph, task.colours, task.classes, touching)
    labelled = replace(sequence, strata=strata_among(graph, task.colours, task.strata))
    counts = count_by_groups(task.tally, Work(labelled, 1), task.since, None).tallied
    assert isinstance(counts, np.ndarray), "cells are columns"
    return counts


# Degrees: the nodes of one colour along their half-edges, in the column of their cell.


class CellDegreeTask(NamedTuple):
    """The degrees of one colour, the groups that give the cells, and the file of its strata."""

    degrees: counting.DegreeTask
    axes: tuple[tuple[int, int], ...]
    strata: str


class CellDegrees(NamedTuple):
    """The table R of one colour by cells, and the file of its degrees.

    Attributes:
        shape: of the table; None if it is too large.
        places: of what is not zero in it.
        values: there.
        state: the file.
    """

    shape: tuple[int, int, int] | None
    places: NDArray[np.int64]
    values: Counts
    state: str


def count_degrees(task: CellDegreeTask) -> CellDegrees:
    """R of one colour by cells, from a step on; runs on a worker."""
    import pyarrow as pa

    from graphveil.backends.local.groups import cells_of_people, reached_by_cell

    own, workspace = task.degrees, task.degrees.graph.workspace
    edges, increments = counting.half_edges(own)
    strata = workspace.read(task.strata)["stratum"].to_numpy()
    cell, kinds = cells_of_people(strata, task.axes)
    before = counting.degrees_before(own)
    try:
        answer = reached_by_cell(edges, increments, cell, kinds, own.since, before)
    except CountOverflowError:  # which the driver raises: it would not know this error as ours
        return CellDegrees(None, np.empty(0, np.int64), np.empty(0, np.int64), "")
    assert isinstance(answer.tallied, np.ndarray), "cells are columns"
    places = np.flatnonzero(answer.tallied)
    state = workspace.write("degrees", pa.table({"degree": answer.state.astype(np.int32)}))
    shape = answer.tallied.shape
    return CellDegrees(shape, places, answer.tallied.ravel()[places], state)


def joined_degrees(found: Sequence[CellDegrees]) -> Counts:
    """R of all colours by cells, as wide as the widest."""
    from graphveil.backends.local.groups import too_large

    shapes = [each.shape for each in found if each.shape is not None]
    if len(shapes) < len(found):
        raise too_large()
    table = np.zeros((*shapes[0][:2], max(width for _, _, width in shapes)), np.int64)
    for each, shape in zip(found, shapes, strict=True):
        np.add.at(table, np.unravel_index(each.places, shape), each.values)
    return table


# People in clusters: the forest of the whole graph says when a component becomes large enough.


class CellClusterTask(NamedTuple):
    """The forest of a whole graph, whose people in large components are counted by cells.

    Attributes:
        graph: without its files.
        forest: its file.
        tally: what is counted.
        strata: the file of each colour.
    """

    graph: SparkGraph
    forest: str
    tally: GroupTally
    strata: tuple[str, ...]


def clusters(task: CellClusterTask) -> Counts:
    """Who begins to be in a large component at every step; runs on a worker."""
    from graphveil.backends.local.groups import count_by_groups
    from graphveil.backends.local.work import Work
    from graphveil.graph.sequence import LateEdges

    assert isinstance(task.tally.tally, ClusterTally), "which is counted here"
    graph, everyone = task.graph, range(task.graph.colours)
    newer, entries, cuts = counting.as_late_edges(graph, task.forest)
    sequence = replace(
        block(graph, everyone, ()),
        late=LateEdges(cuts, newer, entries),
        strata=strata_among(graph, everyone, task.strata),
    )
    counts = count_by_groups(task.tally, Work(sequence, 1), 0, None).tallied
    assert isinstance(counts, np.ndarray), "cells are columns"
    return counts
