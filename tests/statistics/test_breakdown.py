"""Breakdowns: what one person can change in a table by groups, stated, attacked and reached."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from graphveil.errors import ParameterError
from graphveil.graph.groups import Groups
from graphveil.graph.promises import Bound, DegreeBound, HubBound, InOutBound, NoBound
from graphveil.lab.attacks.attack import QUICK, Effort, attack
from graphveil.lab.attacks.costs import attack_costs
from graphveil.lab.attacks.enumeration import Size, exhaustive
from graphveil.lab.attacks.hubs import attack_with_hubs
from graphveil.lab.attacks.labels import ERRORS, Labelled, attack_labels, labellings
from graphveil.lab.pairs import NEVER, Pair, replay
from graphveil.mechanisms.optimised import Returning
from graphveil.statistics.breakdown import Breakdown, CellKind, cell_words
from graphveil.statistics.change import sensitivity_under, shape_under
from graphveil.statistics.sensitivity import Cells, shape_from_dict
from graphveil.statistics.statistic import Statistic, registered, statistic

GROUPS = Groups.of(["region=North|South", "sex=f|m"])
THREE, DIRECTED = DegreeBound(3), InOutBound(2, 3)
FAST = replace(QUICK, undirected=(Size(3), Size(4)), directed=(Size(3),), moves=800, patience=0)
LABELS = ("1", "10201", "0120", "2110010")  # the person alone, and some
DIVIDED: list[tuple[Statistic, CellKind | None]] = [
    (statistic("nodes"), None),
    (statistic("edges"), "pairs"),
    (statistic("edges"), "alike"),
    (statistic("edges"), "ends"),
    (statistic("high-degree", tau=1), None),
    (statistic("high-degree", tau=3), None),
    (statistic("degree-ccdf"), None),
    (statistic("degree-histogram"), None),
    (statistic("stars", k=2), None),
    (statistic("triangles"), None),
    (statistic("clustered", k=2), None),
    (statistic("clustered", k=3), None),
]
ONE_WAY: list[tuple[Statistic, CellKind | None]] = [
    (statistic("edges"), "pairs"),
    (statistic("high-out-degree", tau=1), None),
    (statistic("in-degree-ccdf"), None),
    (statistic("out-degree-histogram"), None),
    (statistic("in-stars", k=2), None),
]


def divided(name: str, by: str = "region", **given: object) -> Breakdown:
    made = statistic(name, by=by, groups=GROUPS, **given)
    assert isinstance(made, Breakdown)
    return made


# What is stated.


@pytest.mark.parametrize("bound", [DegreeBound(1), THREE, DegreeBound(15)], ids=str)
@pytest.mark.parametrize(("plain", "cells"), DIVIDED, ids=str)
def test_a_table_costs_as_much_as_its_total(
    plain: Statistic, cells: CellKind | None, bound: Bound
) -> None:
    table = Breakdown.of(plain, "region", GROUPS, cells)
    times = 2 if cells == "ends" else 1
    try:
        whole, claimed = plain.sensitivity(bound), table.sensitivity(bound)
    except ParameterError:
        return  # a threshold above the bound
    histogram = plain.name == "degree-histogram" and bound != DegreeBound(1)
    assert claimed.l1 == times * whole.l1 + (2 if histogram else 0)
    assert claimed.static_l1 == times * whole.static_l1
    assert claimed.variation_squared == times**2 * whole.variation_squared
    shape = shape_under(table, bound)
    assert isinstance(shape, Cells)
    assert shape.mass == claimed.l1
    if plain.name in ("high-degree", "clustered"):
        assert shape.cost(Returning()) == plain.shape(bound).cost(Returning())


def test_a_histogram_by_groups_cannot_count_on_two_people_meeting_in_one_bin() -> None:
    assert statistic("degree-histogram").sensitivity(THREE).l1 == 35
    assert divided("degree-histogram").sensitivity(THREE).l1 == 37


def test_a_shape_is_stored_and_read() -> None:
    shape = Cells(4, 3)
    assert shape_from_dict(shape.to_dict()) == shape
    assert shape.times(2) == Cells(8, 6)
    assert "4 moves" in shape.words()


def test_people_are_counted_by_groups_without_any_promise() -> None:
    assert sensitivity_under(divided("nodes"), NoBound("undirected")).l1 == 1


@pytest.mark.parametrize(
    ("by", "cells", "directed", "count"),
    [
        ("region", "pairs", False, 10),
        ("region", "pairs", True, 16),
        ("region", "alike", False, 2),
        ("region", "ends", False, 4),
        ("region,sex", "pairs", False, 136),
    ],
)
def test_every_cell_has_a_name_of_its_own(
    by: str, cells: CellKind, directed: bool, count: int
) -> None:
    table = divided("edges", by, cells=cells)
    names = table.names(directed=directed)
    assert table.count_cells(directed=directed) == len(names) == count
    assert len({tuple(each.items()) for each in names}) == count
    assert [cell for cell, _ in table.places(count)] == names


def test_cells_are_said_in_words() -> None:
    pairs = divided("edges").names(directed=False)
    assert cell_words(pairs[1]) == "North and South"
    crossed = divided("nodes", "region,sex").names(directed=False)
    assert cell_words(crossed[0]) == "North, f"


# What is refused.


@pytest.mark.parametrize("name", ["components", "clusters", "growing-clusters", "pattern"])
def test_what_has_no_label_of_its_own_is_not_divided(name: str) -> None:
    given: dict[str, object] = {"pattern": {"pattern": "a-b"}}.get(name, {})  # type: ignore[assignment]
    more = {each.name: 2 for each in registered()[name].parameters() if each.default is None}
    with pytest.raises(ParameterError, match="cannot be divided"):
        statistic(name, by="region", groups=GROUPS, **{**more, **given})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"by": "county"}, "is not a group"),
        ({"by": "region,region"}, "twice"),
        ({"by": "region", "cells": "people"}, "no meaning"),
        ({"cells": "pairs"}, "only with groups"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        statistic("edges", groups=GROUPS, **given)


def test_more_cells_than_a_reader_can_look_at_are_refused() -> None:
    many = Groups.of([f"region={'|'.join(map(str, range(20, 38)))}"])
    with pytest.raises(ParameterError, match="210 cells"):
        statistic("edges", by="region", groups=many).require_domain(directed=False)


def test_nothing_is_claimed_after_a_projection() -> None:
    assert divided("edges").projected_l1(THREE) is None
    assert divided("high-degree", tau=2).projected_shape(THREE) is None


# What is attacked, with labels drawn as well.


@pytest.mark.parametrize("labels", LABELS[:3])
@pytest.mark.parametrize(("plain", "cells"), DIVIDED, ids=str)
def test_no_labelled_pair_breaks_a_claim(
    plain: Statistic, cells: CellKind | None, labels: str
) -> None:
    table = Labelled.by(plain, labels, cells=cells)
    for found in (
        attack(table, THREE, effort=FAST),
        attack(table, THREE, relation="edge", effort=FAST),
    ):
        assert not found.broken, found.findings
    costs = attack_costs(table, THREE, sizes=((3, 3),), moves=300)
    assert not any(each.broken for each in costs), costs


@pytest.mark.parametrize(("plain", "cells"), ONE_WAY, ids=str)
def test_no_labelled_pair_breaks_a_claim_about_directed_links(
    plain: Statistic, cells: CellKind | None
) -> None:
    table = Labelled.by(plain, LABELS[1], cells=cells)
    assert not attack(table, DIRECTED, effort=FAST).broken
    assert not attack(table, DIRECTED, relation="edge", effort=FAST).broken


@pytest.mark.parametrize(("plain", "cells"), DIVIDED, ids=str)
def test_no_labelled_pair_breaks_a_claim_with_hubs(
    plain: Statistic, cells: CellKind | None
) -> None:
    bound = HubBound(THREE if "tau=3" in str(plain) else DegreeBound(2), (1,))
    for labels in LABELS[:2]:
        table = Labelled.by(plain, labels, cells=cells)
        claimed = sensitivity_under(table, bound)
        sizes = [Size(4)]
        found = attack_with_hubs(table, claimed, bound, sizes=sizes, runs=1, moves=600)
        assert not found.broken, found


@pytest.mark.parametrize(("plain", "cells"), DIVIDED, ids=str)
def test_no_labelled_pair_breaks_a_claim_in_a_recent_network(
    plain: Statistic, cells: CellKind | None
) -> None:
    table = Labelled.by(plain, LABELS[1], cells=cells).recent(2)
    assert not attack(table, THREE, effort=FAST).broken


@pytest.mark.parametrize(("plain", "cells"), [*DIVIDED, *ONE_WAY], ids=str)
def test_no_labels_of_four_people_break_a_claim(plain: Statistic, cells: CellKind | None) -> None:
    bounds = [DegreeBound(3)] if plain.domain.admits(directed=False) else [DIRECTED]
    effort = replace(FAST, undirected=(Size(4),), directed=(Size(3),), moves=100, runs=1)
    table = Labelled.by(plain, "", cells=cells)
    (found,) = attack_labels(table, bounds, relation="node", effort=effort)
    assert not found.broken, found.findings
    assert found.enumerated > 10_000 or bounds == [DIRECTED]


@pytest.mark.parametrize("people", [1, 2, 3, 4, 5])
def test_every_labelling_is_tried_once_but_for_names(people: int) -> None:
    tried = [labels[-people:] for labels in labellings(people)]
    kinds = [frozenset(_alike(each)) for each in map("".join, product("012", repeat=people))]
    assert len(tried) == len(set(kinds))
    assert {frozenset(_alike(each)) for each in tried} == set(kinds)


def _alike(labels: str) -> list[tuple[int, int]]:
    """Who is alike."""
    return [(a, b) for a, b in combinations(range(len(labels)), 2) if labels[a] == labels[b]]


@pytest.mark.parametrize("name", ["edges", "degree-histogram", "clustered"])
def test_people_who_differ_are_all_tried(name: str) -> None:
    """The same farthest pairs as from every order of arrival of everybody, in plain Python."""
    plain = statistic(name, **({"k": 2} if name == "clustered" else {}))
    tried = (
        exhaustive(Labelled.by(plain, labels), (Size(3),), relation="node", directed=False)
        for labels in labellings(3)
    )
    found = max(each.best(DegreeBound(2), 0)[0] for each in tried)
    slots, farthest = ((0, 1), (0, 2), (1, 2)), 0
    for labels, arrivals, chosen in product(
        map("".join, product("012", repeat=3)), product(range(3), repeat=3), range(8)
    ):
        schedule = np.full((3, 3), NEVER, np.int8)
        np.fill_diagonal(schedule, arrivals)
        for place, (u, v) in enumerate(slots):
            if chosen >> place & 1:
                schedule[u, v] = schedule[v, u] = max(arrivals[u], arrivals[v])
        pair = Pair.of(schedule, "node", directed=False)
        farthest = max(farthest, replay(Labelled.by(plain, labels), pair).l1)
    assert found == farthest


def test_everybody_in_one_cell_reaches_what_is_called_exact() -> None:
    effort: Effort = replace(QUICK, undirected=QUICK.undirected[:4])
    for plain in (statistic("edges"), statistic("high-degree", tau=1), statistic("degree-ccdf")):
        table = Labelled.by(plain, "0")
        assert attack(table, DegreeBound(2), effort=effort).reached


def test_two_labels_reach_what_a_histogram_pays_for_them() -> None:
    """The person has another label than everybody: what cancels in one number does not here."""
    effort = replace(QUICK, undirected=(Size(3, 4),), moves=6_000, runs=4)
    found = attack(Labelled.by(statistic("degree-histogram"), "1"), DegreeBound(2), effort=effort)
    assert found.finding("l1").found == 17
    assert statistic("degree-histogram").sensitivity(DegreeBound(2)).l1 == 15


@pytest.mark.parametrize("error", ERRORS, ids=list(ERRORS))
def test_planted_errors_are_caught(error: str) -> None:
    plain = statistic("edges" if "larger" in error else "nodes")
    cells: CellKind | None = "ends" if "larger" in error else None
    table = Labelled.by(plain, "1", cells=cells, error=ERRORS[error])
    assert attack(table, THREE, effort=FAST).broken
    every = replace(table, labels="")
    (found,) = attack_labels(every, [THREE], relation="node", effort=FAST)
    assert found.broken
    assert "labels=" in str(found.statistic)  # those that prove it


def test_half_the_noise_of_a_histogram_would_be_caught() -> None:
    """The Γ of the single number is too small for its table."""

    class TooSmall(Labelled):
        def sensitivity(self, bound: Bound):  # type: ignore[no-untyped-def]
            return self.statistic.sensitivity(bound)

    plain = statistic("degree-histogram")
    usual = Labelled.by(plain, "1")
    wrong = TooSmall(plain, usual.axes, usual.cells, usual.labels)
    effort = replace(QUICK, undirected=(Size(3, 4),), moves=6_000, runs=4)
    assert attack(wrong, DegreeBound(2), effort=effort).broken
