"""Copies of any small connected pattern per step, by placing one vertex after the other.

A copy appears with the last of its edges: with its newest node if no edge is late.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.engines.local.adjacency import IN, OUT, Adjacency, Int32s, Int64s
from graphveil.engines.local.parts import Part, parts
from graphveil.engines.local.pattern_plan import PlacingPlan, plans
from graphveil.engines.local.work import Work
from graphveil.kernels.compiled import kernel
from graphveil.kernels.threads import in_threads
from graphveil.statistics.changes.pattern_shape import Pattern
from graphveil.statistics.tallies import Counts

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
    found = np.zeros(work.sequence.steps, dtype=np.int64)
    nodes = (part.first, part.last, part.from_step, work.sequence.node_offsets)
    search = Search(*np.zeros((6, len(plan.needs)), dtype=np.int64))
    _meet_copies(*nodes, work.adjacency, plan, search, found)
    return found


class Search(NamedTuple):
    """Where a search for copies stands; one place per vertex, in the order of placing.

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
