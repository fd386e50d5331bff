"""The pattern as a value: what is refused, its symmetries, its shape."""

from __future__ import annotations

from itertools import combinations, permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.statistics.pattern_shape import (
    Pattern,
    clique,
    cycle,
    cyclic_triangle,
    in_star,
    out_star,
    path,
    star,
    transitive_triangle,
    triangle,
)

NINE_IN_A_ROW = ",".join(f"{x}-{x + 1}" for x in range(8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at least one edge"),
        ("  ", "at least one edge"),
        ("a", "'a' is not an edge"),
        ("a-", "not an edge"),
        ("a-b-c", "'a-b-c' is not an edge"),
        ("a-b,", "not an edge"),
        ("a-b,b>c", "mixed"),
        ("a-a", "self-loops"),
        ("a-b,b-b", "self-loops"),
        ("a-b,b-a", "given twice"),
        ("a>b,a>b", "given twice"),
        ("a-b,c-d", "connected"),
        (NINE_IN_A_ROW, "at most 8 vertices, not 9"),
    ],
)
def test_a_bad_pattern_is_refused_with_its_reason(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Pattern.parse(text)


def test_vertices_are_numbered_without_a_gap() -> None:
    with pytest.raises(ParameterError, match="without a gap"):
        Pattern(((0, 2),))


def test_the_longest_row_has_eight_vertices_and_edges_are_sorted() -> None:
    assert path(8).vertices == 8
    assert Pattern(((2, 1), (1, 0))).edges == ((0, 1), (1, 2))
    assert Pattern(((2, 1), (1, 0)), directed=True).edges == ((1, 0), (2, 1))


def test_names_and_order_do_not_matter() -> None:
    assert Pattern.parse("a-b, b-c") == Pattern.parse("left-middle,right-middle") == path(3)
    assert hash(Pattern.parse("x>y,x>z,y>z")) == hash(transitive_triangle())
    assert Pattern.parse("x>z,y>z,x>y") == transitive_triangle() != cyclic_triangle()
    assert path(3) != path(3, directed=True)
    assert len({path(4), star(3), Pattern.parse("p-q,q-r,r-s")}) == 2


def test_a_reciprocal_pair_is_two_edges() -> None:
    pair = Pattern.parse("a>b,b>a")
    assert pair.has_reciprocal_pair
    assert pair.is_clique
    assert not pair.is_tree
    assert str(pair) == "a>b,b>a"


@pytest.mark.parametrize(
    ("pattern", "symmetries", "orbits"),
    [
        (triangle(), 6, ((0, 1, 2),)),
        (cyclic_triangle(), 3, ((0, 1, 2),)),
        (transitive_triangle(), 1, ((0,), (1,), (2,))),
        (star(4), 24, ((0,), (1, 2, 3, 4))),
        (out_star(3), 6, ((0,), (1, 2, 3))),
        (in_star(2), 2, ((0,), (1, 2))),
        (path(4), 2, ((0, 3), (1, 2))),
        (cycle(5), 10, ((0, 1, 2, 3, 4),)),
        (cycle(4, directed=True), 4, ((0, 1, 2, 3),)),
        (Pattern.parse("a>b,b>a,c>a,d>c"), 1, ((0,), (1,), (2,), (3,))),  # both ways count
        (Pattern.parse("a>b,b>a,b>c,c>b"), 2, ((0, 2), (1,))),
        (clique(5), 120, ((0, 1, 2, 3, 4),)),
    ],
)
def test_symmetries(pattern: Pattern, symmetries: int, orbits: tuple[tuple[int, ...], ...]) -> None:
    assert len(pattern.automorphisms) == symmetries
    assert pattern.orbits == orbits
    assert pattern.representatives == tuple(orbit[0] for orbit in orbits)
    for orbit in orbits:
        assert len(pattern.stabiliser(orbit[0])) * len(orbit) == symmetries


def test_shapes() -> None:
    assert [p.is_tree for p in (path(5), star(3), cycle(4), clique(4))] == [
        True,
        True,
        False,
        False,
    ]
    assert [p.is_clique for p in (path(2), triangle(), cycle(4))] == [True, True, False]
    bipartite = (path(2), star(5), cycle(4), Pattern.parse("a-x,a-y,a-z,b-x,b-y,b-z"))
    assert all(p.is_complete_bipartite for p in bipartite)
    assert not any(p.is_complete_bipartite for p in (path(4), cycle(6), triangle(), out_star(2)))


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    k = draw(st.integers(2, 5))
    directed = draw(st.booleans())
    pairs = list(permutations(range(k), 2)) if directed else list(combinations(range(k), 2))
    tree = {(draw(st.integers(0, x - 1)), x) for x in range(1, k)}
    return Pattern(tuple(tree | draw(st.sets(st.sampled_from(pairs)))), directed)


def as_networkx(pattern: Pattern) -> nx.Graph[int]:
    graph: nx.Graph[int] = nx.DiGraph() if pattern.directed else nx.Graph()
    graph.add_edges_from(pattern.edges)
    return graph


@given(patterns(), patterns())
def test_isomorphism_agrees_with_networkx(one: Pattern, other: Pattern) -> None:
    assert (one == other) == (
        one.directed == other.directed and nx.is_isomorphic(as_networkx(one), as_networkx(other))
    )


@given(patterns(), st.permutations(range(8)))
def test_renaming_keeps_a_pattern_equal(pattern: Pattern, names: list[int]) -> None:
    renamed = Pattern.parse(
        ",".join(
            f"v{names[u]}{'>' if pattern.directed else '-'}v{names[v]}" for u, v in pattern.edges
        )
    )
    assert renamed == pattern
    assert hash(renamed) == hash(pattern)
    assert Pattern.parse(str(pattern)) == pattern
