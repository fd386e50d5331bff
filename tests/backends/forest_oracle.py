"""Forests with limited degrees by brute force, sharing nothing with the package's evaluator.

The linear program has a row for every set of nodes, and is solved with fractions; how many people
can be named follows from Hall's condition, over all sets of people.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import TypeAlias

Edges: TypeAlias = Sequence[tuple[int, int]]


def forest_size(nodes: int, edges: Edges, branches: int) -> Fraction:
    """f_c: the largest x(E) with at most |S| − 1 in every set S, and at most c at every node."""
    rows = [[int(v in edge) for edge in edges] for v in range(nodes)]
    most = [branches] * nodes
    for size in range(2, nodes + 1):
        for members in combinations(range(nodes), size):
            inside = [int(u in members and v in members) for u, v in edges]
            if sum(inside) >= size:
                rows.append(inside)
                most.append(size - 1)
    rows += [[int(at == place) for at in range(len(edges))] for place in range(len(edges))]
    return _largest(rows, [*most, *[1] * len(edges)])


def people_named(nodes: int, edges: Edges, branches: int) -> int:
    """s_c, by Hall: all but the worst surplus of a crowd over what its neighbours can name."""
    hub_adjacency = [0] * nodes
    for u, v in edges:
        hub_adjacency[u] |= 1 << v
        hub_adjacency[v] |= 1 << u
    surplus = 0
    for crowd in range(1 << nodes):
        namers = 0
        for v in range(nodes):
            if crowd >> v & 1:
                namers |= hub_adjacency[v]
        surplus = max(surplus, crowd.bit_count() - branches * namers.bit_count())
    return nodes - surplus


def counts(nodes: int, edges: Edges, branches: int) -> tuple[int, int]:
    """Components and clusters of at least two, by forests."""
    links = floor(forest_size(nodes, edges, branches))
    return nodes - links, people_named(nodes, edges, branches) - links


def without(nodes: int, edges: Edges, gone: int) -> tuple[int, list[tuple[int, int]]]:
    """The graph without a node; those after it move up."""
    rest = [(u - (u > gone), v - (v > gone)) for u, v in edges if gone not in (u, v)]
    return nodes - 1, rest


def all_graphs(nodes: int) -> Iterator[list[tuple[int, int]]]:
    """Every graph with so many nodes, up to isomorphism."""
    from networkx.generators.atlas import graph_atlas_g

    for graph in graph_atlas_g():
        if len(graph) == nodes:
            yield [(u, v) for u, v in graph.edges()]


def _largest(rows: list[list[int]], most: list[int]) -> Fraction:
    """max Σ x over x ≥ 0 with every row at most so much: the simplex method, by Bland's rule."""
    columns = len(rows[0])
    table = [
        [*map(Fraction, row), *(Fraction(at == place) for at in range(len(rows))), Fraction(limit)]
        for place, (row, limit) in enumerate(zip(rows, most, strict=True))
    ]
    gain = [Fraction(1)] * columns + [Fraction(0)] * (len(rows) + 1)
    basis = list(range(columns, columns + len(rows)))
    while any(each > 0 for each in gain[:-1]):
        enters = next(at for at, each in enumerate(gain) if each > 0)
        _, _, leaves = min(
            (row[-1] / row[enters], basis[at], at)
            for at, row in enumerate(table)
            if row[enters] > 0
        )
        pivot = table[leaves][enters]
        table[leaves] = [each / pivot for each in table[leaves]]
        for row in [*table[:leaves], *table[leaves + 1 :], gain]:
            if factor := row[enters]:
                row[:] = [a - factor * b for a, b in zip(row, table[leaves], strict=True)]
        basis[leaves] = enters
    return -gain[-1]
