"""Taking in: tables of nodes and edges become a graph on the workers, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphveil.backends.spark.graph import SparkGraph, Workspace
from graphveil.backends.spark.intake.arrivals import Arrived, arrive
from graphveil.backends.spark.intake.label_index import LabelIndex, parts_for
from graphveil.backends.spark.intake.links import LayoutTask, Linked, link
from graphveil.backends.spark.intake.people import ArrivalRules
from graphveil.backends.spark.intake.resolving import Broken, Reading, by_rule
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.jobs import SparkCluster
from graphveil.backends.spark.session import WORKSPACE, colours_for, is_local, task_bytes
from graphveil.errors import EngineError, ParameterError
from graphveil.graph.groups import NO_GROUPS, Groups
from graphveil.graph.intake.records import IntakeReport
from graphveil.graph.intake.rules import Late, RecordRules, Undated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from graphveil.calendar.calendar import Calendar


class Taken(NamedTuple):
    """A graph with its newest batch, and what happened to the records (private)."""

    graph: SparkGraph
    report: IntakeReport


def workspace_of(session: SparkSession) -> Workspace:
    """A new workspace where the settings say; a cluster needs one that all workers reach."""
    parent = session.conf.get(WORKSPACE, None)
    if parent is None and not is_local(str(session.conf.get("spark.master"))):
        raise EngineError(
            f"a cluster needs a folder that the driver and all workers reach. Name it with "
            f"{WORKSPACE}, as a path or an address such as s3://bucket/folder."
        )
    return Workspace.within(parent)


def begin(
    session: SparkSession,
    calendar: Calendar,
    *,
    directed: bool = False,
    oriented: bool = False,
    expected_edges: int = 0,
    text_ids: bool = True,
    grouped: bool = False,
) -> SparkGraph:
    """A graph without steps, to be extended by tables.

    Args:
        session: whose workers hold it.
        calendar: how times become steps.
        directed: whether u→v differs from v→u.
        oriented: whether reciprocal edges are refused.
        expected_edges: how many there will be, roughly: it decides on the size of files.
        text_ids: whether ids are text; else whole numbers.
        grouped: whether people have labels of groups.
    """
    if oriented and not directed:
        raise ParameterError("oriented", "is a property of directed sequences only")
    return SparkGraph.begin(
        workspace_of(session),
        calendar,
        directed=directed,
        oriented=oriented,
        colours=colours_for(expected_edges, task_bytes(session)),
        text_ids=text_ids,
        grouped=grouped,
    )


def extend(
    session: SparkSession,
    graph: SparkGraph,
    nodes: SparkTable,
    edges: SparkTable | None,
    *,
    undated: Undated | str = "refuse",
    late: Late = "refuse",
    day_first: bool | None = None,
    groups: Groups = NO_GROUPS,
) -> Taken:
    """The graph with a batch appended; the given one stays as it was, and its files, too.

    Args:
        session: whose workers do it.
        graph: what has arrived so far.
        nodes: of open steps, in any order of rows.
        edges: likewise; None if there are none.
        undated: refuse nodes without a time, put them into the "first" open step, or "drop" them.
        late: refuse records of closed steps, or let them "join" the first open one.
        day_first: whether 7/8/2021 is the 7th of August; None if nobody stated it.
        groups: the public lists of labels that people have, if the graph was begun with any.
    """
    rules = RecordRules(undated="refuse" if undated == "refuse" else "first")
    reading = Reading(
        "nodes", graph.calendar, rules, graph.text_ids, day_first=day_first, groups=groups
    )
    arrival_rules = ArrivalRules(reading, late, drops_undated=undated == "drop")
    given = [] if edges is None else [edges]
    found = taken_in(SparkCluster(session), graph, (nodes, given), arrival_rules, strict=True)
    return Taken(found.graph, found.report)


class Waiting(NamedTuple):
    """Resolved records that came before: with steps, and places below zero.

    Attributes:
        nodes: whose place is the lower the later the batch in which they came; with the labels
            of each, where there are groups.
        edges: whose place is -1.
        people: how many nodes there are, or more.
        links: how many edges, or more.
    """

    nodes: DataFrame
    edges: DataFrame
    people: int
    links: int


class TakenIn(NamedTuple):
    """A graph with its newest batch, and what happened to its records (private).

    Attributes:
        graph: with the batch.
        arrived: what became of nodes.
        linked: what became of edges; None if there are none.
    """

    graph: SparkGraph
    arrived: Arrived
    linked: Linked | None

    @property
    def report(self) -> IntakeReport:
        """What became of all records."""
        notes = [self.arrived.note] + ([] if self.linked is None else [self.linked.note])
        spelled = IntakeReport(
            trimmed_ids=sum(note.trimmed for note in notes),
            respelled_ids=sum(note.respelled for note in notes),
        )
        report = self.arrived.report + spelled
        return report if self.linked is None else report + self.linked.found.report

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The rules that rows break, in the order of the one intake."""
        return by_rule([*self.arrived.broken, *(self.linked.broken if self.linked else ())])

    @property
    def last_step(self) -> int:
        """At which the last of what the batch names arrives."""
        return max(
            self.arrived.last_step, -1 if self.linked is None else self.linked.found.last_step
        )

    @property
    def texts(self) -> tuple[bool, bool, bool]:
        """Which columns are text, as the one intake would keep them: node, source, target."""
        ends = 0 if self.linked is None else self.linked.note.texts
        return self.arrived.texts, bool(ends & 1), bool(ends & 2)


