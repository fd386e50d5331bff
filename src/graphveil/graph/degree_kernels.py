"""Compiled degree counting over a whole sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import BACKWARD, FORWARD
from graphveil.kernels.compiled import kernel

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]


@kernel
def final_degrees(
    offsets: Int64s, entries: Int32s, late_newer: Int32s, late_entries: Int32s
) -> tuple[Int32s, Int32s]:
    """Out- and in-degree of every node (both the degree, where edges have no direction)."""
    nodes = len(offsets) - 1
    outward = np.zeros(nodes, dtype=np.int32)
    inward = np.zeros(nodes, dtype=np.int32)
    for newer in range(nodes):
        for i in range(offsets[newer], offsets[newer + 1]):
            _count(newer, entries[i], outward, inward)
    for i in range(len(late_newer)):
        _count(late_newer[i], late_entries[i], outward, inward)
    return outward, inward


@kernel
def _count(newer: int, entry: int, outward: Int32s, inward: Int32s) -> None:
    older = entry >> 2
    if entry & FORWARD:
        outward[older] += 1
        inward[newer] += 1
    if entry & BACKWARD:
        outward[newer] += 1
        inward[older] += 1
