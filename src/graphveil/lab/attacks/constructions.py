"""Worst cases that people have found, and the distances of one pair, compiled.

Every known extreme is one of five shapes, which differ only in when their parts appear:
*twins* (the neighbours of the node that differs also meet helpers, which raise all their
degrees one at a time), *books* (helpers that meet both ends of one edge), *circles*
(every node linked to the next few, which is the complete graph where it closes),
*branches* (chains that begin beside what differs, grow by one, and are then tied together) and
*spread* (chains that only grow, for what is counted among new nodes).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple, TypeAlias, cast

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from graphveil.graph.promises import Bound
from graphveil.kernels import kernel, seeing_modules
from graphveil.lab.pairs import NEVER, Definition, Relation, Schedule

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


# The distances of one pair, compiled: the inner loop of every attack.
#
# A statistic's definition is compiled on its own into a function of one fixed type and handed to
# the kernels as an argument, so that the kernels are compiled once for all statistics, also for
# those of third parties.


Mask: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]

L1, STATIC, L2, VARIATION = 0, 1, 2, 3  # where `distances` puts what it finds
MEASURED = 4

_SIGNATURE = types.void(
    types.Array(types.uint8, 2, "C"),
    types.Array(types.uint8, 1, "C"),
    types.Array(types.int64, 1, "C"),
    types.Array(types.int64, 1, "C"),
)


@cache
def compiled(definition: Definition) -> Definition:
    """A statistic's definition as machine code behind one fixed type.

    It is never cached on disk: an attack must see the current definition.
    """
    return cast(Definition, numba.cfunc(_SIGNATURE)(seeing_modules(definition)))


class Desk(NamedTuple):
    """Room to work in, so that the inner loop never allocates.

    Attributes:
        links: (2, n, n) the larger and the smaller graph at the current step.
        present: (2, n) which of their nodes have arrived.
        values: (5, tables·(n + 1)) the statistic on each, their difference one step before, and all
            rises and all falls of that difference so far.
        window: for how many steps nodes are counted; 0 if permanently.
        recent_links: (n, n) the links among those who are counted, if not all are.
        recent_present: (n,) for how many steps each of these has been there.
    """

    links: Mask
    present: Mask
    values: Numbers
    window: int
    recent_links: Mask
    recent_present: Mask


def make_desk(nodes: int, window: int = 0, tables: int = 1) -> Desk:
    """An empty desk for pairs of this many nodes, and for so many vectors of numbers."""
    return Desk(
        np.zeros((2, nodes, nodes), dtype=np.uint8),
        np.zeros((2, nodes), dtype=np.uint8),
        np.zeros((5, tables * (nodes + 1)), dtype=np.int64),
        window,
        np.zeros((nodes, nodes), dtype=np.uint8),
        np.zeros(nodes, dtype=np.uint8),
    )


@kernel
def first_difference(schedule: Schedule, hidden: Mask) -> int:
    """The step until which the two sequences are the same."""
    first = NEVER
    for u in range(len(schedule)):
        for v in range(len(schedule)):
            if hidden[u, v] == 1 and schedule[u, v] < first:
                first = schedule[u, v]
    return first


@kernel
def advance(schedule: Schedule, hidden: Mask, step: int, desk: Desk) -> bool:
    """Add what appears at `step` to both graphs; says whether anything did."""
    changed = False
    for u in range(len(schedule)):
        for v in range(len(schedule)):
            if schedule[u, v] == step:
                changed = True
                if u == v:
                    desk.present[0, v] = 1
                    desk.present[1, v] = 1 - hidden[v, v]
                else:
                    desk.links[0, u, v] = 1
                    desk.links[1, u, v] = 1 - hidden[u, v]
    return changed


@kernel
def seen_steps(steps: int, desk: Desk) -> int:
    """How many steps have to be looked at: until the last who arrived have left again."""
    return steps + max(desk.window - 1, 0)


@kernel
def look_back(schedule: Schedule, step: int, graph: int, desk: Desk) -> None:
    """Put the recent network of one graph on the desk."""
    nodes = len(schedule)
    for v in range(nodes):
        there = step - schedule[v, v] + 1
        counted = desk.present[graph, v] and there <= desk.window
        desk.recent_present[v] = there if counted else 0
    for u in range(nodes):
        for v in range(nodes):
            both = desk.recent_present[u] > 0 and desk.recent_present[v] > 0
            desk.recent_links[u, v] = desk.links[graph, u, v] if both else 0


@kernel
def evaluate(
    definition: Definition, given: Numbers, schedule: Schedule, step: int, graph: int, desk: Desk
) -> None:
    """The statistic on one of the two graphs at a step, or on its recent network."""
    desk.values[graph] = 0
    if desk.window:
        look_back(schedule, step, graph, desk)
        definition(desk.recent_links, desk.recent_present, given, desk.values[graph])
    else:
        definition(desk.links[graph], desk.present[graph], given, desk.values[graph])


@kernel
def weigh(desk: Desk, found: Numbers) -> None:
    """Add one step's part to the distances, and remember the difference it ends with.

    Where nodes are counted for some steps only, noise is added to values, not to differences.
    """
    apart, values = 0, desk.values
    for place in range(values.shape[1]):
        difference = values[0, place] - values[1, place]
        change = difference - values[2, place]
        values[2, place] = 0 if desk.window else difference
        apart += abs(difference)
        found[L1] += abs(change)
        found[L2] += change * change
        way = 3 if change > 0 else 4
        found[VARIATION] += (2 * values[way, place] + abs(change)) * abs(change)
        values[way, place] += abs(change)
    found[STATIC] = max(found[STATIC], apart)


@kernel
def distances(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    hidden: Mask,
    steps: int,
    desk: Desk,
    found: Numbers,
) -> None:
    """All distances of one pair, in one evaluation, into `found`."""
    desk.links[:] = 0
    desk.present[:] = 0
    desk.values[2:] = 0
    found[:] = 0
    first = first_difference(schedule, hidden)
    for step in range(seen_steps(steps, desk)):
        changed = advance(schedule, hidden, step, desk) or desk.window > 0
        if changed and step >= first:
            for graph in range(2):
                evaluate(definition, given, schedule, step, graph, desk)
            weigh(desk, found)
