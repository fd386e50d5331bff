"""Widths are those of what is counted; projected sensitivities hold for every small neighbour."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product, zip_longest
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.backends import LocalEngine
from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.statistics.degrees import HighDegree
from graphveil.statistics.statistic import Statistic, registered, statistic
from small_sequences import Growth, growths

ENGINE = LocalEngine(threads=1)
Links = NDArray[np.uint8]
Edge = tuple[int, int]

BOUNDS: list[Bound] = [
    *(DegreeBound(degree) for degree in range(1, 9)),
    *(InOutBound(inward, outward) for inward in range(1, 9, 2) for outward in range(1, 9, 2)),
    InOutBound(8, 8),
]
THRESHOLDS: list[Bound] = [
    *(DegreeBound(degree) for degree in (1, 2, 3)),
    *(InOutBound(inward, outward) for inward, outward in product((1, 2), (1, 2, 3))),
]


def admits(example: Statistic, bound: Bound) -> bool:
    try:
        example.require_domain(directed=bound.directed)
        example.sensitivity(bound)
    except ParameterError:
        return False
    return True


@cache
def members(bound: Bound) -> tuple[Statistic, ...]:
    """Every example of every statistic under a bound."""
    examples = (example for member in registered().values() for example in member.examples())
    return tuple(example for example in examples if admits(example, bound))


def checkpoint_format(growth: Growth, bound: Bound) -> bool:
    links, _ = growth.matrix(growth.steps - 1)
    return bound.kept_by(links.sum(axis=1, dtype=np.int64), links.sum(axis=0, dtype=np.int64))


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
@settings(max_examples=40)
def test_a_release_has_as_many_numbers_as_are_counted(directed: bool, data: st.DataObject) -> None:
    """Under every bound that the graph keeps, however far its degrees are from it."""
    growth = data.draw(growths(directed=directed, late=True))
    fitting = [
        each for each in BOUNDS if each.directed == directed and checkpoint_format(growth, each)
    ]
    bound = data.draw(st.sampled_from(fitting))
    counts = ENGINE.count(growth.sequence(), members(bound), bound=bound)
    for example in members(bound):
        found = counts.differences(example).reshape(growth.steps, -1)
        assert found.shape[1] == example.width(bound), example


def test_the_width_of_a_scalar_is_1_and_of_a_vector_one_more_than_its_degrees() -> None:
    for bound in BOUNDS:
        for example in members(bound):
            ways: dict[str, Any] = {"total": "total", "out": "out", "in": "in"}
            way = ways[getattr(example, "direction", "total")]
            wanted = bound.limit(way) + 1 if example.vector else 1
            wanted = len(getattr(example, "levels", None) or range(wanted))
            assert example.width(bound) == wanted, (example, bound)


def projecting(threshold: Bound) -> list[tuple[Statistic, int]]:
    """Every example whose sensitivity after projection is claimed, with the claim."""
    claims = [(each, each.projected_l1(threshold)) for each in members(threshold)]
    return [(each, claim) for each, claim in claims if claim is not None]


def kept(edges: list[Edge], threshold: Bound, nodes: int) -> Links:
    """The greedy projection, edge by edge in the order of the library, as plain as can be."""
    links = np.zeros((nodes, nodes), dtype=np.uint8)
    for source, target in edges:
        out = links[source].sum(dtype=int) < threshold.limit(
            "out" if threshold.directed else "total"
        )
        room = links[:, target].sum(dtype=int) < threshold.limit(
            "in" if threshold.directed else "total"
        )
        if out and room:
            links[source, target] = 1
            links[target, source] |= not threshold.directed
    return links


def slots(nodes: int, *, directed: bool) -> list[Edge]:
    """All edges in the library's order: newer endpoint, older endpoint, forward first."""
    pairs = [(older, newer) for newer in range(nodes) for older in range(newer)]
    if not directed:
        return pairs
    return [edge for older, newer in pairs for edge in ((older, newer), (newer, older))]


def small_graphs(nodes: int, *, directed: bool) -> Iterator[list[Edge]]:
    every = slots(nodes, directed=directed)
    for size in range(len(every) + 1):
        yield from (list(chosen) for chosen in combinations(every, size))


def value(example: Statistic, links: Links, present: Links, *, directed: bool) -> list[int]:
    out = np.zeros(len(present) + 1, dtype=np.int64)
    given_numbers = np.array(example.definition_arguments(directed=directed), dtype=np.int64)
    example.definition(links, present, given_numbers, out)
    return [int(number) for number in out]


