"""What the Spark engine's tasks count by groups is what the local engine counts by them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.backends.local import groups
from graphveil.backends.spark import SparkEngine
from graphveil.backends.spark.graph import Workspace, handed_over
from graphveil.errors import CountOverflowError, ParameterError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.graph.sequence import GraphSequence
from graphveil.statistics.statistic import Statistic, statistic
from here import Here
from small_sequences import Growth, growths, random_growth
from test_counts_by_definition import EVERY_KIND
from test_groups_by_networkx import DIRECTED, GROUPS, UNDIRECTED
from test_spark_tasks import assert_same

LOCAL = LocalEngine(threads=1)
SPARK = SparkEngine(Here())
MOST = int(np.prod([len(each.cells) for each in GROUPS.members]))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    found = Workspace(str(tmp_path_factory.mktemp("graph")))
    yield found
    found.remove()


def by_groups(by: str, *, directed: bool) -> list[Statistic]:
    """Every statistic by one group or by both, as far as the cells are few."""
    given = DIRECTED if directed else UNDIRECTED
    many = "," in by
    return [
        statistic(name, by=by, groups=GROUPS, **more)
        for name, more in given
        if not (many and name == "edges" and not more)
    ]


def labelled(growth: Growth, seed: int = 1) -> GraphSequence:
    """The sequence of a growth whose people have any labels."""
    strata = np.random.default_rng(seed).integers(0, MOST, len(growth.arrivals))
    return replace(growth.sequence(), strata=strata.astype(np.int32))


@EVERY_KIND
@given(data=st.data())
@settings(max_examples=4)
def test_every_cell_is_the_same_from_the_start_and_after_any_step(
    workspace: Workspace, data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    sequence = labelled(growth, data.draw(st.integers(0, 99)))
    graph = handed_over(sequence, workspace, data.draw(st.integers(1, 4)))
    split = data.draw(st.integers(1, growth.steps))
    members = by_groups(data.draw(st.sampled_from(["region", "age,region"])), directed=directed)
    here = LOCAL.count(sequence, members)
    assert_same(here, SPARK.count(graph, members))
    begun = SPARK.count(graph.until(split), members)
    assert_same(LOCAL.count(sequence.until(split), members), begun)
    assert_same(here, SPARK.count(graph, members, after=begun))


@EVERY_KIND
def test_a_larger_graph_and_what_hubs_let_count_of_it(
    workspace: Workspace, directed: bool, late: bool
) -> None:
    growth = random_growth(150, 7, 0.1, directed=directed, late=late, seed=5)
    within = InOutBound(3, 4) if directed else DegreeBound(5)
    bound = HubBound(within, (1, 1) if directed else (2,))
    sequence, members = labelled(growth), by_groups("age,region", directed=directed)
    part = LOCAL.counted_part(sequence, bound)
    assert part.strata is not None
    graph = handed_over(sequence, workspace, 3)
    assert_same(LOCAL.count(sequence, members), SPARK.count(graph, members))
    assert_same(LOCAL.count(part, members), SPARK.count(SPARK.counted_part(graph, bound), members))


def test_a_hub_beyond_the_first_table_and_one_that_no_table_holds(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = tuple((0, other, max(1, other // 40)) for other in range(1, 120))
    growth = Growth(False, 3, (0, *(max(1, other // 40) for other in range(1, 120))), links)
    sequence, members = labelled(growth), by_groups("region", directed=False)
    graph = handed_over(sequence, workspace, 3)
    begun = SPARK.count(graph.until(2), members)
    assert_same(LOCAL.count(sequence, members), SPARK.count(graph, members, after=begun))
    monkeypatch.setattr(groups, "LARGEST_TABLE", 3 * 5 * groups.NARROW)
    with pytest.raises(CountOverflowError, match="by groups would be too large"):
        SPARK.count(graph, members)


def test_people_without_labels_are_refused(workspace: Workspace) -> None:
    growth = random_growth(10, 2, 0.3, directed=False, late=False, seed=1)
    graph = handed_over(growth.sequence(), workspace, 2)
    with pytest.raises(ParameterError, match="nobody has labels"):
        SPARK.count(graph, [statistic("nodes", by="region", groups=GROUPS)])
