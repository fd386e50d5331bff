"""Promises with hubs under attack: the theorem on every small pair, and every Γ on many."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import ParameterError
from graphveil.graph.projection import time_aware_projection
from graphveil.graph.promises import DegreeBound, HubBound, InOutBound
from graphveil.graph.sequence import BACKWARD, FORWARD, GraphSequence
from graphveil.lab.attacks.enumeration import Size, arrival_orders, family_of, next_edges
from graphveil.lab.attacks.hubs import (
    HubFinding,
    attack_with_hubs,
    keep_first_links,
    keeps_promise,
    limits_of,
    project_pair,
)
from graphveil.lab.attacks.sweep import every_statistic
from graphveil.lab.pairs import NEVER, Schedule
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Mass, Moves
from graphveil.statistics.statistic import Statistic, statistic
from small_sequences import Growth, growths

SIZES = {False: (Size(4), Size(4, 3)), True: (Size(3), Size(3, 3))}
UNDIRECTED = [HubBound(DegreeBound(d), (h,)) for d, h in ((1, 1), (2, 1), (1, 2), (2, 2), (3, 1))]
DIRECTED = [
    HubBound(InOutBound(1, 1), (0, 1)),
    HubBound(InOutBound(1, 2), (0, 1)),
    HubBound(InOutBound(1, 2, oriented=True), (1, 1)),
    HubBound(InOutBound(2, 1), (1, 1)),
]


def schedule_of(growth: Growth) -> Schedule:
    schedule = np.full((len(growth.arrivals),) * 2, NEVER, dtype=np.int8)
    np.fill_diagonal(schedule, growth.arrivals)
    for u, v, step in growth.links:
        schedule[u, v] = step
        if not growth.directed:
            schedule[v, u] = step
    return schedule


def arcs(sequence: GraphSequence) -> set[tuple[int, int, int]]:
    """Every (from, to, step) of a sequence; an undirected edge both ways."""
    step_of = np.repeat(np.arange(sequence.steps), np.diff(sequence.node_offsets))
    lists = np.diff(sequence.offsets)
    newer = [*np.repeat(np.arange(sequence.nodes), lists), *sequence.late.newer]
    steps = [*np.repeat(step_of, lists)]
    steps += [*np.repeat(np.arange(sequence.steps), np.diff(sequence.late.offsets))]
    found = set()
    for new, entry, step in zip(
        newer, [*sequence.entries, *sequence.late.entries], steps, strict=True
    ):
        old = int(entry) >> 2
        if entry & FORWARD:
            found.add((old, int(new), int(step)))
        if entry & BACKWARD:
            found.add((int(new), old, int(step)))
    return found


@pytest.mark.parametrize("bound", [UNDIRECTED[0], UNDIRECTED[1], DIRECTED[0], DIRECTED[3]], ids=str)
@given(data=st.data())
def test_the_kit_projects_as_counting_does(data: st.DataObject, bound: HubBound) -> None:
    growth = data.draw(growths(directed=bound.directed, late=True))
    schedule = schedule_of(growth)
    kept = np.empty_like(schedule)
    keep_first_links(schedule, limits_of(bound), kept)
    found = {(u, v, int(kept[u, v])) for u, v in np.argwhere(kept != NEVER).tolist() if u != v}
    assert found == arcs(time_aware_projection(growth.sequence(), bound.within))


def small_pairs(bound: HubBound, size: Size) -> list[Schedule]:
    """Every pair of one size that keeps a promise."""
    late, steps = size.steps is not None, size.steps or size.nodes
    family = family_of(size.nodes, steps, "node", directed=bound.directed, late=late)
    pairs = []
    for order in arrival_orders(size.nodes, steps, 1, gaps=late):
        schedule = np.full((size.nodes,) * 2, NEVER, dtype=np.int8)
        np.fill_diagonal(schedule, order)
        more = True
        while more:
            if keeps_promise(schedule, limits_of(bound)):
                pairs.append(schedule.copy())
            more = next_edges(schedule, family)
    return pairs


@pytest.mark.parametrize("bound", [UNDIRECTED[0], UNDIRECTED[1], DIRECTED[0], DIRECTED[3]], ids=str)
def test_a_person_adds_own_links_and_takes_one_from_each_hub(bound: HubBound) -> None:
    """The theorem of docs/sensitivities.md#hubs, on every pair of a few nodes."""
    size = Size(3, 3) if bound.directed else Size(4)
    family = family_of(size.nodes, size.nodes, "node", directed=bound.directed, late=True)
    limits, losses = limits_of(bound), 0
    kept = np.zeros((2, size.nodes, size.nodes), np.int8)
    for schedule in small_pairs(bound, size):
        project_pair(schedule, family.hidden, limits, kept)
        larger, smaller = kept != NEVER
        gained, lost = larger & ~smaller, smaller & ~larger
        own = family.hidden == 1
        assert not (gained & ~own).any()
        np.fill_diagonal(gained, False)
        assert gained[-1].sum() <= limits.outward
        assert gained[:, -1].sum() <= limits.inward
        links = int(lost.sum()) if bound.directed else int(lost.sum()) // 2
        assert links <= sum(bound.hubs)
        losses = max(losses, links)
        both = larger & smaller
        assert (kept[0][both] == kept[1][both]).all()
    assert losses == (1 if size.nodes == 3 else sum(bound.hubs))


