"""A search for bad pairs among larger graphs: simulated annealing, compiled.

The state is one pair within the degree bound. A move changes a few edges or arrival steps;
where a new edge would break the bound, another edge makes room for it, so that the bound
always holds. Every pair that is visited counts for every distance, whichever of them the
search is climbing.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from graphveil.lab.attacks.enumeration import put
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


class SearchRules(NamedTuple):
    """What every state of the search must keep.

    Attributes:
        hidden: what the smaller sequence lacks.
        inward: the largest in-degree.
        outward: the largest out-degree.
        symmetric: whether edges go both ways.
        oriented: whether reciprocal edges are forbidden.
        by_edge: whether the pair differs in one edge, which must then exist.
        steps: how many steps a sequence has.
    """

    hidden: Mask
    inward: int
    outward: int
    symmetric: bool
    oriented: bool
    by_edge: bool
    steps: int


class Climb(NamedTuple):
    """How one run of the search proceeds.

    Attributes:
        goal: which distance is climbed.
        moves: how many pairs are tried.
        hot: how large a loss is readily accepted at the start.
        cold: the same at the end.
    """

    goal: int
    moves: int
    hot: float
    cold: float


class Catch(NamedTuple):
    """The largest distances found, one per measure, and a pair for each."""

    best: Numbers
    schedules: Schedule


@kernel
def make_room(
    schedule: Schedule, rules: SearchRules, node: int, leaving: bool, rng: np.random.Generator
) -> None:
    """Where a node has all the out- (or in-) edges it may have, remove one at random."""
    linked = 0
    for other in range(len(schedule)):
        step = schedule[node, other] if leaving else schedule[other, node]
        linked += other != node and step != NEVER
    if linked < (rules.outward if leaving else rules.inward):
        return
    chosen = rng.integers(0, linked)
    for other in range(len(schedule)):
        u, v = (node, other) if leaving else (other, node)
        if u != v and schedule[u, v] != NEVER:
            if chosen == 0:
                put(schedule, u, v, NEVER, rules.symmetric)
                return
            chosen -= 1


@kernel
def link(
    schedule: Schedule, rules: SearchRules, u: int, v: int, step: int, rng: np.random.Generator
) -> None:
    """Let u→v appear at `step`, and remove what prevents that."""
    put(schedule, u, v, NEVER, rules.symmetric)
    make_room(schedule, rules, u, True, rng)
    make_room(schedule, rules, v, rules.symmetric, rng)
    if rules.oriented:
        schedule[v, u] = NEVER
    put(schedule, u, v, step, rules.symmetric)


@kernel
def some_step(
    schedule: Schedule, rules: SearchRules, u: int, v: int, rng: np.random.Generator
) -> int:
    """A step at which u→v may appear: prompt as often as not."""
    prompt: int = max(schedule[u, u], schedule[v, v])
    if rng.random() < 0.5:
        return prompt
    return int(rng.integers(prompt, rules.steps))


@kernel
def rearrive(schedule: Schedule, node: int, step: int) -> None:
    """Let a node arrive at `step`: prompt edges stay prompt, others wait where they must."""
    old = schedule[node, node]
    schedule[node, node] = step
    for other in range(len(schedule)):
        before = max(old, schedule[other, other])
        prompt = max(step, schedule[other, other])
        if other != node:
            for u, v in ((node, other), (other, node)):
                if schedule[u, v] == before or schedule[u, v] < prompt:
                    schedule[u, v] = prompt


@kernel
def copy_links(
    schedule: Schedule, rules: SearchRules, model: int, node: int, rng: np.random.Generator
) -> None:
    """Give a node the edges of another: many worst cases are made of twins."""
    for other in range(len(schedule)):
        if other not in (model, node):
            prompt = max(schedule[node, node], schedule[other, other])
            if schedule[model, other] != NEVER:
                step = max(prompt, schedule[model, other])
                link(schedule, rules, node, other, step, rng)
            if not rules.symmetric and schedule[other, model] != NEVER:
                step = max(prompt, schedule[other, model])
                link(schedule, rules, other, node, step, rng)


@kernel
def two_nodes(nodes: int, rng: np.random.Generator) -> tuple[int, int]:
    """Two different nodes; one of them is often one of the last two, where pairs differ."""
    u = int(rng.integers(0, nodes))
    if rng.random() < 0.25:
        u = nodes - 1 - int(rng.integers(0, 2))
    v = (u + 1 + int(rng.integers(0, nodes - 1))) % nodes
    return (u, v) if rng.random() < 0.5 else (v, u)


@kernel
def move(schedule: Schedule, rules: SearchRules, rng: np.random.Generator) -> None:
    """Change one thing: an edge, an edge's step, a node's step, or a node's whole role."""
    u, v = two_nodes(len(schedule), rng)
    choice = rng.random()
    if choice < 0.45:  # toggle an edge
        if schedule[u, v] == NEVER:
            link(schedule, rules, u, v, some_step(schedule, rules, u, v, rng), rng)
        else:
            put(schedule, u, v, NEVER, rules.symmetric)
    elif choice < 0.65:  # give an edge another step
        if schedule[u, v] != NEVER:
            step = some_step(schedule, rules, u, v, rng)
            put(schedule, u, v, step, rules.symmetric)
    elif choice < 0.80:
        rearrive(schedule, u, int(rng.integers(0, rules.steps)))
    elif choice < 0.90:  # swap the arrivals of two nodes
        own, other = schedule[u, u], schedule[v, v]
        rearrive(schedule, u, other)
        rearrive(schedule, v, own)
    else:
        copy_links(schedule, rules, u, v, rng)


