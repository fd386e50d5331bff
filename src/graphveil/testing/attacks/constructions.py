"""Worst cases that people have found, as starting points for the search.

Every known extreme is one of five shapes, which differ only in when their parts appear:
*twins* (the neighbours of the node that differs also meet helpers, which raise all their
degrees one at a time), *books* (helpers that meet both ends of one edge), *circles*
(every node linked to the next few, which is the complete graph where it closes),
*branches* (chains that begin beside what differs, grow by one, and are then tied together) and
*spread* (chains that only grow, for what is counted among new nodes).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from graphveil.graph.promises.bound import Bound
from graphveil.testing.pairs import NEVER, Relation, Schedule

BRANCHES = (1, 2)  # how many nodes their chains have before they grow, or for how long these do


def _sides(bound: Bound) -> tuple[int, int]:
    """How many edges may enter and leave a node."""
    return bound.limit("in"), bound.limit("out")


def _schedule(arrivals: list[int], edges: list[tuple[int, int]], bound: Bound) -> Schedule:
    """Nodes with prompt edges; both ways where the bound is that of undirected graphs."""
    schedule = np.full((len(arrivals), len(arrivals)), NEVER, dtype=np.int8)
    np.fill_diagonal(schedule, arrivals)
    for u, v in edges:
        schedule[u, v] = max(arrivals[u], arrivals[v])
        if not bound.directed:
            schedule[v, u] = schedule[u, v]
    return schedule


def _paced(count: int, start: int, pace: int) -> list[int]:
    """Arrival steps from `start` on: all at once for a pace of 0, else one by one."""
    return [start + pace * index for index in range(count)]


def twins(bound: Bound, own: int, paces: tuple[int, int], helper_pace: int) -> Schedule:
    """The node that differs, its neighbours, and helpers with the same neighbours.

    Args:
        bound: the degree bound, which the shape fills.
        own: the step of the node that differs; the neighbours begin at step 1.
        paces: for the neighbours that link to it, and for those that it links to: 0 if
            they arrive at once, 1 if one by one. Undirected graphs have the first only.
        helper_pace: the same for the helpers, who begin once either kind is complete.
    """
    inward, outward = _sides(bound)
    helpers = max(inward, outward) - 1
    sources = _paced(inward, 1, paces[0])
    targets = _paced(outward, 1, paces[1]) if bound.directed else []
    complete = min(side[-1] for side in (sources, targets) if side)
    arrivals = [*_paced(helpers, complete + 1, helper_pace), *targets, *sources, own]
    star = len(arrivals) - 1
    into, out_of = range(star - inward, star), range(helpers, helpers + len(targets))
    edges = [(source, star) for source in into] + [(star, target) for target in out_of]
    edges += [(source, helper) for source in into for helper in range(outward - 1)]
    edges += [(helper, target) for target in out_of for helper in range(inward - 1)]
    return _schedule(arrivals, edges, bound)


def book(bound: Bound, late: int, helper_pace: int) -> Schedule:
    """Two nodes joined by an edge, `late` steps after they arrive, and helpers of both."""
    inward, outward = _sides(bound)
    helpers = max(inward, outward) - 1
    arrivals = [*_paced(helpers, late + 1, helper_pace), 0, 0]
    first, second = helpers, helpers + 1
    edges = [(first, helper) for helper in range(outward - 1)]
    edges += [(helper, second) for helper in range(inward - 1)]
    schedule = _schedule(arrivals, [*edges, (first, second)], bound)
    schedule[schedule == 0] = late
    schedule[first, first] = schedule[second, second] = 0
    return schedule


def circle(bound: Bound, nodes: int) -> Schedule:
    """Nodes in a circle, all at step 0, each linked to the next few within the bound."""
    reach = min(_sides(bound))
    if bound.directed:
        hops = list(range(1, min(reach, nodes - 1) + 1))
    else:
        hops = [hop for hop in range(1, nodes) if min(hop, nodes - hop) <= reach // 2]
        hops += [nodes // 2] if reach % 2 and nodes % 2 == 0 and nodes // 2 not in hops else []
    edges = [(u, (u + hop) % nodes) for u in range(nodes) for hop in hops]
    return _schedule([0] * nodes, edges, bound)


def branches(bound: Bound, relation: Relation, length: int) -> Schedule:
    """Chains of `length` nodes beside the node, or the edge, that differs.

    At step 1 all of that is there, at step 2 every chain grows by one, and at step 3 their ends
    are tied in a row.
    """
    schedule = _chains(bound, relation, [2] + [1] * length)
    sources, count = _sources(bound, relation)
    for u, v in pairwise([*range(sources, count), *range(sources)]):
        if not bound.directed or min(_sides(bound)) > 1 or v < sources <= u:
            schedule[u, v] = 3
            schedule[v, u] = NEVER if bound.directed else 3
    return schedule


def spread(bound: Bound, relation: Relation, steps: int) -> Schedule:
    """Chains beside the node, or the edge, that differs, which two nodes more join at each step.

    Nothing ties them otherwise: all of it lasts, and everywhere somebody is new.
    """
    return _chains(bound, relation, [step for step in reversed(range(steps)) for _ in range(2)])


def _sources(bound: Bound, relation: Relation) -> tuple[int, int]:
    """How many chains lead to what differs, and how many there are with those that lead away."""
    inward, outward = (1, 1) if relation == "edge" else _sides(bound)
    return inward, inward + (outward if bound.directed or relation == "edge" else 0)


def _chains(bound: Bound, relation: Relation, arrivals: list[int]) -> Schedule:
    """Chains whose nodes arrive as stated, from their ends to the node, or the edge, that differs.

    Chains lead into those that link to the node that differs, and away from those it links to,
    so that even nodes with one link each way can form them. Their ends come first.
    """
    sources, count = _sources(bound, relation)
    nodes = [[chain + count * depth for chain in range(count)] for depth in range(len(arrivals))]
    steps = [step for step in arrivals for _ in range(count)]
    edges = [(new, old) for new, old in _downwards(nodes, range(sources))]
    edges += [(old, new) for new, old in _downwards(nodes, range(sources, count))]
    heads = nodes[-1]
    if relation == "edge":
        edges.append((heads[0], heads[1]))
    else:
        steps.append(0)
        star = len(steps) - 1
        edges += [(head, star) for head in heads[:sources]]
        edges += [(star, head) for head in heads[sources:]]
    return _schedule(steps, edges, bound)


def _downwards(nodes: list[list[int]], chains: range) -> Iterator[tuple[int, int]]:
    """Each node of some chains with the next, from their ends to their heads."""
    for outer, inner in pairwise(nodes):
        yield from ((outer[chain], inner[chain]) for chain in chains)


def constructions(bound: Bound, relation: Relation) -> Iterator[Schedule]:
    """Every shape in every pace that keeps the bound, for one kind of neighbours."""
    reach = min(_sides(bound))
    yield circle(bound, 2 * reach + 1 if bound.kind == "oriented" else max(reach + 1, 2))
    second_paces = (0, 1) if bound.directed else (0,)
    for own, first, second, helper in product((0, 1, 2), (0, 1), second_paces, (0, 1)):
        yield twins(bound, own, (first, second), helper)
    for length in BRANCHES if reach > 1 or bound.directed else ():
        yield branches(bound, relation, length)
        yield spread(bound, relation, length)
    if relation == "edge":
        for late, helper_pace in product((0, 1), (0, 1)):
            yield book(bound, late, helper_pace)