@cache
def attacked(member: Statistic, bound: HubBound, moves: int = 1_000) -> HubFinding:
    claimed = sensitivity_under(member, bound)
    return attack_with_hubs(
        member, claimed, bound, sizes=SIZES[bound.directed], runs=2, moves=moves
    )


@pytest.mark.parametrize("bound", [*UNDIRECTED[:3], *DIRECTED[1:]], ids=str)
def test_no_claim_is_broken(bound: HubBound) -> None:
    tried = 0
    for member in every_statistic():
        try:
            finding = attacked(member, bound, moves=400)
        except ParameterError:
            continue
        assert not finding.broken, (member, finding)
        tried += 1
    assert tried > 8


# What the facts say, as plain numbers that do not come from the statistics' own code.
REACHED = [
    ("edges", {}, {(1, 1): 2, (2, 1): 3, (1, 2): 3, (2, 2): 4, (3, 1): 4}),
    ("high-degree", {"tau": 1}, {(1, 1): 4, (2, 1): 7, (1, 2): 6, (3, 1): 9}),
    ("high-degree", {"tau": 2}, {(2, 1): 5, (2, 2): 7, (3, 1): 9}),
    ("degree-ccdf", {}, {(1, 1): 5, (2, 1): 13, (1, 2): 7}),
    ("stars", {"k": 2}, {(2, 1): 5, (2, 2): 7, (3, 1): 13}),
    ("triangles", {}, {(2, 1): 2}),
]


@pytest.mark.parametrize(("name", "given_parameters", "expected"), REACHED)
def test_what_is_reached(
    name: str, given_parameters: dict[str, int], expected: dict[tuple[int, int], int]
) -> None:
    member = statistic(name, **given_parameters)
    for (degree, hubs), number in expected.items():
        bound = HubBound(DegreeBound(degree), (hubs,))
        claimed = sensitivity_under(member, bound)
        assert claimed.l1 == number
        reached = attacked(member, bound).reached or any(
            attack_with_hubs(member, claimed, bound, sizes=SIZES[False], seed=seed).reached
            for seed in range(4)
        )
        assert reached, (degree, hubs)


@pytest.mark.parametrize(
    ("name", "given_parameters", "bound", "rises", "falls"),
    [
        ("edges", {}, HubBound(DegreeBound(2), (1,)), 2, 1),
        ("stars", {"k": 2}, HubBound(DegreeBound(2), (1,)), 3, 2),
        ("high-degree", {"tau": 1}, HubBound(DegreeBound(2), (1,)), 4, 3),
        ("high-degree", {"tau": 2}, HubBound(DegreeBound(2), (1,)), 3, 2),
        ("components", {}, HubBound(DegreeBound(1), (2,)), 3, 1),
        ("clusters", {"k": 2}, HubBound(DegreeBound(1), (2,)), 1, 2),
    ],
)
def test_rises_and_falls_are_all_there(
    name: str, given_parameters: dict[str, int], bound: HubBound, rises: int, falls: int
) -> None:
    """Some pair has the sum of their squares, so neither of the two could be smaller."""
    member = statistic(name, **given_parameters)
    assert shape_under(member, bound) == Moves(rises, falls)
    found = attacked(member, bound)
    assert found.claimed.variation_squared == rises**2 + falls**2 == found.variation_squared
    assert found.claimed.static_l1 == max(rises, falls)


