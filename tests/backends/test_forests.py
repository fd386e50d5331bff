"""Components and clusters by forests: exact, for every way to count, and changed by 1 − c to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forest_oracle as oracle
from graphveil.backends import LocalEngine
from graphveil.backends.local import forest_polytope
from graphveil.backends.local.capped_forests import Brackets, capped_forest
from graphveil.backends.local.forest_polytope import Network
from graphveil.backends.local.forests import ForestNumbers, forest_numbers
from graphveil.errors import ParameterError
from graphveil.graph.thresholds import ForestBound
from graphveil.statistics.statistic import Statistic, statistic
from small_sequences import Growth, growths, random_growth

Edges = Sequence[tuple[int, int]]
Counting = Callable[[int, Edges, int], tuple[int, int]]  # components and clusters
COMPONENTS, CLUSTERS = statistic("components"), statistic("clusters")
NET = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5)]  # a triangle with a leaf at each corner
# Two hubs of degree 3 that the links' order lets compete: the greedy forest falls by v* = 0.
IN_ORDER = [(2, 3), (0, 2), (5, 6), (0, 5), (1, 2), (4, 5), (3, 6)]


def numbers(nodes: int, edges: Edges, branches: int) -> ForestNumbers:
    """What the evaluator finds in one graph."""
    links = tuple((u, v, 0) for u, v in edges)
    (found,) = forest_numbers(Growth(False, 1, (0,) * nodes, links).sequence(), branches)
    return found


def counted(nodes: int, edges: Edges, branches: int) -> tuple[int, int]:
    return numbers(nodes, edges, branches).counts()


def network(nodes: int, edges: Edges, branches: int) -> Network:
    one, other = np.array(edges, np.int64).T.copy()
    return Network(nodes, one, other, np.full(nodes, branches))


# Exact: against brute force on all small graphs.


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
@pytest.mark.parametrize("branches", [1, 2, 3])
def test_numbers_are_those_of_brute_force(nodes: int, branches: int) -> None:
    for edges in oracle.all_graphs(nodes):
        _agree(nodes, edges, branches)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "branches"), [(6, 1), (6, 2), (6, 3), (7, 2)])
def test_numbers_are_those_of_brute_force_in_larger_graphs(nodes: int, branches: int) -> None:
    for edges in oracle.all_graphs(nodes):
        _agree(nodes, edges, branches)


def _agree(nodes: int, edges: Edges, branches: int) -> None:
    found = numbers(nodes, edges, branches)
    assert found.links == (oracle.forest_size(nodes, edges, branches) if edges else 0), edges
    assert found.named == oracle.people_named(nodes, edges, branches), edges


def test_a_fraction_is_found_exactly() -> None:
    assert numbers(6, NET, 2).links == Fraction(9, 2)
    assert numbers(6, NET, 3).links == 5
    assert counted(6, NET, 2) == (2, 2)


def _graphs(number: int, nodes: int, links: float) -> Iterable[tuple[int, list[tuple[int, int]]]]:
    for seed in range(number):
        random = np.random.default_rng(seed)
        linked = np.argwhere(np.tril(random.random((nodes, nodes)) < links, -1))
        yield nodes, [(int(u), int(v)) for u, v in linked]


@pytest.mark.parametrize("branches", [2, 3])
def test_the_program_and_the_method_on_fractions_agree(branches: int) -> None:
    for nodes, edges in _graphs(6, 14, 0.25):
        graph = network(nodes, edges, branches)
        exactly, none = forest_polytope._exactly(graph), np.zeros(len(edges), np.bool_)
        assert exactly == numbers(nodes, edges, branches).links
        for hubs in (0, 1, 3, nodes):  # whoever is called a hub: the sets beside them hold anyway
            wherever = np.random.default_rng(hubs).permutation(nodes) < hubs
            found = Brackets(0, nodes - 1, none, wherever)
            assert forest_polytope._Program(graph, found).solved() == exactly


def test_the_method_on_fractions_decides_where_rounding_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges = [*NET, (3, 4), (4, 5), (6, 0), (6, 3)]
    expected = oracle.forest_size(7, edges, 2)
    monkeypatch.setattr(forest_polytope, "_as_fractions", lambda values: None)
    assert forest_polytope.forest_size(network(7, edges, 2)) == expected


def test_brackets_hold_whatever_the_search_does() -> None:
    for nodes, edges in _graphs(12, 30, 0.12):
        for branches in (2, 3):
            graph = network(nodes, edges, branches)
            found = capped_forest(nodes, graph.one, graph.other, graph.room)
            exact = numbers(nodes, edges, branches).links
            assert found.least <= exact <= found.most
            chosen = [edge for edge, taken in zip(edges, found.chosen, strict=True) if taken]
            assert numbers(nodes, chosen, branches).links == len(chosen) == found.least


def test_what_violates_a_set_is_found() -> None:
    graph = network(4, [(0, 1), (1, 2), (2, 0), (2, 3)], 3)
    found = forest_polytope.violated(graph, np.array([1.0, 1, 1, 0]))
    assert [each.tolist() for each in found] == [[0, 1, 2]]
    assert forest_polytope.violated(graph, np.array([2, 2, 2, 3]) / 3) == []


# The same for every way to count: all at once, step by step, with late and with directed links.


def _totals(growth: Growth, counted: Statistic, branches: int) -> list[int]:
    found = LocalEngine().count(growth.sequence(), [counted], bound=ForestBound(branches))
    return [int(total) for total in found.totals(counted)]


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data(), branches=st.integers(1, 3))
def test_each_step_is_counted_as_its_graph(
    directed: bool, data: st.DataObject, branches: int
) -> None:
    growth = data.draw(growths(directed=directed, late=True))
    components, clusters = (_totals(growth, each, branches) for each in (COMPONENTS, CLUSTERS))
    for step in range(growth.steps):
        links, present = growth.matrix(step)
        edges = [(u, v) for u, v in np.argwhere(np.tril(links | links.T)).tolist()]
        alone = counted(int(present.sum()), edges, branches)
        assert (components[step], clusters[step]) == alone


@pytest.mark.parametrize("directed", [False, True])
def test_counting_goes_on_from_any_step(directed: bool) -> None:
    growth = random_growth(60, 5, 0.04, directed=directed, late=True, seed=1)
    engine, bound = LocalEngine(), ForestBound(2)
    whole = engine.count(growth.sequence(), [COMPONENTS, CLUSTERS], bound=bound)
    counts = None
    for steps in (1, 3, 5):
        sequence = growth.until(steps).sequence()
        counts = engine.count(sequence, [COMPONENTS, CLUSTERS], after=counts, bound=bound)
    assert counts is not None
    for each in (COMPONENTS, CLUSTERS):
        assert counts.differences(each).tolist() == whole.differences(each).tolist()


def test_within_the_limit_it_is_the_number_itself() -> None:
    path = random_growth(40, 4, 0.0, directed=False, late=False, seed=0)
    links = tuple((u, u + 1, max(path.arrivals[u : u + 2])) for u in range(39) if u % 5)
    growth = Growth(False, 4, path.arrivals, links)
    plain = LocalEngine().count(growth.sequence(), [COMPONENTS, CLUSTERS])
    for each in (COMPONENTS, CLUSTERS):
        assert _totals(growth, each, 2) == plain.totals(each).tolist()


def test_a_star_is_one_cluster_and_too_many_components() -> None:
    star = [(0, leaf) for leaf in range(1, 8)]
    assert counted(8, star, 2) == (6, 1)
    assert counted(8, star, 7) == (1, 1)


# The attack: every neighbour of every small graph, and what it must not find.


def changes(counting: Counting, nodes: int, branches: int) -> tuple[set[int], set[int]]:
    """How far any person can move components and clusters, in graphs of so many nodes."""
    found: tuple[set[int], set[int]] = (set(), set())
    for edges in oracle.all_graphs(nodes):
        larger = counting(nodes, edges, branches)
        for gone in range(nodes):
            smaller = counting(*oracle.without(nodes, edges, gone), branches)
            for each, new, old in zip(found, larger, smaller, strict=True):
                each.add(new - old)
    return found


@pytest.mark.parametrize(("nodes", "branches"), [(4, 1), (5, 1), (4, 2), (5, 2), (6, 2), (5, 3)])
def test_nobody_changes_more_than_was_proved(nodes: int, branches: int) -> None:
    moved = changes(counted, nodes, branches)
    for each, found in zip((COMPONENTS, CLUSTERS), moved, strict=True):
        shape = each.forest_shape(branches)
        assert shape is not None
        assert 1 - branches <= min(found) <= max(found) == 1
        assert max(map(abs, found)) <= shape.height
        assert min(found) >= 0 or not shape.rising


@pytest.mark.slow
@pytest.mark.parametrize("branches", [1, 2, 3, 4])
def test_nobody_changes_more_in_graphs_of_seven(branches: int) -> None:
    for found in changes(counted, 7, branches):
        assert 1 - branches <= min(found) <= max(found) <= 1


@pytest.mark.parametrize("branches", [2, 3, 4])
def test_both_ends_are_reached(branches: int) -> None:
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(branches)]
    joined = [*pairs, *((2 * pair, 2 * branches) for pair in range(branches))]
    before = counted(2 * branches, pairs, branches)
    after = counted(2 * branches + 1, joined, branches)
    assert [new - old for new, old in zip(after, before, strict=True)] == [1 - branches] * 2
    assert counted(1, [], branches) == (1, 0)
    assert counted(2, [(0, 1)], branches) == (1, 1)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("branches", [2, 3])
def test_neighbouring_sequences_stay_within_it(seed: int, branches: int) -> None:
    whole = random_growth(40, 5, 0.08, directed=False, late=True, seed=seed)
    gone = seed * 5
    arrivals = tuple(step for node, step in enumerate(whole.arrivals) if node != gone)
    links = tuple(
        (u - (u > gone), v - (v > gone), step) for u, v, step in whole.links if gone not in (u, v)
    )
    less = Growth(False, whole.steps, arrivals, links)
    for each in (COMPONENTS, CLUSTERS):
        pairs = zip(_totals(whole, each, branches), _totals(less, each, branches), strict=True)
        moved = [new - old for new, old in pairs]
        assert 1 - branches <= min(moved) <= max(moved) <= 1
        assert not any(moved[: whole.arrivals[gone]])


def _greedy(edges: Edges, branches: int) -> int:
    """The forest that takes links as they come: not a solution of the program."""
    part, degree = list(range(9)), [0] * 9
    for u, v in edges:
        if max(degree[u], degree[v]) < branches and part[u] != part[v]:
            part = [part[v] if each == part[u] else each for each in part]
            degree[u] += 1
            degree[v] += 1
    return sum(degree) // 2


def test_a_greedy_forest_is_caught() -> None:
    without = [edge for edge in IN_ORDER if 0 not in edge]
    assert _greedy(IN_ORDER, 2) - _greedy(without, 2) == -1  # people may only raise it
    exact = numbers(7, IN_ORDER, 2).links - numbers(6, oracle.without(7, IN_ORDER, 0)[1], 2).links
    assert 0 <= exact <= 2


def test_rounding_every_part_by_itself_is_caught() -> None:
    two = [*NET, *((u + 6, v + 6) for u, v in NET)]
    joined = [*two, (12, 3), (12, 9)]
    by_part = 2 * floor(numbers(6, NET, 2).links)
    assert floor(numbers(13, joined, 2).links) - by_part == 3  # more than c = 2
    assert floor(numbers(13, joined, 2).links) - floor(numbers(12, two, 2).links) == 2


def test_a_wrong_last_digit_is_caught() -> None:
    def sloppy(nodes: int, edges: Edges, branches: int) -> tuple[int, int]:
        error = 1e-9 if len(edges) % 2 else -1e-9
        links = floor(float(numbers(nodes, edges, branches).links) + error)
        return nodes - links, 0

    found, _ = changes(sloppy, 4, 2)
    assert not found <= {-1, 0, 1}


def test_one_branch_more_than_stated_is_caught() -> None:
    def careless(nodes: int, edges: Edges, branches: int) -> tuple[int, int]:
        return counted(nodes, edges, branches + 1)

    found, _ = changes(careless, 4, 2)
    assert min(found) == -2


# What is refused.


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        (statistic("clusters", k=3), r"forests do not count clusters \(k=3\)"),
        (statistic("triangles"), "forests do not count triangles"),
        (statistic("components", window=2), "forests do not count"),
    ],
)
def test_other_statistics_are_not_counted(wanted: Statistic, complaint: str) -> None:
    sequence = Growth(False, 1, (0, 0), ((0, 1, 0),)).sequence()
    with pytest.raises(ParameterError, match=complaint) as refused:
        LocalEngine().count(sequence, [wanted], bound=ForestBound(2))
    assert len(str(refused.value)) < 300


def test_what_the_solver_cannot_do_is_done_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a solver that fails nor one that repeats itself can stop a count."""
    edges = [*NET, (3, 4), (4, 5), (6, 0), (6, 3)]
    graph, expected = network(7, edges, 2), oracle.forest_size(7, edges, 2)
    nothing = Brackets(0, 6, np.zeros(len(edges), np.bool_), np.zeros(7, np.bool_))
    with monkeypatch.context() as patched:
        patched.setattr(forest_polytope._Program, "_solution", lambda program: None)
        assert forest_polytope._Program(graph, nothing).solved() is None
    with monkeypatch.context() as patched:
        everybody = [np.arange(7)]
        patched.setattr(forest_polytope, "violated", lambda graph, links: everybody)
        assert forest_polytope._Program(graph, nothing).solved() is None
    assert forest_polytope._exactly(graph) == expected
