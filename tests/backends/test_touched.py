"""New steps are counted near what is new, and come to the same as counting everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.backends.local import work
from graphveil.backends.local.patterns import count_copies
from graphveil.backends.local.work import Work, touched_part
from graphveil.statistics.pattern_shape import Pattern
from small_sequences import Growth, growths, random_growth
from test_counts_by_definition import sweep

ENGINE = LocalEngine()
PLAIN = {
    directed: [each for each in sweep(directed=directed) if each.counted_for is None]
    for directed in (False, True)
}
EVERY_KIND = pytest.mark.parametrize(
    ("directed", "late"), [(False, False), (False, True), (True, False), (True, True)]
)


@pytest.fixture(autouse=True)
def always_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is touched."""
    monkeypatch.setattr(work, "MOST", 1.0)


def require_same(growth: Growth, cuts: list[int], *, directed: bool) -> None:
    """Counting on at every cut is counting from the start."""
    statistics, counts = PLAIN[directed], None
    for steps in (*cuts, growth.steps):
        counts = ENGINE.count(growth.until(steps).sequence(), statistics, after=counts)
    whole = ENGINE.count(growth.sequence(), statistics)
    assert counts is not None
    for each in statistics:
        assert np.array_equal(counts.differences(each), whole.differences(each)), each


@EVERY_KIND
@given(data=st.data())
def test_every_way_to_cut_a_history_counts_the_same(
    data: st.DataObject, directed: bool, late: bool
) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    cuts = sorted(data.draw(st.sets(st.integers(0, growth.steps))))
    require_same(growth, cuts, directed=directed)


@EVERY_KIND
@pytest.mark.parametrize("seed", range(3))
def test_sparse_graphs_with_many_late_links(directed: bool, late: bool, seed: int) -> None:
    growth = random_growth(70, 8, 0.025, directed=directed, late=late, seed=seed)
    require_same(growth, [2, 5, 6, 7], directed=directed)


def test_far_from_what_is_new_nothing_is_looked_at() -> None:
    """A long path that grows at its end; and one late link in the middle."""
    arrivals = tuple(range(100))
    path = Growth(False, 101, arrivals, tuple((b, a, b) for a, b in pairwise(arrivals)))
    for reach in (1, 2, 3):
        assert touched_part(path.sequence(), 99, reach).nodes == 2 + reach
    both = Growth(False, 101, arrivals, (*path.links, (52, 50, 100)))
    part = touched_part(both.sequence(), 100, 1)
    assert (part.nodes, part.edges, part.steps) == (5, 5, 101)
    triangle = Pattern(((0, 1), (0, 2), (1, 2)))
    assert count_copies(Work(both.sequence(), 1), triangle, 100).tolist() == [1]
    assert touched_part(both.sequence(), 101, 1).nodes == 0


def test_where_nearly_everything_is_touched_nothing_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work, "MOST", 0.5)
    sequence = random_growth(30, 4, 0.5, directed=False, late=True, seed=1).sequence()
    assert touched_part(sequence, 1, 1) is sequence
    assert touched_part(sequence, 0, 1) is sequence
