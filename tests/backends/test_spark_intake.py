"""The intake of Spark, task by task, against the one intake: the same rules about every row."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.backends.spark.graph import SparkGraph, Workspace, handed_over
from graphveil.backends.spark.intake import label_index, links
from graphveil.backends.spark.intake.people import ArrivalRules
from graphveil.backends.spark.intake.resolving import Reading
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.intake.taking import TakenIn, Waiting, taken_in, with_steps
from graphveil.backends.spark.jobs import SparkCluster
from graphveil.graph.groups import NO_GROUPS
from graphveil.graph.intake.records import IntakeReport
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD
from here import Here, HereFrame
from test_sifting import (
    CALENDAR,
    EDGES,
    GROUPS,
    NODES,
    PEOPLE,
    Row,
    World,
    bare,
    numbered,
    skipped,
    worlds,
)
from test_spark_engine import ids_of, rows_of
from tries import tries

CLUSTER = cast("SparkCluster", Here())
COLOURS = 2


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with tempfile.TemporaryDirectory() as folder:
        yield Workspace.within(folder)


def table(kind: str, frame: pl.DataFrame, places: list[int]) -> SparkTable:
    """Rows as Spark would read them, each with its place."""
    names = {name: name for name in frame.columns}
    placed = frame.with_columns(place=pl.Series(places, dtype=pl.Int64))
    return SparkTable(cast("Any", HereFrame.of(placed)), kind, ("x.parquet",), names)


def tables(world: World, nodes: list[Row], edges: list[Row]) -> tuple[SparkTable, list[SparkTable]]:
    """Rows (number, node, time) and (number, source, target, time)."""
    records = world.labelled(numbered(nodes, edges))
    numbers = [[row[0] for row in each] for each in (nodes, edges)]
    return (
        table("nodes", records.nodes.frame, numbers[0]),
        [table("edges", records.edges.frame, numbers[1])],
    )


def waiting_of(world: World) -> Waiting:
    """The records that wait, as they are stored."""
    known, edges = world.waiting(), [(*link, -1) for link in world.waiting_links]
    kinds = {"step": pl.Int32, "place": pl.Int64}
    people = known.nodes.frame.with_columns(
        pl.col("node").cast(pl.String), place=pl.lit(-1, pl.Int64)
    )
    ends = dict.fromkeys(("source", "target"), pl.String)
    frames = people, pl.DataFrame(edges, schema={**ends, **kinds}, orient="row")
    held = [cast("Any", HereFrame.of(each, 1)) for each in frames]
    return Waiting(held[0], held[1], len(people), len(edges))


def take(world: World, nodes: list[Row], edges: list[Row], workspace: Workspace) -> TakenIn:
    """What `World.take` does, on the workers."""
    graph = SparkGraph.begin(
        workspace, CALENDAR, directed=True, oriented=world.oriented, colours=COLOURS,
        grouped=bool(world.groups),
    )  # fmt: skip
    reading = Reading("nodes", CALENDAR, world.rules, text=True, groups=world.groups)
    sealed = tables(
        world,
        [(n, who, 0) for n, who in enumerate(world.sealed_people)],
        [(n, *link) for n, link in enumerate(world.sealed_links)],
    )
    graph = taken_in(CLUSTER, graph, sealed, ArrivalRules(reading, "refuse"), strict=True).graph
    graph = with_steps(graph, np.zeros((3, 1), np.int64))
    rules = RecordRules(undated="first") if world.drops_undated else world.rules
    awaited = len(edges) // 2  # as if the others had waited since an earlier batch
    reading = replace(reading, rules=rules, beyond=world.ignores_after_end, awaited=awaited)
    coming = ArrivalRules(reading, "join", world.drops_undated, world.ignores_after_end)
    given = tables(world, nodes, edges)
    return taken_in(CLUSTER, graph, given, coming, waiting_of(world), note_known=True)


def set_aside(found: TakenIn, kind: str) -> Counter[tuple[int, str]]:
    """The numbers of the rows that were left out, each with the reason."""
    return Counter(
        (int(place), each.rule)
        for each in found.broken
        if each.kind == kind
        for place in each.places
    )


def plainly(report: IntakeReport) -> IntakeReport:
    """Without how ids are spelled, which the driver says once it has read rows again.

    And without who has other labels than before, which a study asks for.
    """
    return replace(report, trimmed_ids=0, respelled_ids=0, folded_nodes=0, relabelled_nodes=0)


@tries(40)
@given(worlds(), NODES, EDGES, st.booleans(), st.booleans(), st.booleans(), st.booleans())
def test_every_row_is_taken_or_set_aside_by_the_same_rules(
    workspace: Workspace,
    world: World,
    nodes: list[Row],
    edges: list[Row],
    ends: bool,
    drops: bool,
    parts: bool,
    labelled: bool,
) -> None:
    world = replace(world, ignores_after_end=ends, drops_undated=drops)
    world = replace(world, groups=GROUPS if labelled else NO_GROUPS)
    here = world.take(nodes, edges)
    with pytest.MonkeyPatch.context() as patched:
        if parts:  # as large graphs have them
            patched.setattr(label_index, "MOST_IDS", 2)
        there = take(world, nodes, edges, workspace)
    for kind in ("nodes", "edges"):
        assert set_aside(there, kind) == skipped(here, kind)
    for each in there.broken:  # of people, nobody waited
        waited = (each.places >= len(edges) // 2) & (each.kind == "edges")
        assert (waited == each.awaited).all()
    taken, (sequence, report) = here.taken
    assert plainly(there.report) == plainly(report)
    graph = there.graph
    assert graph.node_offsets.tolist() == sequence.node_offsets.tolist()
    assert ids_of(graph) == sequence.ids.cast(pl.String).to_list()
    assert rows_of(graph) == rows_of(handed_over(sequence, workspace, COLOURS))
    assert strata_in(graph) == (None if sequence.strata is None else sequence.strata.tolist())
    linked = there.linked
    assert linked is not None
    aside = {number for number, _ in set_aside(there, "edges")}
    unsealed = set(range(len(edges))) - places(workspace, linked.found.known) - aside
    known = {(str(a), str(b)) for a, b in world.sealed_links}
    assert unsealed == {
        int(number)
        for number, (a, b) in zip(
            taken.edges.row_numbers(), taken.edges.frame.select("source", "target").rows(),
            strict=True,
        )
        if (str(a), str(b)) not in known
    }  # fmt: skip


def strata_in(graph: SparkGraph) -> list[int] | None:
    """Everybody's labels, if people have any."""
    if not graph.grouped:
        return None
    tables = [graph.workspace.read(part.name) for part in graph.people]
    return [each for table in tables for each in table["stratum"].to_pylist()]


