"""Compiled projection: one pass over the edges in order of arrival."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.compiled import kernel
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD
from graphveil.prefetch import prefetch

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Projected = tuple[Int64s, Int32s, Int64s, Int32s]

AHEAD = 24  # how many entries ahead to ask for a neighbour's counter


@kernel
def project_undirected(
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    bound: int,
    by_kept: bool,
) -> Projected:
    """Kept lists, offsets of kept late edges, and each late edge's kept direction or 0."""
    used = np.zeros(len(offsets) - 1, dtype=np.int32)
    kept_offsets, kept = np.zeros_like(offsets), np.empty_like(entries)
    late_kept_offsets, late_kept = np.zeros_like(late_offsets), np.zeros_like(late_newer)
    count = late_count = 0
    for step in range(len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            for i in range(offsets[newer], offsets[newer + 1]):
                prefetch(used, entries[min(i + AHEAD, len(entries) - 1)] >> 2)
                if _admit(used, newer, entries[i] >> 2, bound, by_kept):
                    kept[count] = entries[i]
                    count += 1
            kept_offsets[newer + 1] = count
        for i in range(late_offsets[step], late_offsets[step + 1]):
            if _admit(used, late_newer[i], late_entries[i] >> 2, bound, by_kept):
                late_kept[i] = BOTH
                late_count += 1
        late_kept_offsets[step + 1] = late_count
    return kept_offsets, kept[:count], late_kept_offsets, late_kept


@kernel
def _admit(used: Int32s, newer: int, older: int, bound: int, by_kept: bool) -> bool:
    admitted: bool = used[newer] < bound and used[older] < bound
    if admitted or not by_kept:
        used[newer] += 1
        used[older] += 1
    return admitted


@kernel
def project_directed(
    node_offsets: Int64s,
    offsets: Int64s,
    entries: Int32s,
    late_offsets: Int64s,
    late_newer: Int32s,
    late_entries: Int32s,
    out_bound: int,
    in_bound: int,
    by_kept: bool,
) -> Projected:
    """As `project_undirected`, with a tail's out-degree and a head's in-degree bounded."""
    nodes = len(offsets) - 1
    used_out, used_in = np.zeros(nodes, dtype=np.int32), np.zeros(nodes, dtype=np.int32)
    kept_offsets, kept = np.zeros_like(offsets), np.empty_like(entries)
    late_kept_offsets, late_kept = np.zeros_like(late_offsets), np.zeros_like(late_newer)
    count = late_count = 0
    for step in range(len(node_offsets) - 1):
        for newer in range(node_offsets[step], node_offsets[step + 1]):
            for i in range(offsets[newer], offsets[newer + 1]):
                direction = _admit_directed(
                    used_out, used_in, newer, entries[i], out_bound, in_bound, by_kept
                )
                if direction:
                    kept[count] = entries[i] >> 2 << 2 | direction
                    count += 1
            kept_offsets[newer + 1] = count
        for i in range(late_offsets[step], late_offsets[step + 1]):
            late_kept[i] = _admit_directed(
                used_out, used_in, late_newer[i], late_entries[i], out_bound, in_bound, by_kept
            )
            late_count += late_kept[i] != 0
        late_kept_offsets[step + 1] = late_count
    return kept_offsets, kept[:count], late_kept_offsets, late_kept


@kernel
def _admit_directed(
    used_out: Int32s,
    used_in: Int32s,
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
    used_out: Int32s,
    used_in: Int32s,
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
