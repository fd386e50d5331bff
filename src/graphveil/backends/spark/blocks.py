"""A block: the nodes of a few colours, and some classes of edges among them, as a sequence.

The local engine counts it as it counts any sequence. Labels keep their order, so a block looks
like the part of the whole sequence that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.degrees import DegreeIncrements
from graphveil.backends.spark.graph import Part, SparkGraph
from graphveil.deferred import pl
from graphveil.graph.intake.kernels import sort_lists
from graphveil.graph.sequence import GraphSequence, LateEdges
from graphveil.kernels import kernel

# Reading a graph's files on a worker, in order of time.


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


def block(
    graph: SparkGraph,
    colours: Sequence[int],
    classes: Sequence[tuple[int, int]],
    touching: int = 0,
) -> GraphSequence:
    """The block of some colours.

    Args:
        graph: the whole.
        colours: ascending.
        classes: of edges, all between these colours.
        touching: only edges of nodes that have an edge from this step on: counting what is new
            from there needs no others.
    """
    node_offsets = _local_offsets(graph.node_offsets, graph.colours, colours)
    found = [_local(graph, colours, edges) for edges in read_all(graph, classes)]
    if touching:
        found = _touched(found, int(node_offsets[-1]), touching)
    prompt = [edges for edges in found if not edges.part.late]
    offsets, entries = _lists(prompt, int(node_offsets[-1]))
    return GraphSequence(
        calendar=graph.calendar,
        directed=graph.directed,
        oriented=graph.oriented,
        names=pl.Series("id", [], dtype=pl.Int64),
        stated=np.empty(0, np.int32),
        node_offsets=node_offsets,
        offsets=offsets,
        entries=entries,
        late=_late([edges for edges in found if edges.part.late], graph.steps),
    )


def _local_offsets(offsets: Int64s, colours: int, chosen: Sequence[int]) -> Int64s:
    """How many labels of the chosen colours lie before each offset."""
    rounds, rest = np.divmod(offsets, colours)
    return rounds * len(chosen) + np.searchsorted(np.array(chosen), rest)


def _local(graph: SparkGraph, chosen: Sequence[int], edges: Edges) -> Edges:
    """The same edges between places in the block."""
    p, k = np.int32(graph.colours), np.int32(len(chosen))
    newer, older = (np.int32(chosen.index(c)) for c in (edges.part.newer, edges.part.older))
    bits = edges.entries & np.int32(3)
    return edges._replace(
        newer=edges.newer // p * k + newer,
        entries=((edges.entries >> np.int32(2)) // p * k + older) << np.int32(2) | bits,
    )


def _touched(found: list[Edges], nodes: int, since: int) -> list[Edges]:
    """The edges at whose ends something is new."""
    touched = np.zeros(nodes, np.bool_)
    for edges in found:
        new = edges.since(since)
        touched[new.newer] = True
        touched[new.entries >> 2] = True
    return [_kept(edges, touched[edges.newer] | touched[edges.entries >> 2]) for edges in found]


def _kept(edges: Edges, kept: NDArray[np.bool_]) -> Edges:
    ends = np.concatenate([[0], np.cumsum(kept)])
    return Edges(edges.part, edges.newer[kept], edges.entries[kept], ends[edges.cuts])


def _lists(prompt: Sequence[Edges], nodes: int) -> tuple[Int64s, Int32s]:
    lengths = np.zeros(nodes, np.int64)
    for edges in prompt:
        lengths += np.bincount(edges.newer, minlength=nodes)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    entries, place = np.empty(int(offsets[-1]), np.int32), offsets[:-1].copy()
    for edges in prompt:
        _spread(edges.newer, edges.entries, place, entries)
    if len(prompt) > 1:
        sort_lists(offsets, entries, 0, nodes)
    return offsets, entries


@kernel
def _spread(newer: Int32s, entries: Int32s, place: Int64s, lists: Int32s) -> None:
    """Append entries to their lists; advances `place`."""
    for i in range(len(newer)):
        node = np.uint32(newer[i])
        lists[place[node]] = entries[i]
        place[node] += 1


def _late(late: Sequence[Edges], steps: int) -> LateEdges:
    if not late:
        return LateEdges.none(steps)
    newer = np.concatenate([edges.newer for edges in late])
    entries = np.concatenate([edges.entries for edges in late])
    of = np.concatenate([edges.steps() for edges in late])
    order = np.lexsort((entries, newer, of))
    return LateEdges(sum(edges.cuts for edges in late), newer[order], entries[order])  # type: ignore[arg-type]


# Half-edges: the links of the nodes of one colour, each as seen from the node that it lifts.


class Half(NamedTuple):
    """The links of one file that lift nodes of a colour, at one of their ends.

    Attributes:
        node: the places of the nodes among those of their colour.
        kept: which edges of the file they are; all, if it is None.
        edges: the file's edges.
        at_newer: whether the nodes are the newer ends.
    """

    node: NDArray[np.int32]
    kept: NDArray[np.bool_] | None
    edges: Edges
    at_newer: bool

    @property
    def cuts(self) -> Int64s:
        """Where the half-edges of each step begin."""
        if self.kept is None:
            return self.edges.cuts
        ends = np.concatenate([[0], np.cumsum(self.kept)])
        found: Int64s = ends[self.edges.cuts]
        return found


def halves(
    graph: SparkGraph, colour: int, increments: DegreeIncrements, since: int = 0
) -> Iterator[Half]:
    """All half-edges of the nodes of a colour from a step on, file by file."""
    p = np.int32(graph.colours)
    for edges in read_all(graph, around(graph, colour), since):
        if edges.part.newer == colour:
            yield _half(edges, edges.newer // p, increments.newer, at_newer=True)
        if edges.part.older == colour:
            yield _half(
                edges, (edges.entries >> np.int32(2)) // p, increments.older, at_newer=False
            )


def _half(edges: Edges, node: NDArray[np.int32], bits: int, *, at_newer: bool) -> Half:
    kept = (edges.entries & np.int32(bits)) != 0
    if kept.all():
        return Half(node, None, edges, at_newer)
    return Half(node[kept], kept, edges, at_newer)
