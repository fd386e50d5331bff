"""The search: it never leaves the bound, repeats under a seed, and finds known extremes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.lab import BOUNDS, Pair, replay
from graphveil.lab.attacks.annealing import Climb, Found, search
from graphveil.lab.attacks.attack import padded, random_start
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.pairs import NEVER, Relation
from graphveil.statistics.statistic import statistic

RELATIONS: tuple[Relation, ...] = ("node", "edge")


def orderly(pair: Pair) -> bool:
    """No edge before its endpoints, and as many steps both ways where undirected."""
    arrivals = pair.arrivals
    prompt = all(step >= max(arrivals[u], arrivals[v]) for u, v, step in pair.edges)
    rows = np.array(pair.schedule)
    hidden_exists = pair.relation == "node" or pair.schedule[-2][-1] != NEVER
    return prompt and hidden_exists and (pair.directed or bool((rows == rows.T).all()))


def search_from_nothing(
    name: str, bound: Bound, relation: Relation, seed: int, steps: int, moves: int, goal: int = 0
) -> Found:
    rng = np.random.default_rng(seed)
    start = random_start(bound, relation, steps, rng)
    climb = Climb(goal, moves, hot=2.0, cold=0.2)
    return search(
        statistic(name), bound, start, steps=steps, relation=relation, climb=climb, rng=rng
    )


@settings(max_examples=60, deadline=None)
@given(
    bound=st.sampled_from(BOUNDS),
    relation=st.sampled_from(RELATIONS),
    seed=st.integers(0, 2**32),
    steps=st.integers(1, 6),
)
def test_every_state_keeps_the_rules(
    bound: Bound, relation: Relation, seed: int, steps: int
) -> None:
    name = "edges"
    found = search_from_nothing(name, bound, relation, seed, steps, moves=40)
    for best, witness in zip(found.best, found.witnesses, strict=True):
        assert witness.respects(bound)
        assert orderly(witness)
        assert witness.steps <= steps
        assert best >= 0


def test_witnesses_replay_to_what_was_found() -> None:
    for relation in RELATIONS:
        found = search_from_nothing("degree-histogram", DegreeBound(3), relation, 3, 5, 2000)
        l1, static, l2, variation = found.witnesses
        member = statistic("degree-histogram")
        assert replay(member, l1).l1 == found.best[0]
        assert replay(member, static).static_l1 == found.best[1]
        assert replay(member, l2).l2_squared == found.best[2]
        assert replay(member, variation).variation_squared == found.best[3]


def test_a_seed_decides_everything() -> None:
    again = [
        search_from_nothing("components", InOutBound(2, 2), "node", seed, 4, 500)
        for seed in (11, 11, 12)
    ]
    assert again[0] == again[1]
    assert again[0] != again[2]


@pytest.mark.parametrize(
    ("name", "bound", "steps", "extreme"),
    [
        ("degree-histogram", DegreeBound(2), 4, 15),
        ("triangles", DegreeBound(3), 1, 3),
        ("transitive-triangles", InOutBound(3, 3), 1, 18),
        ("components", DegreeBound(3), 3, 6),
    ],
)
def test_known_extremes_are_found_from_nothing(
    name: str, bound: Bound, steps: int, extreme: int
) -> None:
    """Without any construction: the search has to be able to find things by itself."""
    found = [search_from_nothing(name, bound, "node", seed, steps, 20_000) for seed in range(5)]
    assert max(result.best[0] for result in found) == extreme


@pytest.mark.parametrize("bound", BOUNDS, ids=str)
@pytest.mark.parametrize("relation", RELATIONS)
def test_constructions_are_pairs_within_the_bound(bound: Bound, relation: Relation) -> None:
    directed = not isinstance(bound, DegreeBound)
    shapes = [
        Pair.of(shape, relation, directed=directed) for shape in constructions(bound, relation)
    ]
    assert len(set(shapes)) > 3
    for pair in shapes:
        assert pair.respects(bound), str(pair)
        assert orderly(pair), str(pair)


def test_padding_changes_no_distance() -> None:
    member = statistic("degree-histogram")
    for shape in constructions(DegreeBound(3), "node"):
        small, large = (
            Pair.of(schedule, "node", directed=False) for schedule in (shape, padded(shape, 2))
        )
        assert replay(member, small) == replay(member, large)
