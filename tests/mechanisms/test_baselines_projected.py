"""Attacks on the sensitivities after greedy projection: every small pair, and random ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.graph.projection import greedy_projection
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.records import from_rows
from graphveil.statistics.statistic import Statistic, statistic
from test_intake import Rows, begin, growing_graphs

Edge = tuple[int, int]
Most = tuple[int, int]  # the most out- and in-links that are kept
Place = tuple[str, int]  # a node's out-links, which are all its links if undirected, or in-links


def kept_edges(edges: Sequence[Edge], most: Most, *, directed: bool) -> list[Edge]:
    """Greedy projection in the given order: an edge stays where both its places have room."""
    used: Counter[Place] = Counter()
    kept = []
    for edge in edges:
        ends = places(edge, directed=directed)
        if all(used[place] < most[place[0] == "in"] for place in ends):
            used.update(ends)
            kept.append(edge)
    return kept


def places(edge: Edge, *, directed: bool) -> list[Place]:
    """Where an edge takes room: among its tail's out-links and its head's in-links, if directed."""
    tail, head = edge
    return [("out", tail), ("in" if directed else "out", head)]


def kept_degrees(
    edges: Sequence[Edge], most: Most, *, directed: bool
) -> tuple[list[int], list[int]]:
    """Everybody's kept out- and in-links; undirected, all kept links in both."""
    kept = kept_edges(edges, most, directed=directed)
    used = Counter(place for edge in kept for place in places(edge, directed=directed))
    inward = "in" if directed else "out"
    return [used["out", node] for node in range(9)], [used[inward, node] for node in range(9)]


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


def link_by_link(
    edges: Sequence[Edge], person: int, most: Most, *, directed: bool
) -> Iterator[tuple[Edge, list[Edge], list[Edge]]]:
    """Each kept link of the person, with what is kept of the graph before and after it is added."""
    everything = kept_edges(edges, most, directed=directed)
    own = [edge for edge in everything if person in edge]
    kept = [
        kept_edges(
            [edge for edge in edges if person not in edge or edge in own[:links]],
            most,
            directed=directed,
        )
        for links in range(len(own) + 1)
    ]
    assert kept[-1] == everything  # links of the person that are dropped change nothing
    for link, (before, after) in zip(own, pairwise(kept), strict=True):
        yield link, before, after


def require_chain(edges: Sequence[Edge], person: int, most: Most, *, directed: bool) -> int:
    """The lemma of docs/sensitivities.md#after-projection, to the letter; the longest chain."""
    longest = 0
    for link, before, after in link_by_link(edges, person, most, directed=directed):
        changed = [edge for edge in edges if (edge in before) != (edge in after)]
        assert changed[0] == link
        assert [edge in after for edge in changed] == [n % 2 == 0 for n in range(len(changed))]
        (at,) = (place for place in places(link, directed=directed) if place[1] != person)
        for edge in changed[1:]:
            ends = places(edge, directed=directed)
            assert at in ends
            (at,) = (place for place in ends if place != at)
        used = [
            Counter(place for edge in kept for place in places(edge, directed=directed))
            for kept in (after, before)
        ]
        moved = {place: used[0][place] - used[1][place] for place in used[0] | used[1]}
        others = {place: by for place, by in moved.items() if by and place[1] != person}
        assert others == {at: 1 if len(changed) % 2 else -1}
        assert len(after) - len(before) == len(changed) % 2
        longest = max(longest, len(changed) - 1)
    return longest


@pytest.mark.parametrize("degree", [1, 2])
def test_each_link_of_a_person_sets_off_one_chain_undirected(degree: int) -> None:
    most = degree, degree
    longest = max(
        require_chain(edges, person, most, directed=False)
        for edges in graphs(5, directed=False)
        for person in range(5)
    )
    assert longest >= 2  # else nothing was tried


@pytest.mark.parametrize("most", [(1, 1), (1, 2), (2, 1)], ids=str)
def test_each_link_of_a_person_sets_off_one_chain_directed(most: Most) -> None:
    longest = max(
        require_chain(edges, person, most, directed=True)
        for edges in graphs(4, directed=True)
        for person in range(4)
    )
    assert longest >= 2


@pytest.mark.parametrize("directed", [False, True])
def test_chains_in_any_order_of_arrival(directed: bool) -> None:
    random, nodes = Random(2), 7
    slots = ordered(nodes, directed=directed)
    for _ in range(2000):
        edges = random.sample(slots, random.randint(1, len(slots) // (2 if directed else 1)))
        out, inward = random.randint(1, 3), random.randint(1, 3)
        most = (out, inward) if directed else (out, out)
        require_chain(edges, random.randrange(nodes), most, directed=directed)


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
