"""The distances of one pair, compiled: the inner loop of every attack.

A statistic's definition is compiled on its own into a function of one fixed type and
handed to the kernels as an argument, so that the kernels are compiled once for all
statistics, also for those of third parties.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, TypeAlias, cast

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

from graphveil.kernels.compiled import kernel, seeing_modules
from graphveil.testing.pairs import NEVER, Definition, Schedule

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

    It is never cached on disk: an attack must see the definition as it stands now.
    """
    return cast(Definition, numba.cfunc(_SIGNATURE)(seeing_modules(definition)))


class Desk(NamedTuple):
    """Room to work in, so that the inner loop never allocates.

    Attributes:
        links: (2, n, n) the larger and the smaller graph at the current step.
        present: (2, n) which of their nodes have arrived.
        values: (5, n + 1) the statistic on each, their difference one step before, and all
            rises and all falls of that difference so far.
        window: for how many steps nodes are counted; 0 if for good.
        recent_links: (n, n) the links among those who are counted, if not all are.
        recent_present: (n,) for how many steps each of these has been there.
    """

    links: Mask
    present: Mask
    values: Numbers
    window: int
    recent_links: Mask
    recent_present: Mask


def make_desk(nodes: int, window: int = 0) -> Desk:
    """An empty desk for pairs of this many nodes."""
    return Desk(
        np.zeros((2, nodes, nodes), dtype=np.uint8),
        np.zeros((2, nodes), dtype=np.uint8),
        np.zeros((5, nodes + 1), dtype=np.int64),
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
