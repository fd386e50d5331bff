"""Connected components per step: arrivals add one each, merging links take one away.

Directions do not matter: on directed sequences these are the weak components.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import GraphSequence
from graphveil.kernels.compiled import inlined, kernel
from graphveil.kernels.prefetch import prefetch
from graphveil.statistics.tallies import Counts

PARENT_AHEAD = 16

Parents = NDArray[np.int32]


def count_components(
    sequence: GraphSequence, from_step: int, before: Parents | None
) -> tuple[Counts, Parents]:
    """The change at each step from `from_step` on, and every node's parent after the last.

    Parents lead from each node to the oldest node of its component.
    """
    parent = np.arange(sequence.nodes, dtype=np.int32)
    if before is not None:
        parent[: len(before)] = before
    merges = np.zeros(sequence.steps - from_step, dtype=np.int64)
    late = sequence.late
    for step in range(from_step, sequence.steps):
        first, last = (int(node) for node in sequence.node_offsets[step : step + 2])
        lists = sequence.offsets[first : last + 1]
        share = slice(int(late.offsets[step]), int(late.offsets[step + 1]))
        merges[step - from_step] = _merge_arrivals(first, lists, sequence.entries, parent)
        if share.start < share.stop:
            merges[step - from_step] += _merge_late(late.newer[share], late.entries[share], parent)
    return np.diff(sequence.node_offsets)[from_step:] - merges, parent


@inlined
def oldest(node: int, parent: Parents) -> int:
    """The oldest node of a component; shortens the way for whoever asks next."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@kernel
def _merge_arrivals(
    first: int, lists: NDArray[np.int64], entries: NDArray[np.int32], parent: Parents
) -> int:
    """Merge along the lists of the nodes first, first + 1, …; how often two became one."""
    merges = 0
    end = lists[-1] - 1
    for i in range(len(lists) - 1):
        mine = first + i
        for place in range(lists[i], lists[i + 1]):
            prefetch(parent, entries[min(place + PARENT_AHEAD, end)] >> 2)
            other = oldest(entries[place] >> 2, parent)
            if other != mine:
                merges += 1
                parent[max(mine, other)] = min(mine, other)
                mine = min(mine, other)
    return merges


@kernel
def _merge_late(newer: NDArray[np.int32], entries: NDArray[np.int32], parent: Parents) -> int:
    """Merge along late edges; how often two components became one."""
    merges = 0
    for i in range(len(newer)):
        mine = oldest(newer[i], parent)
        other = oldest(entries[i] >> 2, parent)
        if other != mine:
            merges += 1
            parent[max(mine, other)] = min(mine, other)
    return merges


@kernel
def join_in_order(
    newer: NDArray[np.int32], older: NDArray[np.int32], parent: Parents, joins: NDArray[np.bool_]
) -> None:
    """Note of each edge, one after the other, whether it makes one component of two."""
    end = len(newer) - 1
    for i in range(len(newer)):
        ahead = min(i + PARENT_AHEAD, end)
        prefetch(parent, newer[ahead])
        prefetch(parent, older[ahead])
        mine = oldest(newer[i], parent)
        other = oldest(older[i], parent)
        joins[i] = other != mine
        if other != mine:
            parent[max(mine, other)] = min(mine, other)
