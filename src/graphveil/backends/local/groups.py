"""Counting by groups: every cell is a column, and all of them are counted in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.backend import Answer
from graphveil.backends.local.components import oldest
from graphveil.backends.local.degrees import DegreeIncrements, EdgeColumns, increments_of
from graphveil.backends.local.patterns import count_triangles
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
Packed = NDArray[np.integer[Any]]  # the cell of each node, and its degree above that
AHEAD = 32  # entries, at which the memory of a node is asked for
CELL_BITS = 8  # of a number that holds the cell of a node and its degree
NARROW = 64  # degrees of the first try; few studies promise more
FITTING = 1 << 16 - CELL_BITS  # degrees that fit into two bytes beside a cell
LARGEST_TABLE = 1 << 28  # numbers, of 8 bytes


class Members(NamedTuple):
    """A forest of components, with their sizes, and a ring through the nodes of each.

    Only components that are too small to count, and larger than one, need their ring.
    """

    parent: Int32s
    size: Int32s
    ring: Int32s


def count_by_groups(tally: GroupTally, work: Work, from_step: int, state: Any) -> Answer:
    """The tally of each cell, for the steps from `from_step` on: (steps, cells, …)."""
    sequence = work.sequence
    require_labels(grouped=sequence.strata is not None)
    assert sequence.strata is not None, "or they were refused"
    cell, kinds = cells_of_people(sequence.strata, tally.axes)
    return _COUNTERS[type(tally.tally)](tally, work, cell, kinds, from_step, state)


def require_labels(*, grouped: bool) -> None:
    """Refuse to count by groups where people have no labels."""
    if not grouped:
        raise ParameterError("by", "nobody has labels: the records were added without groups")


def cells_of_people(strata: Int32s, axes: Sequence[tuple[int, int]]) -> tuple[Cells, int]:
    """The place of each person in a table that crosses some groups, the last one fastest."""
    kinds, highest = prod(size for _, size in axes), int(strata.max(initial=0))
    few = highest < len(strata)  # then each stratum is divided once, and not each person's
    values = np.arange(highest + 1) if few else strata
    places = np.zeros(len(values), np.int64)
    for stride, size in axes:
        places = places * size + values // stride % size
    cells = places.astype(np.min_scalar_type(kinds))  # visits to it cost, so it is small
    return (np.take(cells, strata, mode="clip") if few else cells), kinds


def _nodes(
    tally: GroupTally, work: Work, cell: Cells, kinds: int, from_step: int, state: None
) -> Answer:
    offsets = work.sequence.node_offsets[from_step:]
    steps = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    places = steps * kinds + cell[offsets[0] :]
    counts = np.bincount(places, minlength=(len(offsets) - 1) * kinds)
    return Answer(counts.reshape(-1, kinds).astype(np.int64))


def _edges(
    tally: GroupTally, work: Work, cell: Cells, kinds: int, from_step: int, state: None
) -> Answer:
    sequence = work.sequence
    table, cells = _cells_of_pairs(tally.cells, kinds, directed=sequence.directed)
    counts = np.zeros((sequence.steps - from_step, cells), dtype=np.int64)
    bits = (FORWARD, BACKWARD) if sequence.directed else (FORWARD, 0)  # undirected: once
    _sort_edges(from_step, _columns(sequence), cell, table, MODES[tally.cells], bits, counts)
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
# node lie in one number, so that a link is one visit to memory; in two bytes, as without groups,
# unless somebody has more links than fit beside the cell.


def _degrees(
    tally: GroupTally,
    work: Work,
    cell: Cells,
    kinds: int,
    from_step: int,
    state: Packed | None,
) -> Answer:
    assert isinstance(tally.tally, DegreeTally), "which is counted here"
    increments = increments_of(tally.tally.direction, directed=work.sequence.directed)
    return reached_by_cell(_columns(work.sequence), increments, cell, kinds, from_step, state)


def reached_by_cell(
    edges: EdgeColumns,
    increments: DegreeIncrements,
    cell: Cells,
    kinds: int,
    from_step: int,
    state: Packed | None,
) -> Answer:
    """R[t, cell, d] for any columns of edges, and for whichever of their ends are lifted."""
    assert kinds <= 1 << CELL_BITS, "there are never more cells"
    steps, width = len(edges.node_offsets) - 1 - from_step, NARROW
    before = np.empty(0, np.int32) if state is None else state
    while True:
        _require_room(steps * kinds * width)
        wide = max(width, int(before.max(initial=0)) + 1) > FITTING
        holding = np.int32 if wide else np.uint16
        packed: Packed = cell.astype(holding)
        packed[: len(before)] |= np.left_shift(before.astype(holding), CELL_BITS)
        table = np.zeros((steps, kinds, width), dtype=np.int64)
        most = np.iinfo(holding).max >> CELL_BITS
        highest = _lift_steps(from_step, edges, increments, most, packed, table)
        if highest < width:
            return Answer(table, packed >> CELL_BITS)
        # Somebody has more links than the table has room for: once more.
        width = highest + 1


def _require_room(numbers: int) -> None:
    if numbers > LARGEST_TABLE:
        raise too_large()


def too_large() -> CountOverflowError:
    """The refusal of a table of degrees."""
    return CountOverflowError(
        "a table of degrees by groups would be too large; promise a smaller degree bound, or "
        "count fewer groups."
    )


@kernel
def _arrive(
    step: int, edges: EdgeColumns, newer: int, most: int, packed: Packed, reached: Counts
) -> int:
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
        packed[node] = min(own, most) << CELL_BITS | cell
        highest = max(highest, own)
        arrived[cell, min(own, width)] += 1
    for cell in range(len(arrived)):
        above = arrived[cell, width]
        for degree in range(width - 1, -1, -1):
            above += arrived[cell, degree]
            reached[cell, degree] += above
    return highest


@kernel
def _lift(entries: Int32s, bits: int, most: int, packed: Packed, reached: Counts) -> int:
    """Lift the nodes of entries with these bits by one each; the highest degree beyond the table.

    List after list without a look at where they end, which nobody can predict.
    """
    beyond, width = np.int64(0), reached.shape[1]
    place, end = np.uint64(0), np.uint64(len(entries))  # unsigned: see `kernels`
    while place < end:
        if place + np.uint64(AHEAD) < end:
            prefetch(packed, entries[place + np.uint64(AHEAD)] >> 2)
        entry = entries[place]
        place += np.uint64(1)
        if entry & bits:
            node = np.uint32(entry >> 2)
            before = np.uint32(packed[node])
            degree = (before >> np.uint32(CELL_BITS)) + np.uint32(1)
            if degree < width:
                packed[node] = before + np.uint32(1 << CELL_BITS)
                reached[before & np.uint32((1 << CELL_BITS) - 1), degree] += 1
            else:
                beyond = max(beyond, np.int64(degree))
                if degree <= most:
                    packed[node] = before + np.uint32(1 << CELL_BITS)
    return int(beyond)


@kernel
def _lift_steps(
    from_step: int,
    edges: EdgeColumns,
    increments: DegreeIncrements,
    most: int,
    packed: Packed,
    table: Counts,
) -> int:
    """Note the degrees that nodes of each cell first reach, step by step.

    Returns the highest of all, which may be beyond the table.
    """
    highest = 0
    for row in range(len(table)):
        step, reached = from_step + row, table[row]
        highest = max(highest, _arrive(step, edges, increments.newer, most, packed, reached))
        first, last = edges.node_offsets[step], edges.node_offsets[step + 1]
        prompt = edges.entries[edges.offsets[first] : edges.offsets[last]]
        highest = max(highest, _lift(prompt, increments.older, most, packed, reached))
        first, last = edges.late_offsets[step], edges.late_offsets[step + 1]
        late, newer = edges.late_entries[first:last], edges.late_newer[first:last]
        highest = max(highest, _lift(late, increments.older, most, packed, reached))
        turned = newer << 2 | (late & BOTH)  # the same edges, seen from their other end
        highest = max(highest, _lift(turned, increments.newer, most, packed, reached))
    return highest


# Triangles: those among people who are all alike are the triangles of the links between such.


def _triangles(
    tally: GroupTally, work: Work, cell: Cells, kinds: int, from_step: int, state: None
) -> Answer:
    everything = count_triangles(work, from_step)
    within = Work(_within(work.sequence, cell), work.threads, work.since)
    alike = count_triangles(within, from_step)
    return Answer(np.stack([alike, everything - alike], axis=1))


def _within(sequence: GraphSequence, cell: Cells) -> GraphSequence:
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
    cell: Cells,
    kinds: int,
    from_step: int,
    state: Members | None,
) -> Answer:
    assert isinstance(tally.tally, ClusterTally), "which is counted here"
    sequence = work.sequence
    members = _resume(sequence.nodes, state)
    counts = np.zeros((sequence.steps - from_step, kinds, 2), dtype=np.int64)
    least = min(tally.tally.least, sequence.nodes + 1)
    _gather(from_step, _columns(sequence), cell, least, members, counts[:, :, 1])
    return Answer(counts, members)


def _resume(nodes: int, before: Members | None) -> Members:
    """A copy of the forest before, in which the new nodes are alone."""
    alone = np.arange(nodes, dtype=np.int32)
    members = Members(alone, np.ones(nodes, dtype=np.int32), np.zeros(nodes, dtype=np.int32))
    if before is not None:
        known = len(before.parent)
        members.parent[:known], members.size[:known], members.ring[:known] = before
    return members


@kernel
def _gather(
    from_step: int,
    edges: EdgeColumns,
    cell: Cells,
    least: int,
    members: Members,
    counts: Counts,
) -> None:
    """Who begins to be in a large component at each step, by cell; all in one loop, for speed."""
    offsets, entries = edges.offsets, edges.entries
    parent, size, ring = members.parent, members.size, members.ring
    end = len(entries) - 1
    for row in range(len(counts)):
        step, count = from_step + row, counts[row]
        node, late = edges.node_offsets[step], edges.late_offsets[step]
        first, last = offsets[node], offsets[edges.node_offsets[step + 1]]
        root = node
        for place in range(first, last + edges.late_offsets[step + 1] - late):
            if place < last:
                while offsets[node + 1] <= place:  # whose list it is in
                    node += 1
                    root = node
                prefetch(parent, entries[min(place + AHEAD, end)] >> 2)
                entry = entries[place]
            else:
                entry = edges.late_entries[late + place - last]
                root = oldest(edges.late_newer[late + place - last], parent)
            other = oldest(entry >> 2, parent)
            if other == root:
                continue
            older, newer = min(root, other), max(root, other)
            together = size[older] + size[newer]
            if together < least:  # two rings become one; of one person, it is not written yet
                after = ring[older] if size[older] > 1 else older
                ring[older] = ring[newer] if size[newer] > 1 else newer
                ring[newer] = after
            else:
                for part in (older, newer):
                    if size[part] < least:  # everybody in it begins to count
                        count[cell[part]] += 1
                        who = part
                        for _ in range(size[part] - 1):
                            who = ring[who]
                            count[cell[who]] += 1
            parent[newer], size[older], root = older, together, older


_Counter: TypeAlias = Callable[[GroupTally, Work, Cells, int, int, Any], Answer]
_COUNTERS: dict[type, _Counter] = {
    NodeTally: _nodes,
    EdgeTally: _edges,
    DegreeTally: _degrees,
    TriangleTally: _triangles,
    ClusterTally: _clusters,
}
