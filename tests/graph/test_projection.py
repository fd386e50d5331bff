"""Projections against a plain loop, and what they promise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import BoundError, ParameterError
from graphveil.graph.degrees import degrees, require_bound
from graphveil.graph.projection import Projected, greedy_projection, time_aware_projection
from graphveil.graph.promises import Bound, DegreeBound, InOutBound
from graphveil.graph.sequence import GraphSequence
from graphveil.records import from_rows
from test_intake import Rows, begin, content, growing_graphs

Edges = dict[tuple[str, str], int]


def by_plain_loop(sequence: GraphSequence, bound: Bound, *, by_kept: bool) -> Edges:
    """Take edges by step, newer and older endpoint, and count as the projection says."""
    rank = {str(node): label for label, node in enumerate(sequence.ids)}
    _, edges = content(sequence)

    def order(edge: tuple[str, str]) -> tuple[int, ...]:
        a, b = rank[edge[0]], rank[edge[1]]
        late = max(a, b) < sequence.node_offsets[edges[edge]]
        return edges[edge], late, max(a, b), min(a, b), a > b

    used: Counter[tuple[str, str]] = Counter()
    kept: Edges = {}
    directed = isinstance(bound, InOutBound)
    for u, v in sorted(edges, key=order):
        if not directed and rank[u] > rank[v]:
            continue  # the same edge seen from its other end
        slots = [("out", u), ("in", v)] if directed else [("", u), ("", v)]
        most = _most(bound)
        admitted = all(used[slot] < most[slot[0]] for slot in slots)
        if admitted:
            kept[u, v] = edges[u, v]
            if not directed:
                kept[v, u] = edges[u, v]
        if admitted or not by_kept:
            used.update(slots)
    return kept


def _most(bound: Bound) -> dict[str, int]:
    if bound.directed:
        return {"out": bound.limit("out"), "in": bound.limit("in")}
    return {"": bound.limit("total")}


def bounds(*, directed: bool) -> st.SearchStrategy[Bound]:
    small = st.integers(1, 3)
    return st.builds(InOutBound, small, small) if directed else st.builds(DegreeBound, small)


Project = Callable[[GraphSequence, Bound], GraphSequence]


@pytest.mark.parametrize(
    ("project", "by_kept"), [(greedy_projection, True), (time_aware_projection, False)]
)
@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_projection_agrees_with_a_plain_loop(
    project: Project, by_kept: bool, graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    bound = data.draw(bounds(directed=directed))
    projected = project(sequence, bound)
    assert content(projected)[1] == by_plain_loop(sequence, bound, by_kept=by_kept)
    assert content(projected)[0] == content(sequence)[0]
    require_bound(projected, bound)


@pytest.mark.parametrize("project", [greedy_projection, time_aware_projection])
@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_projection_is_causal_and_changes_nothing_within_the_bound(
    project: Project, graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    bound = data.draw(bounds(directed=directed))
    for steps in range(sequence.steps + 1):
        early = content(project(sequence.until(steps), bound))
        assert early == content(project(sequence, bound).until(steps))
    roomy: Bound = InOutBound(20, 20) if directed else DegreeBound(20)
    assert content(project(sequence, roomy)) == content(sequence)


@pytest.mark.parametrize("project", [greedy_projection, time_aware_projection])
@pytest.mark.parametrize("most", [254, 255, 256, 257])
@pytest.mark.parametrize("directed", [False, True])
def test_bounds_beyond_a_byte_are_kept_and_used_up(
    project: Project, most: int, directed: bool
) -> None:
    nodes = [(i, 0) for i in range(520)]
    edges = [(0, i) for i in range(1, 520)] + [(i, 1) for i in range(2, 520)]
    sequence = begin(directed=directed).extend(from_rows(nodes, edges)).sequence
    bound: Bound = InOutBound(most, most) if directed else DegreeBound(most)
    projected = project(sequence, bound)
    by_kept = project is greedy_projection
    assert content(projected)[1] == by_plain_loop(sequence, bound, by_kept=by_kept)
    assert max(degrees(projected).outward[0], degrees(projected).inward[0]) == most


@given(graph=growing_graphs(), data=st.data())
def test_time_aware_projection_loses_no_edge_elsewhere_but_at_full_nodes(
    graph: tuple[Rows, Rows], data: st.DataObject
) -> None:
    """An edge is dropped only if one of its ends has more edges than the bound."""
    sequence = begin().extend(from_rows(*graph)).sequence
    bound = data.draw(st.builds(DegreeBound, st.integers(1, 3)))
    found = degrees(sequence).outward
    degree = {str(node): int(found[label]) for label, node in enumerate(sequence.ids)}
    kept = content(time_aware_projection(sequence, bound))[1].keys()
    dropped = content(sequence)[1].keys() - kept
    assert all(max(degree[u], degree[v]) > bound.degree for u, v in dropped)


def test_the_projection_of_one_step_is_a_prefix_of_the_projected_sequence() -> None:
    nodes = [(i, i // 2) for i in range(8)]
    edges = [(i, j) for i in range(8) for j in range(i)]
    sequence = begin().extend(from_rows(nodes, edges)).sequence
    bound = DegreeBound(2)
    whole = greedy_projection(sequence, bound)
    for step in range(4):
        assert content(greedy_projection(sequence.until(step + 1), bound)) == content(
            whole.until(step + 1)
        )


@pytest.mark.parametrize("project", [greedy_projection, time_aware_projection])
@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_going_on_is_projecting_from_the_start(
    project: Callable[..., Projected], graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    bound = data.draw(bounds(directed=directed))
    cuts = sorted(data.draw(st.sets(st.integers(0, sequence.steps), max_size=3)))
    after = None
    for steps in (*cuts, sequence.steps):
        whole = project(sequence.until(steps), bound)
        for _ in range(2):  # going on twice from one place: going on changes nothing
            found = project(sequence.until(steps), bound, after)
            assert content(found) == content(whole)
            assert [each.tolist() for each in found.used] == [each.tolist() for each in whole.used]
        after = found


def test_a_projection_goes_on_from_its_own_sequence_only() -> None:
    nodes, edges = [("a", 1), ("b", 1), ("c", 2)], [("a", "b"), ("a", "c"), ("b", "c")]
    sequence = begin().extend(from_rows(nodes, edges)).sequence
    other = begin().extend(from_rows(nodes, edges[1:])).sequence
    bound, shorter = DegreeBound(1), sequence.until(sequence.steps - 1)
    whole = greedy_projection(sequence, bound)
    for after, now in (
        (greedy_projection(other.until(shorter.steps), bound), sequence),
        (whole, shorter),
    ):
        with pytest.raises(ParameterError, match="earlier state"):
            greedy_projection(now, bound, after)
    assert type(whole.until(1)) is GraphSequence


@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_degrees_go_on_from_an_earlier_state(
    graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    before = degrees(sequence.until(data.draw(st.integers(0, sequence.steps))))
    found, whole = degrees(sequence, before), degrees(sequence)
    assert found.outward.tolist() == whole.outward.tolist()
    assert found.inward.tolist() == whole.inward.tolist()


def test_a_cascade_shows_why_greedy_projection_is_unstable() -> None:
    """The paper's lemma: one extra node flips every second link of a chain of hubs."""
    hubs, bound = 6, DegreeBound(2)
    nodes = [(f"hub{t}", t) for t in range(hubs)] + [(f"leaf{t}", t) for t in range(hubs)]
    edges = [(f"hub{t}", f"leaf{t}") for t in range(hubs)]
    edges += [(f"hub{t}", f"hub{t + 1}") for t in range(hubs - 1)]
    without = greedy_projection(begin().extend(from_rows(nodes, edges)).sequence, bound)
    extra = begin().extend(from_rows([*nodes, ("a", 0)], [*edges, ("a", "hub0")])).sequence
    with_extra = greedy_projection(extra, bound)
    flipped = content(without)[1].keys() ^ content(with_extra)[1].keys()
    assert len(flipped) // 2 > hubs // 2


