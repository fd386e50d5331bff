"""The numbers: closed forms against the general rule, refusals, the paper's values."""

from __future__ import annotations

import re
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BoundError, ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.statistics.degrees import highest_column
from graphveil.statistics.pattern_shape import (
    Pattern,
    clique,
    copies_through_edge,
    copies_through_node,
    cycle,
    cyclic_triangle,
    in_star,
    out_star,
    path,
    star,
    transitive_triangle,
    triangle,
)
from graphveil.statistics.sensitivity import EVERY_MEASURE, TotalsShape
from graphveil.statistics.statistic import Statistic, registered, statistic

ROOT = Path(__file__).parents[2]
NAMES = {
    "nodes",
    "edges",
    *(f"high-{way}degree" for way in ("", "out-", "in-")),
    *(f"{way}degree-{kind}" for way in ("", "out-", "in-") for kind in ("histogram", "ccdf")),
    "triangles",
    "cyclic-triangles",
    "transitive-triangles",
    *(f"{way}stars" for way in ("", "out-", "in-")),
    "components",
    "clusters",
    "clustered",
    "growing-clusters",
    "pattern",
    "h-index",
}
UNDIRECTED = [DegreeBound(degree) for degree in range(1, 8)]
DIRECTED = [InOutBound(i, o) for i in range(1, 6) for o in range(1, 6)]
ORIENTED = [InOutBound(bound.inward, bound.outward, oriented=True) for bound in DIRECTED]
EVERY_BOUND: list[Bound] = [*UNDIRECTED, *DIRECTED, *ORIENTED]


def claims() -> list[tuple[Statistic, Bound]]:
    """Every example under every bound that it admits."""
    found: list[tuple[Statistic, Bound]] = []
    for member in registered().values():
        for example in member.examples():
            for bound in EVERY_BOUND:
                try:
                    example.require_domain(directed=isinstance(bound, InOutBound))
                    example.sensitivity(bound)
                except ParameterError:
                    continue
                found.append((example, bound))
    return found


def test_every_name_of_the_issue_is_registered_and_no_other() -> None:
    assert len(NAMES) == 23
    assert set(registered()) == NAMES


@pytest.mark.parametrize("bound", EVERY_BOUND, ids=str)
def test_closed_forms_equal_the_general_rule(bound: Bound) -> None:
    """Oriented transitive triangles have a sharper proof of their own; the rest must agree."""
    undirected = {
        "edges": path(2),
        "triangles": triangle(),
        **{f"stars {k}": star(k) for k in range(2, 6)},
    }
    directed = {
        "edges": path(2, directed=True),
        "cyclic-triangles": cyclic_triangle(),
        "transitive-triangles": transitive_triangle(),
        **{f"out-stars {k}": out_star(k) for k in range(2, 6)},
        **{f"in-stars {k}": in_star(k) for k in range(2, 6)},
    }
    for key, pattern in (undirected if isinstance(bound, DegreeBound) else directed).items():
        name, _, k = key.partition(" ")
        if name == "transitive-triangles" and isinstance(bound, InOutBound) and bound.oriented:
            continue
        stated = (statistic(name, k=int(k)) if k else statistic(name)).sensitivity(bound)
        assert stated.l1 == copies_through_node(pattern, bound), key
        assert stated.edge_l1 == copies_through_edge(pattern, bound), key
        assert statistic("pattern", pattern=pattern).sensitivity(bound) == stated


@pytest.mark.parametrize("bound", ORIENTED, ids=str)
def test_the_oriented_form_is_no_larger_than_the_general_rule(bound: InOutBound) -> None:
    stated = statistic("transitive-triangles").sensitivity(bound)
    assert stated.l1 <= copies_through_node(transitive_triangle(), bound)
    assert stated.edge_l1 <= copies_through_edge(transitive_triangle(), bound)


@pytest.mark.parametrize("bound", UNDIRECTED, ids=str)
def test_the_general_rule_on_cliques_and_the_four_cycle(bound: DegreeBound) -> None:
    degree = bound.degree
    assert copies_through_node(cycle(4), bound) == degree * (degree - 1) ** 2 // 2
    for n in range(2, 7):
        assert copies_through_node(clique(n), bound) == comb(degree, n - 1)
        assert copies_through_edge(clique(n), bound) == (comb(degree - 1, n - 2))


