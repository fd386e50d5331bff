"""Counting by groups: every cell is a column, and all of them are counted in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer
from graphveil.backends.local.components import oldest
from graphveil.backends.local.degrees import DegreeIncrements, EdgeColumns, lifts_of
from graphveil.backends.local.triangles import count_triangles
from graphveil.backends.local.work import Work
from graphveil.errors import CountOverflowError, ParameterError
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence, LateEdges
from graphveil.kernels import inlined, kernel, prefetch
from graphveil.statistics.tallies import (
    ClusterTally,
    Counts,
    DegreeTally,
    EdgeTally,
    GroupTally,
    NodeTally,
    TriangleTally,
)

Int32s = NDArray[np.int32]
Cells = NDArray[np.unsignedinteger[Any]]
AHEAD = 32  # entries, at which the memory of a node is asked for
CELL_BITS = 8  # of a number that holds the cell of a node and its degree
NARROW = 64  # degrees of the first try; few studies promise more
LARGEST_TABLE = 1 << 28  # numbers, of 8 bytes


class Members(NamedTuple):
    """A forest of components, with their sizes, and a ring through the nodes of each."""

    parent: Int32s
    size: Int32s
    ring: Int32s


def count_by_groups(tally: GroupTally, work: Work, from_step: int, state: Any) -> Answer:
    """The tally of each cell, for the steps from `from_step` on: (steps, cells, …)."""
    sequence = work.sequence
    if sequence.strata is None:
        raise ParameterError("by", "nobody has labels: the records were added without groups")
    kinds = int(np.prod([size for _, size in tally.axes]))
    cell = np.empty(sequence.nodes, np.int32)
    _find_cells(np.ascontiguousarray(sequence.strata), np.array(tally.axes, np.int32), cell)
    return _COUNTERS[type(tally.tally)](tally, work, cell, kinds, from_step, state)


@kernel
def _find_cells(strata: Int32s, axes: Int32s, cell: Int32s) -> None:
    """The place of each person in a table that crosses some groups, the last one fastest."""
    for node in range(len(strata)):
        place = np.uint32(0)
        for axis in range(len(axes)):
            stride, size = np.uint32(axes[axis, 0]), np.uint32(axes[axis, 1])  # unsigned is faster
            place = np.uint32(place * size + np.uint32(strata[node]) // stride % size)
        cell[node] = place


def _nodes(
    tally: GroupTally, work: Work, cell: Int32s, kinds: int, from_step: int, state: None
) -> Answer:
    offsets = work.sequence.node_offsets[from_step:]
    steps = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    places = steps * kinds + cell[offsets[0] :]
    counts = np.bincount(places, minlength=(len(offsets) - 1) * kinds)
    return Answer(counts.reshape(-1, kinds).astype(np.int64))


def _edges(
    tally: GroupTally, work: Work, cell: Int32s, kinds: int, from_step: int, state: None
) -> Answer:
    sequence = work.sequence
    table, cells = _cells_of_pairs(tally.cells, kinds, directed=sequence.directed)
    counts = np.zeros((sequence.steps - from_step, cells), dtype=np.int64)
    bits = (FORWARD, BACKWARD) if sequence.directed else (FORWARD, 0)  # undirected: once
    small = cell.astype(np.min_scalar_type(kinds))  # visits to it are what this takes its time for
    _sort_edges(from_step, _columns(sequence), small, table, MODES[tally.cells], bits, counts)
    return Answer(counts)


MODES = {"pairs": 0, "alike": 1, "ends": 2}


def _cells_of_pairs(kind: str, kinds: int, *, directed: bool) -> tuple[Int32s, int]:
    """The cell of a link by the kinds of both ends, whence it goes first; and their number."""
    if kind != "pairs":
        return np.zeros((0, 0), np.int32), 2 if kind == "alike" else kinds
    one, other = np.indices((kinds, kinds), dtype=np.int32)
    if directed:
        return one * np.int32(kinds) + other, kinds**2
    low, high = np.minimum(one, other), np.maximum(one, other)
    before = low * kinds - low * (low - 1) // 2  # pairs whose first kind is a lower one
    return (before + high - low).astype(np.int32), kinds * (kinds + 1) // 2


def _columns(sequence: GraphSequence) -> EdgeColumns:
    late = sequence.late
    return EdgeColumns(
        sequence.node_offsets, sequence.offsets, sequence.entries,
        late.offsets, late.newer, late.entries,
    )  # fmt: skip


@inlined
def _sort(one: int, other: int, table: Int32s, mode: int, count: Counts) -> None:
    """Count a link in its cell, or in both."""
    if mode == 0:
        count[table[one, other]] += 1
    elif mode == 1:
        count[0 if one == other else 1] += 1
    else:
        count[one] += 1
        count[other] += 1


@kernel
def _sort_edges(
    from_step: int,
    edges: EdgeColumns,
    cell: Cells,
    table: Int32s,
    mode: int,
    bits: tuple[int, int],
    counts: Counts,
) -> None:
    """Count the links of each step in their cells."""
    entries, end = edges.entries, len(edges.entries) - 1
    for row in range(len(counts)):
        step, count = from_step + row, counts[row]
        for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
            newer = cell[node]
            for place in range(edges.offsets[node], edges.offsets[node + 1]):
                prefetch(cell, entries[min(place + AHEAD, end)] >> 2)
                entry = entries[place]
                older = cell[entry >> 2]
                if entry & bits[0]:
                    _sort(older, newer, table, mode, count)
                if entry & bits[1]:
                    _sort(newer, older, table, mode, count)
        for place in range(edges.late_offsets[step], edges.late_offsets[step + 1]):
            entry = edges.late_entries[place]
            older, newer = cell[entry >> 2], cell[edges.late_newer[place]]
            if entry & bits[0]:
                _sort(older, newer, table, mode, count)
            if entry & bits[1]:
                _sort(newer, older, table, mode, count)


# Degrees: as without groups, but a node is counted in the column of its cell. Degree and cell of a
# node lie in one number, so that a link is one visit to memory.


def _degrees(
    tally: GroupTally,
    work: Work,
    cell: Int32s,
    kinds: int,
    from_step: int,
    state: Int32s | None,
) -> Answer:
    assert isinstance(tally.tally, DegreeTally), "which is counted here"
    assert kinds <= 1 << CELL_BITS, "there are never more cells"
    sequence, width = work.sequence, NARROW
    lifts = lifts_of(tally.tally.direction, directed=sequence.directed)
    while True:
        _require_room((sequence.steps - from_step) * kinds * width)
        packed = cell.copy()
        if state is not None:
            packed[: len(state)] |= state << CELL_BITS
        table = np.zeros((sequence.steps - from_step, kinds, width), dtype=np.int64)
        highest = _lift_steps(from_step, _columns(sequence), lifts, packed, table)
        if highest < width:
            return Answer(table, packed >> CELL_BITS)
        width = highest + 1  # somebody has more links than the table has room for: once more


def _require_room(numbers: int) -> None:
    if numbers > LARGEST_TABLE:
        raise CountOverflowError(
            "a table of degrees by groups would be too large; promise a smaller degree bound, or "
            "count fewer groups."
        )


@kernel
def _arrive(step: int, edges: EdgeColumns, newer: int, packed: Int32s, reached: Counts) -> int:
    """Give the nodes of a step the degrees with which they arrive; the highest of them."""
    offsets, width, highest = edges.offsets, reached.shape[1], 0
    arrived = np.zeros((len(reached), width + 1), dtype=np.int64)
    for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
        own = offsets[node + 1] - offsets[node]
        if newer != BOTH:
            own = 0
            for place in range(offsets[node], offsets[node + 1]):
                own += edges.entries[place] & newer != 0
        cell = packed[node]
        packed[node] = own << CELL_BITS | cell
        highest = max(highest, own)
        arrived[cell, min(own, width)] += 1
    for cell in range(len(arrived)):
        above = arrived[cell, width]
        for degree in range(width - 1, -1, -1):
            above += arrived[cell, degree]
            reached[cell, degree] += above
    return highest


@kernel
def _lift(entries: Int32s, bits: int, packed: Int32s, reached: Counts) -> int:
    """Lift the nodes of entries with these bits by one each; the highest degree beyond the table.

    List after list without a look at where they end, which nobody can predict.
    """
    beyond, width = 0, reached.shape[1]
    place, end = np.uint64(0), np.uint64(len(entries))  # unsigned: see `kernels`
    while place < end:
        if place + np.uint64(AHEAD) < end:
            prefetch(packed, entries[place + np.uint64(AHEAD)] >> 2)
        entry = entries[place]
        place += np.uint64(1)
        if entry & bits:
            node = np.uint32(entry >> 2)
            now = packed[node] + np.int32(1 << CELL_BITS)
            packed[node] = now
            degree = now >> CELL_BITS
            if degree < width:
                reached[now & ((1 << CELL_BITS) - 1), degree] += 1
            else:
                beyond = max(beyond, degree)
    return beyond


@kernel
def _lift_steps(
    from_step: int, edges: EdgeColumns, lifts: DegreeIncrements, packed: Int32s, table: Counts
) -> int:
    """Note the degrees that nodes of each cell first reach, step by step.

    Returns the highest of all, which may be beyond the table.
    """
    highest = 0
    for row in range(len(table)):
        step, reached = from_step + row, table[row]
        highest = max(highest, _arrive(step, edges, lifts.newer, packed, reached))
        first, last = edges.node_offsets[step], edges.node_offsets[step + 1]
        prompt = edges.entries[edges.offsets[first] : edges.offsets[last]]
        highest = max(highest, _lift(prompt, lifts.older, packed, reached))
        first, last = edges.late_offsets[step], edges.late_offsets[step + 1]
        late, newer = edges.late_entries[first:last], edges.late_newer[first:last]
        highest = max(highest, _lift(late, lifts.older, packed, reached))
        turned = newer << 2 | (late & BOTH)  # the same edges, seen from their other end
        highest = max(highest, _lift(turned, lifts.newer, packed, reached))
    return highest


# Triangles: those among people who are all alike are the triangles of the links between such.


def _triangles(
    tally: GroupTally, work: Work, cell: Int32s, kinds: int, from_step: int, state: None
) -> Answer:
    everything = count_triangles(work, from_step)
    within = Work(_within(work.sequence, cell), work.threads, work.since)
    alike = count_triangles(within, from_step)
    return Answer(np.stack([alike, everything - alike], axis=1))


def _within(sequence: GraphSequence, cell: Int32s) -> GraphSequence:
    """The links between people who are alike."""
    newer = np.repeat(np.arange(sequence.nodes), np.diff(sequence.offsets))
    same = cell[newer] == cell[sequence.entries >> 2]
    late = sequence.late
    same_late = cell[late.newer] == cell[late.entries >> 2]
    ends, late_ends = (np.concatenate([[0], np.cumsum(each)]) for each in (same, same_late))
    return replace(
        sequence,
        offsets=ends[sequence.offsets],
        entries=sequence.entries[same],
        late=LateEdges(late_ends[late.offsets], late.newer[same_late], late.entries[same_late]),
        growth=None,
    )


# People in clusters: a component that becomes large enough brings everybody whom it had so far.


def _clusters(
    tally: GroupTally,
    work: Work,
    cell: Int32s,
    kinds: int,
    from_step: int,
    state: Members | None,
) -> Answer:
    assert isinstance(tally.tally, ClusterTally), "which is counted here"
    sequence = work.sequence
    members = _resume(sequence.nodes, state)
    counts = np.zeros((sequence.steps - from_step, kinds, 2), dtype=np.int64)
    least = min(tally.tally.least, sequence.nodes + 1)
    _gather(from_step, _columns(sequence), cell, least, members, counts)
    return Answer(counts, members)


def _resume(nodes: int, before: Members | None) -> Members:
    """A copy of the forest before, in which the new nodes are alone."""
    alone = np.arange(nodes, dtype=np.int32)
    members = Members(alone, np.ones(nodes, dtype=np.int32), alone.copy())
    if before is not None:
        known = len(before.parent)
        members.parent[:known], members.size[:known], members.ring[:known] = before
    return members


@inlined
def _bring(root: int, cell: Int32s, members: Members, count: Counts) -> None:
    """Everybody of a component begins to count."""
    node = root
    while True:
        count[cell[node], 1] += 1
        node = members.ring[node]
        if node == root:
            break


@inlined
def _join(one: int, other: int, least: int, cell: Int32s, members: Members, count: Counts) -> None:
    """Make one component of those of two nodes, if they are two."""
    first, second = oldest(one, members.parent), oldest(other, members.parent)
    if first == second:
        return
    together = members.size[first] + members.size[second]
    if together >= least:
        if members.size[first] < least:
            _bring(first, cell, members, count)
        if members.size[second] < least:
            _bring(second, cell, members, count)
    older, newer = min(first, second), max(first, second)
    members.parent[newer], members.size[older] = older, together
    after = members.ring[older]
    members.ring[older] = members.ring[newer]
    members.ring[newer] = after


@kernel
def _gather(
    from_step: int,
    edges: EdgeColumns,
    cell: Int32s,
    least: int,
    members: Members,
    counts: Counts,
) -> None:
    """Who begins to be in a large component at each step, by cell."""
    end = len(edges.entries) - 1
    for row in range(len(counts)):
        step, count = from_step + row, counts[row]
        for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
            for place in range(edges.offsets[node], edges.offsets[node + 1]):
                prefetch(members.parent, edges.entries[min(place + AHEAD, end)] >> 2)
                _join(node, edges.entries[place] >> 2, least, cell, members, count)
        for place in range(edges.late_offsets[step], edges.late_offsets[step + 1]):
            node = edges.late_newer[place]
            _join(node, edges.late_entries[place] >> 2, least, cell, members, count)


_Counter: TypeAlias = Callable[[GroupTally, Work, Int32s, int, int, Any], Answer]
_COUNTERS: dict[type, _Counter] = {
    NodeTally: _nodes,
    EdgeTally: _edges,
    DegreeTally: _degrees,
    TriangleTally: _triangles,
    ClusterTally: _clusters,
}