Tables: TypeAlias = "tuple[SparkTable, Sequence[SparkTable]]"


def taken_in(
    cluster: SparkCluster,
    graph: SparkGraph,
    tables: Tables | None,
    arrival_rules: ArrivalRules,
    waiting: Waiting | None = None,
    *,
    strict: bool = False,
    note_known: bool = False,
) -> TakenIn:
    """The graph with what waits and a batch appended, by the rules of `graph.appending`.

    Rows that break a rule are left out.

    Args:
        cluster: whose workers do it.
        graph: what has arrived so far.
        tables: the batch: nodes, and several tables of edges; None if there is none.
        arrival_rules: its rules.
        waiting: what came before and is not in the graph yet.
        strict: whether the first row that breaks a rule refuses the batch.
        note_known: whether to note which rows of the batch are sealed, or add nothing.
    """
    nodes, edges = tables or (None, ())
    if nodes is not None:
        arrival_rules.reading.require_labels(nodes)
    before = _index(cluster, graph, nodes, edges, waiting)
    arrived = arrive(
        cluster,
        before,
        graph,
        nodes,
        arrival_rules,
        waiting and waiting.nodes,
        note_rows=note_known,
    )
    if nodes is not None and any(each.past for each in arrived.parts):
        _require_sound(arrived.broken, nodes, ())
        arrived.require_open(nodes)
    steps = len(arrived.per_step)
    added = np.pad(arrived.per_step, (0, max(0, graph.steps - steps)))[graph.steps :]
    offsets = np.concatenate([graph.node_offsets, graph.nodes + np.cumsum(added)])
    grown = replace(graph, node_offsets=offsets, people=(*graph.people, *arrived.people))
    if not edges and waiting is None:
        found = TakenIn(with_steps(grown, np.zeros((3, 0), np.int64)), arrived, None)
    else:
        index = before.extended(cluster, arrived.people).joined(arrived.dropped)
        layout = LayoutTask(
            replace(grown, people=()),
            graph.nodes,
            graph.steps,
            arrival_rules.late,
            note_known,
            graph.calendar.last_step if arrival_rules.ignores_end else None,
            arrival_rules.reading.awaited,
        )
        reading = replace(arrival_rules.reading, kind="edges")
        linked = link(cluster, index, layout, edges, reading, waiting and waiting.edges)
        grown = with_steps(
            replace(grown, parts=(*graph.parts, *linked.found.parts)), linked.found.per_step
        )
        found = TakenIn(grown, arrived, linked)
    if strict and nodes is not None:
        _require_sound(found.broken, nodes, edges)
        if found.linked is not None and edges:
            found.linked.found.require_open(edges[0], layout)
    return found


def _require_sound(
    broken: Sequence[Broken], nodes: SparkTable, edges: Sequence[SparkTable]
) -> None:
    """Refuse the rows that break the first rule of all; but those that waited may wait on."""
    for first in [each for each in broken if not each.awaited][:1]:
        raise first.error(nodes if first.kind == "nodes" else edges[0])


def _index(
    cluster: SparkCluster,
    graph: SparkGraph,
    nodes: SparkTable | None,
    edges: Sequence[SparkTable],
    waiting: Waiting | None,
) -> LabelIndex:
    """The labels of all known nodes, in as many parts as known and new nodes need."""
    people = graph.nodes + (nodes.rows if nodes else 0) + (waiting.people if waiting else 0)
    links = sum(each.rows for each in edges) + (waiting.links if waiting else 0)
    parts = parts_for(people, links)
    empty = LabelIndex.of_nobody(graph.workspace, parts, text=graph.text_ids, grouped=graph.grouped)
    return empty.extended(cluster, graph.people)


def with_steps(graph: SparkGraph, per_step: np.ndarray) -> SparkGraph:
    """The graph with integers for every step that a node or an edge names."""
    steps = max(graph.steps, per_step.shape[1])
    offsets = np.pad(graph.node_offsets, (0, steps - graph.steps), mode="edge")
    totals = []
    for before, new in zip((graph.prompt, graph.late, graph.edges), per_step, strict=True):
        total = np.zeros(steps, np.int64)
        total[: len(before)] = before
        total[: len(new)] += new
        totals.append(total)
    return replace(graph, node_offsets=offsets, prompt=totals[0], late=totals[1], edges=totals[2])