def test_a_reciprocal_pair_does_not_occur_in_an_oriented_graph() -> None:
    pair = Pattern.parse("a>b,b>a,b>c")
    assert copies_through_node(pair, InOutBound(3, 3)) == 18
    stated = statistic("pattern", pattern=pair).sensitivity(InOutBound(3, 3, oriented=True))
    assert (stated.l1, stated.edge_l1, stated.exact) == (0, 0, True)


def test_exactness_is_claimed_for_trees_cliques_and_complete_bipartite_patterns_only() -> None:
    bound = DegreeBound(4)
    exact = (path(4), star(4), cycle(4), clique(4), Pattern.parse("a-b,b-c,c-d,c-e"))
    for pattern in exact:
        assert statistic("pattern", pattern=pattern).sensitivity(bound).exact_for == EVERY_MEASURE
    for pattern in (cycle(5), Pattern.parse("a-b,b-c,c-a,c-d")):
        assert not statistic("pattern", pattern=pattern).sensitivity(bound).exact_for


@pytest.mark.parametrize(
    ("name", "parameters", "bound", "l1", "static_l1", "l2_squared", "edge_l1", "paper"),
    [
        ("nodes", {}, DegreeBound(3), 1, 1, 1, 0, None),
        ("edges", {}, InOutBound(2, 3), 5, 5, 25, 1, 5),
        ("high-degree", {"tau": 1}, DegreeBound(3), 7, 4, 25, 4, 7),
        ("high-degree", {"tau": 3}, DegreeBound(3), 4, 4, 16, 2, 7),
        ("high-out-degree", {"tau": 1}, InOutBound(2, 3), 5, 3, 13, 2, 5),
        ("high-out-degree", {"tau": 3}, InOutBound(2, 3), 3, 3, 9, 1, 5),
        ("high-in-degree", {"tau": 2}, InOutBound(2, 3), 4, 4, 16, 1, None),
        ("degree-histogram", {}, DegreeBound(1), 5, 3, 9, 4, 7),
        ("degree-histogram", {}, DegreeBound(2), 15, 5, 39, 12, 21),
        ("degree-histogram", {}, DegreeBound(3), 35, 7, 135, 20, 43),
        ("out-degree-histogram", {}, InOutBound(2, 3), 27, 5, 95, 10, 31),
        ("in-degree-histogram", {}, InOutBound(3, 2), 27, 5, 95, 10, None),
        ("degree-ccdf", {}, DegreeBound(1), 3, 3, 5, 2, None),
        ("degree-ccdf", {}, DegreeBound(2), 9, 5, 19, 6, None),
        ("out-degree-ccdf", {}, InOutBound(2, 3), 14, 6, 36, 5, None),
        ("in-degree-ccdf", {}, InOutBound(3, 2), 14, 6, 36, 5, None),
        ("triangles", {}, DegreeBound(4), 6, 6, 36, 3, 6),
        ("cyclic-triangles", {}, InOutBound(2, 3), 4, 4, 16, 2, 6),
        ("transitive-triangles", {}, InOutBound(3, 3), 18, 18, 324, 6, 15),
        ("transitive-triangles", {}, InOutBound(3, 4), 22, 22, 484, 7, 21),
        ("transitive-triangles", {}, InOutBound(4, 4), 36, 36, 1296, 9, 28),
        ("transitive-triangles", {}, InOutBound(1, 4), 0, 0, 0, 0, 10),
        ("transitive-triangles", {}, InOutBound(3, 3, oriented=True), 9, 9, 81, 4, 15),
        ("stars", {"k": 2}, DegreeBound(3), 9, 9, 81, 4, 9),
        ("stars", {"k": 9}, DegreeBound(3), 0, 0, 0, 0, 0),
        ("out-stars", {"k": 2}, InOutBound(2, 3), 7, 7, 49, 2, 7),
        ("in-stars", {"k": 2}, InOutBound(2, 3), 4, 4, 16, 1, 4),
        ("components", {}, DegreeBound(1), 2, 1, 2, 1, None),
        ("components", {}, DegreeBound(3), 6, 2, 14, 2, None),
        ("components", {}, InOutBound(1, 1), 4, 1, 6, 2, None),
        ("components", {}, InOutBound(3, 1), 6, 3, 18, 2, None),
        ("components", {}, InOutBound(2, 2), 8, 3, 26, 2, None),
        ("clusters", {}, DegreeBound(1), 1, 1, 1, 1, None),
        ("clusters", {}, DegreeBound(2), 4, 1, 6, 4, None),
        ("clusters", {"k": 5}, DegreeBound(3), 6, 2, 14, 4, None),
        ("clusters", {"k": 3}, InOutBound(1, 1), 4, 1, 6, 4, None),
        ("clusters", {}, InOutBound(3, 1), 6, 3, 18, 4, None),
        ("clusters", {}, InOutBound(2, 2), 8, 3, 26, 4, None),
        ("clustered", {}, DegreeBound(1), 2, 2, 4, 2, None),
        ("clustered", {}, DegreeBound(3), 7, 4, 25, 4, None),
        ("clustered", {"k": 4}, DegreeBound(2), 13, 7, 85, 12, None),
        ("clustered", {"k": 3}, InOutBound(1, 1), 9, 5, 41, 8, None),
        ("clustered", {"k": 3}, InOutBound(2, 3), 21, 11, 221, 8, None),
    ],
)
def test_known_values(
    name: str,
    parameters: dict[str, int],
    bound: Bound,
    l1: int,
    static_l1: int,
    l2_squared: int,
    edge_l1: int,
    paper: int | None,
) -> None:
    stated = statistic(name, **parameters).sensitivity(bound)
    assert (stated.l1, stated.static_l1, stated.l2_squared) == (l1, static_l1, l2_squared)
    assert (stated.edge_l1, stated.paper) == (edge_l1, paper)
    assert stated.exact
    assert stated.exact_for == EVERY_MEASURE


