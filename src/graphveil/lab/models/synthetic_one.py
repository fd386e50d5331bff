"""Synthetic I: preferential attachment in which cases are isolated or grow old.

The paper modifies the Barabási–Albert model in three ways. Nodes come in years, after `m0`
initial ones at time 0. Each new node is isolated with probability `isolated`; otherwise it
connects to `k` different existing nodes. Older nodes are chosen less often: the weight of an
existing node is (degree + 1) · (now − its year + 1)^(−decay).

What the paper leaves open, and what is done here:

- By the paper's weight, degree · decay, a node of degree 0 would never be chosen, and at the
  beginning all nodes are such. Everybody has one ticket more than links: degree + 1.
- The paper's degree becomes the out-degree "in directed graph". Both readings are here
  (`preference`); its one line in the table of datasets suggests one graph for both versions,
  and the default is the degree.
- Nodes of one year arrive one after the other, and each may connect to those before it, of its
  own year too: the "+ 1" in the paper's age would not be needed otherwise. Edges run from the
  lower to the higher time stamp and, within a year, from the earlier arrival to the later.
- An isolated node is isolated when it arrives. Later nodes may still connect to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.kernels import kernel
from graphveil.lab.models.transmissions import (
    Transmissions,
    require_probability,
    require_whole,
    seeded,
)

PREFERENCES = ("degree", "out-degree")
_SMALLEST_WEIGHT = 300  # decimal places; what is smaller than a float's least would never be drawn


@dataclass(frozen=True)
class SyntheticOne:
    """The model with its parameters; by default the paper's.

    Attributes:
        m0: initial nodes, with time stamp 0.
        yearly: new nodes a year (the paper's n).
        years: how many years follow (the paper's Y).
        k: how many existing nodes a new node connects to, unless it is isolated.
        isolated: the probability that a new node connects to none.
        decay: how fast old nodes lose weight (the paper's c); 0 for never.
        preference: whether links in both directions attract further ones, or outgoing only.
    """

    m0: int = 500
    yearly: int = 70
    years: int = 20
    k: int = 1
    isolated: float = 0.5
    decay: float = 1.0
    preference: str = "degree"

    def __post_init__(self) -> None:
        require_whole(1, m0=self.m0, yearly=self.yearly, years=self.years, k=self.k)
        require_probability(isolated=self.isolated)
        if not 0 <= self.decay * log10(self.years + 1) <= _SMALLEST_WEIGHT:
            most = f"{_SMALLEST_WEIGHT / log10(self.years + 1):.0f}"
            raise ParameterError("decay", f"must lie between 0 and {most} for {self.years} years")
        if self.preference not in PREFERENCES:
            raise ParameterError("preference", f"must be one of {', '.join(PREFERENCES)}")

    def draw(self, seed: int) -> Transmissions:
        """One graph of the model; the same seed gives the same graph."""
        weight_at_age = np.arange(1, self.years + 2, dtype=np.float64) ** -self.decay
        time, source, target = grow(
            self.m0,
            self.yearly,
            self.years,
            self.k,
            float(self.isolated),
            weight_at_age,
            self.preference == "degree",
            seeded(seed),
        )
        return Transmissions(time, source, target)


# Kernels of Synthetic I: drawing nodes by weights that change every year.
#
# All nodes of one year lose weight at the same rate. So a year is drawn first, by its tickets
# times its weight, then a ticket within the year. Nodes are numbered by arrival, hence a year's
# tickets are neighbours in one Fenwick tree, and a draw takes logarithmic time.


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
