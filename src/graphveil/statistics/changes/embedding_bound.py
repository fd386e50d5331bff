"""The general rule: how many copies of a pattern can run through one node or one edge.

A copy is an embedding up to the pattern's symmetries. Embeddings that send a given vertex
to a given node are bounded by placing the other vertices one by one, each beside a vertex
already placed: that vertex has a limited number of links in the direction needed, and some of
them already lead to placed vertices. Every order of placing gives a valid bound, so the
smallest is taken.
"""

from __future__ import annotations

from functools import cache

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound
from graphveil.statistics.changes.pattern_shape import Pattern


def copies_through_node(pattern: Pattern, bound: Bound) -> int:
    """The most copies of `pattern` that one node can belong to.

    Guarantees:
        No graph within `bound` has a node in more copies; it is the Γ of the pattern's
        count. Proof: docs/sensitivities.md#the-general-rule.
    """
    if not can_occur(pattern, bound):
        return 0
    embeddings = sum(_completions(pattern, bound, 1 << x) for x in range(pattern.vertices))
    return embeddings // len(pattern.automorphisms)


def copies_through_edge(pattern: Pattern, bound: Bound) -> int:
    """The most copies of `pattern` that one edge can belong to.

    Guarantees:
        No graph within `bound` has an edge in more copies; it is the edge-level
        sensitivity of the pattern's count. Proof: docs/sensitivities.md#the-general-rule.
    """
    if not can_occur(pattern, bound):
        return 0
    embeddings = sum(_completions(pattern, bound, 1 << u | 1 << v) for u, v in pattern.arcs)
    return embeddings // len(pattern.automorphisms)


def can_occur(pattern: Pattern, bound: Bound) -> bool:
    """Whether some graph within `bound` may contain the pattern at all."""
    outward, inward = _limits(pattern, bound)
    if pattern.has_reciprocal_pair and not bound.reciprocal:
        return False
    return all(len(out) <= outward for out in pattern.outward) and all(
        len(into) <= inward for into in pattern.inward
    )


def _limits(pattern: Pattern, bound: Bound) -> tuple[int, int]:
    """The bound on out- and on in-links, which are the same links if undirected."""
    if bound.directed != pattern.directed:
        needed = "an in-degree and an out-degree bound" if pattern.directed else "one degree bound"
        kind = "directed" if pattern.directed else "undirected"
        raise ParameterError("pattern", f"a pattern of {kind} edges needs {needed}")
    return bound.limit("out"), bound.limit("in")


def _completions(pattern: Pattern, bound: Bound, start: int) -> int:
    """The most embeddings once the vertices in the bit set `start` have their place."""
    everything = (1 << pattern.vertices) - 1

    @cache
    def fewest(placed: int) -> int:
        if placed == everything:
            return 1
        free = (y for y in range(pattern.vertices) if not placed >> y & 1)
        choices = ((y, _choices(pattern, bound, placed, y)) for y in free)
        return min(count * fewest(placed | 1 << y) for y, count in choices if count is not None)

    return fewest(start)


def _choices(pattern: Pattern, bound: Bound, placed: int, y: int) -> int | None:
    """How many nodes can take the place of y; None while no neighbour of y is placed.

    Where the pattern can occur at all, there is one at least: y is itself among the links of p.
    """
    outward, inward = _limits(pattern, bound)
    remaining = [
        limit - sum(placed >> other & 1 for other in links[p])
        for limit, links in ((outward, pattern.outward), (inward, pattern.inward))
        for p in pattern.neighbours[y]
        if placed >> p & 1 and y in links[p]
    ]
    return min(remaining) if remaining else None
