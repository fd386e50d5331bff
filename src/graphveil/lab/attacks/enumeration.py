"""Every pair on a few nodes: every graph and every order of arrival, none left out.

Nodes that play no part of their own are interchangeable, so only one order of each set of
their arrival steps is tried; every graph on them is. One enumeration serves every degree
bound at once: a pair is entered under its own largest degrees, and a bound then takes the
best of all entries within it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from graphveil.graph.promises import Bound
from graphveil.kernels import kernel
from graphveil.lab.attacks.constructions import (
    MEASURED,
    Desk,
    Mask,
    Numbers,
    compiled,
    distances,
    make_desk,
)
from graphveil.lab.pairs import (
    NEVER,
    Attackable,
    Definition,
    Pair,
    Relation,
    Schedule,
    hidden_part,
    tables_of,
    window_of,
)


class Family(NamedTuple):
    """Which pairs are enumerated.

    Attributes:
        hidden: what the smaller sequence lacks.
        slots: (slots, 2) the places where an edge may be.
        symmetric: whether an edge fills its slot both ways.
        forced: whether the first slot is never empty.
        late: whether an edge may appear later than its newer endpoint.
        steps: how many steps a sequence has.
    """

    hidden: Mask
    slots: Numbers
    symmetric: bool
    forced: bool
    late: bool
    steps: int


class FarthestPairs(NamedTuple):
    """The largest distances, by [reciprocal edges?, largest in-degree, largest out-degree].

    Attributes:
        best: (2, n, n, measures) the distances, -1 where no pair has these degrees.
        schedules: (2, n, n, measures, n, n) a pair that reaches each.
    """

    best: Numbers
    schedules: Schedule


@kernel
def put(schedule: Schedule, u: int, v: int, step: int, symmetric: bool) -> None:
    """Let the edge u→v (and v→u if undirected) appear at `step`."""
    schedule[u, v] = step
    if symmetric:
        schedule[v, u] = step


@kernel
def next_edges(schedule: Schedule, family: Family) -> bool:
    """Turn to the next choice of edges and steps, like an odometer; False after the last."""
    for slot in range(len(family.slots)):
        u, v = family.slots[slot]
        prompt = max(schedule[u, u], schedule[v, v])
        last = family.steps - 1 if family.late else prompt
        if schedule[u, v] == NEVER:
            put(schedule, u, v, prompt, family.symmetric)
            return True
        if schedule[u, v] < last:
            put(schedule, u, v, schedule[u, v] + 1, family.symmetric)
            return True
        start = prompt if family.forced and slot == 0 else NEVER
        put(schedule, u, v, start, family.symmetric)
    return False


@kernel
def degrees(schedule: Schedule, symmetric: bool) -> tuple[int, int, int]:
    """Whether reciprocal edges occur, and the largest in- and out-degree."""
    reciprocal, inward, outward = 0, 0, 0
    for u in range(len(schedule)):
        ins, outs = 0, 0
        for v in range(len(schedule)):
            if u != v:
                ins += schedule[v, u] != NEVER
                outs += schedule[u, v] != NEVER
                if not symmetric and schedule[u, v] != NEVER and schedule[v, u] != NEVER:
                    reciprocal = 1
        inward, outward = max(inward, ins), max(outward, outs)
    return reciprocal, inward, outward


@kernel
def enter(schedule: Schedule, found: Numbers, symmetric: bool, records: FarthestPairs) -> None:
    """Keep a pair's distances where they are the largest for its degrees."""
    place = degrees(schedule, symmetric)
    for measure in range(MEASURED):
        if found[measure] > records.best[place][measure]:
            records.best[place][measure] = found[measure]
            records.schedules[place][measure] = schedule


@kernel
def enumerate_pairs(
    definition: Definition,
    given: Numbers,
    arrivals: Numbers,
    family: Family,
    desk: Desk,
    records: FarthestPairs,
) -> int:
    """Try every choice of edges for every row of arrival steps; says how many pairs."""
    tried = 0
    found = np.zeros(MEASURED, np.int64)
    schedule = np.empty(family.hidden.shape, np.int8)
    for row in range(len(arrivals)):
        schedule[:] = NEVER
        for v in range(len(schedule)):
            schedule[v, v] = arrivals[row, v]
        if family.forced:
            u, v = family.slots[0]
            put(schedule, u, v, max(schedule[u, u], schedule[v, v]), family.symmetric)
        more = True
        while more:
            distances(definition, given, schedule, family.hidden, family.steps, desk, found)
            enter(schedule, found, family.symmetric, records)
            tried += 1
            more = next_edges(schedule, family)
    return tried


