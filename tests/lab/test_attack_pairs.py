"""The evaluator: compiled distances agree with plain Python, and pairs say what they are."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from graphveil.graph.promises import DegreeBound, InOutBound
from graphveil.lab import Pair, replay
from graphveil.lab.attacks.constructions import MEASURED, compiled, distances, make_desk
from graphveil.lab.attacks.sweep import every_statistic
from graphveil.lab.pairs import NEVER, Relation, Schedule, hidden_part, window_of
from graphveil.statistics.statistic import Statistic, statistic

RELATIONS: tuple[Relation, ...] = ("node", "edge")


def random_schedule(rng: np.random.Generator, *, directed: bool) -> tuple[Schedule, int]:
    """Any small pair, prompt and late edges mixed; the edge that may be hidden exists."""
    nodes, steps = int(rng.integers(2, 7)), int(rng.integers(1, 5))
    schedule = np.full((nodes, nodes), NEVER, dtype=np.int8)
    np.fill_diagonal(schedule, rng.integers(0, steps, nodes))
    for u in range(nodes):
        for v in range(nodes):
            forced = (u, v) == (nodes - 2, nodes - 1)
            if u != v and (directed or u < v) and (forced or rng.random() < 0.5):
                prompt = max(schedule[u, u], schedule[v, v])
                schedule[u, v] = prompt if rng.random() < 0.5 else rng.integers(prompt, steps)
                if not directed:
                    schedule[v, u] = schedule[u, v]
    return schedule, steps


def compiled_distances(
    member: Statistic, schedule: Schedule, steps: int, relation: Relation, *, directed: bool
) -> tuple[int, ...]:
    nodes = len(schedule)
    found = np.zeros(MEASURED, dtype=np.int64)
    given = np.array(member.definition_arguments(directed=directed), dtype=np.int64)
    hidden = hidden_part(nodes, relation, directed=directed)
    definition = compiled(member.definition)
    desk = make_desk(nodes, window_of(member))
    distances(definition, given, schedule, hidden, steps, desk, found)
    return tuple(found.tolist())


RECENT = [statistic("degree-histogram", window=2), statistic("clustered", window=3)]


@pytest.mark.parametrize("member", [*every_statistic(), *RECENT], ids=str)
def test_compiled_distances_are_those_of_plain_python(member: Statistic) -> None:
    rng = np.random.default_rng(7)
    for directed in (False, True):
        if not member.domain.admits(directed=directed):
            continue
        for relation in RELATIONS:
            for _ in range(12):
                schedule, steps = random_schedule(rng, directed=directed)
                pair = Pair.of(schedule, relation, directed=directed)
                plain = replay(member, pair)
                fast = compiled_distances(member, schedule, steps, relation, directed=directed)
                assert fast == astuple(plain), str(pair)


def complete_digraph(nodes: int) -> Pair:
    return Pair(((0,) * nodes,) * nodes, directed=True, relation="node")


def test_the_erratum_as_a_pair() -> None:
    """One node of the complete digraph on 4 nodes closes 18 transitive triangles, not 15."""
    apart = replay(statistic("transitive-triangles"), complete_digraph(4))
    assert (apart.l1, apart.static_l1, apart.l2_squared) == (18, 18, 324)


def test_a_moved_crossing_counts_twice() -> None:
    """The neighbour is linked at step 1 through the last node, at step 2 without it."""
    schedule = ((0, NEVER, 1), (NEVER, 2, NEVER), (1, NEVER, 1))
    pair = Pair(schedule, directed=False, relation="node")
    linked = Pair(((0, 2, 1), (2, 2, NEVER), (1, NEVER, 1)), directed=False, relation="node")
    assert replay(statistic("high-degree", tau=1), pair).l1 == 2
    assert replay(statistic("high-degree", tau=1), linked).l1 == 3
    assert replay(statistic("high-degree", tau=1), linked).static_l1 == 2
    assert replay(statistic("high-degree", tau=1), linked).l2_squared == 5


def test_the_edge_relation_hides_one_edge_only() -> None:
    """Both nodes stay; a directed pair keeps the edge that goes the other way."""
    both_ways = ((0, 0), (0, 0))
    directed = Pair(both_ways, directed=True, relation="edge")
    undirected = Pair(both_ways, directed=False, relation="edge")
    assert replay(statistic("edges"), directed).l1 == 1
    assert replay(statistic("edges"), undirected).l1 == 1
    assert replay(statistic("nodes"), directed).l1 == 0
    assert replay(statistic("components"), directed).l1 == 0
    assert replay(statistic("components"), undirected).l1 == 1


def test_a_pair_knows_its_bounds() -> None:
    pair = complete_digraph(3)
    assert pair.respects(InOutBound(2, 2))
    assert not pair.respects(InOutBound(2, 1))
    assert not pair.respects(InOutBound(1, 2))
    assert not pair.respects(InOutBound(2, 2, oriented=True))
    assert not pair.respects(DegreeBound(2))
    path = Pair(((0, 1, NEVER), (1, 0, 1), (NEVER, 1, 1)), directed=False, relation="node")
    assert path.respects(DegreeBound(2))
    assert not path.respects(DegreeBound(1))
    assert not path.respects(InOutBound(2, 2))


def test_a_pair_reads_like_a_recipe() -> None:
    path = Pair(((0, 1, NEVER), (1, 0, 1), (NEVER, 1, 1)), directed=False, relation="node")
    assert path.arrivals == (0, 0, 1)
    assert path.steps == 2
    assert str(path) == "nodes 0@0, 1@0, 2@1; edges 0–1@1, 1–2@1; the neighbour lacks node 2"