def test_numbers_are_consistent_with_each_other() -> None:
    for example, bound in claims():
        stated = example.sensitivity(bound)
        assert 0 <= stated.static_l1 <= stated.l1
        assert stated.l1 <= stated.l2_squared <= stated.l1**2 or stated.l1 == 0
        assert stated.edge_l1 <= 2 * stated.l1
        assert str(bound) in stated.assumption
        assert ("reciprocal" in stated.assumption) == (bound in DIRECTED)


def test_numbers_are_whole_and_exact_beyond_what_floats_hold() -> None:
    far = 10**9 + 7
    bounds: list[Bound] = [DegreeBound(far), InOutBound(far, far + 2)]
    bounds += [InOutBound(far, far + 2, oriented=True), InOutBound(3, 4, oriented=True)]
    for member in registered().values():
        for example in member.examples():
            for bound in bounds:
                if example.domain.admits(directed=bound.directed) and "degree-" not in example.name:
                    try:
                        stated = example.sensitivity(bound)
                    except ParameterError:
                        continue
                    numbers = (stated.l1, stated.static_l1, stated.l2_squared, stated.edge_l1)
                    assert {type(number) for number in numbers} == {int}, example
    row = path(4), bounds[0]
    assert copies_through_node(*row) == 2 * far * (far - 1) ** 2
    assert copies_through_edge(*row) == 3 * (far - 1) ** 2
    assert statistic("stars", k=3).sensitivity(bounds[0]).l1 == comb(far, 3) + far * comb(
        far - 1, 2
    )
    assert statistic("triangles").sensitivity(bounds[0]).l1 == comb(far, 2)


@pytest.mark.parametrize(
    ("pattern", "bound", "problem"),
    [
        (triangle(), InOutBound(2, 2), "of undirected edges needs one degree bound"),
        (
            cyclic_triangle(),
            DegreeBound(2),
            "of directed edges needs an in-degree and an out-degree",
        ),
    ],
)
def test_the_general_rule_needs_a_bound_of_the_patterns_kind(
    pattern: Pattern, bound: Bound, problem: str
) -> None:
    for copies in (copies_through_node, copies_through_edge):
        with pytest.raises(ParameterError, match=problem):
            copies(pattern, bound)


