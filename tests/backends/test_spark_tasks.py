"""What the Spark engine's tasks count is what the local engine counts, on every kind of graph.

Here the tasks run in this process; `test_spark_engine` runs them on Spark.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.backends import ExactCounts, LocalEngine
from graphveil.backends.spark import SparkEngine, SparkGraph
from graphveil.backends.spark.engine import COUNTERS
from graphveil.backends.spark.graph import Workspace, handed_over
from graphveil.backends.spark.session import colours_for
from graphveil.errors import EngineError, ParameterError
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound
from graphveil.statistics.statistic import Statistic, statistic
from here import Here
from small_sequences import Growth, growths, random_growth
from test_counts_by_definition import EVERY_KIND, KINDS, sweep
from tries import sampled

LOCAL = LocalEngine(threads=1)
SPARK = SparkEngine(Here())


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    found = Workspace(str(tmp_path_factory.mktemp("graph")))
    yield found
    found.remove()


def counted(*, directed: bool) -> list[Statistic]:
    """Every example of every statistic whose tally the engine answers."""
    return [each for each in sweep(directed=directed) if type(each.tally()) in COUNTERS]


def assert_same(left: ExactCounts, right: ExactCounts) -> None:
    assert left.statistics == right.statistics
    assert left.extent == right.extent
    for member in left.statistics:
        ours, theirs = left.differences(member), right.differences(member)
        assert ours.dtype == theirs.dtype == np.int64
        assert ours.tolist() == theirs.tolist(), member


def promise(*, directed: bool) -> HubBound:
    return HubBound(InOutBound(1, 2), (0, 1)) if directed else HubBound(DegreeBound(2), (1,))


def bounds(*, directed: bool) -> list[Bound]:
    hubs = promise(directed=directed)
    return [hubs, hubs.wider(2), hubs.within, hubs.within.wider(3), hubs.within.wider(1000)]


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=15)
def test_every_tally_is_the_same(
    workspace: Workspace, data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    graph = handed_over(growth.sequence(), workspace, data.draw(st.integers(1, 4)))
    assert_same(
        LOCAL.count(growth.sequence(), counted(directed=directed)),
        SPARK.count(graph, counted(directed=directed)),
    )


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=10)
def test_new_steps_only_equals_from_the_start(
    workspace: Workspace, data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    graph = handed_over(growth.sequence(), workspace, data.draw(st.integers(1, 3)))
    split, members = data.draw(st.integers(0, growth.steps)), counted(directed=directed)
    begun = SPARK.count(graph.until(split), members)
    assert_same(LOCAL.count(growth.until(split).sequence(), members), begun)
    for _ in range(2):  # going on changes nothing in what was counted before
        assert_same(SPARK.count(graph, members, after=begun), SPARK.count(graph, members))


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=15)
def test_promises_and_what_they_let_count(
    workspace: Workspace, data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    sequence = growth.sequence()
    graph = handed_over(sequence, workspace, data.draw(st.integers(1, 3)))
    for bound in bounds(directed=directed):
        assert SPARK.keeps_bound(graph, bound) == LOCAL.keeps_bound(sequence, bound)
        assert SPARK.people_beyond(graph, bound) == LOCAL.people_beyond(sequence, bound)
    part, there = (
        LOCAL.counted_part(sequence, promise(directed=directed)),
        SPARK.counted_part(graph, promise(directed=directed)),
    )
    members = counted(directed=directed)
    assert_same(LOCAL.count(part, members), SPARK.count(there, members))


@pytest.mark.parametrize(
    ("directed", "late", "colours"),
    sampled([(*kind, colours) for kind in KINDS for colours in (1, 2, 5)], 5),
)
def test_a_larger_graph(workspace: Workspace, directed: bool, late: bool, colours: int) -> None:
    growth = random_growth(150, 7, 0.1, directed=directed, late=late, seed=5)
    graph = handed_over(growth.sequence(), workspace, colours)
    members, hubs = counted(directed=directed), promise(directed=directed).wider(7)
    assert_same(LOCAL.count(growth.sequence(), members), SPARK.count(graph, members))
    assert SPARK.people_beyond(graph, hubs) == LOCAL.people_beyond(growth.sequence(), hubs)
    part = LOCAL.counted_part(growth.sequence(), hubs)
    assert_same(LOCAL.count(part, members), SPARK.count(SPARK.counted_part(graph, hubs), members))


def test_many_steps_and_a_hub_that_comes_late(workspace: Workspace) -> None:
    nodes, steps = 2500, 400
    arrivals = np.sort(np.arange(nodes) % steps)
    ring = [(node, node - 1, int(arrivals[node])) for node in range(1, nodes)]
    chords = [(node, node - 2, int(arrivals[node])) for node in range(2, nodes, 3)]
    hub = [(nodes - 1, node, steps - 1) for node in range(nodes - 2)]  # degree beyond the table
    growth = Growth(False, steps, tuple(arrivals.tolist()), (*ring, *chords, *hub))
    graph = handed_over(growth.sequence(), workspace, 3)
    members = counted(directed=False)
    assert_same(LOCAL.count(growth.sequence(), members), SPARK.count(graph, members))
    bound = HubBound(DegreeBound(4), (1,))
    assert SPARK.keeps_bound(graph, bound) == LOCAL.keeps_bound(growth.sequence(), bound)
    begun = SPARK.count(graph.until(steps - 1), members)
    assert_same(SPARK.count(graph, members, after=begun), SPARK.count(graph, members))


@pytest.mark.parametrize("sizes", [(0, 0), (3, 0), (0, 2)])
def test_nobody_and_no_links(workspace: Workspace, sizes: tuple[int, int]) -> None:
    nodes, empty = sizes
    growth = Growth(False, 1 + empty, (0,) * nodes, ())
    graph = handed_over(growth.sequence(), workspace, 2)
    members = counted(directed=False)
    assert_same(LOCAL.count(growth.sequence(), members), SPARK.count(graph, members))
    assert SPARK.keeps_bound(graph, DegreeBound(1))


def graph_of(growth: Growth, workspace: Workspace) -> SparkGraph:
    return handed_over(growth.sequence(), workspace, 2)


def test_what_it_does_not_count_is_refused_with_the_engine_that_does(workspace: Workspace) -> None:
    graph = graph_of(random_growth(10, 2, 0.3, directed=False, late=False, seed=1), workspace)
    others = [each for each in sweep(directed=False) if each not in counted(directed=False)]
    assert others
    for member in others:
        with pytest.raises(EngineError, match="The local engine counts them"):
            SPARK.count(graph, [member])
    with pytest.raises(EngineError, match="The local engine projects"):
        SPARK.project(graph, DegreeBound(3))


def test_components_that_do_not_fit_are_refused_before_anything_runs(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = graph_of(random_growth(10, 2, 0.3, directed=False, late=False, seed=1), workspace)

    monkeypatch.setattr(Here, "run", lambda *_: pytest.fail("it has started"))
    with pytest.raises(EngineError, match=r"taskMemory is 0\.1 GiB"):
        SparkEngine(Here(task_bytes=100 << 20)).count(graph, [statistic("components")])


def test_counts_of_another_graph_are_refused(workspace: Workspace) -> None:
    one = graph_of(random_growth(12, 3, 0.3, directed=False, late=False, seed=1), workspace)
    other = graph_of(random_growth(14, 3, 0.3, directed=False, late=False, seed=2), workspace)
    begun = SPARK.count(one, [statistic("edges")])
    with pytest.raises(ParameterError, match="earlier state"):
        SPARK.count(other, [statistic("edges")], after=begun)


def test_a_bound_of_the_wrong_kind_is_refused(workspace: Workspace) -> None:
    graph = graph_of(random_growth(12, 3, 0.3, directed=False, late=False, seed=1), workspace)
    with pytest.raises(ParameterError, match="needs one degree bound"):
        SPARK.keeps_bound(graph, InOutBound(1, 1))


def test_files_are_for_their_owner_alone_and_gone_in_the_end(tmp_path: Path) -> None:
    workspace = Workspace.within(str(tmp_path))
    graph_of(random_growth(12, 3, 0.3, directed=False, late=True, seed=1), workspace)
    folder = Path(workspace.address)
    assert folder.stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())
    assert "rows" not in repr(graph_of(Growth(False, 1, (0,), ()), workspace))
    workspace.remove()
    assert not folder.exists()


def test_colours_follow_edges_and_memory() -> None:
    gib = 1 << 30
    assert colours_for(0, gib) == colours_for(1000, gib) == 1
    assert colours_for(16_500_000, gib) == 4
    assert colours_for(4 * 16_500_000, gib) == 8
    assert colours_for(16_500_000, 4 * gib) < 4
