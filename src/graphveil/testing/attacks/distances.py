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

from graphveil.kernels.compiled import kernel
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
    return cast(Definition, numba.cfunc(_SIGNATURE)(definition))


class Desk(NamedTuple):
    """Room to work in, so that the inner loop never allocates.

    Attributes:
        links: (2, n, n) the larger and the smaller graph at the current step.
        present: (2, n) which of their nodes have arrived.
        values: (5, n + 1) the statistic on each, their difference one step before, and all
            rises and all falls of that difference so far.
    """

    links: Mask
    present: Mask
    values: Numbers


def make_desk(nodes: int) -> Desk:
    """An empty desk for pairs of this many nodes."""
    return Desk(
        np.zeros((2, nodes, nodes), dtype=np.uint8),
        np.zeros((2, nodes), dtype=np.uint8),
        np.zeros((5, nodes + 1), dtype=np.int64),
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
def weigh(values: Numbers, found: Numbers) -> None:
    """Add one step's part to the distances, and remember the difference it ends with."""
    apart = 0
    for place in range(values.shape[1]):
        difference = values[0, place] - values[1, place]
        change = difference - values[2, place]
        values[2, place] = difference
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
    for step in range(steps):
        if advance(schedule, hidden, step, desk) and step >= first:
            for graph in range(2):
                desk.values[graph] = 0
                definition(desk.links[graph], desk.present[graph], given, desk.values[graph])
            weigh(desk.values, found)
