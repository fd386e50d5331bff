"""Counts by groups against NetworkX, on random graphs whose people have labels."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, TypeAlias

import networkx as nx
import numpy as np
import polars as pl
import pytest

from graphveil.backends import LocalEngine
from graphveil.backends.local.counters import LocalKeeping
from graphveil.calendar.calendar import Calendar
from graphveil.errors import ParameterError
from graphveil.graph.groups import MOST_CELLS, Groups, column_of
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import GraphSequence
from graphveil.records import from_networkx, from_rows
from graphveil.statistics.breakdown import Breakdown, breakdown_in
from graphveil.statistics.statistic import Statistic, registered, statistic

GROUPS = Groups.of(["region=North|South|East", "age=0,25,50"])
REGIONS, AGES = ["North", "South", "East", "Mars", None], ["3", "24.5", "25", "77", "", "old"]
STEPS = 6
Network: TypeAlias = "nx.Graph[Any] | nx.DiGraph[Any]"
Given = list[tuple[str, dict[str, Any]]]
UNDIRECTED: Given = [
    ("nodes", {}),
    ("edges", {}),
    ("edges", {"cells": "alike"}),
    ("edges", {"cells": "ends"}),
    ("high-degree", {"tau": 2}),
    ("degree-ccdf", {}),
    ("degree-ccdf", {"levels": "0,1,3"}),
    ("degree-histogram", {}),
    ("stars", {"k": 2}),
    ("triangles", {}),
    ("clustered", {"k": 2}),
    ("clustered", {"k": 3}),
]
DIRECTED: Given = [
    ("nodes", {}),
    ("edges", {}),
    ("edges", {"cells": "alike"}),
    ("edges", {"cells": "ends"}),
    ("high-in-degree", {"tau": 2}),
    ("high-out-degree", {"tau": 2}),
    ("in-degree-ccdf", {}),
    ("out-degree-ccdf", {}),
    ("in-degree-histogram", {}),
    ("out-degree-histogram", {}),
    ("in-stars", {"k": 2}),
    ("out-stars", {"k": 3}),
    ("cyclic-triangles", {}),
    ("transitive-triangles", {}),
    ("clustered", {"k": 2}),
    ("clustered", {"k": 4}),
]


def grown(seed: int, *, directed: bool, nodes: int = 40) -> Network:
    """A random graph; people and links have a step, people have labels."""
    draw = random.Random(seed)
    graph: Network = nx.DiGraph() if directed else nx.Graph()
    for node in range(nodes):
        labels = {"county": draw.choice(REGIONS), "years": draw.choice(AGES)}
        graph.add_node(node, time=draw.randrange(STEPS), **labels)
    for one, other in combinations(range(nodes), 2):
        if draw.random() < 0.08:
            pair = (one, other) if draw.random() < 0.5 else (other, one)
            graph.add_edge(*pair, time=draw.randrange(STEPS))
            if directed and draw.random() < 0.3:
                graph.add_edge(*pair[::-1], time=draw.randrange(STEPS))
    return graph


def sequence_of(graph: Network, until: int = STEPS) -> GraphSequence:
    begun = GraphSequence.begin(
        Calendar.every(1, 0), directed=graph.is_directed(), grouped=bool(GROUPS)
    )
    records = from_networkx(graph, groups={"region": "county", "age": "years"})
    return begun.extend(records, groups=GROUPS, upto=STEPS - 1).sequence.until(until)


def at(graph: Network, step: int) -> Network:
    """The graph after a step: a link is there once it and both its ends are."""
    times = nx.get_node_attributes(graph, "time")
    here = graph.subgraph([node for node in graph if times[node] <= step]).copy()
    late = [(u, v) for u, v, given in here.edges(data=True) if given["time"] > step]
    here.remove_edges_from(late)
    return here


def label(given: dict[str, object], group: str) -> str:
    """What a person is in a group, by the rules of docs/groups.md and nothing else."""
    said = given["county" if group == "region" else "years"]
    if said in (None, ""):
        return "unknown"
    if group == "region":
        return str(said) if said in REGIONS[:3] else "other"
    if said == "old":
        return "other"
    years = float(str(said))
    return "0–24" if years < 25 else "25–49" if years < 50 else "50 and more"


def expected(table: Breakdown, graph: Network) -> Counter[tuple[str, ...]]:
    """Every object in its cell: labels, and the degree where there is one."""
    kinds = {
        node: tuple(label(given, each.name) for each in table.axes)
        for node, given in graph.nodes(data=True)
    }
    if table.name == "edges":
        return _links(table, graph, kinds)
    if "triangles" in table.name:
        three = _triangles(table.name, graph)
        return Counter(_alike(table, {kinds[node] for node in each}) for each in three)
    found = Counter[tuple[str, ...]]()
    for node, kind in kinds.items():
        for degree, worth in _worth(table, graph, node):
            found[(*kind, *([] if degree is None else [str(degree)]))] += worth
    return found


def _alike(table: Breakdown, kinds: set[tuple[str, ...]]) -> tuple[str, ...]:
    return ("alike" if len(kinds) == 1 else "mixed",) * len(table.axes)


def _triangles(name: str, graph: Network) -> list[tuple[int, ...]]:
    """Every triangle; of directed ones, as often as the pattern fits onto their people."""
    if name == "triangles":
        return [tuple(each) for each in nx.enumerate_all_cliques(graph) if len(each) == 3]
    last = (2, 0) if name.startswith("cyclic") else (0, 2)
    pattern: Network = nx.DiGraph([(0, 1), (1, 2), last])
    matcher = nx.algorithms.isomorphism.DiGraphMatcher(graph, pattern)
    fitted = [sorted(each, key=each.get) for each in matcher.subgraph_monomorphisms_iter()]
    if name.startswith("cyclic"):  # each is met once from each of its people
        fitted = [each for each in fitted if each[0] == max(each)]
    return [tuple(each) for each in fitted]


def _links(
    table: Breakdown, graph: Network, kinds: dict[int, tuple[str, ...]]
) -> Counter[tuple[str, ...]]:
    found = Counter[tuple[str, ...]]()
    for u, v in graph.edges:
        one, other = kinds[u], kinds[v]
        if table.cells == "ends":
            found[one] += 1
            found[other] += 1
        elif table.cells == "alike":
            found[_alike(table, {one, other})] += 1
        else:
            found[_pair(table, one, other, graph.is_directed())] += 1
    return found


def _worth(table: Breakdown, graph: Network, node: int) -> list[tuple[int | None, int]]:
    """What a person adds: to which degree, if there are degrees, and how much."""
    name, plain = table.name, table.statistic
    degree = graph.degree
    if isinstance(graph, nx.DiGraph):
        degree = graph.in_degree if "in-" in name else graph.out_degree
    own = degree[node]
    if name == "clustered":
        loose = graph.to_undirected() if graph.is_directed() else graph
        return [(None, len(nx.node_connected_component(loose, node)) >= plain.k)]  # type: ignore[attr-defined]
    if name.startswith("high"):
        return [(None, own >= plain.tau)]  # type: ignore[attr-defined]
    if "stars" in name:
        return [(None, comb(own, plain.k))]  # type: ignore[attr-defined]
    if "histogram" in name:
        return [(own, 1)]
    if name == "nodes":
        return [(None, 1)]
    levels = getattr(plain, "levels", None) or range(own + 1)
    return [(each, 1) for each in levels if each <= own]


def _pair(
    table: Breakdown, one: tuple[str, ...], other: tuple[str, ...], directed: bool
) -> tuple[str, ...]:
    kinds = [tuple(each.values()) for each in table.names(directed=True)]
    people = [each[len(table.axes) :] for each in kinds[: table.people_cells]]
    if not directed and people.index(one) > people.index(other):
        one, other = other, one
    return (*one, *other)


def counted(totals: np.ndarray, table: Breakdown) -> Counter[tuple[str, ...]]:
    found = Counter[tuple[str, ...]]()
    for (cell, degree), value in zip(table.places(len(totals)), totals.tolist(), strict=True):
        found[(*cell.values(), *([] if degree is None else [str(degree)]))] += value
    return found


def of(name: str, by: str, **given: object) -> tuple[Statistic, Breakdown]:
    made = statistic(name, by=by, groups=GROUPS, **given)
    table = breakdown_in(made)
    assert table is not None
    return made, table


@pytest.mark.parametrize("by", ["region", "age,region"])
@pytest.mark.parametrize("directed", [False, True])
def test_every_cell_of_every_step_is_as_networkx_counts_it(directed: bool, by: str) -> None:
    for seed in range(4):
        graph = grown(seed, directed=directed)
        sequence = sequence_of(graph)
        for name, given in DIRECTED if directed else UNDIRECTED:
            made, table = of(name, by, **given)
            if table.count_cells(directed=directed) > MOST_CELLS:
                continue
            totals = LocalEngine().count(sequence, [made]).totals(made)
            for step in range(STEPS):
                assert +counted(totals[step], table) == +expected(table, at(graph, step)), name


@pytest.mark.parametrize("directed", [False, True])
def test_going_on_counts_the_same_as_counting_at_once(directed: bool) -> None:
    graph, engine = grown(7, directed=directed), LocalEngine()
    whole = sequence_of(graph)
    made = [
        of(name, "region", **given)[0] for name, given in (DIRECTED if directed else UNDIRECTED)
    ]
    made += [of("edges", "region", window=2)[0]]
    at_once, counts = engine.count(whole, made), engine.count(whole.until(2), made)
    counts = engine.count(whole.until(3), made, after=counts)
    counts = engine.count(whole, made, after=counts)
    checkpoint_format = LocalKeeping()
    for each in made:
        assert np.array_equal(counts.totals(each), at_once.totals(each))
        tally = each.tally()
        stored = checkpoint_format.unpacked(tally, checkpoint_format.packed(counts.answers[tally]))
        assert checkpoint_format.agree(tally, stored, at_once.answers[tally])


@pytest.mark.parametrize(("name", "given"), UNDIRECTED)
def test_a_recent_network_has_its_own_cells(name: str, given: dict[str, object]) -> None:
    graph, window = grown(3, directed=False), 2
    made, table = of(name, "region", window=window, **given)
    totals = LocalEngine().count(sequence_of(graph), [made]).totals(made)
    for step in range(STEPS):
        times = nx.get_node_attributes(graph, "time")
        recent = at(graph, step)
        recent.remove_nodes_from([node for node in list(recent) if times[node] <= step - window])
        assert +counted(totals[step], table) == +expected(table, recent)


@pytest.mark.parametrize("directed", [False, True])
def test_every_statistic_that_can_be_divided_is_in_the_sweep(directed: bool) -> None:
    tried = {name for name, _ in (DIRECTED if directed else UNDIRECTED)}
    divided = {
        name
        for name, each in registered().items()
        if each.by_groups and each.domain.admits(directed=directed)
    }
    assert tried == divided


@pytest.mark.parametrize("links", [63, 64, 255, 256, 300])
def test_somebody_with_very_many_links_is_counted_by_groups_too(links: int) -> None:
    graph = nx.star_graph(links)
    for node in graph:
        graph.nodes[node].update(time=0, county="North" if node else "South", years="3")
    made, table = of("degree-ccdf", "region")
    whole, engine = sequence_of(graph, 1), LocalEngine()
    totals = engine.count(whole, [made]).totals(made)
    assert +counted(totals[0], table) == +expected(table, graph)


def test_people_without_labels_are_refused() -> None:
    sequence, _ = GraphSequence.begin(Calendar.every(1, 0)).extend(from_rows([("ann", 0)]))
    with pytest.raises(ParameterError, match="nobody has labels"):
        LocalEngine().count(sequence, [of("nodes", "region")[0]])


# Labels: by the person's own rows alone.


def labelled(rows: list[tuple[str, int, str | None, str | None]]) -> Records:
    records = from_rows([row[:2] for row in rows])
    labels = {
        column_of(name): pl.Series([row[place] for row in rows], dtype=pl.String)
        for name, place in (("region", 2), ("age", 3))
    }
    frame = records.nodes.frame.with_columns(**labels)
    return replace(records, nodes=replace(records.nodes, frame=frame))


def labels_of(records: Records) -> dict[str, tuple[str, ...]]:
    begun = GraphSequence.begin(Calendar.every(1, 0), grouped=True)
    sequence = begun.extend(records, groups=GROUPS).sequence
    assert sequence.strata is not None
    strata = sequence.strata.tolist()
    return dict(zip(sequence.ids.to_list(), map(GROUPS.labels_of, strata), strict=True))


ROWS: list[tuple[str, int, str | None, str | None]] = [
    ("ann", 0, "north ", "1.0"),
    ("bob", 1, "South", "25"),
    ("bob", 1, "East", None),
    ("cem", 0, None, "07"),
    ("cem", 0, "Mars", "x"),
    ("dee", 2, "", "-4"),
]


def test_labels_are_found_by_rules_that_look_at_one_cell() -> None:
    assert labels_of(labelled(ROWS)) == {
        "ann": ("0–24", "North"),
        "cem": ("0–24", "other"),
        "bob": ("25–49", "South"),
        "dee": ("other", "unknown"),
    }


def test_nobodys_label_depends_on_anybody_elses_rows() -> None:
    whole = labels_of(labelled(ROWS))
    for person in whole:
        rest = labels_of(labelled([row for row in ROWS if row[0] != person]))
        assert rest == {each: whole[each] for each in whole if each != person}


def test_the_order_of_rows_does_not_decide_which_of_two_labels_counts() -> None:
    assert labels_of(labelled(ROWS)) == labels_of(labelled(ROWS[::-1]))


def test_two_labels_of_one_person_are_told() -> None:
    begun = GraphSequence.begin(Calendar.every(1, 0), grouped=True)
    report = begun.extend(labelled(ROWS), groups=GROUPS).report
    assert report.two_labels == 2  # bob has two regions, cem two ages
    assert any("two labels" in line for line in report.lines())
