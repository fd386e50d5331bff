"""The largest forest with limited degrees, fractions of links allowed: an exact linear program.

f_b(G) = max x(E) over all x ≥ 0 with x(E[S]) ≤ |S| − 1 for every set S of two nodes or more, and
x(δ(v)) ≤ b(v) for every node v. A solver works with floating-point numbers, and only proposes. What
it proposes is rounded to fractions with a small common denominator and checked with integers:

- a solution x, by its degrees and by a routing of its links (`violated`): no less than its size;
- prices z ≥ 0 of nodes and y ≥ 0 of sets: no more than Σ b·z + Σ (|S| − 1)·y + Σ max(0, 1 − what
  the prices at a link come to), the last over all links.

Where the two meet, that is the value. Where they do not, which no network has shown so far, the
same program is solved with fractions throughout (`_exactly`): slow, but it always ends.

Sets are found where a solution violates them, and links are taken into the program where prices
ask for them: a program has a few rows and columns per node, however dense the graph is.

Proofs: docs/sensitivities.md#forests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.capped_forests import Brackets, capped_forest
from graphveil.kernels import kernel

Int64s = NDArray[np.int64]
Floats = NDArray[np.float64]

PARTS = 10**9  # of a link, in which solutions of the solver are routed to find violated sets
NEARLY = 10**3  # of these parts, which the solver may be wrong by
DENOMINATORS = 5040  # up to which common ones are tried
WRONG = 1e-6  # that an entry of the solver may be away from a fraction
SPARSE = 3  # links per node with which a program begins
ROOM_FOR_SETS = 4  # times all nodes: how many members violated sets have that are found at once


@dataclass(frozen=True, eq=False)
class Network:
    """A connected graph with a room for links at every node; a secret.

    Attributes:
        nodes: how many; they are called 0, 1, 2, …
        one: an end of each link.
        other: its other end.
        room: how many links of a forest each node may have; at least 1.
    """

    nodes: int
    one: Int64s = field(repr=False)
    other: Int64s = field(repr=False)
    room: Int64s = field(repr=False)


def forest_size(network: Network) -> Fraction:
    """f_b of a connected network, exactly.

    Guarantees:
        Never more and never less: a solution and prices of the same value are checked with
        integers, or found with fractions. Proof: docs/sensitivities.md#forests.
    """
    if int(network.room.max()) == 1:
        return _half_links(network)
    found = capped_forest(network.nodes, network.one, network.other, network.room)
    if found.least == found.most:
        return Fraction(found.least)
    solved = _Program(network, found).solved()
    return _exactly(network) if solved is None else solved


def _half_links(network: Network) -> Fraction:
    """Nobody has room for two links: sets limit nothing, and x is a fractional matching.

    That is half a matching of nodes with nodes, in which each is named by a neighbour at most once.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    ends = (
        np.concatenate([network.one, network.other]),
        np.concatenate([network.other, network.one]),
    )
    linked = coo_array((np.ones(len(ends[0]), np.int8), ends), (network.nodes, network.nodes))
    named = maximum_bipartite_matching(linked.tocsr())
    return Fraction(int(np.count_nonzero(named >= 0)), 2)


# The program that the solver works on: some links, some sets, all nodes.


