"""Triangles by kind and step.

Without late edges a triangle appears with its newest node w. For an older neighbour v of
w, the third corners are the nodes that both list as older, so every triangle is met once.
With late edges it appears with its last edge, and is counted as any other pattern is.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.patterns import count_copies
from graphveil.backends.local.work import Part, Work, parts
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.kernels import kernel, prefetch
from graphveil.statistics.pattern_shape import cyclic_triangle, transitive_triangle, triangle
from graphveil.statistics.tallies import Counts, TriangleTally
from graphveil.threads import in_threads

# How three linked pairs make up cyclic and transitive triangles.
#
# Name the corners by age: the newest w, the middle v and the oldest u. Each pair carries two
# direction bits, so three pairs make one of 64 *pairings*. A pair linked both ways can be used
# either way; a choice of one direction per pair is a triangle, and it is cyclic for two of the
# eight choices and transitive for the other six.


PAIRINGS = 64


def pairing(newest_middle: int, newest_oldest: int, middle_oldest: int) -> int:
    """The number of a pairing; each argument is a pair's two direction bits."""
    return newest_middle << 4 | newest_oldest << 2 | middle_oldest


def kind(newest_middle: int, newest_oldest: int, middle_oldest: int) -> int:
    """The kind of triangle that three single directions make."""
    turns_round = newest_middle == middle_oldest != newest_oldest
    return TriangleTally.CYCLIC if turns_round else TriangleTally.TRANSITIVE


def triangles_by_pairing(*, directed: bool) -> Counts:
    """(64, 3): how many triangles of each kind one pairing holds."""
    table = np.zeros((PAIRINGS, 3), dtype=np.int64)
    if not directed:
        table[pairing(BOTH, BOTH, BOTH), TriangleTally.UNDIRECTED] = 1
        return table
    for bits in product(range(4), repeat=3):
        for choice in product((FORWARD, BACKWARD), repeat=3):
            if all(used & bit for used, bit in zip(choice, bits, strict=True)):
                table[pairing(*bits), kind(*choice)] += 1
    return table


# Small enough that two threads finish together, large enough that handing out is free.
ENTRIES_PER_PART = 1 << 17
# How many list entries ahead to ask for a neighbour's place, and then for its list.
PLACE_AHEAD = 20
LIST_AHEAD = 10
# Of two lists longer than this together, one that is this many times longer than the
# other is searched instead of walked: else a hub would cost its whole list per neighbour.
SHORT = 64
SEARCH_RATIO = 16


def count_triangles(work: Work, from_step: int) -> Counts:
    """Triangles by step and kind, (steps from `from_step` on, 3)."""
    if len(work.sequence.late):
        return _by_patterns(work, from_step)
    return _by_lists(work, from_step)


def _by_patterns(work: Work, from_step: int) -> Counts:
    """Triangles of sequences that may have late edges."""
    shapes = {TriangleTally.UNDIRECTED: triangle()}
    if work.sequence.directed:
        shapes = {
            TriangleTally.CYCLIC: cyclic_triangle(),
            TriangleTally.TRANSITIVE: transitive_triangle(),
        }
    counts = np.zeros((work.sequence.steps - from_step, 3), dtype=np.int64)
    for kind, shape in shapes.items():
        counts[:, kind] = count_copies(work, shape, from_step)
    return counts


def _by_lists(work: Work, from_step: int) -> Counts:
    """Triangles of sequences without late edges, from the lists of older neighbours."""
    sequence = work.sequence
    shares = parts(sequence.node_offsets, sequence.offsets, from_step, ENTRIES_PER_PART)
    total = np.zeros((sequence.steps - from_step, PAIRINGS), dtype=np.int64)
    results = in_threads(_pairings, [(sequence, part) for part in shares], work.threads)
    for part, found in zip(shares, results, strict=True):
        total[part.from_step - from_step : part.to_step - from_step] += found
    return total @ triangles_by_pairing(directed=sequence.directed)


def _pairings(sequence: GraphSequence, part: Part) -> Counts:
    """Pairings by step, whose newest node is in one part."""
    found = np.zeros((part.to_step - part.from_step) * PAIRINGS, dtype=np.int64)
    columns = (sequence.node_offsets, sequence.offsets, sequence.entries)
    _meet_triangles(part.first, part.last, part.from_step, *columns, found)
    return found.reshape(-1, PAIRINGS)


@kernel
def _walk(
    entries: NDArray[np.int32],
    start: int,
    stop: int,
    low: int,
    high: int,
    found: Counts,
    base: int,
) -> None:
    """Meet the common nodes of two lists of similar length, side by side."""
    i, i_end = np.uint64(start), np.uint64(stop)  # unsigned: no test for negative places
    j, j_end = np.uint64(low), np.uint64(high)
    while i < i_end and j < j_end:
        left = entries[i]
        right = entries[j]
        if left >> 2 == right >> 2:
            found[base | (left & 3) << 2 | (right & 3)] += 1
        i += np.uint64(left >> 2 <= right >> 2)
        j += np.uint64(left >> 2 >= right >> 2)


@kernel
def _search(
    entries: NDArray[np.int32],
    start: int,
    stop: int,
    low: int,
    high: int,
    few_bits: int,
    many_bits: int,
    found: Counts,
    base: int,
) -> None:
    """Meet the common nodes by looking up each of the few among the many low..high."""
    for few in range(start, stop):
        node = entries[few] >> 2
        beyond = high
        while low < beyond:
            middle = (low + beyond) >> 1
            if entries[middle] >> 2 < node:
                low = middle + 1
            else:
                beyond = middle
        if low == high:
            break
        if entries[low] >> 2 == node:
            found[base | (entries[few] & 3) << few_bits | (entries[low] & 3) << many_bits] += 1


@kernel
def _meet_triangles(
    first: int,
    last: int,
    from_step: int,
    node_offsets: NDArray[np.int64],
    offsets: NDArray[np.int64],
    entries: NDArray[np.int32],
    found: Counts,
) -> None:
    """Tally the pairings of all triangles whose newest node is one of first..last-1."""
    step = from_step
    end = offsets[last] - 1
    for newest in range(first, last):
        while newest >= node_offsets[step + 1]:
            step += 1
        start = offsets[newest]
        for place in range(start, offsets[newest + 1]):
            prefetch(offsets, entries[min(place + PLACE_AHEAD, end)] >> 2)
            prefetch(entries, offsets[entries[min(place + LIST_AHEAD, end)] >> 2])
            middle = entries[place] >> 2
            low, high = offsets[middle], offsets[middle + 1]
            mine, others = place - start, high - low
            base = (step - from_step) << 6 | (entries[place] & 3) << 4
            if mine + others <= SHORT:
                _walk(entries, start, place, low, high, found, base)
            elif others > SEARCH_RATIO * mine:
                _search(entries, start, place, low, high, 2, 0, found, base)
            elif mine > SEARCH_RATIO * others:
                _search(entries, low, high, start, place, 0, 2, found, base)
            else:
                _walk(entries, start, place, low, high, found, base)
