"""Networks in which anybody breaks the promise: what each person changes, by the hubs beside it.

The theorem of docs/sensitivities.md#a-broken-promise, against the engine, for every statistic.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from operator import gt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends import LocalEngine
from graphveil.errors import ParameterError
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.planner import FURTHER, loss_beyond, plan, times_beyond
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.recent import RecentStatistic
from graphveil.statistics.sensitivity import Bins, Mass, Moves, Sensitivity, Shape
from graphveil.statistics.statistic import Statistic, statistic
from graphveil.statistics.tallies import Counts
from small_sequences import Growth, growths
from test_counts_by_definition import sweep
from test_hub_neighbours import without
from tries import tries

ENGINE = LocalEngine(threads=1)
CONSTANTS: dict[str, dict[tuple[int, int], int]] = {
    # Γ by (D, hubs beside the person), as plain numbers: Γ(D) + h·c of the table in docs
    "edges": {(2, 0): 2, (2, 1): 3, (2, 3): 5},
    "high-degree:1": {(3, 0): 7, (3, 1): 10, (3, 2): 13},
    "high-degree:2": {(2, 0): 3, (2, 1): 5, (2, 2): 7},
    "components": {(2, 0): 4, (2, 2): 8, (1, 2): 4},
    "clusters:2": {(2, 0): 4, (2, 1): 6, (1, 2): 3},
    "clusters:3": {(2, 0): 4, (2, 1): 8},
    "clustered:2": {(3, 0): 7, (3, 1): 10, (1, 2): 6},
    "clustered:3": {(2, 0): 9, (2, 1): 17},
    "triangles": {(4, 0): 6, (4, 2): 12},
    "stars:2": {(3, 0): 9, (3, 2): 17},
    "degree-ccdf": {(3, 0): 19, (3, 2): 31},
    "degree-histogram": {(3, 0): 35, (3, 2): 61},
    "nodes": {(3, 0): 1, (3, 9): 1},
}
TREE: dict[str, dict[tuple[int, int], int]] = {
    # one source each, any number of infected: by (in-hubs, out-hubs) beside the person, Dout = 4
    "edges": {(0, 0): 5, (0, 1): 6, (2, 1): 8},
    "high-out-degree:2": {(0, 0): 3, (0, 1): 4, (2, 1): 8},
    "high-out-degree:4": {(0, 0): 2, (0, 1): 3, (2, 1): 5},
}


def named(text: str) -> Statistic:
    name, _, number = text.partition(":")
    key = "tau" if name.startswith("high") else "k"
    return statistic(name, **({key: int(number)} if number else {}))


@pytest.mark.parametrize("name", CONSTANTS)
def test_the_constants_are_those_of_the_table(name: str) -> None:
    for (degree, hubs), most in CONSTANTS[name].items():
        own = HubBound(DegreeBound(degree), (hubs,), checked=False)
        assert sensitivity_under(named(name), own).l1 == most, (degree, hubs)


@pytest.mark.parametrize("name", TREE)
def test_the_constants_of_directed_networks(name: str) -> None:
    for hubs, most in TREE[name].items():
        own = HubBound(InOutBound(1, 4), hubs, checked=False)
        assert sensitivity_under(named(name), own).l1 == most, hubs


def hubs_beside(growth: Growth, person: int, within: DegreeBound | InOutBound) -> tuple[int, ...]:
    """To how many hubs somebody is linked; slowly. Directed, in-hubs and out-hubs."""
    inward = [sum(v == node for _, v, _ in growth.links) for node in range(len(growth.arrivals))]
    outward = [sum(u == node for u, _, _ in growth.links) for node in range(len(growth.arrivals))]
    if not growth.directed:
        both = [i + o for i, o in zip(inward, outward, strict=True)]
        ends = [v if u == person else u for u, v, _ in growth.links if person in (u, v)]
        return (sum(both[end] > within.limit("total") for end in ends),)
    to_hubs = sum(inward[v] > within.limit("in") for u, v, _ in growth.links if u == person)
    from_hubs = sum(outward[u] > within.limit("out") for u, v, _ in growth.links if v == person)
    return to_hubs, from_hubs


def changes(larger: Counts, smaller: Counts) -> np.ndarray[Any, np.dtype[np.int64]]:
    """d, one column per number of a release."""
    left, right = (each.reshape(len(each), -1) for each in (larger, smaller))
    width = max(left.shape[1], right.shape[1])
    left, right = (np.pad(each, ((0, 0), (0, width - each.shape[1]))) for each in (left, right))
    return left - right


def breaks(d: np.ndarray[Any, np.dtype[np.int64]], claimed: Sensitivity, shape: Shape) -> list[str]:
    """What a change exceeds."""
    rises, falls = d.clip(min=0).sum(axis=0), -d.clip(max=0).sum(axis=0)
    found = {
        "l1": np.abs(d).sum() > claimed.l1,
        "static": np.abs(d.cumsum(axis=0)).sum(axis=1).max(initial=0) > claimed.static_l1,
        "l2": (d**2).sum() > claimed.l2_squared,
        "variation": (rises**2).sum() + (falls**2).sum() > claimed.variation_squared,
        "shape": not admits(shape, rises, falls),
    }
    return [name for name, broken in found.items() if broken]


def admits(shape: Shape, rises: Counts, falls: Counts) -> bool:
    if isinstance(shape, Mass):
        return bool(rises.sum() + falls.sum() <= shape.total)
    assert isinstance(shape, Moves | Bins)
    bins, loose = (shape.bins, shape.loose) if isinstance(shape, Bins) else ((shape,), 0)
    excess = sum(
        max(rise - most.rises, 0) + max(fall - most.falls, 0)
        for most, rise, fall in zip(bins, rises, falls, strict=False)
    )
    return bool(excess <= loose)


def drawn(data: st.DataObject, directed: bool) -> tuple[Growth, int, DegreeBound | InOutBound]:
    growth = data.draw(growths(directed=directed, late=True).filter(lambda each: each.arrivals))
    person = data.draw(st.integers(0, len(growth.arrivals) - 1))
    small = st.integers(1, 2)
    within: DegreeBound | InOutBound = DegreeBound(data.draw(small))
    if directed:
        within = InOutBound(data.draw(small), data.draw(small))
    return growth, person, within


@pytest.mark.parametrize("directed", [False, True])
@tries(25)
@given(data=st.data())
def test_nobody_changes_more_than_their_own_hubs_allow(data: st.DataObject, directed: bool) -> None:
    growth, person, within = drawn(data, directed)
    own = HubBound(within, hubs_beside(growth, person, within), checked=False)
    # Recent networks, whose values are no totals, have attacks of their own (`test_recent.py`).
    statistics = [
        each for each in sweep(directed=directed) if not isinstance(each, RecentStatistic)
    ]
    counted = [
        ENGINE.count(ENGINE.counted_part(each.sequence(), own), statistics)
        for each in (growth, without(growth, person))
    ]
    for member in statistics:
        try:
            claimed, shape = sensitivity_under(member, own), shape_under(member, own)
        except ParameterError:  # of a threshold above the bound
            continue
        d = changes(*(counts.differences(member) for counts in counted))
        assert not breaks(d, claimed, shape), (member, own)


@given(data=st.data())
def test_the_engine_counts_whoever_is_beyond(data: st.DataObject) -> None:
    directed = data.draw(st.booleans())
    growth, _, within = drawn(data, directed)
    promised = data.draw(st.integers(0, 2))
    bound = HubBound(within, (0, promised) if directed else (promised,), checked=False)
    people = range(len(growth.arrivals))
    hub_adjacency = [hubs_beside(growth, person, within) for person in people]
    beyond = sum(any(map(gt, hubs, bound.hubs)) for hubs in hub_adjacency)
    assert ENGINE.people_beyond(growth.sequence(), bound) == beyond
    assert ENGINE.keeps_bound(growth.sequence(), bound) == (beyond == 0)


def beside_hubs(degree: int, hubs: int) -> Growth:
    """The first person is linked to so many hubs, each of which gets its bound in links later."""
    hub = range(1, 1 + hubs)
    later = range(1 + hubs, 1 + hubs + hubs * degree)
    arrivals = (0, *(1 for _ in hub), *(2 for _ in later))
    links = [(0, each, 1) for each in hub]
    links += [(1 + place // degree, each, 2) for place, each in enumerate(later)]
    return Growth(False, 3, arrivals, tuple(links))


def attained(member: Statistic, made: Plan, own: HubBound, growth: Growth) -> Fraction:
    """How many times ε the first person loses by Laplace noise on differences, or on totals."""
    pair = (
        ENGINE.count(ENGINE.counted_part(each.sequence(), own), [member]).differences(member)
        for each in (growth, without(growth, 0))
    )
    d = changes(*pair)
    if made.mechanism.name == "sensdiff":
        return Fraction(int(np.abs(d).sum()), made.request.sensitivity.l1)
    lost = int(np.abs(d.cumsum(axis=0)).sum())
    return Fraction(lost, 3 * made.request.sensitivity.static_l1)


@pytest.mark.parametrize("mechanism", ["sensdiff", "compose-d-bounded"])
@pytest.mark.parametrize("promised", [0, 2])
@pytest.mark.parametrize("name", ["edges", "high-degree:2", "triangles", "degree-histogram"])
def test_nobody_loses_more_times_than_is_stated(name: str, promised: int, mechanism: str) -> None:
    """The multiples that `plan`, `new` and the card state, against a person beside hubs."""
    member, within = named(name), DegreeBound(3)
    bound = HubBound(within, (promised,), checked=False)
    made = plan(member, bound, epsilon=1, horizon=3, mechanism=mechanism)
    stated = times_beyond(made, member, bound)
    assert list(stated) == list(FURTHER)
    for more, times in stated.items():
        growth = beside_hubs(3, promised + more)
        assert hubs_beside(growth, 0, within) == (promised + more,)
        assert attained(member, made, bound.exceeded(more)[0], growth) <= times


def test_the_stated_multiple_of_links_is_reached() -> None:
    """So one that is told for a hub less is refuted."""
    for degree, promised in ((2, 0), (3, 2), (10, 2)):
        bound = HubBound(DegreeBound(degree), (promised,), checked=False)
        made = plan("edges", bound, epsilon=1, horizon=3, mechanism="sensdiff")
        for more, times in times_beyond(made, statistic("edges"), bound).items():
            growth, own = beside_hubs(degree, promised + more), bound.exceeded(more)[0]
            links = min(degree, promised + more)
            assert times == Fraction(degree + promised + more, degree + promised)
            found = attained(statistic("edges"), made, own, growth)
            assert found == times - Fraction(degree - links, degree + promised)
            if links == degree:
                assert found > loss_beyond(made, statistic("edges"), bound, more - 1)


def test_a_bound_without_hubs_is_taken_as_a_study_takes_it() -> None:
    edges, bound = statistic("edges"), DegreeBound(15)
    made = plan(edges, bound, epsilon="1/2", horizon=3, mechanism="sensdiff")
    assert times_beyond(made, edges, bound)[10] == Fraction(25, 15)
    assert times_beyond(made, edges, HubBound(bound, (1,))) == {}  # checked: it would stop


# A hub of two links, beside somebody who then takes the place of its second link.
STAR = Growth(False, 3, (0, 1, 1, 2), ((0, 1, 1), (0, 2, 2), (0, 3, 2)))


def test_a_constant_that_is_too_small_is_noticed() -> None:
    within, person = DegreeBound(1), 1
    assert hubs_beside(STAR, person, within) == (1,)
    own = HubBound(within, (1,), checked=False)
    for name in ("edges", "high-degree:1", "degree-ccdf"):
        member = named(name)
        pair = (
            ENGINE.count(ENGINE.counted_part(each.sequence(), own), [member]).differences(member)
            for each in (STAR, without(STAR, person))
        )
        d = changes(*pair)
        claimed, shape = sensitivity_under(member, own), shape_under(member, own)
        assert not breaks(d, claimed, shape)
        assert np.abs(d).sum() == claimed.l1
        planted = replace(claimed, l1=claimed.l1 - 1)
        assert breaks(d, planted, shape) == ["l1"]
        assert breaks(d, claimed, Mass(claimed.l1 - 1)) == ["shape"]