class _Program:
    """Rows and columns as far as they were needed; grows until the solution holds."""

    def __init__(self, network: Network, found: Brackets) -> None:
        self.network = network
        self.found = found
        self.sets: list[Int64s] = [np.arange(network.nodes), *_apart(network, found.hubs)]
        self.used = _few_links(network) | found.chosen

    def solved(self) -> Fraction | None:
        """The value, once a solution and prices agree; None if rounding does not show it.

        Every round adds a set or a link that was not there, so that it ends.
        """
        while (proposed := self._solution()) is not None:
            links, prices = proposed
            sets = violated(self.network, links)
            if sets and self._most(prices) == self.found.least:
                return Fraction(self.found.least)
            reached = links.sum() < self.found.least + WRONG  # sets would not lower it further
            if sets:
                if not (reached and self._widened(prices)) and not self._added(sets):
                    return None
                continue
            least = _size_of(self.network, links)
            if least == self.found.most:
                return least
            if not self._widened(prices):
                return least if least is not None and least == self._most(prices) else None
        return None

    def _widened(self, prices: Floats) -> bool:
        """Take the links into the program that the prices ask for; whether there are any."""
        asked = self._asked_for(prices)
        self.used[asked] = True
        return len(asked) > 0

    def _added(self, sets: list[Int64s]) -> bool:
        """Add sets to the program; whether one was not there, by more than the solver's error."""
        known = {each.tobytes() for each in self.sets}
        new = [each for each in sets if each.tobytes() not in known]
        self.sets += new
        return bool(new)

    def _solution(self) -> tuple[Floats, Floats] | None:
        """The solver's x on all links, and its prices of nodes and of sets; None if it fails."""
        from scipy.optimize import linprog

        columns = np.flatnonzero(self.used)
        found = linprog(
            -np.ones(len(columns)),
            A_ub=self._rows(columns),
            b_ub=np.concatenate([self.network.room, [len(each) - 1 for each in self.sets]]),
            bounds=(0, 1),
            method="highs-ds",
        )
        if found.x is None:
            return None
        links = np.zeros(len(self.used))
        links[columns] = np.clip(found.x, 0, 1)
        return links, -found.ineqlin.marginals

    def _rows(self, columns: Int64s) -> Any:
        """Which links touch each node, and then which lie in each set."""
        from scipy.sparse import coo_array

        one, other = self.network.one[columns], self.network.other[columns]
        places = np.arange(len(columns))
        rows, entries = [one, other], [places, places]
        for number, members in enumerate(self.sets):
            inside = places[_within(self.network, members)[columns]]
            rows.append(np.full(len(inside), self.network.nodes + number))
            entries.append(inside)
        at = np.concatenate(rows), np.concatenate(entries)
        shape = (self.network.nodes + len(self.sets), len(columns))
        return coo_array((np.ones(len(at[0])), at), shape).tocsr()

    def _asked_for(self, prices: Floats) -> Int64s:
        """Links outside the program that cost less than the 1 that they bring, the cheapest."""
        cost = self._costs(prices)
        outside = np.flatnonzero(~self.used & (cost < 1 - WRONG))
        return outside[np.argsort(cost[outside], kind="stable")[: self.network.nodes]]

    def _costs(self, prices: NDArray[Any]) -> NDArray[Any]:
        """What the prices at each link come to: of its two ends, and of the sets around it."""
        network = self.network
        cost: NDArray[Any] = prices[network.one] + prices[network.other]
        for price, members in zip(prices[network.nodes :], self.sets, strict=True):
            if price:
                cost[_within(network, members)] += price
        return cost

    def _most(self, prices: Floats) -> Fraction | None:
        """What no solution exceeds, by prices that are rounded to fractions."""
        fractions = _as_fractions(np.maximum(prices, 0))
        if fractions is None:
            return None
        whole, parts = fractions
        network = self.network
        left = np.maximum(parts - self._costs(whole), 0)
        sizes = np.array([len(each) - 1 for each in self.sets])
        value = whole[: network.nodes] @ network.room + whole[network.nodes :] @ sizes + left.sum()
        return Fraction(int(value), parts)


def _apart(network: Network, hubs: NDArray[np.bool_]) -> list[Int64s]:
    """The connected parts of two nodes or more that are left without the hubs of a search.

    With these sets the program begins at the bound that the search has shown, or below it.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not hubs.any():
        return []
    both = ~(hubs[network.one] | hubs[network.other])
    ends = network.one[both], network.other[both]
    linked = coo_array((np.ones(len(ends[0]), np.int8), ends), (network.nodes, network.nodes))
    _, part = connected_components(linked, directed=False)
    order = np.argsort(part, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(part[order])) + 1)
    return [np.sort(group) for group in groups if len(group) > 1]


def _few_links(network: Network) -> NDArray[np.bool_]:
    """Some links of every node, those to nodes with few links first, and a spanning tree."""
    degrees = np.bincount(np.concatenate([network.one, network.other]), minlength=network.nodes)
    chosen = np.zeros(len(network.one), np.bool_)
    order = np.argsort(degrees[network.one] + degrees[network.other], kind="stable")
    _choose(network.one, network.other, order, SPARSE, network.nodes, chosen)
    return chosen


@kernel
def _choose(
    one: Int64s, other: Int64s, order: Int64s, most: int, nodes: int, chosen: NDArray[np.bool_]
) -> None:
    """Choose links in this order if an end has fewer than `most`, or if they join two parts."""
    links, parent = np.zeros(nodes, np.int64), np.arange(nodes)
    for place in order:
        u, v = one[place], other[place]
        a, b = u, v
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a != b or links[u] < most or links[v] < most:
            chosen[place] = True
            links[u] += 1
            links[v] += 1
            parent[max(a, b)] = min(a, b)


def _within(network: Network, members: Int64s) -> NDArray[np.bool_]:
    inside = np.zeros(network.nodes, np.bool_)
    inside[members] = True
    both: NDArray[np.bool_] = inside[network.one] & inside[network.other]
    return both


# Fractions of what the solver proposes, and what they prove.


def _as_fractions(values: Floats) -> tuple[Int64s, int] | None:
    """Numerators and their least common denominator; None if no small one fits."""
    distinct = np.unique(np.round(values, 9))
    for parts in range(1, DENOMINATORS + 1):
        if np.abs(distinct * parts - np.rint(distinct * parts)).max() < WRONG * parts:
            return np.rint(values * parts).astype(np.int64), parts
    return None


def _size_of(network: Network, links: Floats) -> Fraction | None:
    """The size of a solution that is rounded to fractions; None if it does not hold then."""
    fractions = _as_fractions(links)
    if fractions is None:
        return None
    whole, parts = fractions
    degrees = np.bincount(network.one, whole, network.nodes) + np.bincount(
        network.other, whole, network.nodes
    )
    if (degrees > network.room * parts).any() or _routed(network, whole, parts):
        return None
    return Fraction(int(whole.sum()), parts)


def violated(network: Network, links: Floats) -> list[Int64s]:
    """Sets with more links inside than a forest has there, by more than the solver's error."""
    return _routed(network, np.rint(links * PARTS).astype(np.int64), PARTS, NEARLY)


