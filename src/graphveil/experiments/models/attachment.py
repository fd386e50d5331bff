"""Kernels of Synthetic I: drawing nodes by weights that change every year.

All nodes of one year lose weight at the same rate. So a year is drawn first, by its tickets
times its weight, then a ticket within the year. Nodes are numbered by arrival, hence a year's
tickets are neighbours in one Fenwick tree, and a draw takes logarithmic time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphveil.kernels.compiled import kernel

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def grow(
    m0: int,
    yearly: int,
    years: int,
    k: int,
    isolated: float,
    weight_at_age: Floats,
    both_ways: bool,
    rng: np.random.Generator,
) -> tuple[Int64s, Int64s, Int64s]:
    """Time stamps of all nodes, and the source and target of all edges."""
    nodes = m0 + yearly * years
    time = np.zeros(nodes, np.int64)
    source = np.empty(k * yearly * years, np.int64)
    target = np.empty(k * yearly * years, np.int64)
    tickets = np.zeros(nodes, np.int64)  # of each node
    tree = np.zeros(nodes + 1, np.int64)  # of ranges of nodes
    held = np.zeros(years + 1, np.int64)  # of each year
    edges = 0
    for node in range(nodes):
        year = 0 if node < m0 else (node - m0) // yearly + 1
        time[node] = year
        own = 1
        if year > 0 and rng.random() >= isolated:
            wanted = min(k, node)
            for i in range(wanted):
                chosen = _draw(tree, held, year, weight_at_age, rng)
                source[edges + i], target[edges + i] = chosen, node
                _give(tree, held, chosen, time[chosen], -tickets[chosen])  # not twice
            for i in range(wanted):
                chosen = source[edges + i]
                tickets[chosen] += 1
                _give(tree, held, chosen, time[chosen], tickets[chosen])
            edges += wanted
            own += wanted * both_ways
        tickets[node] = own
        _give(tree, held, node, year, own)
    return time, source[:edges].copy(), target[:edges].copy()


@kernel
def _give(tree: Int64s, held: Int64s, node: int, year: int, tickets: int) -> None:
    held[year] += tickets
    i = node + 1
    while i < len(tree):
        tree[i] += tickets
        i += i & -i


@kernel
def _draw(
    tree: Int64s, held: Int64s, now: int, weight_at_age: Floats, rng: np.random.Generator
) -> int:
    """A node, by its tickets times the weight of its age."""
    total = 0.0
    for year in range(now + 1):
        total += held[year] * weight_at_age[now - year]
    left, before, drawn, first = rng.random() * total, 0, -1, 0
    for year in range(now + 1):
        if held[year] > 0:
            drawn, first = year, before  # stays, should rounding leave a rest after the last
            left -= held[year] * weight_at_age[now - year]
            if left < 0:
                break
        before += held[year]
    return _holder(tree, first + int(rng.random() * held[drawn]))


@kernel
def _holder(tree: Int64s, ticket: int) -> int:
    """The node that holds a ticket, counted from 0 over all nodes."""
    reach = 1
    while reach * 2 < len(tree):
        reach *= 2
    node = 0
    while reach > 0:
        if node + reach < len(tree) and tree[node + reach] <= ticket:
            node += reach
            ticket -= tree[node]
        reach //= 2
    return node