@given(graph=growing_graphs(), directed=st.booleans(), data=st.data())
def test_broken_promises_are_noticed_and_kept_private(
    graph: tuple[Rows, Rows], directed: bool, data: st.DataObject
) -> None:
    sequence = begin(directed=directed).extend(from_rows(*graph)).sequence
    bound = data.draw(bounds(directed=directed))
    _, edges = content(sequence)
    out = Counter(u for u, _ in edges)
    inward = Counter(v for _, v in edges)
    most = _most(bound)
    allowed_out, allowed_in = (most["out"], most["in"]) if directed else (most[""], most[""])
    broken = any(n > allowed_out for n in out.values()) or any(
        n > allowed_in for n in inward.values()
    )
    if broken:
        with pytest.raises(BoundError, match="do not publish"):
            require_bound(sequence, bound)
    else:
        require_bound(sequence, bound)


def test_a_bound_must_fit_the_sequence() -> None:
    with pytest.raises(ParameterError, match="one degree bound"):
        greedy_projection(begin(), InOutBound(1, 1))
    with pytest.raises(ParameterError, match="an in- and an out-degree"):
        greedy_projection(begin(directed=True), DegreeBound(1))
    with pytest.raises(ParameterError, match="not declared oriented"):
        require_bound(begin(directed=True), InOutBound(1, 1, oriented=True))


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_a_bound_is_a_positive_whole_number(bad: int) -> None:
    with pytest.raises(ParameterError, match="at least 1"):
        DegreeBound(bad)
    with pytest.raises(ParameterError, match="at least 1"):
        InOutBound(1, bad)