def _routed(network: Network, whole: Int64s, parts: int, nearly: int = 0) -> list[Int64s]:
    """Sets that integers violate: none if these are a solution, in `parts` of a link."""
    positive = np.flatnonzero(whole)
    one, other, weight = network.one[positive], network.other[positive], whole[positive]
    ends = np.concatenate([one, other])
    places = np.argsort(ends, kind="stable") % max(1, len(one))
    starts = np.zeros(network.nodes + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=network.nodes), out=starts[1:])
    links = _Loads(starts, places, one, other, weight, np.zeros_like(weight))
    members = np.empty(ROOM_FOR_SETS * network.nodes, np.int64)
    found = _route(links, parts, nearly, members)
    return [np.sort(members[first:last]) for first, last in pairwise(found)]


class _Loads(NamedTuple):
    """Links with a weight, of which each of the two ends is loaded with a part.

    Attributes:
        starts: where the list of each node begins.
        places: the links at each node, one list after the other.
        one: an end of each link.
        other: its other end.
        weight: of each link.
        first: what `one` is loaded with; the rest loads `other`.
    """

    starts: Int64s
    places: Int64s
    one: Int64s
    other: Int64s
    weight: Int64s
    first: Int64s


@kernel
def _route(links: _Loads, parts: int, nearly: int, members: Int64s) -> Int64s:
    """Let each link load its two ends so that nobody has more than `parts`, and a root nothing.

    If that is possible for every root, no set has more links inside than its size less 1: all of
    them load its nodes, and it may contain the root. If not, the nodes that a root can reach by
    shifting loads are such a set. They are written into `members`, one set after the other, as
    long as there is room; where each begins and ends is returned.
    """
    nodes = len(links.starts) - 1
    load = _first_loads(links, nodes)
    came, seen = np.empty(nodes, np.int64), np.full(nodes, -1)
    queue, inside = np.empty(nodes, np.int64), np.zeros(nodes, np.bool_)
    ends, sets, turn = np.zeros(nodes + 1, np.int64), 0, 0
    for root in range(2 * nodes):  # nobody too much, and then each in turn nothing
        start, aim = root % nodes, parts if root < nodes else 0
        while load[start] > aim and not inside[start]:
            turn += 1
            end, reached = _way_out(links, load, parts, start, turn, came, seen, queue)
            if end >= 0:
                _shift(links, load, parts, aim, start, end, came)
                continue
            if load[start] - aim > nearly:
                if ends[sets] + reached > len(members):
                    return ends[: sets + 1]
                ends[sets + 1] = ends[sets] + reached
                members[ends[sets] : ends[sets + 1]] = queue[:reached]
                inside[queue[:reached]] = True
                sets += 1
            break
    return ends[: sets + 1]


@kernel
def _first_loads(links: _Loads, nodes: int) -> Int64s:
    """Load with each link the end that has less so far."""
    load = np.zeros(nodes, np.int64)
    for place in range(len(links.weight)):
        u, v = links.one[place], links.other[place]
        if load[u] <= load[v]:
            links.first[place] = links.weight[place]
            load[u] += links.weight[place]
        else:
            load[v] += links.weight[place]
    return load


