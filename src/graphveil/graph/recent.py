"""The recent network: the people of some steps in a row, and the links among them so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from graphveil.graph.sequence import GraphSequence, LateEdges


def recent_part(sequence: GraphSequence, step: int, window: int) -> GraphSequence:
    """Who arrived in the last `window` steps up to `step`, and what links them by then.

    A sequence of these steps alone; an edge that is late in the whole one is late in it. It takes
    no longer than its own people and their lists are long.
    """
    start = max(0, step + 1 - window)
    first, last = (int(sequence.node_offsets[place]) for place in (start, step + 1))
    lists = sequence.offsets[first : last + 1]
    entries = sequence.entries[lists[0] : lists[-1]]
    among = entries >> 2 >= first
    return replace(
        sequence,
        names=sequence.names.slice(first, last - first),
        stated=sequence.stated[first:last],
        node_offsets=sequence.node_offsets[start : step + 2] - first,
        offsets=_ends(among)[lists - lists[0]],
        entries=entries[among] - np.int32(first << 2),
        late=_recent_late(sequence.late, start, step, first),
        growth=None,
    )


def at_once(sequence: GraphSequence) -> GraphSequence:
    """The same graph in the end, all of it there at a single step."""
    if sequence.steps < 2:
        return sequence
    late, ends = sequence.late, np.array([0, sequence.nodes], dtype=np.int64)
    offsets = np.array([0, len(late)], dtype=np.int64)
    return replace(sequence, node_offsets=ends, late=LateEdges(offsets, late.newer, late.entries))


def _recent_late(late: LateEdges, start: int, step: int, first: int) -> LateEdges:
    """The late edges of some steps between nodes from `first` on."""
    offsets = late.offsets[start : step + 2]
    share = slice(int(offsets[0]), int(offsets[-1]))
    entries = late.entries[share]
    among = entries >> 2 >= first  # then so is the newer end
    return LateEdges(
        _ends(among)[offsets - offsets[0]],
        late.newer[share][among] - np.int32(first),
        entries[among] - np.int32(first << 2),
    )


def _ends(kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> np.ndarray:
    """How many are kept before each place, and in all."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(kept)])
