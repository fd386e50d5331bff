"""The enumeration: nothing is left out, and every bound gets exactly its own pairs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab import Pair, Size, exhaustive, replay
from graphveil.lab.pairs import NEVER, Relation
from graphveil.statistics.statistic import statistic


def every_pair(size: Size, relation: Relation, *, directed: bool) -> Iterator[Pair]:
    """All pairs by brute force in plain Python, without any use of symmetry."""
    nodes, steps = size.nodes, size.steps or size.nodes
    slots = [(u, v) for u in range(nodes) for v in range(nodes) if u != v and (directed or u < v)]
    for arrivals in product(range(steps), repeat=nodes):
        choices = []
        for u, v in slots:
            prompt = max(arrivals[u], arrivals[v])
            own = range(prompt, steps) if size.steps else (prompt,)
            forced = relation == "edge" and (u, v) == (nodes - 2, nodes - 1)
            choices.append(tuple(own) if forced else (NEVER, *own))
        for chosen in product(*choices):
            schedule = [[NEVER] * nodes for _ in range(nodes)]
            for v, step in enumerate(arrivals):
                schedule[v][v] = step
            for (u, v), step in zip(slots, chosen, strict=True):
                schedule[u][v] = step
                if not directed:
                    schedule[v][u] = step
            yield Pair(tuple(map(tuple, schedule)), directed, relation)


UNDIRECTED: tuple[Bound, ...] = (DegreeBound(1), DegreeBound(2))
DIRECTED: tuple[Bound, ...] = tuple(
    InOutBound(inward, outward, oriented)
    for inward in (1, 2)
    for outward in (1, 2)
    for oriented in (True, False)
)


@pytest.mark.parametrize("relation", ["node", "edge"])
@pytest.mark.parametrize(
    ("name", "size", "directed"),
    [
        ("degree-histogram", Size(3), False),
        ("degree-histogram", Size(3, 2), False),
        ("components", Size(3, 3), False),
        ("transitive-triangles", Size(3), True),
        ("out-degree-histogram", Size(3, 2), True),
    ],
)
def test_best_equals_brute_force(name: str, size: Size, directed: bool, relation: Relation) -> None:
    member = statistic(name)
    survey = exhaustive(member, (size,), relation=relation, directed=directed)
    bounds = DIRECTED if directed else UNDIRECTED
    largest = {bound: [0, 0, 0] for bound in bounds}
    for pair in every_pair(size, relation, directed=directed):
        apart = replay(member, pair)
        numbers = (apart.l1, apart.static_l1, apart.l2_squared)
        for bound in bounds:
            if pair.respects(bound):
                largest[bound] = list(map(max, largest[bound], numbers))
    for bound in bounds:
        assert [survey.best(bound, measure)[0] for measure in range(3)] == largest[bound]


def test_every_pair_is_counted() -> None:
    """Two nodes: 3 orders of arrival × with or without an edge; the edge relation needs it."""
    member = statistic("nodes")
    assert exhaustive(member, (Size(2),), relation="node", directed=False).pairs == 6
    assert exhaustive(member, (Size(2),), relation="node", directed=True).pairs == 12
    assert exhaustive(member, (Size(2),), relation="edge", directed=False).pairs == 3
    # Arrivals (0,0), (0,1), (1,0); edges at 0 or 1, or at 1 only, or never: 3 + 2 + 2.
    assert exhaustive(member, (Size(2, 2),), relation="node", directed=False).pairs == 7


def test_witnesses_replay_and_keep_the_bound() -> None:
    member = statistic("degree-ccdf")
    survey = exhaustive(member, (Size(3), Size(4)), relation="node", directed=False)
    for degree in (1, 2, 3):
        found, witness = survey.best(DegreeBound(degree), 0)
        assert witness is not None
        assert witness.respects(DegreeBound(degree))
        assert replay(member, witness).l1 == found
