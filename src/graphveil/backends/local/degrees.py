"""How many nodes first reach each degree at each step, in one pass over the edges.

Degrees only grow, so this table holds every degree statistic of every step. A node that
arrives with k links reaches the degrees 0..k at once; any other link lifts a node by one. Within
a step the order does not matter: first all of its nodes arrive, then links lift the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Direction
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.kernels import kernel, prefetch
from graphveil.statistics.tallies import DegreeReach

# The dense table has this many degrees, fewer where many steps would make it large.
WIDEST, NARROWEST = 1024, 16
LARGEST_TABLE = 1 << 23
DEGREE_AHEAD = 32
SPARE_RUNS = 1 << 14

Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Degrees:
    """The state of a pass over the edges: what the next step needs to know.

    Attributes:
        degree: (nodes,) the degree of each node so far.
        hubs: the nodes whose degree is beyond the dense table.
        width: how many degrees the dense table has.
    """

    degree: Int32s
    hubs: Int32s
    width: int


class DegreeIncrements(NamedTuple):
    """The direction bits with which a pair lifts its older and its newer node by one."""

    older: int
    newer: int


class EdgeColumns(NamedTuple):
    """The columns of a sequence that hold its edges."""

    node_offsets: Int64s
    offsets: Int64s
    entries: Int32s
    late_offsets: Int64s
    late_newer: Int32s
    late_entries: Int32s


class DegreeState(NamedTuple):
    """What a pass changes in place.

    Attributes:
        low: (nodes,) the degree of each node, up to the width of the dense table: few bytes, as
            visits to them are what a pass takes its time for.
        high: (nodes,) the degree of each hub, in memory that nobody touches for the others.
        hubs: the nodes whose degree is beyond the dense table.
        settled: their degrees a step ago.
    """

    low: Int16s
    high: Int32s
    hubs: Int32s
    settled: Int32s


def count_degrees(
    sequence: GraphSequence, direction: Direction, from_step: int, before: Degrees | None
) -> tuple[DegreeReach, Degrees]:
    """R[t, d] for the steps from `from_step` on, and the degrees after the last step."""
    late = sequence.late
    edges = EdgeColumns(
        sequence.node_offsets, sequence.offsets, sequence.entries,
        late.offsets, late.newer, late.entries,
    )  # fmt: skip
    increments = increments_of(direction, directed=sequence.directed)
    return reached(edges, increments, from_step, before or no_degrees(sequence))


def reached(
    edges: EdgeColumns, increments: DegreeIncrements, from_step: int, before: Degrees
) -> tuple[DegreeReach, Degrees]:
    """The same for any columns of edges, and for whichever of their ends are lifted."""
    steps, state = len(edges.node_offsets) - 1, _resume(edges, before)
    low = np.zeros((steps - from_step, before.width), dtype=np.int64)
    room = np.empty((len(state.hubs) + SPARE_RUNS, 3), dtype=np.int32)
    runs, known, step = [np.empty((0, 3), dtype=np.int64)], len(before.hubs), from_step
    while step < steps:
        rest = low[step - from_step :]
        step, known, rows = _lift_steps(step, known, edges, increments, state, rest, room)
        runs.append(room[:rows].astype(np.int64))
    hubs = state.hubs[:known].copy()
    degree = state.low.astype(np.int32)
    degree[hubs] = state.high[hubs]
    after = Degrees(degree, hubs, before.width)
    return DegreeReach(low, np.concatenate(runs)), after


def no_degrees(sequence: GraphSequence) -> Degrees:
    """Where a pass begins."""
    none = np.empty(0, dtype=np.int32)
    return Degrees(none, none, dense_width(sequence.steps))


def dense_width(steps: int) -> int:
    """How many degrees the dense table of so many steps has."""
    return min(WIDEST, max(NARROWEST, LARGEST_TABLE // max(1, steps)))


def increments_of(direction: Direction, *, directed: bool) -> DegreeIncrements:
    """Which links lift a node's degree in a direction."""
    if directed == (direction == "total"):
        raise ParameterError(
            "direction", "out- and in-links are distinguished on directed graphs only"
        )
    return {
        "total": DegreeIncrements(older=BOTH, newer=BOTH),
        "out": DegreeIncrements(older=FORWARD, newer=BACKWARD),
        "in": DegreeIncrements(older=BACKWARD, newer=FORWARD),
    }[direction]


