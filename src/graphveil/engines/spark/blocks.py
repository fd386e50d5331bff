"""A block: the nodes of a few colours, and some classes of edges among them, as a sequence.

The local engine counts it as it counts any sequence. Labels keep their order, so a block looks
like the part of the whole sequence that it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.spark.graph import SparkGraph
from graphveil.engines.spark.reading import Edges, read_all
from graphveil.graph.intake.intake_kernels import sort_lists
from graphveil.graph.sequence import GraphSequence, LateEdges
from graphveil.kernels.compiled import kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


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
        touching: only edges of nodes are taken that have an edge from this step on: whoever
            counts what is new from there needs no others.
    """
    import polars as pl

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
    """Put entries behind those that their lists have; `place` moves on."""
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
