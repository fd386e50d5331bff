"""How the local engine works: resuming, sharing, threads, hubs, bounds and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import ExactCounts, LocalEngine
from graphveil.backends.local.degrees import WIDEST
from graphveil.errors import BoundError, ParameterError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.statistics.pattern_shape import cyclic_triangle, transitive_triangle, triangle
from graphveil.statistics.statistic import statistic
from small_sequences import Growth, growths, random_growth
from test_counts_by_definition import EVERY_KIND, assert_as_defined, sweep

ENGINE = LocalEngine(threads=1)
SHAPES = {
    "triangles": triangle(),
    "cyclic-triangles": cyclic_triangle(),
    "transitive-triangles": transitive_triangle(),
}


def assert_same(left: ExactCounts, right: ExactCounts) -> None:
    assert left.statistics == right.statistics
    for member in left.statistics:
        ours, theirs = left.differences(member), right.differences(member)
        assert ours.dtype == theirs.dtype == np.int64
        assert ours.tolist() == theirs.tolist(), member


@EVERY_KIND
@given(data=st.data())
def test_new_steps_only_equals_from_the_start(
    data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    statistics = sweep(directed=directed)
    whole = ENGINE.count(growth.sequence(), statistics)
    for split in range(growth.steps + 1):
        begun = ENGINE.count(growth.until(split).sequence(), statistics)
        for _ in range(2):  # going on twice from one place: going on changes nothing
            assert_same(ENGINE.count(growth.sequence(), statistics, after=begun), whole)


@EVERY_KIND
@given(data=st.data())
def test_first_links_are_counted_step_by_step_as_at_once(
    data: st.DataObject, directed: bool, late: bool
) -> None:
    bound = HubBound(InOutBound(1, 2), (0, 1)) if directed else HubBound(DegreeBound(2), (1,))
    growth = data.draw(growths(directed=directed, late=late))
    statistics = sweep(directed=directed)
    whole = ENGINE.count(ENGINE.counted_part(growth.sequence(), bound), statistics)
    for split in range(growth.steps + 1):
        before = ENGINE.counted_part(growth.until(split).sequence(), bound)
        begun = ENGINE.count(before, statistics)
        now = ENGINE.counted_part(growth.sequence(), bound)
        assert_same(ENGINE.count(now, statistics, after=begun), whole)


@EVERY_KIND
def test_step_by_step_on_a_larger_graph(directed: bool, late: bool) -> None:
    growth = random_growth(80, 9, 0.1, directed=directed, late=late, seed=4)
    statistics = sweep(directed=directed)
    counts = ENGINE.count(growth.until(0).sequence(), statistics)
    for steps in range(1, growth.steps + 1):
        counts = ENGINE.count(growth.until(steps).sequence(), statistics, after=counts)
    assert_same(counts, ENGINE.count(growth.sequence(), statistics))


@EVERY_KIND
def test_threads_change_nothing(
    directed: bool, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphveil.backends.local.patterns.ENTRIES_PER_PART", 50)
    growth = random_growth(120, 9, 0.1, directed=directed, late=late, seed=3)
    one = LocalEngine(threads=1).count(growth.sequence(), sweep(directed=directed))
    two = LocalEngine(threads=2).count(growth.sequence(), sweep(directed=directed))
    assert_same(one, two)


def test_a_statistic_missing_before_is_counted_from_the_start() -> None:
    growth = random_growth(30, 4, 0.2, directed=False, late=True, seed=1)
    statistics = sweep(directed=False)
    begun = ENGINE.count(growth.until(2).sequence(), [statistic("edges")])
    resumed = ENGINE.count(growth.sequence(), statistics, after=begun)
    assert_same(resumed, ENGINE.count(growth.sequence(), statistics))


def test_statistics_of_one_tally_share_it() -> None:
    growth = random_growth(30, 4, 0.2, directed=False, late=False, seed=1)
    names = ["degree-histogram", "degree-ccdf"]
    members = [*map(statistic, names), statistic("stars", k=2), statistic("high-degree", tau=3)]
    assert len(ENGINE.count(growth.sequence(), members).answers) == 1


def star_that_grows(leaves: int, *, directed: bool, hub: int) -> Growth:
    """A hub among leaves that arrive over three steps; it may come first, midway or last."""
    arrivals = tuple(3 * v // (leaves + 1) for v in range(leaves + 1))
    links = tuple((v, hub, arrivals[max(v, hub)]) for v in range(leaves + 1) if v != hub)
    return Growth(directed, 3, arrivals, links)


@pytest.mark.parametrize("hub", [0, 1000, 2 * WIDEST + 200])
@pytest.mark.parametrize("directed", [False, True])
def test_hubs_beyond_the_dense_table(hub: int, directed: bool) -> None:
    leaves = 2 * WIDEST + 200
    growth = star_that_grows(leaves, directed=directed, hub=hub)
    ccdf, histogram, stars = (
        (statistic("in-degree-ccdf"), statistic("in-degree-histogram"), statistic("in-stars", k=2))
        if directed
        else (statistic("degree-ccdf"), statistic("degree-histogram"), statistic("stars", k=2))
    )
    begun = ENGINE.count(growth.until(2).sequence(), [ccdf, histogram, stars])
    counts = ENGINE.count(growth.sequence(), [ccdf, histogram, stars], after=begun)
    assert_same(counts, ENGINE.count(growth.sequence(), [ccdf, histogram, stars]))
    for step in range(3):
        matrix, present = growth.matrix(step)
        degrees = matrix.sum(axis=0, dtype=np.int64)[present == 1]
        wanted = np.bincount(degrees, minlength=leaves + 1)
        assert counts.totals(histogram)[step].tolist() == wanted.tolist()
        assert counts.totals(ccdf)[step].tolist() == wanted[::-1].cumsum()[::-1].tolist()
        assert counts.totals(stars)[step] == int((degrees * (degrees - 1) // 2).sum())


@EVERY_KIND
@given(data=st.data())
def test_the_width_of_the_dense_table_changes_nothing(
    data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphveil.backends.local.degrees.WIDEST", 2)
        patch.setattr("graphveil.backends.local.degrees.SPARE_RUNS", 0)
        begun = ENGINE.count(growth.until(growth.steps // 2).sequence(), sweep(directed=directed))
        counts = ENGINE.count(growth.sequence(), sweep(directed=directed), after=begun)
    assert_as_defined(counts, growth)


def sparse_with_hub(hub: int, *, directed: bool) -> Growth:
    """A sparse graph, and one node that is linked to every other, each way it can be."""
    sparse = random_growth(600, 5, 0.008, directed=directed, late=False, seed=6)
    links = {(u, v): step for u, v, step in sparse.links}
    for v in set(range(600)) - {hub}:
        step = sparse.arrivals[max(v, hub)]
        if not directed or v % 3 < 2:
            links[max(v, hub), min(v, hub)] = step
        if directed and v % 3 > 0:
            links[min(v, hub), max(v, hub)] = step
    return replace(sparse, links=tuple((u, v, step) for (u, v), step in links.items()))


@pytest.mark.parametrize("hub", [0, 300, 599])
@pytest.mark.parametrize("name", SHAPES)
def test_named_triangles_equal_patterns_around_a_hub(hub: int, name: str) -> None:
    growth = sparse_with_hub(hub, directed=SHAPES[name].directed)
    named, general = statistic(name), statistic("pattern", pattern=SHAPES[name])
    counts = ENGINE.count(growth.sequence(), [named, general])
    assert counts.totals(named)[-1] > 1000
    assert counts.differences(named).tolist() == counts.differences(general).tolist()


def test_a_bound_fixes_the_width_of_vectors() -> None:
    growth = star_that_grows(5, directed=True, hub=0)
    members = [statistic("out-degree-histogram"), statistic("in-degree-ccdf")]
    bound = InOutBound(inward=7, outward=3)
    counts = ENGINE.count(growth.sequence(), members, bound=bound)
    assert [counts.totals(member).shape for member in members] == [(3, 4), (3, 8)]


def test_a_broken_bound_is_refused() -> None:
    growth = star_that_grows(5, directed=False, hub=0)
    histogram = statistic("degree-histogram")
    counts = ENGINE.count(growth.sequence(), [histogram], bound=DegreeBound(4))
    with pytest.raises(BoundError):
        counts.totals(histogram)


def test_a_bound_of_the_wrong_kind_is_refused() -> None:
    growth = star_that_grows(5, directed=False, hub=0)
    histogram = statistic("degree-histogram")
    counts = ENGINE.count(growth.sequence(), [histogram], bound=InOutBound(9, 9))
    with pytest.raises(ParameterError, match="degree bound"):
        counts.differences(histogram)


@pytest.mark.parametrize(
    ("name", "directed"), [("triangles", True), ("cyclic-triangles", False), ("stars", True)]
)
def test_graphs_outside_the_domain_are_refused(name: str, directed: bool) -> None:
    growth = star_that_grows(3, directed=directed, hub=0)
    member = statistic(name, **({"k": 2} if name == "stars" else {}))
    with pytest.raises(ParameterError, match=name):
        ENGINE.count(growth.sequence(), [member])


def test_counts_of_another_sequence_are_refused() -> None:
    growth = random_growth(30, 4, 0.2, directed=False, late=False, seed=1)
    fewer_links = replace(growth, links=growth.links[1:])
    edges = [statistic("edges")]
    whole = ENGINE.count(growth.sequence(), edges)
    for other in (fewer_links, growth.until(3)):
        with pytest.raises(ParameterError, match="earlier state"):
            ENGINE.count(other.sequence(), edges, after=whole)


def test_what_was_not_counted_is_refused() -> None:
    growth = star_that_grows(3, directed=False, hub=0)
    counts = ENGINE.count(growth.sequence(), [statistic("edges")])
    with pytest.raises(ParameterError, match="nodes"):
        counts.totals(statistic("nodes"))


def test_no_threads_is_refused() -> None:
    with pytest.raises(ParameterError, match="threads"):
        LocalEngine(threads=0)
