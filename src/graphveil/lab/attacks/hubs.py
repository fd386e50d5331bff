"""Attacks on promises with hubs: pairs whose first links alone are counted.

A pair is any two neighbours that keep the promise; both are projected as counting does
(`graph/projection.py`), and only then compared. Every small pair is tried, and larger ones
by the same moves as under a degree bound, of which those that break the promise are undone.
Where the promise is not checked, only the person who makes the difference has to keep it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from zlib import crc32

import numpy as np

from graphveil.graph.promises import HubBound
from graphveil.kernels import kernel
from graphveil.lab.attacks.annealing import Climb, SearchRules, move
from graphveil.lab.attacks.constructions import (
    MEASURED,
    Desk,
    Mask,
    Numbers,
    compiled,
    constructions,
    evaluate,
    make_desk,
    seen_steps,
    weigh,
)
from graphveil.lab.attacks.enumeration import Family, Size, arrival_orders, family_of, next_edges
from graphveil.lab.pairs import (
    NEVER,
    Attackable,
    Definition,
    Pair,
    Schedule,
    hidden_part,
    tables_of,
    window_of,
)
from graphveil.statistics.sensitivity import Sensitivity


class Limits(NamedTuple):
    """The numbers of a promise with hubs; of an undirected one, the same both ways.

    Attributes:
        inward: how many in-links of a node count.
        outward: how many out-links of a node count.
        to_hubs: to how many nodes with more in-links a node may link.
        from_hubs: how many nodes with more out-links may link to a node.
        symmetric: whether edges go both ways.
        oriented: whether reciprocal edges are forbidden.
        alone: whether only the person keeps the promise who is in one sequence alone.
    """

    inward: int
    outward: int
    to_hubs: int
    from_hubs: int
    symmetric: bool
    oriented: bool
    alone: bool


def limits_of(bound: HubBound) -> Limits:
    """The limits of a promise."""
    hubs = bound.hubs if bound.directed else bound.hubs * 2
    sides = bound.within.limit("in"), bound.within.limit("out")
    kind = not bound.directed, bound.kind == "oriented", not bound.checked
    return Limits(*sides, hubs[0], hubs[1], *kind)


@kernel
def place_in_order(schedule: Schedule, u: int, v: int, symmetric: bool) -> int:
    """A number by which edges are taken: step, prompt or late, newer end, older end, way."""
    nodes = len(schedule)
    one, other = schedule[u, u] * nodes + u, schedule[v, v] * nodes + v
    newer, older = max(one, other), min(one, other)
    late = schedule[u, v] > max(schedule[u, u], schedule[v, v])
    place = (int(schedule[u, v]) * 2 + late) * 16384 + newer
    backward = one > other and not symmetric
    return int((place * 16384 + older) * 2 + backward)


@kernel
def keep_first_links(schedule: Schedule, limits: Limits, kept: Schedule) -> None:
    """The schedule of what is counted: an edge among the first of both its ends."""
    nodes = len(schedule)
    for u in range(nodes):
        for v in range(nodes):
            kept[u, v] = schedule[u, v]
            if u == v or schedule[u, v] == NEVER:
                continue
            own = place_in_order(schedule, u, v, limits.symmetric)
            leaving, entering = 0, 0
            for other in range(nodes):
                if other != u and schedule[u, other] != NEVER:
                    leaving += place_in_order(schedule, u, other, limits.symmetric) < own
                if other != v and schedule[other, v] != NEVER:
                    entering += place_in_order(schedule, other, v, limits.symmetric) < own
            if leaving >= limits.outward or entering >= limits.inward:
                kept[u, v] = NEVER


@kernel
def keeps_promise(schedule: Schedule, limits: Limits) -> bool:
    """Whether nobody is linked to more hubs than promised, and nothing forbidden is there.

    Of a promise that is not checked, only the last node keeps it, who is in one sequence alone.
    """
    nodes = len(schedule)
    inward, outward = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    for u in range(nodes):
        for v in range(nodes):
            if u != v and schedule[u, v] != NEVER:
                outward[u] += 1
                inward[v] += 1
                if limits.oriented and schedule[v, u] != NEVER:
                    return False
    for u in range(nodes - 1 if limits.alone else 0, nodes):
        to_hubs, from_hubs = 0, 0
        for v in range(nodes):
            if u != v:
                to_hubs += schedule[u, v] != NEVER and inward[v] > limits.inward
                from_hubs += schedule[v, u] != NEVER and outward[v] > limits.outward
        if to_hubs > limits.to_hubs or from_hubs > limits.from_hubs:
            return False
    return True


@kernel
def project_pair(schedule: Schedule, hidden: Mask, limits: Limits, kept: Schedule) -> None:
    """What is counted of the larger sequence, and of the smaller one."""
    nodes = len(schedule)
    smaller = schedule.copy()
    for u in range(nodes):
        for v in range(nodes):
            if hidden[u, v] == 1:
                smaller[u, v] = NEVER
    keep_first_links(schedule, limits, kept[0])
    keep_first_links(smaller, limits, kept[1])


@kernel
def projected_distances(
    definition: Definition, given: Numbers, kept: Schedule, steps: int, desk: Desk, found: Numbers
) -> None:
    """All distances of one pair of projected schedules, into `found`."""
    desk.values[2:] = 0
    found[:] = 0
    nodes = kept.shape[1]
    for step in range(seen_steps(steps, desk)):
        for graph in range(2):
            for u in range(nodes):
                for v in range(nodes):
                    there = kept[graph, u, v] <= step
                    if u == v:
                        desk.present[graph, u] = there
                        desk.links[graph, u, u] = 0
                    else:
                        desk.links[graph, u, v] = there
            evaluate(definition, given, kept[graph], step, graph, desk)
        weigh(desk, found)


class Record(NamedTuple):
    """The largest distances so far, a pair for each, and room for what is counted of a pair."""

    best: Numbers
    schedules: Schedule
    kept: Schedule
    found: Numbers


def _record(nodes: int) -> Record:
    return Record(
        np.full(MEASURED, -1, np.int64),
        np.full((MEASURED, nodes, nodes), NEVER, np.int8),
        np.zeros((2, nodes, nodes), np.int8),
        np.zeros(MEASURED, np.int64),
    )


@kernel
def try_pair(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    hidden: Mask,
    steps: int,
    limits: Limits,
    desk: Desk,
    record: Record,
) -> None:
    """Measure one pair, and keep it for every distance in which it is the farthest."""
    project_pair(schedule, hidden, limits, record.kept)
    projected_distances(definition, given, record.kept, steps, desk, record.found)
    for measure in range(MEASURED):
        if record.found[measure] > record.best[measure]:
            record.best[measure] = record.found[measure]
            record.schedules[measure] = schedule


@kernel
def enumerate_with_hubs(
    definition: Definition,
    given: Numbers,
    arrivals: Numbers,
    family: Family,
    limits: Limits,
    desk: Desk,
    record: Record,
) -> int:
    """Try every pair that keeps the promise; says how many do."""
    tried = 0
    schedule = np.empty(family.hidden.shape, np.int8)
    for row in range(len(arrivals)):
        schedule[:] = NEVER
        for v in range(len(schedule)):
            schedule[v, v] = arrivals[row, v]
        more = True
        while more:
            if keeps_promise(schedule, limits):
                hidden, steps = family.hidden, family.steps
                try_pair(definition, given, schedule, hidden, steps, limits, desk, record)
                tried += 1
            more = next_edges(schedule, family)
    return tried


@kernel
def anneal_with_hubs(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    rules: SearchRules,
    climb: Climb,
    limits: Limits,
    rng: np.random.Generator,
    desk: Desk,
    record: Record,
) -> None:
    """Walk from `schedule` towards farther pairs that keep the promise."""
    hidden, steps = rules.hidden, rules.steps
    try_pair(definition, given, schedule, hidden, steps, limits, desk, record)
    current, heat = record.found[climb.goal], climb.hot
    cooling = (climb.cold / climb.hot) ** (1.0 / max(1, climb.moves))
    trial = schedule.copy()
    for _ in range(climb.moves):
        heat *= cooling
        trial[:] = schedule
        move(trial, rules, rng)
        while rng.random() < 0.4:
            move(trial, rules, rng)
        if not keeps_promise(trial, limits):
            continue
        try_pair(definition, given, trial, hidden, steps, limits, desk, record)
        gain = record.found[climb.goal] - current
        if gain >= 0 or rng.random() < np.exp(gain / heat):
            current = record.found[climb.goal]
            schedule[:] = trial


@dataclass(frozen=True)
class HubFinding:
    """The farthest pairs under a promise with hubs, against what is claimed.

    Attributes:
        claimed: the sensitivity under attack.
        l1: the largest L1 distance of difference sequences that was found.
        static_l1: the largest distance of one release.
        l2_squared: the largest squared L2 distance.
        variation_squared: the largest sum of squares of all rises and all falls.
        witness: a pair that reaches `l1`.
        witnesses: a pair for each of the four distances.
        pairs: how many pairs were tried.
    """

    claimed: Sensitivity
    l1: int
    static_l1: int
    l2_squared: int
    variation_squared: int
    witness: Pair
    witnesses: tuple[Pair, ...]
    pairs: int

    @property
    def broken(self) -> bool:
        """Whether some pair lies farther apart than claimed in any measure."""
        names = ("l1", "static_l1", "l2_squared", "variation_squared")
        return any(getattr(self, name) > getattr(self.claimed, name) for name in names)

    @property
    def reached(self) -> bool:
        """Whether some pair lies as far apart as Γ says."""
        return self.l1 == self.claimed.l1


def attack_with_hubs(
    statistic: Attackable,
    claimed: Sensitivity,
    bound: HubBound,
    *,
    sizes: Sequence[Size],
    runs: int = 4,
    moves: int = 3_000,
    seed: int = 0,
) -> HubFinding:
    """Attack a sensitivity that is claimed under a promise with hubs.

    Args:
        statistic: what is counted.
        claimed: what one person is said to change at most.
        bound: the promise, which also decides whether graphs are directed.
        sizes: the sizes at which every pair is tried.
        runs: how many larger searches are made for each distance.
        moves: how many pairs each of them tries.
        seed: what every choice follows from.
    """
    given = np.array(statistic.definition_arguments(directed=bound.directed), dtype=np.int64)
    definition, limits = compiled(statistic.definition), limits_of(bound)
    tried, records = 0, []
    for size in sizes:
        late = size.steps is not None
        steps = size.steps or size.nodes
        family = family_of(size.nodes, steps, "node", directed=bound.directed, late=late)
        orders = np.array(list(arrival_orders(size.nodes, steps, 1, gaps=late)), dtype=np.int64)
        record = _record(size.nodes)
        desk = make_desk(size.nodes, window_of(statistic), tables_of(statistic))
        tried += enumerate_with_hubs(definition, given, orders, family, limits, desk, record)
        records.append(record)
    rng = np.random.default_rng([seed, crc32(f"{statistic} {bound}".encode())])
    for goal in range(MEASURED):
        for start in _starts(bound, runs, rng):
            steps = 1 + int(max(start[start != NEVER]))
            rules = _free_rules(bound, len(start), steps + int(rng.integers(0, 3)))
            size_of_claim = (claimed.l1, claimed.static_l1, claimed.l2_squared, claimed.l1)[goal]
            climb = Climb(goal, moves, 0.5 + 0.06 * size_of_claim, 0.1 + 0.006 * size_of_claim)
            record = _record(len(start))
            desk = make_desk(len(start), window_of(statistic), tables_of(statistic))
            anneal_with_hubs(definition, given, start, rules, climb, limits, rng, desk, record)
            tried += moves + 1
            records.append(record)
    best = [max(records, key=lambda each: int(each.best[place])) for place in range(MEASURED)]
    l1, static, squares, variation = (int(each.best[place]) for place, each in enumerate(best))
    witnesses = tuple(
        Pair.of(each.schedules[place], "node", directed=bound.directed)
        for place, each in enumerate(best)
    )
    return HubFinding(claimed, l1, static, squares, variation, witnesses[0], witnesses, tried)


def first_links(schedule: Schedule, bound: HubBound) -> Schedule:
    """What is counted of a schedule under a promise with hubs."""
    projected = np.empty_like(schedule)
    keep_first_links(schedule, limits_of(bound), projected)
    return projected


def _starts(bound: HubBound, runs: int, rng: np.random.Generator) -> Iterator[Schedule]:
    """Known worst cases within the bound, with room for hubs, and nodes without edges."""
    known = list(constructions(bound.within, "node"))
    for run in range(runs):
        nodes = int(sum(bound.within.limits) + rng.integers(3, 8))
        schedule = np.full((nodes, nodes), NEVER, dtype=np.int8)
        np.fill_diagonal(schedule, rng.integers(0, int(rng.choice((2, 4, 6))), nodes))
        if run % 2:
            chosen = known[int(rng.integers(len(known)))]
            nodes = len(chosen) + int(rng.integers(2, 6))
            schedule = np.full((nodes, nodes), NEVER, dtype=np.int8)
            np.fill_diagonal(schedule, rng.integers(0, 3, nodes))
            schedule[-len(chosen) :, -len(chosen) :] = chosen
        yield schedule


def _free_rules(bound: HubBound, nodes: int, steps: int) -> SearchRules:
    """Moves as under a bound that nobody reaches."""
    return SearchRules(
        hidden=hidden_part(nodes, "node", directed=bound.directed),
        inward=nodes,
        outward=nodes,
        symmetric=not bound.directed,
        oriented=bound.kind == "oriented",
        by_edge=False,
        steps=steps,
    )
