"""Counting by groups: every cell is a column, and all of them are counted in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer
from graphveil.backends.local.components import oldest
from graphveil.backends.local.degrees import EdgeColumns, lifts_of
from graphveil.backends.local.triangles import count_triangles
from graphveil.backends.local.work import Work
from graphveil.errors import CountOverflowError, ParameterError
from graphveil.graph.groups import cells_of_strata
from graphveil.graph.sequence import BACKWARD, FORWARD, GraphSequence, LateEdges
from graphveil.kernels import inlined, kernel
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
NARROW = 32  # degrees of the first try; where somebody has more, the table is made wider
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
    cell = cells_of_strata(sequence.strata, tally.axes)
    kinds = int(np.prod([size for _, size in tally.axes]))
    return _COUNTERS[type(tally.tally)](tally, work, cell, kinds, from_step, state)


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
    first, second, cells = _cells_of_pairs(tally.cells, kinds, directed=sequence.directed)
    counts = np.zeros((sequence.steps - from_step, cells), dtype=np.int64)
    bits = (FORWARD, BACKWARD) if sequence.directed else (FORWARD, 0)  # undirected: once
    _sort_edges(from_step, _columns(sequence), cell, first, second, bits, counts)
    return Answer(counts)


def _cells_of_pairs(kind: str, kinds: int, *, directed: bool) -> tuple[Int32s, Int32s, int]:
    """By the kinds of both ends, the cell of a link, its other cell or −1, and how many there are.

    The first index is that of the end from which a link goes.
    """
    one, other = np.indices((kinds, kinds), dtype=np.int32)
    none = np.full((kinds, kinds), -1, np.int32)
    if kind == "ends":
        return one, other, kinds
    if kind == "alike":
        return (one != other).astype(np.int32), none, 2
    if directed:
        return one * np.int32(kinds) + other, none, kinds**2
    low, high = np.minimum(one, other), np.maximum(one, other)
    before = low * kinds - low * (low - 1) // 2  # pairs whose first kind is a lower one
    return (before + high - low).astype(np.int32), none, kinds * (kinds + 1) // 2


def _columns(sequence: GraphSequence) -> EdgeColumns:
    late = sequence.late
    return EdgeColumns(
        sequence.node_offsets, sequence.offsets, sequence.entries,
        late.offsets, late.newer, late.entries,
    )  # fmt: skip


@inlined
def _sort_edge(
    entry: int,
    newer: int,
    cell: Int32s,
    first: Int32s,
    second: Int32s,
    bits: tuple[int, int],
    count: Counts,
) -> None:
    """Count the links of one pair in their cells."""
    older = cell[entry >> 2]
    if entry & bits[0]:
        count[first[older, newer]] += 1
        if second[older, newer] >= 0:
            count[second[older, newer]] += 1
    if entry & bits[1]:
        count[first[newer, older]] += 1
        if second[newer, older] >= 0:
            count[second[newer, older]] += 1


@kernel
def _sort_edges(
    from_step: int,
    edges: EdgeColumns,
    cell: Int32s,
    first: Int32s,
    second: Int32s,
    bits: tuple[int, int],
    counts: Counts,
) -> None:
    """Count the links of each step in their cells."""
    for row in range(len(counts)):
        step, count = from_step + row, counts[row]
        for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
            newer = cell[node]
            for place in range(edges.offsets[node], edges.offsets[node + 1]):
                _sort_edge(edges.entries[place], newer, cell, first, second, bits, count)
        for place in range(edges.late_offsets[step], edges.late_offsets[step + 1]):
            newer = cell[edges.late_newer[place]]
            _sort_edge(edges.late_entries[place], newer, cell, first, second, bits, count)


# Degrees: as without groups, but a node is counted in the column of its cell.


def _degrees(
    tally: GroupTally,
    work: Work,
    cell: Int32s,
    kinds: int,
    from_step: int,
    state: Int32s | None,
) -> Answer:
    assert isinstance(tally.tally, DegreeTally), "which is counted here"
    sequence, width = work.sequence, NARROW
    lifts = lifts_of(tally.tally.direction, directed=sequence.directed)
    while True:
        _require_room((sequence.steps - from_step) * kinds * width)
        degree = np.zeros(sequence.nodes, dtype=np.int32)
        degree[: 0 if state is None else len(state)] = 0 if state is None else state
        table = np.zeros((sequence.steps - from_step, kinds, width), dtype=np.int64)
        if _lift_all(from_step, _columns(sequence), lifts.older, lifts.newer, cell, degree, table):
            return Answer(table, degree)
        width *= 4


def _require_room(numbers: int) -> None:
    if numbers > LARGEST_TABLE:
        raise CountOverflowError(
            "a table of degrees by groups would be too large; promise a smaller degree bound, or "
            "count fewer groups."
        )


@inlined
def _lift(node: int, cell: Int32s, degree: Int32s, reached: Counts) -> bool:
    """One link more of a node; whether the table has room for it."""
    degree[node] += 1
    if degree[node] >= reached.shape[1]:
        return False
    reached[cell[node], degree[node]] += 1
    return True


@kernel
def _lift_all(
    from_step: int,
    edges: EdgeColumns,
    older: int,
    newer: int,
    cell: Int32s,
    degree: Int32s,
    table: Counts,
) -> bool:
    """Note the degrees that nodes of each cell first reach, step by step; whether all had room."""
    for row in range(len(table)):
        step, reached = from_step + row, table[row]
        for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
            reached[cell[node], 0] += 1
            for place in range(edges.offsets[node], edges.offsets[node + 1]):
                entry = edges.entries[place]
                if entry & newer and not _lift(node, cell, degree, reached):
                    return False
                if entry & older and not _lift(entry >> 2, cell, degree, reached):
                    return False
        for place in range(edges.late_offsets[step], edges.late_offsets[step + 1]):
            entry, node = edges.late_entries[place], edges.late_newer[place]
            if entry & newer and not _lift(node, cell, degree, reached):
                return False
            if entry & older and not _lift(entry >> 2, cell, degree, reached):
                return False
    return True


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
    for row in range(len(counts)):
        step, count = from_step + row, counts[row]
        for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
            for place in range(edges.offsets[node], edges.offsets[node + 1]):
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