def test_values_after_projection() -> None:
    """docs/sensitivities.md#after-projection, in numbers."""
    for d in range(1, 7):
        assert statistic("nodes").projected_l1(DegreeBound(d)) == 1
        assert statistic("edges").projected_l1(DegreeBound(d)) == d
        for tau in range(1, d + 1):
            assert statistic("high-degree", tau=tau).projected_l1(DegreeBound(d)) == d + 1
        for out in range(1, 7):
            bound = InOutBound(d, out)
            assert statistic("edges").projected_l1(bound) == d + out
            high_out, high_in = (statistic(f"high-{way}-degree", tau=1) for way in ("out", "in"))
            assert high_out.projected_l1(bound) == max(d + 1, out - 1)
            assert high_in.projected_l1(bound) == max(out + 1, d - 1)
    assert statistic("stars", k=2).projected_shape(DegreeBound(3)) == TotalsShape(9, rising=False)
    assert statistic("out-stars", k=2).projected_l1(InOutBound(1, 4)) == 9
    assert statistic("out-stars", k=6).projected_l1(InOutBound(1, 6)) == 5  # they can fall by more
    assert statistic("in-stars", k=6).projected_l1(InOutBound(6, 1)) == 5
    for rising in ("nodes", "edges"):
        assert statistic(rising).projected_shape(DegreeBound(3)) == TotalsShape(
            1 if rising == "nodes" else 3, rising=True
        )
    assert statistic("high-degree", tau=2).projected_shape(DegreeBound(3)) == TotalsShape(4, False)
    assert statistic("triangles").projected_l1(DegreeBound(3)) is None
    assert statistic("triangles").projected_shape(DegreeBound(3)) is None


def test_no_cluster_of_three_has_a_shape_where_nobody_has_two_links() -> None:
    for name in ("clusters", "clustered"):
        with pytest.raises(ParameterError, match="nobody is in a cluster of 3"):
            statistic(name, k=3).shape(DegreeBound(1))


def test_widths() -> None:
    for d in range(1, 5):
        for kind in ("ccdf", "histogram"):
            assert statistic(f"degree-{kind}").width(DegreeBound(d)) == d + 1
            assert statistic(f"out-degree-{kind}").width(InOutBound(d, 2)) == 3
            assert statistic(f"in-degree-{kind}").width(InOutBound(d, 2)) == d + 1
        for name in ("edges", "components"):
            assert statistic(name).width(DegreeBound(d)) == 1
        assert statistic("high-degree", tau=1).width(DegreeBound(d)) == 1


def test_a_statistic_names_its_parameters_and_refuses_others() -> None:
    assert str(statistic("edges")) == "edges"
    assert str(statistic("stars", k=3)) == "stars (k=3)"
    with pytest.raises(ParameterError, match="tau: has no meaning for 'edges'"):
        statistic("edges", tau=2)
    with pytest.raises(ParameterError, match="not on directed ones"):
        statistic("triangles").require_domain(directed=True)
    with pytest.raises(ParameterError, match="not on undirected ones"):
        statistic("cyclic-triangles").require_domain(directed=False)
    with pytest.raises(ParameterError, match="kind, which is directed"):
        statistic("pattern", pattern="a-b,b-c").require_domain(directed=True)


class Reached:
    """A tally whose highest degree is given."""

    def __init__(self, highest: int) -> None:
        self._highest = highest

    def highest(self) -> int:
        return self._highest


def test_a_degree_beyond_the_width_is_refused() -> None:
    seen: Any = Reached(4)
    assert highest_column(seen, None) == highest_column(seen, 5) == 4
    assert highest_column(seen, 9) == 8
    with pytest.raises(BoundError):
        highest_column(seen, 4)


def test_a_larger_bound_never_lowers_a_sensitivity() -> None:
    known = {(str(example), bound): example.sensitivity(bound) for example, bound in claims()}
    for (name, bound), stated in known.items():
        if not isinstance(bound, InOutBound) or name.startswith("high"):
            continue
        wider = known.get((name, InOutBound(bound.inward + 1, bound.outward, bound.oriented)))
        if wider is not None:
            assert stated.l1 <= wider.l1
            assert stated.l2_squared <= wider.l2_squared
            assert stated.edge_l1 <= wider.edge_l1


