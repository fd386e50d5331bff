"""Counting for series: what an engine is asked, and which step breaks a promise first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import Engine, LocalEngine
from graphveil.graph.promises import DegreeBound
from graphveil.graph.sequence import GraphSequence
from graphveil.graph.thresholds import FollowingBound
from graphveil.series.counting import (
    SeriesCounts,
    SeriesTerms,
    ThresholdCounts,
    by_view,
    count_series,
    difference_at,
    first_break,
    view_of,
)
from graphveil.series.planner import plan
from graphveil.statistics.statistic import statistic
from small_sequences import Growth, growths

WIDE, NARROW = DegreeBound(9), DegreeBound(2)


def terms(name: str, *, projects: bool = False) -> SeriesTerms:
    counted = statistic(name)
    if projects:
        made = plan(
            counted, WIDE, epsilon=1, horizon=3, mechanism="range-projection", projection=NARROW
        )
        return SeriesTerms(counted, NARROW, made)
    return SeriesTerms(counted, WIDE, plan(counted, WIDE, epsilon=1, horizon=3))


NODES, EDGES, PROJECTED = terms("nodes"), terms("edges"), terms("edges", projects=True)


@dataclass
class Growing:
    """A graph of which only its length matters."""

    steps: int

    def until(self, steps: int) -> Growing:
        return Growing(steps)


@dataclass
class AnsweredQuestions:
    """An engine that answers with what it was asked, and whose graphs break at one step."""

    breaks: int = 0
    started: list[Any] = field(default_factory=list)

    def project(self, sequence: Any, bound: Any, after: Any = None) -> Any:
        return ("projected", sequence.steps, bound, after)

    def counted_part(self, sequence: Any, bound: Any, after: Any = None) -> Any:
        return ("whole", sequence.steps, bound, after)

    def count(
        self, seen: Any, statistics: Any, after: Any = None, bound: Any = None, since: int = 0
    ) -> Any:
        return (seen, [each.name for each in statistics], after, bound, since)

    def keeps_bound(self, sequence: Any, bound: Any, after: Any = None) -> bool:
        self.started.append((bound, after))
        return bool(sequence.steps <= self.breaks)


def counted(after: SeriesCounts | None = None, **more: int) -> SeriesCounts:
    graph = cast("GraphSequence", Growing(4))
    series = [NODES, PROJECTED, EDGES, NODES]
    return count_series(cast("Engine", AnsweredQuestions()), graph, series, after, **more)


def test_each_view_is_counted_once_for_all_its_series() -> None:
    found: Any = counted()
    whole, part = ("whole", 4, WIDE, None), ("projected", 4, NARROW, None)
    assert found.steps == 4
    assert {view: each.counts for view, each in found.views.items()} == {
        (False, WIDE): (whole, ["nodes", "edges"], None, WIDE, 0),
        (True, NARROW): (part, ["edges"], None, NARROW, 0),
    }
    assert [each.seen for each in found.views.values()] == [whole, part]


def test_what_was_counted_before_is_handed_on() -> None:
    first = counted()
    later = counted(first, since=2)
    for view, each in later.views.items():
        before: Any = first.views[view]
        seen, _, after, _, since = cast("Any", each.counts)
        assert seen[-1] == before.seen
        assert after == before.counts
        assert since == 2


def test_series_of_one_view_stand_together() -> None:
    assert view_of(PROJECTED) == (True, NARROW)
    assert by_view([NODES, PROJECTED, EDGES]) == {
        (False, WIDE): [NODES, EDGES],
        (True, NARROW): [PROJECTED],
    }


def test_a_series_begins_with_all_that_is_there_and_goes_on_step_by_step() -> None:
    table = np.array([[1, 10], [2, 20], [4, 40], [8, 80]])
    assert difference_at(table, 2, 2) == (7, 70)
    assert difference_at(table, 2, 3) == (8, 80)
    assert difference_at(table, 0, 0) == (1, 10)


@pytest.mark.parametrize("steps", range(1, 8))
def test_the_first_step_that_breaks_a_promise_is_found(steps: int) -> None:
    graph = cast("GraphSequence", Growing(steps))
    after = cast("Any", "degrees before")
    for breaks in range(steps + 1):
        for since in range(breaks + 1):
            engine = AnsweredQuestions(breaks)
            found = first_break(cast("Engine", engine), graph, WIDE, since, after)
            assert found == (None if breaks == steps else breaks)
            assert set(engine.started) == {(WIDE, after)}
            assert len(engine.started) <= 1 + (steps - since).bit_length()


@given(st.booleans().flatmap(lambda way: growths(directed=way, late=True)), st.data())
def test_thresholds_that_come_late_count_what_their_projections_do(
    growth: Growth, data: st.DataObject
) -> None:
    sequence, bound, edges = growth.sequence(), FollowingBound(10), statistic("edges")
    counted, engine = ThresholdCounts(LocalEngine(), sequence, edges, bound), LocalEngine()
    asked = [(step, most) for step in range(sequence.steps) for most in range(1, 7)]
    for step, threshold in data.draw(st.permutations(asked)):
        left = engine.project(sequence, bound.at(threshold, directed=sequence.directed))
        assert counted.total(step, threshold) == engine.count(left, [edges]).totals(edges)[step]