def test_directed_vectors_have_no_moves_under_hubs() -> None:
    bound, ccdf = HubBound(InOutBound(1, 2), (0, 1)), statistic("out-degree-ccdf")
    assert shape_under(ccdf, bound) == Mass(9)
    assert shape_under(ccdf, InOutBound(1, 2)) != Mass(6)


ANYBODY = [
    HubBound(DegreeBound(2), (0,), checked=False),
    HubBound(DegreeBound(1), (1,), checked=False),
    HubBound(DegreeBound(3), (1,), checked=False),
    HubBound(InOutBound(1, 2), (1, 0), checked=False),
]


@pytest.mark.parametrize("bound", ANYBODY, ids=repr)
def test_no_claim_is_broken_where_others_break_the_promise(bound: HubBound) -> None:
    tried = 0
    for member in every_statistic():
        try:
            finding = attacked(member, bound, moves=400)
        except ParameterError:
            continue
        assert not finding.broken, (member, finding)
        tried += 1
    assert tried > 8


def test_a_hub_that_stops_counts_where_others_break_the_promise() -> None:
    """τ = 1, D = 2, one hub: 2D + 1 + 3 is reached, and what holds if all keep it is broken."""
    member, free = statistic("high-degree", tau=1), HubBound(DegreeBound(2), (1,), checked=False)
    checked = sensitivity_under(member, HubBound(DegreeBound(2), (1,)))
    honest = sensitivity_under(member, free)
    assert (checked.l1, honest.l1) == (7, 8)
    found = [
        attack_with_hubs(member, checked, free, sizes=SIZES[False], runs=6, moves=6_000, seed=seed)
        for seed in range(3)
    ]
    assert max(each.l1 for each in found) == 8
    assert any(each.broken for each in found)


PLANTED = [
    ("edges", {}, HubBound(DegreeBound(2), (2,))),
    ("high-degree", {"tau": 1}, HubBound(DegreeBound(3), (1,))),
    ("degree-ccdf", {}, HubBound(DegreeBound(2), (1,))),
    ("clustered", {"k": 2}, HubBound(DegreeBound(2), (1,))),
    ("edges", {}, HubBound(InOutBound(1, 1), (0, 1))),
    ("edges", {}, HubBound(DegreeBound(2), (2,), checked=False)),
    ("components", {}, HubBound(DegreeBound(1), (1,), checked=False)),
    ("edges", {}, HubBound(InOutBound(1, 1), (1, 0), checked=False)),
]


@pytest.mark.parametrize(("name", "given_parameters", "bound"), PLANTED)
def test_a_claim_that_is_too_small_is_broken(
    name: str, given_parameters: dict[str, int], bound: HubBound
) -> None:
    member = statistic(name, **given_parameters)
    honest = sensitivity_under(member, bound)
    planted = replace(honest, l1=honest.l1 - 1)
    finding = attack_with_hubs(member, planted, bound, sizes=SIZES[bound.directed], runs=2)
    assert finding.broken
    assert finding.l1 == honest.l1


@pytest.mark.slow
@pytest.mark.parametrize("bound", [*UNDIRECTED, HubBound(DegreeBound(3), (2,)), *DIRECTED], ids=str)
def test_the_long_attack_breaks_nothing(bound: HubBound) -> None:
    sizes = (Size(3), Size(4), Size(3, 4)) if bound.directed else (Size(4), Size(5), Size(4, 3))
    for member in every_statistic():
        try:
            claimed = sensitivity_under(member, bound)
        except ParameterError:
            continue
        finding = attack_with_hubs(member, claimed, bound, sizes=sizes, runs=8, moves=10_000)
        assert not finding.broken, (member, finding)
