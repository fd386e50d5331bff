"""Attacks on costs: neighbours whose change is dearer to measure than its shape says.

A shape claims, for every integer matrix C, that ‖C·d‖₁ stays within its cost, d being the change
that one person makes to the difference sequence. A few matrices that pull in different
directions are tried on every small pair, and on larger ones by climbing each matrix's cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, Protocol, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.promises import Bound
from graphveil.kernels import kernel
from graphveil.lab.attacks.annealing import SearchRules, move, rules_for
from graphveil.lab.attacks.attack import padded, random_start
from graphveil.lab.attacks.constructions import (
    Desk,
    Mask,
    Numbers,
    advance,
    compiled,
    constructions,
    evaluate,
    first_difference,
    make_desk,
)
from graphveil.lab.attacks.enumeration import Family, arrival_orders, degrees, family_of, next_edges
from graphveil.lab.pairs import (
    NEVER,
    Attackable,
    Definition,
    Pair,
    Schedule,
    hidden_part,
    tables_of,
    totals,
    window_of,
)
from graphveil.mechanisms.factorisations.bordered import Dyadic, bridged, identity
from graphveil.mechanisms.factorisations.factorisation import Dense
from graphveil.statistics.sensitivity import Shape

Matrix: TypeAlias = NDArray[np.int64]

CLIMBED_STEPS = 6  # of larger pairs: room for rises, falls and what comes between
COOL = 0.997


class Shaped(Attackable, Protocol):
    """What can be attacked here: any `Statistic`, and whatever else claims a shape."""

    def shape(self, bound: Bound) -> Shape:
        """The claim under attack."""


class Pile(NamedTuple):
    """Matrices of one width in one array, shorter ones filled with zeros: (which, row, step)."""

    entries: Numbers
    changes: Numbers


@dataclass(frozen=True)
class CostFinding:
    """What became of the cost of one matrix.

    Attributes:
        matrix: which of the tried matrices, by name.
        claimed: the largest cost that the shape admits.
        found: the largest one found.
        witness: a pair that has it.
    """

    matrix: str
    claimed: int
    found: int
    witness: Pair | None

    @property
    def broken(self) -> bool:
        """Whether a change costs more than claimed: noise so calibrated leaks."""
        return self.found > self.claimed

    @property
    def reached(self) -> bool:
        """Whether a change costs exactly as much as claimed."""
        return self.found == self.claimed


def matrices(steps: int) -> dict[str, Matrix]:
    """Matrices that reward different changes: alone, in sum, moved, lined up, of any sign."""
    eye, ones = identity(steps).strategy(), np.ones((1, steps), dtype=np.int64)
    signs = np.random.default_rng(steps).integers(-3, 4, (4, steps))
    return {
        "identity": eye,
        "sum": ones,
        "bridge": np.vstack([eye, ones]),
        "heavy bridge": np.vstack([eye, 5 * ones]),
        "totals": np.tril(np.ones((steps, steps), dtype=np.int64)),
        "tree": Dyadic(steps).strategy(),
        "blocks": bridged(steps, 2).strategy(),
        "signed": signs.astype(np.int64),
    }


def attack_costs(
    statistic: Shaped,
    bound: Bound,
    *,
    sizes: Sequence[tuple[int, int]] = ((3, 3), (4, 4)),
    moves: int = 3_000,
) -> list[CostFinding]:
    """Attack the cost that a statistic's shape gives to each of several matrices.

    Args:
        statistic: what is attacked; registered or not.
        bound: the degree bound, which also decides whether graphs are directed.
        sizes: the (nodes, steps) at which every pair with prompt edges is tried.
        moves: how many larger pairs are tried for each matrix.
    """
    found = [*_enumerated(statistic, bound, sizes), *_climbed(statistic, bound, moves)]
    best: dict[str, CostFinding] = {}
    for finding in found:
        known = best.get(finding.matrix)
        if known is None or _excess(finding) > _excess(known):
            best[finding.matrix] = finding
    return list(best.values())


def replayed_cost(statistic: Attackable, pair: Pair, matrix: Matrix) -> int:
    """‖C·d‖₁ of a pair, slowly and plainly: the judge over every compiled result."""
    larger = np.array(pair.schedule, dtype=np.int64)
    hidden = hidden_part(len(larger), pair.relation, directed=pair.directed)
    smaller = np.where(hidden == 1, NEVER, larger)
    apart = totals(statistic, larger, pair) - totals(statistic, smaller, pair)
    changes = apart if window_of(statistic) else np.diff(apart, axis=0, prepend=0)
    steps = min(matrix.shape[1], len(changes))
    return int(np.abs(matrix[:, :steps] @ changes[:steps]).sum())


def _excess(finding: CostFinding) -> int:
    return finding.found - finding.claimed


@kernel
def collect_changes(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    hidden: Mask,
    desk: Desk,
    changes: Numbers,
) -> None:
    """The change of the difference sequence, (steps, numbers), into `changes`; or of the values."""
    desk.links[:] = 0
    desk.present[:] = 0
    desk.values[2] = 0
    changes[:] = 0
    first = first_difference(schedule, hidden)
    for step in range(len(changes)):
        changed = advance(schedule, hidden, step, desk) or desk.window > 0
        if changed and step >= first:
            for graph in range(2):
                evaluate(definition, given, schedule, step, graph, desk)
            for place in range(changes.shape[1]):
                difference = desk.values[0, place] - desk.values[1, place]
                changes[step, place] = difference - desk.values[2, place]
                desk.values[2, place] = 0 if desk.window else difference


@kernel
def weigh_costs(pile: Pile, found: Numbers) -> None:
    """‖C·d‖₁ for every matrix of the pile."""
    steps, width = pile.changes.shape
    for which in range(len(pile.entries)):
        found[which] = 0
        for row in range(pile.entries.shape[1]):
            for place in range(width):
                entry = 0
                for step in range(steps):
                    entry += pile.entries[which, row, step] * pile.changes[step, place]
                found[which] += abs(entry)


@kernel
def keep_costliest(schedule: Schedule, found: Numbers, best: Numbers, pairs: Schedule) -> None:
    """Keep a pair for every matrix for which it costs the most so far."""
    for which in range(len(found)):
        if found[which] > best[which]:
            best[which] = found[which]
            pairs[which] = schedule


@kernel
def enumerate_costs(
    definition: Definition,
    given: Numbers,
    arrivals: Numbers,
    family: Family,
    limits: Numbers,
    desk: Desk,
    pile: Pile,
    best: Numbers,
    pairs: Schedule,
) -> None:
    """Every pair within the limits: (reciprocal edges?, in-degree, out-degree)."""
    found = np.zeros(len(best), np.int64)
    schedule = np.empty(family.hidden.shape, np.int8)
    for row in range(len(arrivals)):
        schedule[:] = NEVER
        for v in range(len(schedule)):
            schedule[v, v] = arrivals[row, v]
        more = True
        while more:
            reciprocal, inward, outward = degrees(schedule, family.symmetric)
            if reciprocal <= limits[0] and inward <= limits[1] and outward <= limits[2]:
                collect_changes(definition, given, schedule, family.hidden, desk, pile.changes)
                weigh_costs(pile, found)
                keep_costliest(schedule, found, best, pairs)
            more = next_edges(schedule, family)


@kernel
def climb_costs(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    rules: SearchRules,
    goal: int,
    moves: int,
    rng: np.random.Generator,
    desk: Desk,
    pile: Pile,
    best: Numbers,
    pairs: Schedule,
) -> None:
    """Walk towards pairs that are dear for one matrix; all matrices keep what is found."""
    found = np.zeros(len(best), np.int64)
    trial = schedule.copy()
    current, heat = -1, 3.0
    for _ in range(moves):
        collect_changes(definition, given, trial, rules.hidden, desk, pile.changes)
        weigh_costs(pile, found)
        keep_costliest(trial, found, best, pairs)
        gain = found[goal] - current
        if gain >= 0 or rng.random() < np.exp(gain / heat):
            current = found[goal]
            schedule[:] = trial
        heat = max(0.2, heat * COOL)
        trial[:] = schedule
        move(trial, rules, rng)
        while rng.random() < 0.4:
            move(trial, rules, rng)


def _pile(tried: dict[str, Matrix], steps: int, width: int) -> Pile:
    rows = max(len(matrix) for matrix in tried.values())
    entries = np.zeros((len(tried), rows, steps), dtype=np.int64)
    for place, matrix in enumerate(tried.values()):
        entries[place, : len(matrix)] = matrix
    return Pile(entries, np.zeros((steps, width), dtype=np.int64))


def _given(statistic: Attackable, bound: Bound) -> tuple[Definition, Numbers]:
    arguments = statistic.definition_arguments(directed=bound.directed)
    return compiled(statistic.definition), np.array(arguments, dtype=np.int64)


def _findings(
    statistic: Shaped, bound: Bound, tried: dict[str, Matrix], best: Numbers, pairs: Schedule
) -> Iterator[CostFinding]:
    shape = statistic.shape(bound)
    for place, (name, matrix) in enumerate(tried.items()):
        pair = Pair.of(pairs[place], "node", directed=bound.directed)
        yield CostFinding(name, shape.cost(Dense(matrix)), int(best[place]), pair)


def _enumerated(
    statistic: Shaped, bound: Bound, sizes: Sequence[tuple[int, int]]
) -> Iterator[CostFinding]:
    """What all small pairs with prompt edges show."""
    limits = np.array([bound.reciprocal, bound.limit("in"), bound.limit("out")], dtype=np.int64)
    for nodes, steps in sizes:
        tried = matrices(steps)
        family = family_of(nodes, steps, "node", directed=bound.directed, late=False)
        orders = np.array(list(arrival_orders(nodes, steps, 1, gaps=True)), dtype=np.int64)
        best = np.full(len(tried), -1, dtype=np.int64)
        pairs = np.zeros((len(tried), nodes, nodes), dtype=np.int8)
        width = tables_of(statistic) * (nodes + 1)
        desk = make_desk(nodes, window_of(statistic), tables_of(statistic))
        pile = _pile(tried, steps, width)
        given = _given(statistic, bound)
        enumerate_costs(*given, orders, family, limits, desk, pile, best, pairs)
        yield from _findings(statistic, bound, tried, best, pairs)


def _climbed(statistic: Shaped, bound: Bound, moves: int) -> Iterator[CostFinding]:
    """What a search among larger pairs shows, from known worst cases and from nothing."""
    rng = np.random.default_rng(crc32(f"{statistic} {bound}".encode()))
    for start, goal in product(_starts(bound, rng), range(len(matrices(1)))):
        nodes, steps = len(start), max(CLIMBED_STEPS, int(start[start != NEVER].max()) + 1)
        tried = matrices(steps)
        rules = rules_for(bound, nodes, steps, "node")
        best = np.full(len(tried), -1, dtype=np.int64)
        pairs = np.zeros((len(tried), nodes, nodes), dtype=np.int8)
        width = tables_of(statistic) * (nodes + 1)
        desk = make_desk(nodes, window_of(statistic), tables_of(statistic))
        pile = _pile(tried, steps, width)
        definition, given = _given(statistic, bound)
        climb_costs(
            definition, given, start.copy(), rules, goal, moves, rng, desk, pile, best, pairs
        )
        yield from _findings(statistic, bound, tried, best, pairs)


def _starts(bound: Bound, rng: np.random.Generator) -> list[Schedule]:
    """Some known worst cases, with a node to spare, and one random pair."""
    known = [padded(each, 1) for each in constructions(bound, "node")]
    return [*known[:3], random_start(bound, "node", CLIMBED_STEPS, rng)]