def worst_of(threshold: Bound, nodes: int) -> dict[Statistic, int]:
    """What anybody's leaving changes at most, over every small graph of one step."""
    directed, everybody = threshold.directed, np.ones(nodes, dtype=np.uint8)
    found = dict.fromkeys((each for each, _ in projecting(threshold)), 0)
    known: dict[bytes, dict[Statistic, list[int]]] = {}

    def values(edges: list[Edge], present: Links) -> dict[Statistic, list[int]]:
        links = kept(edges, threshold, nodes)
        key = links.tobytes() + present.tobytes()
        if key not in known:
            known[key] = {each: value(each, links, present, directed=directed) for each in found}
        return known[key]

    for edges in small_graphs(nodes, directed=directed):
        whole = values(edges, everybody)
        for person in range(nodes):
            rest = [edge for edge in edges if person not in edge]
            present = everybody.copy()
            present[person] = 0
            fewer = values(rest, present)
            for each in found:
                moved = sum(abs(a - b) for a, b in zip(whole[each], fewer[each], strict=True))
                found[each] = max(found[each], moved)
    return found


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
def test_no_small_projected_neighbour_exceeds_any_claim(threshold: Bound) -> None:
    """Every statistic that claims a sensitivity after projection, by its own definition."""
    worst = worst_of(threshold, 3 if threshold.directed else 5)
    assert worst
    for example, claim in projecting(threshold):
        assert worst[example] <= claim, (example, worst[example], claim)
    reached = [example for example, claim in projecting(threshold) if worst[example] == claim]
    assert reached


def test_a_claim_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    threshold = DegreeBound(2)
    monkeypatch.setattr(HighDegree, "projected_l1", lambda self, threshold: threshold.degree)
    worst = worst_of(threshold, 4)
    assert any(worst[example] > claim for example, claim in projecting(threshold))


def test_only_these_statistics_claim_a_sensitivity_after_projection() -> None:
    """Another one has to come with a proof, and is then swept above."""
    named = {example.name for bound in THRESHOLDS for example, _ in projecting(bound)}
    high = {"high-degree", "high-out-degree", "high-in-degree"}
    vectors = {f"{way}degree-{of}" for way in ("", "out-", "in-") for of in ("ccdf", "histogram")}
    assert named == {"nodes", "edges", "stars", "out-stars", "in-stars"} | high | vectors


@pytest.mark.parametrize("directed", [False, True])
@given(data=st.data())
@settings(max_examples=40)
def test_the_engines_projection_is_the_plain_one(directed: bool, data: st.DataObject) -> None:
    """So that what is shown above of the plain one holds for what is published."""
    growth = data.draw(growths(directed=directed, late=False))
    threshold = data.draw(st.sampled_from([t for t in THRESHOLDS if t.directed == directed]))
    nodes = len(growth.arrivals)
    linked = {frozenset(link[:2]) if not directed else link[:2] for link in growth.links}
    edges = [
        edge
        for edge in slots(nodes, directed=directed)
        if (edge if directed else frozenset(edge)) in linked
    ]
    links = kept(edges, threshold, nodes)
    asked = [example for example, _ in projecting(threshold)]
    counts = ENGINE.count(ENGINE.project(growth.sequence(), threshold), asked)
    for example in asked:
        present = np.ones(nodes, dtype=np.uint8)
        wanted = value(example, links, present, directed=directed)
        if example.vector:
            found = counts.totals(example)[-1].tolist()
            pairs = zip_longest(found, wanted, fillvalue=0)  # nobody has more links than that
            assert all(own == plain for own, plain in pairs), example
        else:
            assert counts.totals(example)[-1] == wanted[0], example


def test_a_claim_grows_with_its_threshold() -> None:
    for one, other in permutations(THRESHOLDS, 2):
        if one.directed == other.directed and all(
            a <= b for a, b in zip(one.limits, other.limits, strict=True)
        ):
            claims = dict(projecting(other))
            for example, claim in projecting(one):
                assert claim <= claims[example]


def test_statistics_without_a_proof_say_so() -> None:
    for name in ("triangles", "components", "clusters", "h-index"):
        assert statistic(name).projected_l1(DegreeBound(3)) is None


def test_a_claim_is_never_below_the_static_sensitivity() -> None:
    """Graphs within the threshold are not changed by projecting, and have neighbours, too."""
    for threshold in THRESHOLDS:
        for example, claim in projecting(threshold):
            assert claim >= example.sensitivity(threshold).static_l1


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
def test_totals_of_projected_edges_and_nodes_never_fall_because_somebody_joined(
    threshold: Bound,
) -> None:
    """What makes their shape a range instead of a box; high degrees do fall."""
    nodes, directed = 3 if threshold.directed else 5, threshold.directed
    everybody, fallen = np.ones(nodes, dtype=np.uint8), set()
    for edges in small_graphs(nodes, directed=directed):
        whole = kept(edges, threshold, nodes)
        for person in range(nodes):
            rest = kept([edge for edge in edges if person not in edge], threshold, nodes)
            present = everybody.copy()
            present[person] = 0
            for example, _ in projecting(threshold):
                more = value(example, whole, everybody, directed=directed)[0]
                if more < value(example, rest, present, directed=directed)[0]:
                    fallen.add(example.projection_rises)
    assert True not in fallen
    if threshold == DegreeBound(2):
        assert fallen == {False}
