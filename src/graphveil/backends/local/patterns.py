"""Copies of any small connected pattern per step, by placing one vertex after the other.

A copy appears with the last of its edges: with its newest node if no edge is late.

Triangles are counted by kind, and faster. Without late edges a triangle appears with its newest
node w. For an older neighbour v of w, the third corners are the nodes that both list as older, so
every triangle is met once. With late edges it appears with its last edge, as any pattern does.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.work import IN, OUT, Adjacency, Int32s, Int64s, Part, Work, parts
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.kernels import kernel, prefetch
from graphveil.statistics.pattern_shape import (
    Pattern,
    cyclic_triangle,
    transitive_triangle,
    triangle,
)
from graphveil.statistics.tallies import Counts, TriangleTally
from graphveil.threads import in_threads

# In which order the vertices of a pattern are placed, and what each must satisfy.
#
# A copy is counted at its newest node: one vertex, the root, is placed on that node, and all
# others on older ones. Every orbit of vertices gives one root, since a copy whose newest node
# plays the role of a vertex can be renamed so that it plays that of its representative.
# Renamings that keep the root in place are ruled out by comparisons, so each copy is met exactly
# once.

# Work per node varies much more than its list, so parts are many for threads to even out.
MOST_PARTS = 256
PAIRINGS = 64
# Small enough that two threads finish together, large enough that handing out is free.
ENTRIES_PER_PART = 1 << 17
# How many list entries ahead to ask for a neighbour's place, and then for its list.
PLACE_AHEAD = 20
LIST_AHEAD = 10
# Of two lists longer than this together, one that is this many times longer than the
# other is searched instead of walked: else a hub would cost its whole list per neighbour.
SHORT = 64
SEARCH_RATIO = 16


class PlacingPlan(NamedTuple):
    """How to look for copies with one root; a tuple, as kernels take it.

    Places are numbered in the order of placing, the root first.

    Attributes:
        needs: needs[i, j] are the direction bits that place j must list for place i.
        below: below[i, j] is 1 where place i must lie on an older node than place j.
    """

    needs: NDArray[np.int32]
    below: NDArray[np.int32]


def plans(pattern: Pattern) -> list[PlacingPlan]:
    """One plan for each orbit of the pattern's vertices."""
    return [_plan(pattern, root) for root in pattern.representatives]


def _plan(pattern: Pattern, root: int) -> PlacingPlan:
    order = _order(pattern, root)
    place = {vertex: i for i, vertex in enumerate(order)}
    needs = np.zeros((len(order), len(order)), dtype=np.int32)
    for sender, receiver in pattern.arcs:
        needs[place[receiver], place[sender]] |= OUT
        needs[place[sender], place[receiver]] |= IN
    below = np.zeros_like(needs)
    below[1:, 0] = 1
    for smaller, larger in _comparisons(pattern, root, order):
        below[place[smaller], place[larger]] = 1
    return PlacingPlan(needs, below)


def _order(pattern: Pattern, root: int) -> list[int]:
    """The root, then always the vertex with the most neighbours already placed."""
    order = [root]
    while len(order) < pattern.vertices:
        left = (vertex for vertex in range(pattern.vertices) if vertex not in order)
        order.append(max(left, key=lambda vertex: len(pattern.neighbours[vertex] & {*order})))
    return order


def _comparisons(pattern: Pattern, root: int, order: list[int]) -> list[tuple[int, int]]:
    """Pairs (older, newer) that one of all renamings with this root satisfies.

    The first vertex that a renaming can still move must be the newest of those it can be
    moved to; then it is held in place too, and so on.
    """
    comparisons = []
    renamings = pattern.stabiliser(root)
    for vertex in order[1:]:
        comparisons += [(other, vertex) for other in {m[vertex] for m in renamings} - {vertex}]
        renamings = tuple(m for m in renamings if m[vertex] == vertex)
    return comparisons


def count_copies(work: Work, pattern: Pattern, from_step: int) -> Counts:
    """Copies of a pattern that appear at each step from `from_step` on."""
    work = work.touched(from_step, reach=pattern.vertices - 2)
    sequence, links = work.sequence, work.adjacency
    # A late edge can complete a copy of old nodes, so then no node can be left out.
    from_root = 0 if len(sequence.late) else from_step
    size = 1 + len(links.entries) // MOST_PARTS
    shares = parts(sequence.node_offsets, links.offsets, from_root, size)
    jobs = [(work, plan, part) for plan in plans(pattern) for part in shares]
    total = np.zeros(sequence.steps, dtype=np.int64)
    for found in in_threads(_copies, jobs, work.threads):
        total += found
    return total[from_step:]


