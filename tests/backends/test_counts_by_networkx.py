"""Counts of the engine against NetworkX, which counts each step's graph on its own."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher

from graphveil.backends import LocalEngine
from graphveil.statistics.pattern_shape import Pattern, triangle
from graphveil.statistics.statistic import Statistic, statistic
from small_sequences import Growth, growths

ENGINE = LocalEngine(threads=1)
LATE = pytest.mark.parametrize("late", [False, True])
Oracle = Callable[[Any], int | list[int]]


def graphs(growth: Growth, window: int | None = None) -> list[Any]:
    """The graph of each step, or of those in it who arrived in the last steps."""
    result = []
    for step in range(growth.steps):
        graph: Any = nx.DiGraph() if growth.directed else nx.Graph()
        arrived = ((v, since) for v, since in enumerate(growth.arrivals) if since <= step)
        graph.add_nodes_from((v, {"there": step + 1 - since}) for v, since in arrived)
        graph.add_edges_from((u, v) for u, v, since in growth.links if since <= step)
        if window is not None:
            graph.remove_nodes_from([v for v, n in graph.nodes(data="there") if n > window])
        result.append(graph)
    return result


def growing(k: int, newest: int) -> Oracle:
    """Components with enough people who have not been there for long."""

    def count(graph: Any) -> int:
        there = graph.nodes(data="there")
        parts = nx.connected_components(graph.to_undirected())
        return sum(sum(there[v] <= newest for v in part) >= k for part in parts)

    return count


def copies(pattern: Pattern) -> Oracle:
    """Copies of a pattern as sets of edges, each met once for each of its symmetries."""
    shape: Any = nx.DiGraph(pattern.edges) if pattern.directed else nx.Graph(pattern.edges)
    matcher: Any = DiGraphMatcher if pattern.directed else GraphMatcher
    symmetries = sum(1 for _ in matcher(shape, shape).isomorphisms_iter())

    def count(graph: Any) -> int:
        embeddings = sum(1 for _ in matcher(graph, shape).subgraph_monomorphisms_iter())
        assert embeddings % symmetries == 0
        return embeddings // symmetries

    return count


def stars(degrees: Any, k: int) -> int:
    return sum(comb(degree, k) for _, degree in degrees)


def histogram(degrees: Any) -> list[int]:
    counted = [degree for _, degree in degrees]
    return [counted.count(degree) for degree in range(20)]


def triads(graph: Any, weights: dict[str, int]) -> int:
    """Triangles from the census of triads, weighted by how many each kind of triad holds."""
    census = nx.triadic_census(graph) if len(graph) > 2 else {}
    return sum(census.get(name, 0) * weight for name, weight in weights.items())


def clusters(graph: Any, k: int) -> list[int]:
    """The sizes of the components of at least k nodes."""
    parts = nx.weakly_connected_components if graph.is_directed() else nx.connected_components
    return [len(part) for part in parts(graph) if len(part) >= k]


CLUSTERS: list[tuple[Statistic, Oracle]] = [
    (statistic("clusters"), lambda g: len(clusters(g, 2))),
    (statistic("clusters", k=4), lambda g: len(clusters(g, 4))),
    (statistic("clusters", k=10**30), lambda g: 0),
    (statistic("clustered"), lambda g: sum(clusters(g, 2))),
    (statistic("clustered", k=4), lambda g: sum(clusters(g, 4))),
]

CYCLIC = {"030C": 1, "120C": 1, "210": 1, "300": 2}
TRANSITIVE = {"030T": 1, "120D": 2, "120U": 2, "120C": 1, "210": 3, "300": 6}

UNDIRECTED: list[tuple[Statistic, Oracle]] = [
    (statistic("nodes"), len),
    (statistic("edges"), lambda g: g.number_of_edges()),
    (statistic("triangles"), copies(triangle())),
    (statistic("components"), nx.number_connected_components),
    (statistic("high-degree", tau=2), lambda g: sum(d >= 2 for _, d in g.degree)),
    (statistic("degree-histogram"), lambda g: histogram(g.degree)),
    (statistic("stars", k=3), lambda g: stars(g.degree, 3)),
    *CLUSTERS,
]
DIRECTED: list[tuple[Statistic, Oracle]] = [
    (statistic("edges"), lambda g: g.number_of_edges()),
    (statistic("cyclic-triangles"), lambda g: triads(g, CYCLIC)),
    (statistic("transitive-triangles"), lambda g: triads(g, TRANSITIVE)),
    (statistic("components"), nx.number_weakly_connected_components),
    (statistic("high-in-degree", tau=2), lambda g: sum(d >= 2 for _, d in g.in_degree)),
    (statistic("out-degree-histogram"), lambda g: histogram(g.out_degree)),
    (statistic("in-degree-histogram"), lambda g: histogram(g.in_degree)),
    (statistic("in-stars", k=2), lambda g: stars(g.in_degree, 2)),
    (statistic("out-stars", k=3), lambda g: stars(g.out_degree, 3)),
    *CLUSTERS,
]
SHAPES = [
    "a-b,b-c",
    "a-b,b-c,c-d",
    "a-b,b-c,c-d,d-a",
    "a-b,b-c,c-a,c-d",
    "a-b,a-c,a-d,b-c,b-d,c-d",
    "a-b,b-c,c-d,d-e,e-a,a-c",
    "a-b,a-c,a-d,a-e",
    "a>b,b>c",
    "a>b,b>c,a>c",
    "a>b,b>c,c>a",
    "a>b,b>a,b>c",
    "a>b,b>c,c>d,d>a",
    "a>b,c>b,c>d",
    "a>b,a>c,b>d,c>d",
]


def assert_equal(
    growth: Growth, oracles: list[tuple[Statistic, Oracle]], window: int | None = None
) -> None:
    counts = ENGINE.count(growth.sequence(), [member for member, _ in oracles])
    for member, oracle in oracles:
        wanted = np.array([oracle(graph) for graph in graphs(growth, window)])
        found = counts.totals(member)
        if found.ndim == 2:
            found = np.pad(found, ((0, 0), (0, wanted.shape[1] - found.shape[1])))
        assert found.tolist() == wanted.tolist(), member


@LATE
@given(data=st.data())
def test_undirected(data: st.DataObject, late: bool) -> None:
    assert_equal(data.draw(growths(directed=False, late=late)), UNDIRECTED)


@LATE
@given(data=st.data())
def test_directed(data: st.DataObject, late: bool) -> None:
    assert_equal(data.draw(growths(directed=True, late=late)), DIRECTED)


@LATE
@given(data=st.data())
def test_patterns(data: st.DataObject, late: bool) -> None:
    pattern = Pattern.parse(data.draw(st.sampled_from(SHAPES)))
    growth = data.draw(growths(directed=pattern.directed, late=late))
    assert_equal(growth, [(statistic("pattern", pattern=pattern), copies(pattern))])


@LATE
@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
def test_recent_networks(data: st.DataObject, directed: bool, late: bool) -> None:
    growth, window = data.draw(growths(directed=directed, late=late)), data.draw(st.integers(1, 5))
    plain = DIRECTED if directed else UNDIRECTED
    oracles = [(member.recent(window), oracle) for member, oracle in plain]
    newest = data.draw(st.integers(1, window))
    named = statistic("growing-clusters", window=window, k=2, newest=newest)
    assert_equal(growth, [*oracles, (named, growing(2, newest))], window)
