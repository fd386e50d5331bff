"""All neighbours of each node, older and newer, and since when each link exists.

The lists of a sequence lead from newer to older nodes only. Looking for patterns needs
both ways. If no edge is late, a link exists since its newer node arrived and no steps are
stored; else each link carries the step of either direction.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import GraphSequence
from graphveil.kernels import inlined, kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

# Direction bits of a neighbour as seen from the node that lists it.
OUT, IN = 1, 2
NEVER = 2**31 - 1


class Adjacency(NamedTuple):
    """The neighbours of every node in ascending order; a tuple, as kernels take it.

    Attributes:
        offsets: (nodes + 1,) where the room for each node's neighbours begins.
        ends: (nodes,) where each node's neighbours end.
        entries: neighbour << 2 | direction bits.
        out_steps: for each entry since when the node points to the neighbour, else NEVER;
            empty if no edge is late.
        in_steps: the same for the neighbour pointing to the node.
    """

    offsets: Int64s
    ends: Int64s
    entries: Int32s
    out_steps: Int32s
    in_steps: Int32s


def adjacency(sequence: GraphSequence) -> Adjacency:
    """The neighbours of every node of a sequence, with steps only where they are needed."""
    late = sequence.late
    offsets = _room(sequence.offsets, sequence.entries, late.newer, late.entries)
    if len(late) == 0:
        entries = _prompt_neighbours(sequence.offsets, sequence.entries, offsets)
        none = np.empty(0, dtype=np.int32)
        return Adjacency(offsets, offsets[1:], entries, none, none)
    records, steps = _records(sequence, offsets)
    return Adjacency(offsets, *_merge_records(offsets, records, steps))


def _records(sequence: GraphSequence, offsets: Int64s) -> tuple[Int32s, Int32s]:
    """The links at each node, in any order, and the step of each; a pair may occur twice."""
    node_steps = np.repeat(
        np.arange(sequence.steps, dtype=np.int32), np.diff(sequence.node_offsets)
    )
    late = sequence.late
    late_steps = np.repeat(np.arange(sequence.steps, dtype=np.int32), np.diff(late.offsets))
    return _list_records(
        sequence.offsets,
        sequence.entries,
        node_steps,
        late.newer,
        late.entries,
        late_steps,
        offsets,
    )


@inlined
def _swapped(bits: int) -> int:
    """Direction bits as seen from the other end."""
    return (bits & 1) << 1 | bits >> 1


@kernel
def _room(lists: Int64s, entries: Int32s, newer: Int32s, late: Int32s) -> Int64s:
    """Offsets that leave room for every link at both of its ends."""
    offsets = np.zeros(len(lists), dtype=np.int64)
    for node in range(len(lists) - 1):
        offsets[node + 1] = lists[node + 1] - lists[node]
    for place in range(len(entries)):
        offsets[(entries[place] >> 2) + 1] += 1
    for place in range(len(late)):
        offsets[(late[place] >> 2) + 1] += 1
        offsets[newer[place] + 1] += 1
    for node in range(len(lists) - 1):
        offsets[node + 1] += offsets[node]
    return offsets


@kernel
def _prompt_neighbours(lists: Int64s, entries: Int32s, offsets: Int64s) -> Int32s:
    """Each node's own list, then the newer nodes that list it, in order of arrival."""
    neighbours = np.empty(offsets[-1], dtype=np.int32)
    fill = offsets[:-1].copy()
    for node in range(len(lists) - 1):
        for place in range(lists[node], lists[node + 1]):
            older, bits = entries[place] >> 2, entries[place] & 3
            neighbours[fill[node]] = older << 2 | _swapped(bits)
            fill[node] += 1
            neighbours[fill[older]] = node << 2 | bits
            fill[older] += 1
    return neighbours


@kernel
def _list_records(
    lists: Int64s,
    entries: Int32s,
    node_steps: Int32s,
    newer: Int32s,
    late: Int32s,
    late_steps: Int32s,
    offsets: Int64s,
) -> tuple[Int32s, Int32s]:
    """Prompt links as `_prompt_neighbours`, then the late ones, each with its step."""
    records = np.empty(offsets[-1], dtype=np.int32)
    steps = np.empty(offsets[-1], dtype=np.int32)
    fill = offsets[:-1].copy()
    for node in range(len(lists) - 1):
        for place in range(lists[node], lists[node + 1]):
            older = entries[place] >> 2
            records[fill[older]] = node << 2 | entries[place] & 3
            records[fill[node]] = older << 2 | _swapped(entries[place] & 3)
            steps[fill[older]] = steps[fill[node]] = node_steps[node]
            fill[older] += 1
            fill[node] += 1
    for place in range(len(late)):
        older, node = late[place] >> 2, newer[place]
        records[fill[older]] = node << 2 | late[place] & 3
        records[fill[node]] = older << 2 | _swapped(late[place] & 3)
        steps[fill[older]] = steps[fill[node]] = late_steps[place]
        fill[older] += 1
        fill[node] += 1
    return records, steps


@kernel
def _merge_records(
    offsets: Int64s, records: Int32s, steps: Int32s
) -> tuple[Int64s, Int32s, Int32s, Int32s]:
    """One entry per neighbour, in order.

    Nodes are visited in order and enter themselves at each neighbour, so every list comes
    out sorted, and the records of one pair come one after the other.
    """
    entries = np.empty(len(records), dtype=np.int32)
    out_steps = np.full(len(records), NEVER, dtype=np.int32)
    in_steps = np.full(len(records), NEVER, dtype=np.int32)
    ends = offsets[:-1].copy()
    for node in range(len(ends)):
        for record in range(offsets[node], offsets[node + 1]):
            other, bits = records[record] >> 2, _swapped(records[record] & 3)
            place = ends[other] - 1
            if place < offsets[other] or entries[place] >> 2 != node:
                place += 1
                ends[other] += 1
                entries[place] = node << 2
            entries[place] |= bits
            if bits & OUT:
                out_steps[place] = min(out_steps[place], steps[record])
            if bits & IN:
                in_steps[place] = min(in_steps[place], steps[record])
    return ends, entries, out_steps, in_steps