def _copies(work: Work, plan: PlacingPlan, part: Part) -> Counts:
    """Copies by step, whose newest node is in one part."""
    counts = np.zeros(work.sequence.steps, dtype=np.int64)
    nodes = (part.first, part.last, part.from_step, work.sequence.node_offsets)
    search = Search(*np.zeros((6, len(plan.needs)), dtype=np.int64))
    _meet_copies(*nodes, work.adjacency, plan, search, counts)
    return counts


class Search(NamedTuple):
    """The state of a search for copies; one place per vertex, in the order of placing.

    Attributes:
        node: where the vertex is placed.
        since: the step since which all links so far exist.
        anchor: the place among whose neighbours candidates are sought.
        cursor: the next candidate.
        end: where the candidates end.
        ceiling: the node below which the vertex must be placed.
    """

    node: Int64s
    since: Int64s
    anchor: Int64s
    cursor: Int64s
    end: Int64s
    ceiling: Int64s


@kernel
def _at_or_after(node: int, low: int, high: int, entries: Int32s) -> int:
    """The first place in low..high whose neighbour is not older than `node`."""
    while low < high:
        middle = (low + high) >> 1
        if entries[middle] >> 2 < node:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _enter(depth: int, links: Adjacency, plan: PlacingPlan, search: Search) -> None:
    """Choose among whose neighbours to seek, the fewest there are, and up to where."""
    fewest = len(links.entries) + 1
    ceiling = search.node[0]
    for other in range(depth):
        node = search.node[other]
        begin, end = links.offsets[node], links.ends[node]
        if plan.needs[depth, other] and end - begin < fewest:
            fewest = end - begin
            search.anchor[depth], search.cursor[depth], search.end[depth] = other, begin, end
        if plan.below[depth, other]:
            ceiling = min(ceiling, node)
    search.ceiling[depth] = ceiling


@kernel
def _place_next(depth: int, links: Adjacency, plan: PlacingPlan, search: Search) -> bool:
    """Place the vertex on the next node that fits; whether there is one.

    One loop, since calls from inside it would cost more than its work.
    """
    offsets, ends, entries, out_steps, in_steps = links
    nodes, needs, anchor = search.node, plan.needs, search.anchor[depth]
    ceiling = search.ceiling[depth]
    for candidate in range(search.cursor[depth], search.end[depth]):
        node = entries[candidate] >> 2
        fits: bool = node < ceiling
        since = search.since[depth - 1]
        for other in range(depth if fits else 0):
            need, beside, place = needs[depth, other], nodes[other], candidate
            if need and other != anchor:
                place = _at_or_after(node, offsets[beside], ends[beside], entries)
                fits = place < ends[beside] and entries[place] >> 2 == node
            fits = fits and beside != node and entries[place] & need == need
            if not fits:
                break
            if need & OUT and len(out_steps):
                since = max(since, out_steps[place])
            if need & IN and len(in_steps):
                since = max(since, in_steps[place])
        if fits:
            nodes[depth], search.since[depth] = node, since
            search.cursor[depth] = candidate + 1
        if fits or node >= ceiling:
            return fits
    return False


@kernel
def _meet_copies(
    first: int,
    last: int,
    step: int,
    node_offsets: Int64s,
    links: Adjacency,
    plan: PlacingPlan,
    search: Search,
    found: Counts,
) -> None:
    """Tally the copies whose newest node is one of first..last-1 and plays the root."""
    deepest = len(plan.needs) - 1
    for root in range(first, last):
        while root >= node_offsets[step + 1]:
            step += 1
        search.node[0], search.since[0] = root, step
        depth = 1
        _enter(depth, links, plan, search)
        while depth > 0:
            if not _place_next(depth, links, plan, search):
                depth -= 1
            elif depth == deepest:
                found[search.since[depth]] += 1
            else:
                depth += 1
                _enter(depth, links, plan, search)


# How three linked pairs make up cyclic and transitive triangles.
#
# Name the corners by age: the newest w, the middle v and the oldest u. Each pair carries two
# direction bits, so three pairs make one of 64 *pairings*. A pair linked both ways can be used
# either way; a choice of one direction per pair is a triangle, and it is cyclic for two of the
# eight choices and transitive for the other six.


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
