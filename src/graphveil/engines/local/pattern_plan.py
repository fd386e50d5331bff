"""In which order the vertices of a pattern are placed, and what each must satisfy.

A copy is counted at its newest node: one vertex, the root, is placed on that node, and all
others on older ones. Every orbit of vertices gives one root, since a copy whose newest
node plays the role of a vertex can be renamed so that it plays that of its representative.
Renamings that keep the root in place are ruled out by comparisons, so each copy is met
exactly once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.local.adjacency import IN, OUT
from graphveil.statistics.changes.pattern_shape import Pattern


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
