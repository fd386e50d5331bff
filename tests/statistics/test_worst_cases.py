"""The pairs that docs/sensitivities.md describes do reach the numbers that are called exact.

A sequence is a list of steps, and a step is the nodes that arrive and the edges that appear;
v* is the person in whom neighbours differ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count, pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.statistics.statistic import Statistic, statistic

STAR = "v*"
Node = Hashable
Step = tuple[list[Node], list[tuple[Node, Node]]]
IN_OUT = [(1, 1), (1, 3), (3, 1), (2, 2), (2, 4), (4, 2), (5, 3), (3, 5), (5, 5)]


def releases(
    chosen: Statistic, steps: list[Step], without: Node, *, directed: bool
) -> list[NDArray[np.int64]]:
    """The statistic after each step, on the sequence that lacks a node."""
    nodes = [node for arrivals, _ in steps for node in arrivals]
    place = {node: index for index, node in enumerate(nodes)}
    links = np.zeros((len(nodes), len(nodes)), dtype=np.uint8)
    present = np.zeros(len(nodes), dtype=np.uint8)
    given = np.array(chosen.definition_arguments(directed=directed), dtype=np.int64)
    found = []
    for arrivals, edges in steps:
        for node in arrivals:
            present[place[node]] = node != without
        for u, v in edges:
            there = without not in (u, v)
            links[place[u], place[v]] = there
            if not directed:
                links[place[v], place[u]] = there
        out = np.zeros(len(nodes) + 1, dtype=np.int64)
        chosen.definition(links, present, given, out)
        found.append(out)
    return found


def check(
    chosen: Statistic, bound: Bound, steps: list[Step], *, l1: bool = False, l2: bool = False
) -> None:
    """Whether a pair reaches what is claimed, and never more."""
    directed = isinstance(bound, InOutBound)
    require_within(bound, [edge for _, edges in steps for edge in edges])
    larger = np.array(releases(chosen, steps, None, directed=directed))
    smaller = np.array(releases(chosen, steps, STAR, directed=directed))
    moved = np.diff(larger - smaller, axis=0, prepend=0)
    stated = chosen.sensitivity(bound)
    found_l1, found_l2 = int(np.abs(moved).sum()), int((moved**2).sum())
    assert found_l1 <= stated.l1
    assert found_l2 <= stated.l2_squared
    assert int(np.abs(larger - smaller).sum(axis=1).max()) <= stated.static_l1
    if l1:
        assert found_l1 == stated.l1
    if l2:
        assert found_l2 == stated.l2_squared


def require_within(bound: Bound, edges: list[tuple[Node, Node]]) -> None:
    """The pair must itself keep the promise."""
    assert len(set(edges)) == len(edges)
    nodes = {node for edge in edges for node in edge}
    for node in nodes:
        outward = sum(u == node for u, _ in edges)
        inward = sum(v == node for _, v in edges)
        if bound.directed:
            assert inward <= bound.limit("in")
            assert outward <= bound.limit("out")
        else:
            assert inward + outward <= bound.limit("total")
    if bound.kind == "oriented":
        assert not any((v, u) in edges for u, v in edges)


def climbs(
    marked: list[str], moves: int, *, together: bool, own: Callable[[int], list[str]]
) -> list[Step]:
    """Every marked node is linked to new nodes, all in step or each in its own time."""
    fresh = (f"new {number}" for number in count())
    steps: list[Step] = []
    for move in range(moves):
        groups = [marked] if together else [[node] for node in marked]
        for group in groups:
            edges: list[tuple[Node, Node]] = [(node, next(fresh)) for node in group]
            edges += [(STAR, other) for other in own(move)] if group == groups[0] else []
            steps.append(([other for _, other in edges], edges))
    return steps


@pytest.mark.parametrize("degree", range(1, 7))
def test_undirected_ccdf_and_histogram_in_squares(degree: int) -> None:
    marked = [f"u{i}" for i in range(degree)]
    later = climbs(marked, degree - 1, together=True, own=lambda _: [])
    alone: Step = ([STAR], [])
    linked: Step = ([*marked], [(node, STAR) for node in marked])
    bound = DegreeBound(degree)
    check(statistic("degree-histogram"), bound, [alone, linked, *later], l2=True)
    check(statistic("degree-ccdf"), bound, [alone, linked, *later], l1=True, l2=True)


@pytest.mark.parametrize("degree", range(2, 6))
def test_undirected_histogram(degree: int) -> None:
    marked = [f"u{i}" for i in range(degree)]
    steps: list[Step] = [([STAR], []), ([*marked[:2]], [(node, STAR) for node in marked[:2]])]
    steps += [([node], [(node, STAR)]) for node in marked[2:]]
    steps += climbs(marked, degree - 1, together=False, own=lambda _: [])
    check(statistic("degree-histogram"), DegreeBound(degree), steps, l1=True)


@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
def test_directed_ccdf_and_histogram_in_squares(inward: int, outward: int) -> None:
    marked = [f"u{i}" for i in range(inward)]
    arrive: Step = ([*marked, "own"], [*((node, STAR) for node in marked), (STAR, "own")])
    later = climbs(marked, outward - 1, together=True, own=lambda move: [f"own {move}"])
    bound = InOutBound(inward, outward, oriented=True)
    for kind in ("ccdf", "histogram"):
        chosen = statistic(f"out-degree-{kind}")
        check(chosen, bound, [([STAR], []), arrive, *later], l1=kind == "ccdf", l2=True)


@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
def test_directed_histogram(inward: int, outward: int) -> None:
    marked = [f"u{i}" for i in range(inward)]
    steps: list[Step] = [([STAR], [])]
    steps += [([node], [(node, STAR)]) for node in marked]
    steps += [([f"own {i}"], [(STAR, f"own {i}")]) for i in range(outward)]
    steps += climbs(marked, outward - 1, together=False, own=lambda _: [])
    check(statistic("out-degree-histogram"), InOutBound(inward, outward, True), steps, l1=True)


@pytest.mark.parametrize("degree", range(1, 7))
def test_undirected_components(degree: int) -> None:
    near = [f"u{i}" for i in range(degree)]
    steps: list[Step] = [([STAR], []), ([*near], [(node, STAR) for node in near])]
    steps += [(["hub"], [("hub", node) for node in near])] if degree > 1 else []
    check(statistic("components"), DegreeBound(degree), steps, l1=True, l2=True)


@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
def test_directed_components(inward: int, outward: int) -> None:
    sources = [f"u{i}" for i in range(inward)]
    targets = [f"w{i}" for i in range(outward)]
    linked = [*((u, STAR) for u in sources), *((STAR, w) for w in targets)]
    row = [(a, f"{a} {b}", b) for a, b in pairwise([*targets, *sources])]
    between = row if min(inward, outward) > 1 else [row[outward - 1]]
    joined = [edge for a, x, b in between for edge in ((a, x), (x, b))]
    steps: list[Step] = [([STAR], []), ([*sources, *targets], [*linked])]
    steps.append(([x for _, x, _ in between], [*joined]))
    check(statistic("components"), InOutBound(inward, outward, True), steps, l1=True, l2=True)


def chains(heads: list[str], length: int, *, inwards: bool) -> list[Step]:
    """Two steps: each head with a chain of `length` nodes, and then one more node at its end."""
    names = {head: [head, *(f"{head}+{i}" for i in range(1, length + 1))] for head in heads}
    steps: list[Step] = [([], []), ([], [])]
    for chain in names.values():
        edges = [(b, a) if inwards else (a, b) for a, b in pairwise(chain)]
        steps[0][0].extend(chain[:-1])
        steps[0][1].extend(edges[:-1])
        steps[1][0].append(chain[-1])
        steps[1][1].append(edges[-1])
    return steps


def in_clusters(bound: Bound, steps: list[Step], k: int) -> None:
    for name in ("clusters", "clustered"):
        check(statistic(name, k=k), bound, steps, l1=True, l2=True)


@pytest.mark.parametrize("k", [2, 3, 4, 6])
@pytest.mark.parametrize("degree", range(2, 6))
def test_undirected_clusters(degree: int, k: int) -> None:
    near = [f"u{i}" for i in range(degree)]
    linked, grown = chains(near, k - 1, inwards=True)
    linked[1].extend((node, STAR) for node in near)
    tied: list[tuple[Node, Node]] = [("hub", f"{node}+{k - 1}") for node in near]
    steps: list[Step] = [([STAR], []), linked, grown, (["hub"], tied)]
    in_clusters(DegreeBound(degree), steps, k)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
def test_directed_clusters(inward: int, outward: int, k: int) -> None:
    sources = [f"u{i}" for i in range(inward)]
    targets = [f"w{i}" for i in range(outward)]
    linked, grown = (
        ([*a[0], *b[0]], [*a[1], *b[1]])
        for a, b in zip(
            chains(sources, k - 1, inwards=True), chains(targets, k - 1, inwards=False), strict=True
        )
    )
    linked[1].extend([*((u, STAR) for u in sources), *((STAR, w) for w in targets)])
    ends = [f"{node}+{k - 1}" for node in [*targets, *sources]]
    row = [(a, f"{a} {b}", b) for a, b in pairwise(ends)]
    between = row if min(inward, outward) > 1 else [row[outward - 1]]
    tied = [edge for a, z, b in between for edge in ((a, z), (z, b))]
    steps: list[Step] = [([STAR], []), linked, grown, ([z for _, z, _ in between], [*tied])]
    in_clusters(InOutBound(inward, outward, True), steps, k)


def reversed_edges(edges: list[tuple[Node, Node]]) -> list[tuple[Node, Node]]:
    return [(v, u) for u, v in edges]


@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
@pytest.mark.parametrize("oriented", [False, True])
def test_transitive_triangles(inward: int, outward: int, oriented: bool) -> None:
    m, larger = min(inward, outward), max(inward, outward)
    edges = oriented_case(m, larger) if oriented else reciprocal_case(m, larger)
    if inward > outward:
        edges = reversed_edges(edges)
    nodes = {node for edge in edges for node in edge} - {STAR}
    before = [edge for edge in edges if STAR not in edge]
    after = [edge for edge in edges if STAR in edge]
    bound = InOutBound(inward, outward, oriented)
    steps: list[Step] = [([*nodes], before), ([STAR], after)]
    check(statistic("transitive-triangles"), bound, steps, l1=True, l2=True)


def reciprocal_case(m: int, larger: int) -> list[tuple[Node, Node]]:
    """Both ways between v* and a complete digraph of m nodes, which also serve the others."""
    core = [f"i{a}" for a in range(m)]
    others = [f"o{a}" for a in range(larger - m)]
    edges: list[tuple[Node, Node]] = [(STAR, node) for node in (*core, *others)]
    edges += [(node, STAR) for node in core]
    edges += [(a, b) for a in core for b in core if a != b]
    return edges + [(a, other) for other in others for a in core[1:]]


def oriented_case(m: int, larger: int) -> list[tuple[Node, Node]]:
    """Two transitive tournaments, before and behind v*, joined like a staircase."""
    edges: list[tuple[Node, Node]] = [(f"i{a}", STAR) for a in range(m)]
    edges += [(STAR, f"o{a}") for a in range(larger)]
    for a in range(m):
        for b in range(a + 1, m):
            edges += [(f"i{a}", f"i{b}"), (f"o{a}", f"o{b}"), (f"i{b}", f"o{a}")]
    return edges + [(f"i{b}", f"o{a}") for a in range(m, larger) for b in range(1, m)]


@pytest.mark.parametrize(("inward", "outward"), IN_OUT)
def test_cyclic_triangles(inward: int, outward: int) -> None:
    m = min(inward, outward)
    before: list[tuple[Node, Node]] = [(f"w{a}", f"u{b}") for a in range(m) for b in range(m)]
    after: list[tuple[Node, Node]] = [(f"u{a}", STAR) for a in range(m)]
    after += [(STAR, f"w{a}") for a in range(m)]
    nodes: list[Node] = [f"{side}{a}" for side in "uw" for a in range(m)]
    steps: list[Step] = [(nodes, before), ([STAR], after)]
    check(statistic("cyclic-triangles"), InOutBound(inward, outward, True), steps, l1=True, l2=True)


def test_the_papers_constant_fails_on_the_complete_digraph() -> None:
    chosen, bound = statistic("transitive-triangles"), InOutBound(3, 3)
    nodes: list[Node] = [STAR, "a", "b", "c"]
    steps: list[Step] = [(nodes, [(u, v) for u in nodes for v in nodes if u != v])]
    (with_it,) = releases(chosen, steps, None, directed=True)
    (without,) = releases(chosen, steps, STAR, directed=True)
    paper = chosen.sensitivity(bound).paper
    assert paper is not None
    assert with_it[0] - without[0] == 18 > 15 == paper
