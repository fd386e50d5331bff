"""Compiled passes over all edges that count degrees: to the end, or against a bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD
from graphveil.kernels.compiled import kernel
from graphveil.kernels.prefetch import prefetch

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Counters = NDArray[np.uint8] | NDArray[np.int32]
Flags = NDArray[np.bool_]
AHEAD = 32  # how many entries ahead to ask for a neighbour's counter


@kernel
def add_degrees(
    first: int,
    offsets: Int64s,
    entries: Int32s,
    late_newer: Int32s,
    late_entries: Int32s,
    outward: Int32s,
    inward: Int32s,
) -> None:
    """Add the lists from that of node `first` on, and late edges, to degrees in place.

    Both are the degree, where edges have no direction.
    """
    end = np.uint64(max(len(entries) - AHEAD, 0))
    for newer in range(first, len(offsets) - 1):
        place, stop = np.uint64(offsets[newer]), np.uint64(offsets[newer + 1])
        own_out = own_in = 0
        while place < stop:
            if place < end:
                prefetch(outward, entries[place + np.uint64(AHEAD)] >> 2)
                prefetch(inward, entries[place + np.uint64(AHEAD)] >> 2)
            older = np.uint32(entries[place] >> 2)
            forward = np.int32(entries[place] & FORWARD != 0)
            backward = np.int32(entries[place] & BACKWARD != 0)
            outward[older] += forward
            inward[older] += backward
            own_out += int(backward)
            own_in += int(forward)
            place += np.uint64(1)
        outward[newer] += own_out
        inward[newer] += own_in
    for i in range(len(late_newer)):
        newer, older = late_newer[i], np.uint32(late_entries[i] >> 2)
        forward = np.int32(late_entries[i] & FORWARD != 0)
        backward = np.int32(late_entries[i] & BACKWARD != 0)
        outward[older] += forward
        inward[older] += backward
        outward[newer] += backward
        inward[newer] += forward


@kernel
def hubs_beside(
    offsets: Int64s,
    entries: Int32s,
    late_newer: Int32s,
    late_entries: Int32s,
    in_hub: Flags,
    out_hub: Flags,
) -> tuple[Int32s, Int32s]:
    """To how many in-hubs each node links, and how many out-hubs link to it."""
    nodes = len(offsets) - 1
    to_hubs = np.zeros(nodes, dtype=np.int32)
    from_hubs = np.zeros(nodes, dtype=np.int32)
    for newer in range(nodes):
        for i in range(offsets[newer], offsets[newer + 1]):
            _count_hubs(newer, entries[i], in_hub, out_hub, to_hubs, from_hubs)
    for i in range(len(late_newer)):
        _count_hubs(late_newer[i], late_entries[i], in_hub, out_hub, to_hubs, from_hubs)
    return to_hubs, from_hubs


@kernel
def _count_hubs(
    newer: int, entry: int, in_hub: Flags, out_hub: Flags, to_hubs: Int32s, from_hubs: Int32s
) -> None:
    older = entry >> 2
    if entry & FORWARD:
        to_hubs[older] += in_hub[newer]
        from_hubs[newer] += out_hub[older]
    if entry & BACKWARD:
        to_hubs[newer] += in_hub[older]
        from_hubs[older] += out_hub[newer]


@kernel
def project_undirected(
    from_step: int,
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    bound: int,
    by_kept: bool,
    used: Counters,
    kept_offsets: Int64s,
    kept: Int32s,
    late_kept_offsets: Int64s,
    late_kept: Int32s,
) -> int:
    """Fill kept lists, offsets of kept late edges, and each late edge's kept direction or 0.

    All of them from those of `from_step` on. `used` counts how much of its bound each node has
    used, up to then. Returns how many entries the kept lists have.
    """
    kept_offsets[0] = late_kept_offsets[0] = late_count = 0
    count, always = np.uint64(0), np.int32(not by_kept)
    first, late_first = node_offsets[from_step], late_offsets[from_step]
    i, safe = np.uint64(offsets[first]), np.uint64(max(len(entries) - AHEAD, 0))
    for step in range(from_step, len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            own = np.int32(0)  # a counter at hand: nobody else lifts a node while it arrives
            end = np.uint64(offsets[newer + 1])
            while i < end:
                if i < safe:
                    prefetch(used, entries[i + np.uint64(AHEAD)] >> 2)
                entry = entries[i]
                older = np.uint32(entry >> 2)
                others = used[older]
                # Not `and`: which edges are kept is hard to predict, and a wrong guess
                # costs the processor more than the second comparison.
                admitted = np.int32((own < bound) & (others < bound))
                own += admitted | always
                used[older] = others + (admitted | always)
                kept[count] = entry
                count += np.uint64(admitted)
                i += np.uint64(1)
            used[newer] = own
            kept_offsets[newer - first + 1] = count
        for edge in range(late_offsets[step], late_offsets[step + 1]):
            one, other = late_newer[edge], late_entries[edge] >> 2
            kept_late = used[one] < bound and used[other] < bound
            used[one] += kept_late or not by_kept
            used[other] += kept_late or not by_kept
            late_kept[edge - late_first] = BOTH * kept_late
            late_count += kept_late
        late_kept_offsets[step - from_step + 1] = late_count
    return int(count)


@kernel
def project_directed(
    from_step: int,
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
    used_out: Counters,
    used_in: Counters,
    kept_offsets: Int64s,
    kept: Int32s,
    late_kept_offsets: Int64s,
    late_kept: Int32s,
) -> int:
    """As `project_undirected`, with a tail's out-degree and a head's in-degree bounded."""
    kept_offsets[0] = late_kept_offsets[0] = count = late_count = 0
    first, late_first = node_offsets[from_step], late_offsets[from_step]
    for step in range(from_step, len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            for i in range(offsets[newer], offsets[newer + 1]):
                direction = _admit_directed(
                    used_out, used_in, newer, entries[i], out_bound, in_bound, by_kept
                )
                if direction:
                    kept[count] = entries[i] >> 2 << 2 | direction
                    count += 1
            kept_offsets[newer - first + 1] = count
        for i in range(late_offsets[step], late_offsets[step + 1]):
            late_kept[i - late_first] = _admit_directed(
                used_out, used_in, late_newer[i], late_entries[i], out_bound, in_bound, by_kept
            )
            late_count += late_kept[i - late_first] != 0
        late_kept_offsets[step - from_step + 1] = late_count
    return count


@kernel
def _admit_directed(
    used_out: Counters,
    used_in: Counters,
    newer: int,
    entry: int,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
) -> int:
    """The directions of a pair that are kept."""
    older, direction = entry >> 2, 0
    if entry & FORWARD and _admit_arc(
        used_out, used_in, older, newer, out_bound, in_bound, by_kept
    ):
        direction |= FORWARD
    if entry & BACKWARD and _admit_arc(
        used_out, used_in, newer, older, out_bound, in_bound, by_kept
    ):
        direction |= BACKWARD
    return direction


@kernel
def _admit_arc(
    used_out: Counters,
    used_in: Counters,
    tail: int,
    head: int,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
) -> bool:
    admitted: bool = used_out[tail] < out_bound and used_in[head] < in_bound
    if admitted or not by_kept:
        used_out[tail] += 1
        used_in[head] += 1
    return admitted
