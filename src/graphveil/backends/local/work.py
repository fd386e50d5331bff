"""One run of the local backend: the sequence, its threads, and whom each person is linked to.

The lists of a sequence lead from newer to older nodes only. Looking for patterns needs both ways:
all neighbours of each node, older and newer, and since when each link exists. If no edge is late,
a link exists since its newer node arrived and no steps are stored; else each link carries the step
of either direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import GraphSequence, LateEdges
from graphveil.kernels import inlined, kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

# Direction bits of a neighbour as seen from the node that lists it.
OUT, IN = 1, 2
NEVER = 2**31 - 1
Flags = NDArray[np.bool_]
MOST = 0.5  # of all nodes; where more are touched, cutting out does not pay


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


# The touched part of a sequence: all that new links can make a pattern with.
#
# Whatever appears from some step on has a link that is new from then on. So it lies near the
# ends of such links, and so do all its links: each has an end that is a step less away. What is
# cut out keeps the order of nodes and the steps of everything, so that it is counted like any
# sequence.


def touched_part(sequence: GraphSequence, from_step: int, reach: int) -> GraphSequence:
    """The links near those that are new from a step on, and their nodes.

    Args:
        sequence: the growing graph.
        from_step: since when a link is new.
        reach: how many links away, at most, a pattern can extend from any of its own.
    """
    if from_step == 0:
        return sequence
    near = _ends_of_new(sequence, from_step)
    late = sequence.late
    columns = sequence.offsets, sequence.entries, late.newer, late.entries
    for _ in range(reach - 1):
        near = _with_neighbours(*columns, near)
    there = _with_neighbours(*columns, near)
    if np.count_nonzero(there) > MOST * len(there):
        return sequence
    return _cut_out(sequence, near, there)


def _ends_of_new(sequence: GraphSequence, from_step: int) -> Flags:
    first, late = int(sequence.node_offsets[from_step]), sequence.late
    ends = np.zeros(sequence.nodes, np.bool_)
    ends[first:] = True
    ends[sequence.entries[sequence.offsets[first] :] >> 2] = True
    begin = int(late.offsets[from_step])
    ends[late.newer[begin:]] = True
    ends[late.entries[begin:] >> 2] = True
    return ends


def _cut_out(sequence: GraphSequence, near: Flags, there: Flags) -> GraphSequence:
    """The nodes that are there, and the links with an end that is near."""
    ranks = np.concatenate([np.zeros(1, np.int64), np.cumsum(there)])
    retained = _kept_lists(sequence.offsets, sequence.entries, near)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(retained)])
    lists = np.append(sequence.offsets[:-1][there], sequence.offsets[-1])
    late = sequence.late
    chosen = near[late.newer] | near[late.entries >> 2]
    late_ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(chosen)])
    return replace(
        sequence,
        names=sequence.names.slice(0, 0),
        stated=sequence.stated[:0],
        node_offsets=ranks[sequence.node_offsets],
        offsets=ends[lists],
        entries=_relabelled(sequence.entries[retained], ranks),
        late=LateEdges(
            late_ends[late.offsets],
            ranks[late.newer[chosen]].astype(np.int32),
            _relabelled(late.entries[chosen], ranks),
        ),
        growth=None,
    )


def _relabelled(entries: Int32s, ranks: Int64s) -> Int32s:
    found: Int64s = ranks[entries >> 2] << 2 | entries & 3
    return found.astype(np.int32)


@kernel
def _with_neighbours(
    offsets: Int64s, entries: Int32s, late_newer: Int32s, late_entries: Int32s, near: Flags
) -> Flags:
    """These nodes and all that are linked to them."""
    wider = near.copy()
    for newer in range(len(offsets) - 1):
        for place in range(offsets[newer], offsets[newer + 1]):
            older = entries[place] >> 2
            wider[older] |= near[newer]
            wider[newer] |= near[older]
    for place in range(len(late_newer)):
        newer, older = late_newer[place], late_entries[place] >> 2
        wider[older] |= near[newer]
        wider[newer] |= near[older]
    return wider


@kernel
def _kept_lists(offsets: Int64s, entries: Int32s, near: Flags) -> Flags:
    """The entries that link a node which is near."""
    retained = np.zeros(len(entries), dtype=np.bool_)
    for newer in range(len(offsets) - 1):
        for place in range(offsets[newer], offsets[newer + 1]):
            retained[place] = near[newer] | near[entries[place] >> 2]
    return retained


@dataclass(frozen=True, eq=False)
class Work:
    """What every counting function is given.

    Attributes:
        sequence: the growing graph.
        threads: how many threads to use; None for all.
        since: the first step whose recent network is wanted.
    """

    sequence: GraphSequence
    threads: int | None
    since: int = 0

    def touched(self, from_step: int, reach: int) -> Work:
        """The same for the part that links from a step on can make patterns with."""
        known = self._parts.get((from_step, reach))
        if known is None:
            part = touched_part(self.sequence, from_step, reach)
            known = self if part is self.sequence else Work(part, self.threads, self.since)
            self._parts[from_step, reach] = known
        return known

    @cached_property
    def _parts(self) -> dict[tuple[int, int], Work]:
        """What was cut out so far: several patterns may ask for the same."""
        return {}

    @cached_property
    def adjacency(self) -> Adjacency:
        """All neighbours of each node, built when the first pattern asks for it."""
        return adjacency(self.sequence)


# Cutting a pass over the nodes into parts of about equal work, for threads to share.


@dataclass(frozen=True)
class Part:
    """The nodes first..last-1, which arrive at the steps from_step..to_step-1."""

    first: int
    last: int
    from_step: int
    to_step: int


def parts(
    node_offsets: NDArray[np.int64], offsets: NDArray[np.int64], from_step: int, size: int
) -> list[Part]:
    """The nodes of the steps from `from_step` on, in parts of about `size` list entries."""
    first, last = int(node_offsets[from_step]), int(node_offsets[-1])
    if first == last:
        return []
    aims = np.arange(int(offsets[first]), int(offsets[last]), size)[1:]
    inner = np.searchsorted(offsets, aims)
    cuts = np.unique(np.concatenate(([first], inner, [last])))
    begins = np.searchsorted(node_offsets, cuts[:-1], side="right") - 1
    ends = np.searchsorted(node_offsets, cuts[1:], side="left")
    columns = (cuts[:-1], cuts[1:], begins, ends)
    return [Part(*(int(value) for value in row)) for row in zip(*columns, strict=True)]
