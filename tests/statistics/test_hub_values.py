"""What one person can change under a promise with hubs, and one edge without: plain formulas.

They are those of docs/sensitivities.md#hubs, written out here; attacks hold them against pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import Any, NamedTuple

import pytest

from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound, NoBound
from graphveil.lab.attacks.sweep import every_statistic
from graphveil.statistics.change import projectable, sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Bins, Mass, Moves, Shape
from graphveil.statistics.statistic import registered, statistic

UNDIRECTED = [HubBound(DegreeBound(d), (h,)) for d in (1, 2, 3, 5) for h in (1, 2, 4)]
DIRECTED = [
    HubBound(InOutBound(inward, outward), hubs)
    for inward, outward in ((1, 1), (1, 3), (3, 1), (2, 2), (2, 4))
    for hubs in ((0, 1), (1, 0), (1, 2), (3, 3))
]


class Expected(NamedTuple):
    """A statistic with its rises and falls, number by number, or their sum, under a promise."""

    name: str
    parameters: dict[str, Any]
    changes: tuple[int, int] | int | Bins


def undirected(degree: int, hubs: int) -> Iterator[Expected]:
    d, h = degree, hubs
    yield Expected("nodes", {}, (1, 0))
    yield Expected("edges", {}, (d, h))
    if d > 1:
        yield Expected("triangles", {}, (comb(d, 2), h * (d - 1)))
        yield Expected("stars", {"k": 2}, (3 * comb(d, 2), h * 2 * (d - 1)))
        yield Expected("components", {}, (d + h, d + h))
        yield Expected("clusters", {"k": 2}, (d + h, d + h))
        yield Expected("clusters", {"k": 3}, (d + 2 * h, d + 2 * h))
        yield Expected("clustered", {"k": 3}, (1 + 2 * d + 4 * h, 2 * d + 4 * h))
    else:
        yield Expected("components", {}, (1 + h, 1))
        yield Expected("clusters", {"k": 2}, (1, h))
        yield Expected("clustered", {"k": 2}, (2, 2 * h))
    for tau in range(1, d):
        stopped = h if h > d - tau else 0
        yield Expected("high-degree", {"tau": tau}, (d + 1 + h, d + h + stopped))
        if tau == 1:  # whoever has a link is in a cluster of two
            yield Expected("clustered", {"k": 2}, (d + 1 + h, d + h + stopped))
    yield Expected("high-degree", {"tau": d}, (d + 1, 2 * h))
    yield Expected("degree-ccdf", {}, thresholds(d, h))
    yield Expected("degree-histogram", {}, bins(d, h))


def thresholds(degree: int, hubs: int) -> Bins:
    """Of the CCDF: 0, those between, and the highest; and one fall of each hub."""
    between = [(degree + 1 + hubs, degree + hubs)] * (degree - 1)
    pairs = [(1, 0), *between, (degree + 1, hubs)]
    return Bins(tuple(Moves(*pair) for pair in pairs), loose=hubs)


def bins(degree: int, hubs: int) -> Bins:
    """Of the histogram: what happens at a threshold happens to two bins."""
    if degree == 1:
        pairs = [(1 + hubs, 2), (2, hubs)]
    else:
        inner = 2 * (degree + hubs) + 1
        first, last = (1 + degree + hubs, degree + 1 + hubs), (degree + 1, hubs)
        below = (degree + 1 + 2 * hubs, 2 * degree + 1 + hubs)
        pairs = [first, *[(inner, inner)] * (degree - 2), below, last]
    return Bins(tuple(Moves(*pair) for pair in pairs), loose=2 * hubs)


def directed(inward: int, outward: int, in_hubs: int, out_hubs: int) -> Iterator[Expected]:
    total, h = inward + outward, in_hubs + out_hubs
    yield Expected("nodes", {}, (1, 0))
    yield Expected("edges", {}, (total, h))
    merges = 1 if min(inward, outward) == 1 else total - 1
    yield Expected("components", {}, (1 + merges + h, total + h))
    yield Expected("clusters", {"k": 2}, (1 + merges + 2 * h, total + 2 * h))
    yield Expected("clustered", {"k": 2}, (1 + total + 2 * h, total + 2 * h))
    for way, touched, highest, far, near in (
        ("out", inward, outward, in_hubs, out_hubs),
        ("in", outward, inward, out_hubs, in_hubs),
    ):
        for tau in range(1, highest):
            stopped = near if far > highest - tau else 0
            changes = (touched + 1 + far, touched + far + stopped)
            yield Expected(f"high-{way}-degree", {"tau": tau}, changes)
        yield Expected(f"high-{way}-degree", {"tau": highest}, (touched + 1, h))
        climbs = 2 * highest - 1
        yield Expected(f"{way}-degree-ccdf", {}, (touched + h) * climbs + highest + 1)
        moved = (touched + h) * 2 * climbs + 2 * highest + 1
        yield Expected(f"{way}-degree-histogram", {}, moved)


def expected_under(bound: HubBound) -> list[Expected]:
    within = bound.within
    if bound.directed:
        return list(directed(within.limit("in"), within.limit("out"), *bound.hubs))
    return list(undirected(within.limit("total"), *bound.hubs))


@pytest.mark.parametrize("bound", [*UNDIRECTED, *DIRECTED], ids=str)
def test_rises_and_falls_with_hubs_are_those_of_the_proof(bound: HubBound) -> None:
    for name, parameters, changes in expected_under(bound):
        shape = shape_under(statistic(name, **parameters), bound)
        assert shape == shape_of(changes), (name, parameters)


def shape_of(changes: tuple[int, int] | int | Bins) -> Shape:
    if isinstance(changes, Bins):
        return changes
    return Moves(*changes) if isinstance(changes, tuple) else Mass(changes)


@pytest.mark.parametrize("bound", UNDIRECTED, ids=str)
def test_the_numbers_of_vectors_add_up_to_what_is_proved(bound: HubBound) -> None:
    d, h = bound.within.limit("total"), bound.hubs[0]
    for shape, total in (
        (thresholds(d, h), 2 * d * d + 1 + 2 * d * h),
        (bins(d, h), 4 * d * d + 1 + 4 * d * h),
    ):
        assert sum(each.rises + each.falls for each in shape.bins) + shape.loose == total


def numbers_of(changes: tuple[int, int] | int | Bins) -> tuple[list[tuple[int, int]], int]:
    """Rises and falls of each number, and loose ones; nothing where only their sum is known."""
    if isinstance(changes, Bins):
        return [(each.rises, each.falls) for each in changes.bins], changes.loose
    return ([changes], 0) if isinstance(changes, tuple) else ([], 0)


def least_above(squared: int, added: int) -> int:
    """The smallest whole number whose root is at least √squared + added; found by trying."""
    number = squared + added**2
    while (number - squared - added**2) ** 2 < 4 * squared * added**2:
        number += 1
    return number


@pytest.mark.parametrize("bound", [*UNDIRECTED, *DIRECTED], ids=str)
def test_every_measure_is_the_smallest_that_is_proved(bound: HubBound) -> None:
    for name, parameters, changes in expected_under(bound):
        member = statistic(name, **parameters)
        stated, within = sensitivity_under(member, bound), member.sensitivity(bound.within)
        moves, loose = numbers_of(changes)
        l1 = sum(map(sum, moves)) + loose if moves else changes
        assert isinstance(l1, int)
        lost = sum(bound.hubs) * within.edge_l1
        static, variation = within.static_l1 + lost, least_above(within.variation_squared, lost)
        if moves:
            static = min(static, sum(map(max, moves)) + loose)
            squares = sum(rises**2 + falls**2 for rises, falls in moves)
            variation = min(variation, least_above(squares, loose))
        l2_squared = min(l1**2, variation, least_above(within.l2_squared, lost))
        assert stated.l1 == l1, name
        assert stated.static_l1 == min(l1, static), name
        assert stated.variation == min(l1**2, variation), name
        assert stated.l2_squared == l2_squared, name
        assert stated.edge_l1 == 3 * within.edge_l1, name
        assert stated.exact_for == frozenset()
        assert not stated.exact
        assert stated.assumption == bound.assumption
        assert stated.proof == "docs/sensitivities.md#hubs"


@pytest.mark.parametrize("bound", [UNDIRECTED[0], DIRECTED[0]], ids=str)
def test_a_statistic_of_other_graphs_has_no_sensitivity_with_hubs(bound: HubBound) -> None:
    for member in every_statistic():
        if not member.domain.admits(directed=bound.directed):
            with pytest.raises(ParameterError):
                sensitivity_under(member, bound)


def test_without_hubs_nothing_is_added() -> None:
    for bound in (DegreeBound(3), InOutBound(2, 3)):
        for name in ("nodes", "edges", "components"):
            member = statistic(name)
            assert sensitivity_under(member, bound) == member.sensitivity(bound)
            assert shape_under(member, bound) == member.shape(bound)


def test_whoever_is_beside_no_hub_changes_what_they_would_if_there_were_none() -> None:
    """But one edge more may be at hubs, and then takes a link from each end."""
    for within, none in ((DegreeBound(3), (0,)), (InOutBound(2, 3), (0, 0))):
        bound = HubBound(within, none, checked=False)  # of those who keep a broken promise
        for name in ("nodes", "edges", "components"):
            member = statistic(name)
            plain, found = member.sensitivity(within), sensitivity_under(member, bound)
            assert (found.l1, found.static_l1) == (plain.l1, plain.static_l1)
            assert found.l2_squared == plain.l2_squared
            assert found.variation_squared == plain.variation_squared
            assert found.edge_l1 == 3 * plain.edge_l1
            assert found.exact_for == plain.exact_for - {"edge_l1"}
            assert found.assumption == bound.assumption != plain.assumption
            assert found.proof.endswith("#a-broken-promise")
            assert shape_under(member, bound) == member.shape(within)


def test_without_any_promise_only_people_can_be_counted() -> None:
    assert sensitivity_under(statistic("nodes"), NoBound()).l1 == 1
    of_degrees = ("high-{}degree", "{}stars", "{}degree-ccdf", "{}degree-histogram")
    names = [each.format(way) for each in of_degrees for way in ("", "in-", "out-")]
    assert projectable() == sorted(["edges", *names])
    undirected = ", ".join(sorted(["edges", *names[::3]]))
    directed = ", ".join(sorted(["edges", *set(names) - set(names[::3])]))
    own = {NoBound(): undirected, NoBound("directed"): directed}
    for bound, listed in own.items():
        with pytest.raises(ParameterError, match="edges needs one: nothing else limits") as refused:
            sensitivity_under(statistic("edges"), bound)
        assert f"projection=D {listed} (" in str(refused.value)
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("name", "static", "squared", "edge"),
    [("edges", 3, 9 + 4, 3), ("components", 4, 16, 3), ("degree-ccdf", 11, 19 + 16, 6)],
)
def test_with_hubs_a_recent_network_has_its_plain_numbers(
    name: str, static: int, squared: int, edge: int
) -> None:
    """D = 3, H = 2, in one release; all but the first as often as the window has steps."""
    member = statistic(name).recent(4)
    found = sensitivity_under(member, HubBound(DegreeBound(3), (2,)))
    assert (found.static_l1, found.l2_squared) == (static, 4 * squared)
    assert found.edge_l1 == 4 * edge


@pytest.mark.parametrize("bound", [DegreeBound(1), DegreeBound(3), InOutBound(1, 1)], ids=str)
def test_the_rises_and_falls_of_an_edge_are_as_many_as_it_changes(
    bound: DegreeBound | InOutBound,
) -> None:
    tried = 0
    for member in every_statistic():
        try:
            stated, moves = member.sensitivity(bound), member.edge_moves(bound)
        except ParameterError:
            continue
        if moves is not None:
            assert moves.rises + moves.falls == stated.edge_l1, member
            tried += 1
    assert tried > 5


FALLING = {"clusters", "components", "degree-histogram", "in-degree-histogram"}
FALLING |= {"out-degree-histogram", "growing-clusters"}
ADDING = {"nodes", "edges", "stars", "out-stars", "in-stars", "triangles", "cyclic-triangles"}
ADDING |= {"transitive-triangles", "pattern"}


def test_what_is_known_of_each_statistic_in_advance() -> None:
    """Post-processing, moves and projections rely on it."""
    members = [example for each in registered().values() for example in each.examples()]
    assert {each.name for each in members if not each.monotone} == FALLING
    assert {each.name for each in members if each.only_adds} == ADDING
    assert {each.name for each in members if each.projection_rises} == {"nodes", "edges"}
    degrees = {each.name for each in members if "ccdf" in each.name or "histogram" in each.name}
    assert {each.name for each in members if each.vector} == degrees
    assert {each.name for each in members if each.cumulative} == {
        name for name in degrees if "ccdf" in name
    }
