"""The plain definitions against NetworkX on small graphs, and in compiled form."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import combinations, permutations
from math import comb

import networkx as nx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher
from numpy.typing import NDArray

from graphveil.statistics.pattern_shape import Pattern
from graphveil.statistics.patterns import PatternCount
from graphveil.statistics.statistic import Statistic, registered, statistic

PLACES = 6
Graph = tuple[NDArray[np.uint8], NDArray[np.uint8], bool]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Up to five nodes, some of which have not arrived, and any edges among the others."""
    present = np.array(draw(st.lists(st.integers(0, 1), min_size=5, max_size=5)), dtype=np.uint8)
    directed = draw(st.booleans())
    links = np.zeros((5, 5), dtype=np.uint8)
    pairs = permutations(range(5), 2) if directed else combinations(range(5), 2)
    for u, v in pairs:
        if present[u] and present[v] and draw(st.booleans()):
            links[u, v] = 1
            links[v, u] |= not directed
    return links, present, directed


def evaluated(chosen: Statistic, graph: Graph) -> list[int]:
    links, present, directed = graph
    out = np.zeros(PLACES, dtype=np.int64)
    given_numbers = np.array(chosen.definition_arguments(directed=directed), dtype=np.int64)
    chosen.definition(links, present, given_numbers, out)
    return [int(value) for value in out]


def as_networkx(graph: Graph) -> nx.Graph[int]:
    links, present, directed = graph
    built: nx.Graph[int] = nx.DiGraph() if directed else nx.Graph()
    built.add_nodes_from(int(v) for v in np.flatnonzero(present))
    built.add_edges_from((int(u), int(v)) for u, v in np.argwhere(links))
    return built


@given(graphs())
def test_counts_of_nodes_edges_and_components(graph: Graph) -> None:
    expected = as_networkx(graph)
    assert evaluated(statistic("nodes"), graph)[0] == expected.number_of_nodes()
    assert evaluated(statistic("edges"), graph)[0] == expected.number_of_edges()
    parts = nx.number_connected_components(expected.to_undirected()) if len(expected) else 0
    assert evaluated(statistic("components"), graph)[0] == parts


@given(graphs())
def test_clusters_and_the_people_in_them(graph: Graph) -> None:
    sizes = [len(part) for part in nx.connected_components(as_networkx(graph).to_undirected())]
    for k in range(2, 6):
        large = [size for size in sizes if size >= k]
        assert evaluated(statistic("clusters", k=k), graph)[0] == len(large)
        assert evaluated(statistic("clustered", k=k), graph)[0] == sum(large)


@given(graphs())
def test_degree_statistics(graph: Graph) -> None:
    expected = as_networkx(graph)
    if isinstance(expected, nx.DiGraph):
        views = {"out-": dict(expected.out_degree()), "in-": dict(expected.in_degree())}
    else:
        views = {"": dict(expected.degree())}
    for prefix, degrees in views.items():
        bins = Counter(degrees.values())
        ccdf = [sum(degree >= d for degree in degrees.values()) for d in range(PLACES)]
        assert evaluated(statistic(f"{prefix}degree-histogram"), graph) == [
            bins[d] for d in range(PLACES)
        ]
        assert evaluated(statistic(f"{prefix}degree-ccdf"), graph) == ccdf
        for number in (2, 3):
            high = evaluated(statistic(f"high-{prefix}degree", tau=number), graph)[0]
            assert high == ccdf[number]
            stars = evaluated(statistic(f"{prefix}stars", k=number), graph)[0]
            assert stars == sum(comb(degree, number) for degree in degrees.values())


