"""How many nodes first reach each degree at each step, in one pass over the edges.

Degrees only grow, so this table holds every degree statistic of every step. A node that
arrives with k links reaches the degrees 0..k at once; any other link lifts a node by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphveil.compiled import inlined, kernel
from graphveil.engines.local.prefetch import prefetch
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.statistics.tallies import Counts, DegreeReach, Direction

# The dense table has this many degrees, fewer where many steps would make it large.
WIDEST, NARROWEST = 1024, 16
LARGEST_TABLE = 1 << 23
DEGREE_AHEAD = 24

Lifts = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Degrees:
    """Where a pass over the edges stands: what the next step needs to know.

    Attributes:
        degree: (nodes,) the degree of each node so far.
        hubs: the nodes whose degree is beyond the dense table.
        width: how many degrees the dense table has.
    """

    degree: NDArray[np.int32]
    hubs: NDArray[np.int32]
    width: int


def count_degrees(
    sequence: GraphSequence, direction: Direction, from_step: int, before: Degrees | None
) -> tuple[DegreeReach, Degrees]:
    """R[t, d] for the steps from `from_step` on, and the degrees after the last step."""
    lifts = _lifts(direction, directed=sequence.directed)
    degree, hubs, known, width = _resume(sequence, before)
    low = np.zeros((sequence.steps - from_step, width), dtype=np.int64)
    runs = [np.empty((0, 3), dtype=np.int64)]
    for step in range(from_step, sequence.steps):
        settled = degree[hubs[:known]]
        count = _lift_step(sequence, step, lifts, degree, low[step - from_step], hubs, known)
        settled = np.concatenate((settled, np.full(count - known, width - 1, dtype=np.int32)))
        known = count
        runs.append(_runs(step, settled, degree[hubs[:known]]))
    return DegreeReach(low, np.concatenate(runs)), Degrees(degree, hubs[:known].copy(), width)


def _lifts(direction: Direction, *, directed: bool) -> tuple[Lifts, Lifts]:
    """By how much a pair lifts its older and its newer node, for each direction bits."""
    if not directed:
        single = np.ones(4, dtype=np.int32)
        return single, single
    sends = np.zeros(4, dtype=np.int32), np.zeros(4, dtype=np.int32)
    sends[0][[FORWARD, BOTH]] = 1
    sends[1][[BACKWARD, BOTH]] = 1
    receives = sends[1], sends[0]
    both = sends[0] + sends[1]
    return {"out": sends, "in": receives, "total": (both, both)}[direction]


def _resume(
    sequence: GraphSequence, before: Degrees | None
) -> tuple[NDArray[np.int32], NDArray[np.int32], int, int]:
    """Degrees and a long enough list of hubs, to be changed in place; hubs so far; width."""
    width = min(WIDEST, max(NARROWEST, LARGEST_TABLE // max(1, sequence.steps)))
    degree = np.zeros(sequence.nodes, dtype=np.int32)
    known = 0
    if before is not None:
        degree[: len(before.degree)] = before.degree
        known, width = len(before.hubs), before.width
    most_lifts = 4 * (len(sequence.entries) + len(sequence.late))
    hubs = np.zeros(most_lifts // width + 1, dtype=np.int32)
    if before is not None:
        hubs[:known] = before.hubs
    return degree, hubs, known, width


def _lift_step(
    sequence: GraphSequence,
    step: int,
    lifts: tuple[Lifts, Lifts],
    degree: NDArray[np.int32],
    reached: Counts,
    hubs: NDArray[np.int32],
    known: int,
) -> int:
    """Lift degrees by the edges of one step, prompt and late; how many hubs there are."""
    nodes, late = sequence.node_offsets, sequence.late
    first, last = int(nodes[step]), int(nodes[step + 1])
    lists = sequence.offsets[first : last + 1]
    known = _lift_arrivals(first, lists, sequence.entries, *lifts, degree, reached, hubs, known)
    share = slice(int(late.offsets[step]), int(late.offsets[step + 1]))
    if share.start == share.stop:
        return known
    return _lift_late(late.newer[share], late.entries[share], *lifts, degree, reached, hubs, known)


def _runs(step: int, before: NDArray[np.int32], now: NDArray[np.int32]) -> Counts:
    """The degrees through which hubs passed at one step, as (step, first, last)."""
    rose = now > before
    steps = np.full(np.count_nonzero(rose), step)
    return np.stack((steps, before[rose] + 1, now[rose]), axis=1).astype(np.int64)


@inlined
def _lift(
    node: int,
    lift: int,
    degree: NDArray[np.int32],
    reached: Counts,
    hubs: NDArray[np.int32],
    known: int,
) -> int:
    """Raise one node's degree, one by one; how many hubs there are then."""
    for _ in range(lift):
        now = degree[node] + 1
        degree[node] = now
        if now < len(reached):
            reached[now] += 1
        elif now == len(reached):
            hubs[known] = node
            known += 1
    return known


@kernel
def _lift_arrivals(
    first: int,
    lists: NDArray[np.int64],
    entries: NDArray[np.int32],
    older_lifts: Lifts,
    newer_lifts: Lifts,
    degree: NDArray[np.int32],
    reached: Counts,
    hubs: NDArray[np.int32],
    known: int,
) -> int:
    """Lift both ends of the edges with which the nodes first, first + 1, … arrive."""
    width = len(reached)
    arrived = np.zeros(width, dtype=np.int64)
    end = lists[-1] - 1
    for i in range(len(lists) - 1):
        own = 0
        for place in range(lists[i], lists[i + 1]):
            prefetch(degree, entries[min(place + DEGREE_AHEAD, end)] >> 2)
            bits = entries[place] & 3
            own += newer_lifts[bits]
            known = _lift(entries[place] >> 2, older_lifts[bits], degree, reached, hubs, known)
        degree[first + i] = own
        arrived[min(own, width - 1)] += 1
        if own >= width:
            hubs[known] = first + i
            known += 1
    for lower in range(width - 1, 0, -1):
        arrived[lower - 1] += arrived[lower]
    reached += arrived
    return known


@kernel
def _lift_late(
    newer: NDArray[np.int32],
    entries: NDArray[np.int32],
    older_lifts: Lifts,
    newer_lifts: Lifts,
    degree: NDArray[np.int32],
    reached: Counts,
    hubs: NDArray[np.int32],
    known: int,
) -> int:
    """Lift both ends of late edges."""
    for i in range(len(newer)):
        bits = entries[i] & 3
        known = _lift(entries[i] >> 2, older_lifts[bits], degree, reached, hubs, known)
        known = _lift(newer[i], newer_lifts[bits], degree, reached, hubs, known)
    return known
