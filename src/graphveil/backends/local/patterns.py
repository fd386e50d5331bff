"""Copies of any small connected pattern per step, by placing one vertex after the other.

A copy appears with the last of its edges: with its newest node if no edge is late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.adjacency import IN, OUT, Adjacency, Int32s, Int64s
from graphveil.backends.local.work import Part, Work, parts
from graphveil.kernels import kernel
from graphveil.statistics.pattern_shape import Pattern
from graphveil.statistics.tallies import Counts
from graphveil.threads import in_threads

# In which order the vertices of a pattern are placed, and what each must satisfy.
#
# A copy is counted at its newest node: one vertex, the root, is placed on that node, and all
# others on older ones. Every orbit of vertices gives one root, since a copy whose newest node
# plays the role of a vertex can be renamed so that it plays that of its representative.
# Renamings that keep the root in place are ruled out by comparisons, so each copy is met exactly
# once.


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


# Work per node varies much more than its list, so parts are many for threads to even out.
MOST_PARTS = 256


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
