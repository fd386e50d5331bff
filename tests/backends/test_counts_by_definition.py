"""Every registered statistic, counted by the engine, equals its own definition."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import ExactCounts, LocalEngine
from graphveil.errors import ParameterError
from graphveil.kernels import kernel
from graphveil.statistics.clusters import GrowingClusters
from graphveil.statistics.recent import Recent
from graphveil.statistics.statistic import Statistic, registered
from graphveil.statistics.tallies import Counts
from small_sequences import Growth, growths, random_growth

KINDS = [(directed, late) for directed in (False, True) for late in (False, True)]
EVERY_KIND = pytest.mark.parametrize(("directed", "late"), KINDS)


def applies(statistic: Statistic, *, directed: bool) -> bool:
    try:
        statistic.require_domain(directed=directed)
    except ParameterError:
        return False
    return True


@cache
def sweep(*, directed: bool) -> tuple[Statistic, ...]:
    """All examples of all statistics that are defined on this kind of graph, and recent ones."""
    examples = [example for member in registered().values() for example in member.examples()]
    every = [*examples, *Recent.examples()]
    return tuple(example for example in every if applies(example, directed=directed))


@cache
def compiled_definition(definition: Any) -> Any:
    return kernel(definition)


def defined(statistic: Statistic, growth: Growth, step: int) -> Counts:
    """The statistic's value at a step by its definition, one place per degree."""
    links, present = growth.recent(step, statistic.counted_for)
    out = np.zeros(len(present) + 1, dtype=np.int64)
    arguments = statistic.definition_arguments(directed=growth.directed)
    given_numbers = np.array(arguments, dtype=np.int64)
    compiled_definition(statistic.definition)(links, present, given_numbers, out)
    return out


def assert_as_defined(counts: ExactCounts, growth: Growth) -> None:
    for statistic in counts.statistics:
        totals = counts.totals(statistic)
        assert len(totals) == growth.steps
        for step in range(growth.steps):
            wanted = defined(statistic, growth, step)
            if statistic.vector:
                places = max(totals.shape[1], len(wanted))  # a level may be above all degrees
                found, expected = (
                    np.pad(each, (0, places - len(each))) for each in (totals[step], wanted)
                )
                assert found.tolist() == expected.tolist(), (statistic, step)
            else:
                assert totals[step] == wanted[0], (statistic, step)


@EVERY_KIND
@given(data=st.data())
def test_every_statistic_as_defined(data: st.DataObject, directed: bool, late: bool) -> None:
    growth = data.draw(growths(directed=directed, late=late))
    counts = LocalEngine(threads=1).count(growth.sequence(), sweep(directed=directed))
    assert_as_defined(counts, growth)


@EVERY_KIND
@pytest.mark.parametrize("seed", range(3))
def test_every_statistic_as_defined_on_denser_graphs(directed: bool, late: bool, seed: int) -> None:
    growth = random_growth(14, 6, 0.4, directed=directed, late=late, seed=seed)
    counts = LocalEngine(threads=2).count(growth.sequence(), sweep(directed=directed))
    assert_as_defined(counts, growth)


def test_the_sweep_misses_no_statistic() -> None:
    swept = {type(example) for directed in (False, True) for example in sweep(directed=directed)}
    assert swept == {*registered().values(), Recent}
    recent = [each.statistic for each in Recent.examples() if isinstance(each, Recent)]
    assert {type(each) for each in recent} == set(registered().values()) - {GrowingClusters}
