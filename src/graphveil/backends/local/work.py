"""One run of the local backend: the sequence, its threads, and the part that new links touch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.adjacency import Adjacency, adjacency
from graphveil.graph.sequence import GraphSequence, LateEdges
from graphveil.kernels import kernel

# The touched part of a sequence: all that new links can make a pattern with.
#
# Whatever appears from some step on has a link that is new from then on. So it lies near the
# ends of such links, and so do all its links: each has an end that is a step less away. What is
# cut out keeps the order of nodes and the steps of everything, so that it is counted like any
# sequence.


Flags = NDArray[np.bool_]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
MOST = 0.5  # of all nodes; where more are touched, cutting out does not pay


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