def places(workspace: Workspace, names: tuple[str, ...]) -> set[int]:
    """What is in some files of places."""
    return {place for name in names for place in workspace.read(name)["place"].to_pylist()}


@tries(30)
@given(worlds(), NODES, EDGES, PEOPLE, st.booleans(), st.booleans())
def test_nobody_decides_about_the_rows_of_another(
    workspace: Workspace,
    world: World,
    nodes: list[Row],
    edges: list[Row],
    gone: str,
    ends: bool,
    drops: bool,
) -> None:
    world = replace(world, ignores_after_end=ends, drops_undated=drops)
    whole = take(world, nodes, edges, workspace)
    others = [row for row in nodes if bare(row[1]) != gone]
    between = [row for row in edges if gone not in (bare(row[1]), bare(row[2]))]
    rest = take(world.without(gone), others, between, workspace)
    for kind, left in (("nodes", others), ("edges", between)):
        numbers = {row[0] for row in left}
        mine = Counter({key: n for key, n in set_aside(whole, kind).items() if key[0] in numbers})
        assert mine == set_aside(rest, kind)
    assert people_of(rest.graph) == {k: v for k, v in people_of(whole.graph).items() if k != gone}
    assert links_of(rest.graph) == {each for each in links_of(whole.graph) if gone not in each[:2]}


def people_of(graph: SparkGraph) -> dict[str, int]:
    """Everybody's step."""
    names = ids_of(graph)
    labels = np.arange(len(names))
    steps = np.searchsorted(graph.node_offsets, labels, side="right") - 1
    return dict(zip(names, steps.tolist(), strict=True))


def links_of(graph: SparkGraph) -> set[tuple[str, str, int, int]]:
    """Every pair with its directions, and its step."""
    names, steps = ids_of(graph), list(people_of(graph).values())
    found = set()
    for row in rows_of(graph):
        newer, entry, *step = (int(cast("Any", cell)) for cell in row[3:])
        pair, bits = (names[newer], names[entry >> 2]), entry & BOTH
        if pair[0] < pair[1]:
            pair, bits = pair[::-1], {FORWARD: BACKWARD, BACKWARD: FORWARD, BOTH: BOTH}[bits]
        found.add((*pair, bits, step[0] if step else steps[newer]))
    return found


def test_a_rule_that_is_asked_otherwise_is_noticed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tester is tested: of two new links against each other, the first would stay."""
    world = World(("a", "b"), (), (), (), True, RecordRules())
    edges = [(0, "a", "b", None), (1, "b", "a", None)]
    assert set_aside(take(world, [], edges, workspace), "edges") == skipped(
        world.take([], edges), "edges"
    )
    monkeypatch.setattr(links, "contradicting", lambda keys, *_: np.arange(len(keys)) > 0)
    assert set_aside(take(world, [], edges, workspace), "edges") != skipped(
        world.take([], edges), "edges"
    )