@kernel
def _way_out(
    links: _Loads,
    load: Int64s,
    parts: int,
    start: int,
    turn: int,
    came: Int64s,
    seen: Int64s,
    queue: Int64s,
) -> tuple[int, int]:
    """The nearest node with room that loads can be shifted to, or −1; and how many were reached."""
    seen[start], queue[0] = turn, start
    head, tail = 0, 1
    while head < tail:
        u = queue[head]
        head += 1
        for at in range(links.starts[u], links.starts[u + 1]):
            place = links.places[at]
            share, v = links.first[place], links.other[place]
            if links.one[place] != u:
                share, v = links.weight[place] - share, links.one[place]
            if share == 0 or seen[v] == turn:
                continue
            seen[v], came[v] = turn, place
            if load[v] < parts:
                return v, tail
            queue[tail] = v
            tail += 1
    return -1, tail


@kernel
def _shift(
    links: _Loads, load: Int64s, parts: int, aim: int, start: int, end: int, came: Int64s
) -> None:
    """Shift as much as possible along the way that was found."""
    amount, v = min(load[start] - aim, parts - load[end]), end
    while v != start:
        place = came[v]
        if links.other[place] == v:
            amount, v = min(amount, links.first[place]), links.one[place]
        else:
            amount = min(amount, links.weight[place] - links.first[place])
            v = links.other[place]
    v = end
    while v != start:
        place = came[v]
        if links.other[place] == v:
            links.first[place] -= amount
            v = links.one[place]
        else:
            links.first[place] += amount
            v = links.other[place]
    load[start] -= amount
    load[end] += amount


# The same with fractions throughout, for what rounding does not decide.
#
# Every x is a mixture of forests. So the value is that of a program with a column for each forest
# and a row for each node, and one for the mixture. Its columns are found as they are needed: at
# given prices the best forest is the greedy one.


def _exactly(network: Network) -> Fraction:
    """The value by the revised simplex method on fractions.

    Of several rows that could leave, the lexicographically least does: no basis ever returns.
    """
    size = network.nodes + 1
    limits = [*network.room.tolist(), 1]
    rows = [
        [Fraction(limit), *(Fraction(place == own) for own in range(size))]
        for place, limit in enumerate(limits)
    ]
    gains = [0] * size
    while True:
        prices = [
            sum(gain * row[at] for gain, row in zip(gains, rows, strict=True))
            for at in range(1, size + 1)
        ]
        gain, column = _entering(network, [Fraction(each) for each in prices])
        if column is None:
            return Fraction(sum(gain * row[0] for gain, row in zip(gains, rows, strict=True)))
        moved = [
            sum((row[1 + at] * number for at, number in column.items()), Fraction()) for row in rows
        ]
        leaves = min(
            (at for at, each in enumerate(moved) if each > 0),
            key=lambda at: [entry / moved[at] for entry in rows[at]],
        )
        rows[leaves] = [entry / moved[leaves] for entry in rows[leaves]]
        for at, factor in enumerate(moved):
            if at != leaves and factor:
                rows[at] = [a - factor * b for a, b in zip(rows[at], rows[leaves], strict=True)]
        gains[leaves] = gain


def _entering(network: Network, prices: list[Fraction]) -> tuple[int, dict[int, int] | None]:
    """A column that gains at these prices, and its size: a slack, or a forest; else None."""
    for at, price in enumerate(prices):
        if price < 0:
            return 0, {at: 1}
    worth = [1 - prices[u] - prices[v] for u, v in zip(network.one, network.other, strict=True)]
    forest = _best_forest(network, worth)
    if sum((worth[place] for place in forest), Fraction()) <= prices[-1]:
        return 0, None
    column = {network.nodes: 1}
    for place in forest:
        for end in (int(network.one[place]), int(network.other[place])):
            column[end] = column.get(end, 0) + 1
    return len(forest), column


def _best_forest(network: Network, worth: Sequence[Fraction]) -> list[int]:
    """The links of a forest that is worth most: the dearest first, as long as no circle closes."""
    parent = list(range(network.nodes))

    def oldest(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    forest = []
    for place in sorted(range(len(worth)), key=lambda at: (-worth[at], at)):
        ends = oldest(int(network.one[place])), oldest(int(network.other[place]))
        if worth[place] > 0 and ends[0] != ends[1]:
            parent[max(ends)] = min(ends)
            forest.append(place)
    return forest
