"""Copies of any small connected pattern per step, by placing one vertex after the other.

A copy appears with the last of its edges: with its newest node if no edge is late.
"""

from __future__ import annotations

import numpy as np

from graphveil.compiled import inlined, kernel
from graphveil.engines.local.adjacency import IN, OUT, Adjacency, Int32s, Int64s
from graphveil.engines.local.parts import Part, parts
from graphveil.engines.local.pattern_plan import Plan, plans
from graphveil.engines.local.work import Work
from graphveil.graph.threads import in_threads
from graphveil.statistics.pattern import Pattern
from graphveil.statistics.tallies import Counts

# Work per node varies much more than its list, so parts are many for threads to even out.
MOST_PARTS = 256


def count_copies(work: Work, pattern: Pattern, from_step: int) -> Counts:
    """Copies of a pattern that appear at each step from `from_step` on."""
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


def _copies(work: Work, plan: Plan, part: Part) -> Counts:
    """Copies by step, whose newest node is in one part."""
    found = np.zeros(work.sequence.steps, dtype=np.int64)
    nodes = (part.first, part.last, part.from_step, work.sequence.node_offsets)
    _meet_copies(*nodes, work.adjacency, plan, found)
    return found


@inlined
def _find(entries: Int32s, low: int, high: int, node: int) -> int:
    """Where `node` stands among the ascending entries low..high, or -1."""
    end = high
    while low < high:
        middle = (low + high) >> 1
        if entries[middle] >> 2 < node:
            low = middle + 1
        else:
            high = middle
    return low if low < end and entries[low] >> 2 == node else -1


@kernel
def _anchor(depth: int, image: Int64s, links: Adjacency, plan: Plan) -> int:
    """The placed vertex next to this one whose node has the fewest neighbours."""
    best = -1
    fewest = 0
    for other in range(depth):
        if plan.needs[depth, other]:
            count = links.ends[image[other]] - links.offsets[image[other]]
            if best < 0 or count < fewest:
                best, fewest = other, count
    return best


@kernel
def _ceiling(depth: int, image: Int64s, plan: Plan) -> int:
    """The node below which this vertex must be placed."""
    ceiling: int = image[0]
    for other in range(1, depth):
        if plan.below[depth, other]:
            ceiling = min(ceiling, image[other])
    return ceiling


@inlined
def _since(place: int, need: int, links: Adjacency) -> int:
    """Since when the needed directions of a link exist; 0 where no edge is late."""
    since = 0
    if len(links.out_steps):
        if need & OUT:
            since = max(since, links.out_steps[place])
        if need & IN:
            since = max(since, links.in_steps[place])
    return since


@kernel
def _fit(
    candidate: int, depth: int, anchor: int, image: Int64s, links: Adjacency, plan: Plan
) -> int:
    """Since when the candidate has the links that its place needs, or -1."""
    node = links.entries[candidate] >> 2
    latest = 0
    for other in range(depth):
        need = plan.needs[depth, other]
        if need == 0:
            if image[other] == node:
                return -1
            continue
        place = candidate
        if other != anchor:
            row = image[other]
            place = _find(links.entries, links.offsets[row], links.ends[row], node)
        if place < 0 or links.entries[place] & need != need:
            return -1
        latest = max(latest, _since(place, need, links))
    return latest


@kernel
def _meet_copies(
    first: int,
    last: int,
    step: int,
    node_offsets: Int64s,
    links: Adjacency,
    plan: Plan,
    found: Counts,
) -> None:
    """Tally the copies whose newest node is one of first..last-1 and plays the root."""
    deepest = len(plan.needs) - 1
    image, latest, anchor, ceiling, cursor, end = np.zeros((6, deepest + 1), dtype=np.int64)
    for root in range(first, last):
        while root >= node_offsets[step + 1]:
            step += 1
        image[0], latest[0], depth, entering = root, step, 1, True
        while depth > 0:
            if entering:
                anchor[depth] = _anchor(depth, image, links, plan)
                ceiling[depth] = _ceiling(depth, image, plan)
                cursor[depth] = links.offsets[image[anchor[depth]]]
                end[depth] = links.ends[image[anchor[depth]]]
                entering = False
            place = cursor[depth]
            cursor[depth] += 1
            if place == end[depth] or links.entries[place] >> 2 >= ceiling[depth]:
                depth -= 1
                continue
            since = _fit(place, depth, anchor[depth], image, links, plan)
            if since < 0:
                continue
            since = max(since, latest[depth - 1])
            if depth == deepest:
                found[since] += 1
            else:
                image[depth], latest[depth] = links.entries[place] >> 2, since
                depth += 1
                entering = True
