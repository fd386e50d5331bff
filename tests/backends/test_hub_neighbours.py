"""Neighbours with hubs, counted by the engine: never farther apart than is claimed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.statistics.change import sensitivity_under
from graphveil.statistics.tallies import Counts
from small_sequences import Growth, growths
from test_counts_by_definition import sweep
from tries import tries

ENGINE = LocalEngine(threads=1)


def without(growth: Growth, gone: int) -> Growth:
    """The same people and links, but for one person."""
    place = {node: node - (node > gone) for node in range(len(growth.arrivals)) if node != gone}
    arrivals = tuple(step for node, step in enumerate(growth.arrivals) if node != gone)
    links = tuple((place[u], place[v], s) for u, v, s in growth.links if gone not in (u, v))
    return Growth(growth.directed, growth.steps, arrivals, links)


def least_promise(growth: Growth, within: DegreeBound | InOutBound) -> HubBound:
    """The fewest hubs with which a network keeps a promise."""
    few = range(len(growth.arrivals) + 1)
    for hubs in sorted(product(few, few) if growth.directed else ((h,) for h in few), key=sum):
        if any(hubs) and ENGINE.keeps_bound(growth.sequence(), HubBound(within, hubs)):
            return HubBound(within, hubs)
    raise AssertionError("nobody has more neighbours than there are people")


def apart(left: Counts, right: Counts) -> int:
    if left.ndim == 2:
        width = max(left.shape[1], right.shape[1])
        left, right = (np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in (left, right))
    return int(np.abs(left - right).sum())


@pytest.mark.parametrize("directed", [False, True])
@tries(25)
@given(data=st.data())
def test_no_pair_is_farther_apart_than_claimed(data: st.DataObject, directed: bool) -> None:
    growth = data.draw(growths(directed=directed, late=True).filter(lambda each: each.arrivals))
    small = st.integers(1, 2)
    within: DegreeBound | InOutBound = DegreeBound(data.draw(small))
    if directed:
        within = InOutBound(data.draw(small), data.draw(small))
    bound = least_promise(growth, within)
    smaller = without(growth, data.draw(st.integers(0, len(growth.arrivals) - 1)))
    assert ENGINE.keeps_bound(smaller.sequence(), bound)
    statistics = sweep(directed=directed)
    counted = [
        ENGINE.count(ENGINE.counted_part(each.sequence(), bound), statistics)
        for each in (growth, smaller)
    ]
    for member in statistics:
        try:
            claimed = sensitivity_under(member, bound)
        except ParameterError:
            continue
        look = "totals" if member.counted_for else "differences"
        larger, lesser = (getattr(counts, look)(member) for counts in counted)
        assert apart(larger, lesser) <= claimed.l1, (member, bound)
