"""Connected components per step: arrivals add one each, merging links take one away.

Directions do not matter: on directed sequences these are the weak components.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.sequence import GraphSequence
from graphveil.kernels import inlined, kernel, prefetch
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
    """The oldest node of a component; halves the path on the way, for later calls."""
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
        root = first + i
        for place in range(lists[i], lists[i + 1]):
            prefetch(parent, entries[min(place + PARENT_AHEAD, end)] >> 2)
            other = oldest(entries[place] >> 2, parent)
            if other != root:
                merges += 1
                parent[max(root, other)] = min(root, other)
                root = min(root, other)
    return merges


@kernel
def _merge_late(newer: NDArray[np.int32], entries: NDArray[np.int32], parent: Parents) -> int:
    """Merge along late edges; how often two components became one."""
    merges = 0
    for i in range(len(newer)):
        root = oldest(newer[i], parent)
        other = oldest(entries[i] >> 2, parent)
        if other != root:
            merges += 1
            parent[max(root, other)] = min(root, other)
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
        root = oldest(newer[i], parent)
        other = oldest(older[i], parent)
        joins[i] = other != root
        if other != root:
            parent[max(root, other)] = min(root, other)


# Clusters per step: components of at least so many people, and the people in them.
#
# The forest of `components` also has the size of every component, at its oldest node. So a merging
# link alone shows whether a cluster arises, and whether two clusters become one.


class Forest(NamedTuple):
    """Every node's parent, and at the oldest node of each component how many nodes it has."""

    parent: Parents
    size: NDArray[np.int32]


def count_clusters(
    sequence: GraphSequence, least: int, from_step: int, before: Forest | None
) -> tuple[Counts, Forest]:
    """The changes at each step from `from_step` on, and the forest after the last.

    Columns: components of at least `least` nodes (two or more), and the nodes in them.
    """
    forest = _resume(sequence.nodes, before)
    changes = np.zeros((sequence.steps - from_step, 2), dtype=np.int64)
    least = min(least, sequence.nodes + 1)  # a number of 64 bits; nothing has more nodes than all
    late = sequence.late
    for step, change in enumerate(changes, from_step):
        first, last = (int(node) for node in sequence.node_offsets[step : step + 2])
        lists = sequence.offsets[first : last + 1]
        share = slice(int(late.offsets[step]), int(late.offsets[step + 1]))
        _join_arrivals(first, lists, sequence.entries, least, forest, change)
        if share.start < share.stop:
            join_late(late.newer[share], late.entries[share], least, forest, change)
    return changes, forest


def _resume(nodes: int, before: Forest | None) -> Forest:
    """A copy of the forest before, in which the new nodes are alone."""
    forest = Forest(np.arange(nodes, dtype=np.int32), np.ones(nodes, dtype=np.int32))
    if before is not None:
        known = len(before.parent)
        forest.parent[:known], forest.size[:known] = before
    return forest


@inlined
def _join(one: int, other: int, least: int, forest: Forest, change: Counts) -> int:
    """Make one component of two; returns its oldest node."""
    older, newer = min(one, other), max(one, other)
    parts = forest.size[older], forest.size[newer]
    together = parts[0] + parts[1]
    if together >= least:
        change[0] += 1
        change[1] += together
        for part in parts:
            if part >= least:
                change[0] -= 1
                change[1] -= part
    forest.parent[newer], forest.size[older] = older, together
    return older


@kernel
def _join_arrivals(
    first: int,
    lists: NDArray[np.int64],
    entries: NDArray[np.int32],
    least: int,
    forest: Forest,
    change: Counts,
) -> None:
    """Join components along the lists of the nodes from `first` on."""
    end = lists[-1] - 1
    for i in range(len(lists) - 1):
        root = first + i
        for place in range(lists[i], lists[i + 1]):
            prefetch(forest.parent, entries[min(place + PARENT_AHEAD, end)] >> 2)
            other = oldest(entries[place] >> 2, forest.parent)
            if other != root:
                root = _join(root, other, least, forest, change)


@kernel
def join_late(
    newer: NDArray[np.int32],
    entries: NDArray[np.int32],
    least: int,
    forest: Forest,
    change: Counts,
) -> None:
    """Join components along late edges."""
    for i in range(len(newer)):
        root = oldest(newer[i], forest.parent)
        other = oldest(entries[i] >> 2, forest.parent)
        if other != root:
            _join(root, other, least, forest, change)