def _resume(edges: EdgeColumns, before: Degrees) -> DegreeState:
    """The degrees before, with room for every node and hub."""
    nodes, known = int(edges.node_offsets[-1]), len(before.degree)
    low, high = np.zeros(nodes, np.int16), np.zeros(nodes, np.int32)
    np.minimum(before.degree, before.width, out=low[:known], casting="unsafe")
    high[before.hubs] = before.degree[before.hubs]
    increments = 2 * (len(edges.entries) + len(edges.late_newer))
    most_lifts = increments + int(before.degree.sum(dtype=np.int64))
    hubs, settled = np.zeros((2, most_lifts // before.width + 1), dtype=np.int32)
    hubs[: len(before.hubs)] = before.hubs
    settled[: len(before.hubs)] = high[before.hubs]
    return DegreeState(low, high, hubs, settled)


@kernel
def _arrive(
    step: int,
    known: int,
    edges: EdgeColumns,
    increments: DegreeIncrements,
    state: DegreeState,
    reached: Int64s,
) -> int:
    """Give the nodes of a step the degrees with which they arrive; how many hubs are known then."""
    offsets, entries, width = edges.offsets, edges.entries, len(reached)
    low, high, hubs, _ = state
    arrived = np.zeros(width + 1, dtype=np.int64)
    for node in range(edges.node_offsets[step], edges.node_offsets[step + 1]):
        own = offsets[node + 1] - offsets[node]
        if increments.newer != BOTH:
            own = 0
            for place in range(offsets[node], offsets[node + 1]):
                own += entries[place] & increments.newer != 0
        low[node] = min(own, width)
        arrived[min(own, width)] += 1
        if own >= width:
            high[node], hubs[known] = own, node
            known += 1
    above = arrived[width]
    for degree in range(width - 1, -1, -1):
        above += arrived[degree]
        reached[degree] += above
    return known


@kernel
def _lift(
    entries: Int32s,
    bits: int,
    known: int,
    low: Int16s,
    high: Int32s,
    hubs: Int32s,
    reached: Int64s,
) -> int:
    """Lift the nodes of entries with these bits by one each; how many hubs are known then.

    List after list without a look at where they end, which nobody can predict.
    """
    place, end = np.uint64(0), np.uint64(len(entries))  # unsigned: see `compiled`
    while place < end:
        if place + np.uint64(DEGREE_AHEAD) < end:
            prefetch(low, entries[place + np.uint64(DEGREE_AHEAD)] >> 2)
        entry = entries[place]
        place += np.uint64(1)
        if entry & bits:
            node = np.uint32(entry >> 2)
            now = np.int32(low[node]) + np.int32(1)
            if now < len(reached):
                low[node] = now
                reached[np.uint32(now)] += 1
            elif now == len(reached):
                low[node] = high[node] = now
                hubs[known] = node
                known += 1
            else:
                high[node] += 1
    return known


@kernel
def _settle(step: int, known: int, state: DegreeState, runs: Int32s) -> int:
    """Note the degrees through which hubs passed at this step; how many runs that makes."""
    rows = 0
    for hub in range(known):
        now = state.high[state.hubs[hub]]
        if now > state.settled[hub]:
            runs[rows, 0], runs[rows, 1], runs[rows, 2] = step, state.settled[hub] + 1, now
            state.settled[hub] = now
            rows += 1
    return rows


@kernel
def _lift_steps(
    step: int,
    known: int,
    edges: EdgeColumns,
    increments: DegreeIncrements,
    state: DegreeState,
    table: Int64s,
    room: Int32s,
) -> tuple[int, int, int]:
    """Lift degrees step by step while there is room for the runs of another step.

    Returns the next step, how many hubs are known, and how many runs there are.
    """
    rows = 0
    low, high, hubs, _ = state
    for reached in table:
        if rows + len(state.hubs) > len(room):
            break
        before = known
        known = _arrive(step, known, edges, increments, state, reached)
        first, last = edges.node_offsets[step], edges.node_offsets[step + 1]
        prompt = edges.entries[edges.offsets[first] : edges.offsets[last]]
        known = _lift(prompt, increments.older, known, low, high, hubs, reached)
        first, last = edges.late_offsets[step], edges.late_offsets[step + 1]
        late, newer = edges.late_entries[first:last], edges.late_newer[first:last]
        known = _lift(late, increments.older, known, low, high, hubs, reached)
        turned = newer << 2 | (late & BOTH)  # the same edges, seen from their other end
        known = _lift(turned, increments.newer, known, low, high, hubs, reached)
        state.settled[before:known] = len(reached) - 1
        rows += _settle(step, known, state, room[rows:])
        step += 1
    return step, known, rows