def arrival_orders(nodes: int, steps: int, special: int, *, gaps: bool) -> Iterator[list[int]]:
    """Every way to arrive, with the nodes before the last `special` ones in order.

    Without late edges a step at which nobody arrives changes nothing, so `gaps` are left out.
    """
    for order in product(range(steps), repeat=nodes):
        plain = order[: nodes - special]
        filled = gaps or len(set(order)) == max(order) + 1
        if min(order) == 0 and filled and list(plain) == sorted(plain):
            yield list(order)


def family_of(nodes: int, steps: int, relation: Relation, *, directed: bool, late: bool) -> Family:
    """The enumeration of all pairs of one size; the edge that may be hidden comes first."""
    if directed:
        slots = sorted(
            permutations(range(nodes), 2), key=lambda slot: slot != (nodes - 2, nodes - 1)
        )
    else:
        slots = [(u, v) for v in reversed(range(nodes)) for u in reversed(range(v))]
    return Family(
        hidden_part(nodes, relation, directed=directed),
        np.array(slots, dtype=np.int64).reshape(-1, 2),
        not directed,
        relation == "edge",
        late,
        steps,
    )


@dataclass(frozen=True, eq=False)
class Survey:
    """What an enumeration found, for every degree bound.

    Attributes:
        records: one per size that was enumerated.
        pairs: how many pairs were tried.
        directed: which kind of graph.
        relation: which kind of neighbours.
    """

    records: tuple[FarthestPairs, ...]
    pairs: int
    directed: bool
    relation: Relation

    def best(self, bound: Bound, measure: int) -> tuple[int, Pair | None]:
        """The largest distance among the pairs within `bound`, and a pair that has it."""
        largest, witness = -1, None
        for records in self.records:
            within = _within(bound)
            values = records.best[within][..., measure]
            if values.size and values.max() > largest:
                place = np.unravel_index(values.argmax(), values.shape)
                largest = int(values[place])
                witness = records.schedules[within][place][measure]
        if witness is None:
            return 0, None
        return largest, Pair.of(witness, self.relation, directed=self.directed)


def _within(bound: Bound) -> tuple[slice, slice, slice]:
    reciprocal = slice(0, 2 if bound.reciprocal else 1)
    return reciprocal, slice(bound.limit("in") + 1), slice(bound.limit("out") + 1)


@dataclass(frozen=True)
class Size:
    """How large the enumerated pairs are.

    Attributes:
        nodes: how many nodes, the one that differs included.
        steps: how many steps; None lets every edge be prompt, so that as many steps as
            nodes are enough, and a number gives every edge every possible step of its own.
    """

    nodes: int
    steps: int | None = None


def exhaustive(
    statistic: Attackable, sizes: tuple[Size, ...], *, relation: Relation, directed: bool
) -> Survey:
    """Try every pair of the given sizes, for every degree bound at once."""
    definition = compiled(statistic.definition)
    given = np.array(statistic.definition_arguments(directed=directed), dtype=np.int64)
    tried, all_records = 0, []
    for size in sizes:
        n, late = size.nodes, size.steps is not None
        family = family_of(n, size.steps or n, relation, directed=directed, late=late)
        special = 1 if relation == "node" else 2
        orders = np.array(list(arrival_orders(n, family.steps, special, gaps=late)), dtype=np.int64)
        records = FarthestPairs(
            np.full((2, n, n, MEASURED), -1, dtype=np.int64),
            np.zeros((2, n, n, MEASURED, n, n), dtype=np.int8),
        )
        desk = make_desk(n, window_of(statistic), tables_of(statistic))
        tried += enumerate_pairs(definition, given, orders, family, desk, records)
        all_records.append(records)
    return Survey(tuple(all_records), tried, directed, relation)
