"""Reading a graph's files on a worker, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.spark.graph import Part, SparkGraph

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


class Edges(NamedTuple):
    """Edges of one file, in order of their steps.

    Attributes:
        part: the file.
        newer: labels of the newer ends.
        entries: older ends and directions, packed as in a sequence.
        cuts: (steps + 1,) where the edges of each step begin.
    """

    part: Part
    newer: Int32s
    entries: Int32s
    cuts: Int64s

    def steps(self) -> Int32s:
        """The step of each edge."""
        lengths = np.diff(self.cuts)
        return np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)

    def since(self, step: int) -> Edges:
        """Those of a step and after it."""
        first = int(self.cuts[step])
        cuts = np.maximum(self.cuts - first, 0)
        return Edges(self.part, self.newer[first:], self.entries[first:], cuts)


def read_edges(graph: SparkGraph, part: Part) -> Edges:
    """The edges of a file that have appeared by the last step of the graph."""
    names = ["newer", "entry", *(["step"] if part.late else [])]
    table = graph.workspace.read(part.name, names)
    newer, entries = (table[name].to_numpy() for name in names[:2])
    if part.late:
        cuts = np.searchsorted(table["step"].to_numpy(), np.arange(graph.steps + 1))
    else:
        cuts = np.searchsorted(newer, graph.node_offsets)
    end = int(cuts[-1])
    return Edges(part, newer[:end], entries[:end], cuts.astype(np.int64))


def read_all(graph: SparkGraph, classes: Iterable[tuple[int, int]], since: int = 0) -> list[Edges]:
    """All edges of some classes from a step on, file by file."""
    parts = [part for part in graph.among(classes) if part.last_step >= since]
    found = (read_edges(graph, part) for part in parts)
    return [edges.since(since) for edges in found] if since else list(found)


def around(graph: SparkGraph, colour: int) -> list[tuple[int, int]]:
    """The classes that hold every link of the nodes of a colour."""
    others = range(graph.colours)
    return list(dict.fromkeys([(colour, x) for x in others] + [(x, colour) for x in others]))


def in_time_order(
    pieces: Sequence[tuple[Sequence[NDArray[np.generic]], Int64s]], steps: int
) -> tuple[list[NDArray[np.generic]], Int64s]:
    """Columns of several pieces, each ordered by step, as columns ordered by step.

    Args:
        pieces: one or more: columns of equal length, and where each step begins in them.
        steps: how many there are.
    """
    pieces = [piece for piece in pieces if piece[1][-1]] or pieces[:1]
    cuts = sum((cuts for _, cuts in pieces), np.zeros(steps + 1, np.int64))
    if len(pieces) == 1:
        return list(pieces[0][0]), cuts
    columns = list(zip(*(columns for columns, _ in pieces), strict=True))
    ordered = []
    for parts in columns:
        room = np.empty(int(cuts[-1]), parts[0].dtype)
        for step in range(steps):
            place = int(cuts[step])
            for values, (_, ends) in zip(parts, pieces, strict=True):
                begin, end = ends[step], ends[step + 1]
                room[place : place + end - begin] = values[begin:end]
                place += int(end - begin)
        ordered.append(room)
    return ordered, cuts