@given(graphs())
def test_triangles(graph: Graph) -> None:
    expected = as_networkx(graph)
    if not isinstance(expected, nx.DiGraph):
        triangles = sum(
            expected.has_edge(u, v) and expected.has_edge(v, w) and expected.has_edge(u, w)
            for u, v, w in combinations(expected, 3)
        )
        assert evaluated(statistic("triangles"), graph)[0] == triangles
        return
    cyclic = sum(len(cycle) == 3 for cycle in nx.simple_cycles(expected, length_bound=3))
    assert evaluated(statistic("cyclic-triangles"), graph)[0] == cyclic
    transitive = sum(
        expected.has_edge(u, v) and expected.has_edge(v, w) and expected.has_edge(u, w)
        for u, v, w in permutations(expected, 3)
    )
    assert evaluated(statistic("transitive-triangles"), graph)[0] == transitive


@given(graphs())
@settings(max_examples=40)
def test_patterns(graph: Graph) -> None:
    host = as_networkx(graph)
    for example in PatternCount.examples():
        assert isinstance(example, PatternCount)
        if example.pattern.directed == graph[2]:
            assert evaluated(example, graph)[0] == copies(host, example.pattern)


def copies(host: nx.Graph[int], pattern: Pattern) -> int:
    """Subgraph copies by NetworkX, each once."""
    shape: nx.Graph[int] = nx.DiGraph() if pattern.directed else nx.Graph()
    shape.add_edges_from(pattern.edges)
    matcher = (DiGraphMatcher if pattern.directed else GraphMatcher)(host, shape)
    images = set()
    for found in matcher.subgraph_monomorphisms_iter():
        node = {vertex: place for place, vertex in found.items()}
        pairs = [(node[u], node[v]) for u, v in pattern.edges]
        images.add(frozenset(pairs if pattern.directed else map(frozenset, pairs)))
    return len(images)


@given(graphs())
def test_named_subgraphs_are_patterns(graph: Graph) -> None:
    same = {
        False: {"triangles": "a-b,b-c,c-a", "stars 2": "a-b,a-c", "stars 3": "a-b,a-c,a-d"},
        True: {
            "cyclic-triangles": "a>b,b>c,c>a",
            "transitive-triangles": "a>b,b>c,a>c",
            "out-stars 2": "a>b,a>c",
            "in-stars 3": "b>a,c>a,d>a",
        },
    }
    for key, edges in same[graph[2]].items():
        name, _, k = key.partition(" ")
        named = statistic(name, k=int(k)) if k else statistic(name)
        general = statistic("pattern", pattern=Pattern.parse(edges))
        assert evaluated(named, graph) == evaluated(general, graph)


def test_every_definition_compiles_and_agrees() -> None:
    """On one graph per kind; the attack kit compares many more."""
    from graphveil.kernels import kernel

    rng = np.random.default_rng(20)
    everybody = np.ones(6, dtype=np.uint8)
    compile_once = cache(kernel)
    for directed in (False, True):
        links = np.triu(rng.random((6, 6)) < 0.9, 1).astype(np.uint8)
        lower = np.tril(rng.random((6, 6)) < 0.9, -1).astype(np.uint8)
        links |= lower if directed else links.T
        for member in registered().values():
            for example in member.examples() if member.domain.admits(directed=directed) else ():
                numbers = np.array(example.definition_arguments(directed=directed), dtype=np.int64)
                plain, fast = np.zeros((2, 7), dtype=np.int64)
                example.definition(links, everybody, numbers, plain)
                compile_once(member.definition)(links, everybody, numbers, fast)
                assert plain.tolist() == fast.tolist()
                assert plain.any()


def test_sensitivities_need_no_heavy_library() -> None:
    """`graphveil sensitivity` must start at once."""
    probe = (
        "import sys; from graphveil.statistics.statistic import registered; registered();"
        "print(*{'numba', 'polars', 'networkx', 'pandas', 'scipy'} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""


def test_definitions_are_compiled_in_a_process_that_has_compiled_nothing() -> None:
    alone = (
        "from graphveil.statistics.statistic import statistic\n"
        "from graphveil.lab.attacks.constructions import compiled\n"
        "compiled(statistic('components').definition)"
    )
    subprocess.run([sys.executable, "-c", alone], check=True)
