"""Attacks on the sensitivities after greedy projection: every small pair, and random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.engines import LocalEngine
from graphveil.formats import from_rows
from graphveil.graph.bound import Bound, DegreeBound, InOutBound
from graphveil.graph.projection import greedy_projection
from graphveil.statistics.statistic import Statistic, statistic
from test_intake import Rows, begin, growing_graphs

Edge = tuple[int, int]
Most = tuple[int, int]  # the most out- and in-links that are kept


def kept_degrees(
    edges: Sequence[Edge], most: Most, *, directed: bool
) -> tuple[list[int], list[int]]:
    """Greedy projection in the given order: everybody's kept out- and in-links."""
    out, inward = [0] * 9, [0] * 9
    if not directed:
        inward = out
    for tail, head in edges:
        if out[tail] < most[0] and inward[head] < most[1]:
            out[tail] += 1
            inward[head] += 1
    return out, inward


def figures(out: list[int], inward: list[int], most: Most, *, directed: bool) -> list[int]:
    """Edges, then nodes of high (out-)degree for each τ, then of high in-degree."""
    found = [sum(out) // (1 if directed else 2)]
    found += [sum(degree >= tau for degree in out) for tau in range(1, most[0] + 1)]
    if directed:
        found += [sum(degree >= tau for degree in inward) for tau in range(1, most[1] + 1)]
    return found


def claims(most: Most, *, directed: bool) -> list[int]:
    """What the library says that one person can change, in the same order."""
    threshold: Bound = InOutBound(most[1], most[0]) if directed else DegreeBound(most[0])
    asked: list[Statistic] = [statistic("edges")]
    name = "high-out-degree" if directed else "high-degree"
    asked += [statistic(name, tau=tau) for tau in range(1, most[0] + 1)]
    if directed:
        asked += [statistic("high-in-degree", tau=tau) for tau in range(1, most[1] + 1)]
    return [each.projected_l1(threshold) or 0 for each in asked]


def distances(edges: Sequence[Edge], person: int, most: Most, *, directed: bool) -> list[int]:
    """How far each figure moves when the person leaves with all links."""
    others = [edge for edge in edges if person not in edge]
    both = [
        figures(*kept_degrees(kept, most, directed=directed), most, directed=directed)
        for kept in (edges, others)
    ]
    return [abs(a - b) for a, b in zip(*both, strict=True)]


def ordered(nodes: int, *, directed: bool) -> list[Edge]:
    """All edges of one step in the library's order: newer endpoint, older endpoint, forward."""
    pairs = [(older, newer) for newer in range(nodes) for older in range(newer)]
    if not directed:
        return pairs
    return [edge for older, newer in pairs for edge in ((older, newer), (newer, older))]


def graphs(nodes: int, *, directed: bool) -> Iterator[list[Edge]]:
    slots = ordered(nodes, directed=directed)
    for chosen in product((False, True), repeat=len(slots)):
        yield [edge for edge, there in zip(slots, chosen, strict=True) if there]


@lru_cache
def worst(nodes: int, most: Most, *, directed: bool) -> list[int]:
    """The largest distances over every graph of one step and every person in it."""
    found = [0] * len(claims(most, directed=directed))
    for edges in graphs(nodes, directed=directed):
        for person in range(nodes):
            here = distances(edges, person, most, directed=directed)
            found = [max(a, b) for a, b in zip(found, here, strict=True)]
    return found


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_every_small_undirected_pair_stays_within_the_claim(degree: int) -> None:
    found, most = worst(5, (degree, degree), directed=False), (degree, degree)
    claimed = claims(most, directed=False)
    assert all(a <= b for a, b in zip(found, claimed, strict=True)), (found, claimed)
    assert found[0] == claimed[0]
    assert found[1] == claimed[1]  # τ = 1 is reached on so few nodes


@pytest.mark.parametrize("most", [(1, 1), (1, 2), (2, 1), (2, 2)], ids=str)
def test_every_small_directed_pair_stays_within_the_claim(most: Most) -> None:
    found, claimed = worst(4, most, directed=True), claims(most, directed=True)
    assert all(a <= b for a, b in zip(found, claimed, strict=True)), (found, claimed)
    assert any(a == b for a, b in zip(found, claimed, strict=True))


@pytest.mark.parametrize("directed", [False, True])
def test_random_pairs_in_any_order_of_arrival_stay_within_the_claim(directed: bool) -> None:
    """Edges with steps of their own can come in any order, so any order is tried."""
    random, nodes = Random(1), 7
    slots = ordered(nodes, directed=directed)
    for _ in range(6000):
        edges = random.sample(slots, random.randint(1, len(slots) // (2 if directed else 1)))
        most = (random.randint(1, 4), random.randint(1, 4))
        most = most if directed else (most[0], most[0])
        found = distances(edges, random.randrange(nodes), most, directed=directed)
        claimed = claims_of(most, directed)
        assert all(a <= b for a, b in zip(found, claimed, strict=True)), (edges, most)


@lru_cache
def claims_of(most: Most, directed: bool) -> tuple[int, ...]:
    return tuple(claims(most, directed=directed))


@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_the_librarys_own_projection_stays_within_the_claim_at_every_step(
    graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    nodes, edges = graph
    inward, outward = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    threshold: Bound = InOutBound(inward, outward) if directed else DegreeBound(outward)
    person = data.draw(st.sampled_from([node for node, _ in nodes]))
    fewer = (
        [row for row in nodes if row[0] != person],
        [row for row in edges if person not in row[:2]],
    )
    names = ["high-out-degree", "high-in-degree"] if directed else ["high-degree"]
    asked = [statistic("nodes"), statistic("edges"), *(statistic(name, tau=1) for name in names)]
    seen = [
        greedy_projection(
            begin(directed=directed).extend(from_rows(*rows), upto=10).sequence, threshold
        )
        for rows in (graph, fewer)
    ]
    counts = [LocalEngine().count(each, asked) for each in seen]
    for each in asked:
        with_person, without = (count.totals(each) for count in counts)
        claimed = each.projected_l1(threshold)
        assert claimed is not None
        assert abs(with_person - without).max() <= claimed