def test_an_oriented_graph_is_never_more_sensitive() -> None:
    for example, bound in claims():
        if isinstance(bound, InOutBound) and bound.oriented:
            wider = example.sensitivity(InOutBound(bound.inward, bound.outward))
            assert example.sensitivity(bound).l1 <= wider.l1


def test_the_papers_wrong_constant_is_not_reachable() -> None:
    """Wherever it is too small, neither the statistic nor the same pattern yields it."""
    too_small = 0
    for inward in range(1, 12):
        for outward in range(1, 12):
            bound = InOutBound(inward, outward)
            for asked in (
                statistic("transitive-triangles"),
                statistic("pattern", pattern=Pattern.parse("x>y,x>z,y>z")),
            ):
                stated = asked.sensitivity(bound)
                assert stated.paper == comb(inward + outward, 2)
                assert stated.l1 == copies_through_node(transitive_triangle(), bound)
                too_small += stated.paper < stated.l1
    assert too_small > 0


@pytest.mark.parametrize("name", ["high-degree", "high-out-degree", "high-in-degree"])
def test_thresholds_outside_the_bound_are_refused(name: str) -> None:
    bound: Bound = DegreeBound(3) if name == "high-degree" else InOutBound(3, 3)
    with pytest.raises(ParameterError, match="above the degree bound"):
        statistic(name, tau=4).sensitivity(bound)
    for tau in (0, -1, True, 2.0, "0", "two"):
        with pytest.raises(ParameterError, match=r"tau: .*use 'nodes'"):
            statistic(name, tau=tau)


@pytest.mark.parametrize("name", ["stars", "out-stars", "in-stars"])
def test_a_star_with_one_leaf_is_an_edge(name: str) -> None:
    for k in (1, 0, True, 1.5):
        with pytest.raises(ParameterError, match=r"k: .*use 'edges'"):
            statistic(name, k=k)


@pytest.mark.parametrize(("name", "instead"), [("clusters", "components"), ("clustered", "nodes")])
def test_clusters_have_two_people_or_more(name: str, instead: str) -> None:
    for k in (1, 0, -3, True, 2.0, "two"):
        with pytest.raises(ParameterError, match=rf"k: .*use '{instead}'"):
            statistic(name, k=k)
    assert statistic(name) == statistic(name, k=2) == statistic(name, k="2")
    with pytest.raises(ParameterError, match="always 0"):
        statistic(name, k=3).sensitivity(DegreeBound(1))


def test_a_bound_of_the_wrong_kind_is_refused_with_advice() -> None:
    for member in registered().values():
        for example in member.examples():
            for bound in (DegreeBound(5), InOutBound(5, 5)):
                directed = isinstance(bound, InOutBound)
                try:
                    example.require_domain(directed=directed)
                except ParameterError as refusal:
                    assert re.search(r"(use|Write|read) ", str(refusal))  # noqa: PT017
                    with pytest.raises(ParameterError):
                        example.sensitivity(bound)
                else:
                    example.sensitivity(bound)


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_cited_proof_exists() -> None:
    known = anchors((ROOT / "docs/sensitivities.md").read_text(encoding="utf-8"))
    for example, bound in claims():
        page, _, anchor = example.sensitivity(bound).proof.partition("#")
        assert page == "docs/sensitivities.md"
        assert anchor in known
    for source in (ROOT / "src/graphveil/statistics").rglob("*.py"):
        cited = re.findall(r"docs/sensitivities\.md#([\w-]+)", source.read_text(encoding="utf-8"))
        assert set(cited) <= known, source.name


def test_formulas_cover_the_domain() -> None:
    for member in registered().values():
        kinds = {kind for kind in ("undirected", "directed") if kind in member.formulas}
        assert all(member.domain.admits(directed=kind == "directed") for kind in kinds)
        assert len(kinds) == (2 if member.domain.value == "undirected or directed" else 1)
        falling = ("components", "clusters", "growing-clusters")
        assert member.monotone == (member.name not in falling and "hist" not in member.name)


def test_the_euclidean_norm_is_the_root_of_its_square() -> None:
    found = statistic("edges").sensitivity(DegreeBound(3))
    assert replace(found, l2_squared=144).l2 == 12