@kernel
def keep(trial: Schedule, found: Numbers, catch: Catch) -> None:
    """Keep a pair for every distance in which it is the farthest so far."""
    for measure in range(MEASURED):
        if found[measure] > catch.best[measure]:
            catch.best[measure] = found[measure]
            catch.schedules[measure] = trial


@kernel
def anneal(
    definition: Definition,
    given: Numbers,
    schedule: Schedule,
    rules: SearchRules,
    climb: Climb,
    rng: np.random.Generator,
    desk: Desk,
    catch: Catch,
) -> None:
    """Walk from `schedule` towards farther pairs, first loosely, then strictly."""
    found = np.zeros(MEASURED, np.int64)
    trial = schedule.copy()
    distances(definition, given, trial, rules.hidden, rules.steps, desk, found)
    keep(trial, found, catch)
    current, heat = found[climb.goal], climb.hot
    cooling = (climb.cold / climb.hot) ** (1.0 / max(1, climb.moves))
    for _ in range(climb.moves):
        heat *= cooling
        trial[:] = schedule
        move(trial, rules, rng)
        while rng.random() < 0.4:
            move(trial, rules, rng)
        if rules.by_edge and trial[-2, -1] == NEVER:
            continue
        distances(definition, given, trial, rules.hidden, rules.steps, desk, found)
        keep(trial, found, catch)
        gain = found[climb.goal] - current
        if gain >= 0 or rng.random() < np.exp(gain / heat):
            current = found[climb.goal]
            schedule[:] = trial


@dataclass(frozen=True)
class Found:
    """The farthest pairs of a search, one per distance, and how many pairs it tried."""

    best: tuple[int, ...]
    witnesses: tuple[Pair, ...]
    pairs: int


def rules_for(bound: Bound, nodes: int, steps: int, relation: Relation) -> SearchRules:
    """The rules of a search under one bound."""
    return SearchRules(
        hidden=hidden_part(nodes, relation, directed=bound.directed),
        inward=bound.limit("in"),
        outward=bound.limit("out"),
        symmetric=not bound.directed,
        oriented=bound.kind == "oriented",
        by_edge=relation == "edge",
        steps=steps,
    )


def search(
    statistic: Attackable,
    bound: Bound,
    start: Schedule,
    *,
    steps: int,
    relation: Relation,
    climb: Climb,
    rng: np.random.Generator,
) -> Found:
    """Anneal from one pair, which must keep the bound; `rng` decides every choice."""
    nodes = len(start)
    directed = bound.directed
    rules = rules_for(bound, nodes, steps, relation)
    catch = Catch(np.full(MEASURED, -1, np.int64), np.zeros((MEASURED, nodes, nodes), np.int8))
    given = np.array(statistic.definition_arguments(directed=directed), dtype=np.int64)
    definition = compiled(statistic.definition)
    desk = make_desk(nodes, window_of(statistic), tables_of(statistic))
    anneal(definition, given, start.copy(), rules, climb, rng, desk, catch)
    best = tuple(int(distance) for distance in catch.best)
    pairs = tuple(Pair.of(pair, relation, directed=directed) for pair in catch.schedules)
    return Found(best, pairs, climb.moves + 1)
