"""Segments on the workers: the sealed graph from its tables, and the tables of new steps.

Rows of segments have labels already, so that no intake is needed: each task lays out some of them
by class. Tables of nodes serve as they are, as files of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.batches import (
    WHOLE,
    Written,
    put_in_place,
    require_unchanged,
    write_part,
)
from graphveil.backends.spark.blocks import read_edges
from graphveil.backends.spark.graph import NodePart, Part, SparkGraph, Workspace, class_files
from graphveil.backends.spark.jobs import Cluster
from graphveil.deferred import pl
from graphveil.graph.sequence import BOTH
from graphveil.study.backends import Stored
from graphveil.study.ledger import SealedTables
from graphveil.study.records.segments import edge_table, node_table, together
from graphveil.whole_files import clear_leftovers

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
_AT_ONCE = 4_000_000  # rows of one task


def nothing_sealed(stored: Stored, workspace: Workspace, colours: int) -> SparkGraph:
    """The graph of a study before its first step."""
    promise = stored.promise
    return SparkGraph.begin(
        workspace,
        promise.calendar,
        directed=promise.directed,
        oriented=promise.degree_bound.kind == "oriented",
        colours=colours,
        grouped=bool(promise.groups),
    )


def rows_sealed(stored: Stored) -> int:
    """How many edges were sealed, from the footers of their files."""
    from pyarrow import parquet

    home, tables = stored.folder.segments, dict.fromkeys(stored.ledger.sealed)
    files = [file for each in tables for file in each.edges.files]
    return sum(parquet.read_metadata(home / file.name).num_rows for file in files)


def load(cluster: Cluster, stored: Stored, before: SparkGraph) -> SparkGraph:
    """A graph with the steps that were sealed after it; verifies the checksums of their tables."""
    home = stored.folder.segments
    later = [each for each in together(stored.ledger.sealed) if each[1].start >= before.steps]
    if not later:
        return before
    files = [f for tables, _ in later for f in (*tables.nodes.files, *tables.edges.files)]
    require_unchanged(cluster, home, files)
    nodes = cluster.run(count_nodes, _node_tasks(home, later))
    tasks = _edge_tasks(home, later, before)
    written = cluster.run(lay_out, tasks)
    people, first = [], before.nodes
    for each in nodes:
        people.append(NodePart(each.path, first, each.rows, each.text))
        first += each.rows
    steps = later[-1][1].stop
    counts = np.zeros((4, steps), np.int64)
    counts[0, : before.steps] = np.diff(before.node_offsets)
    for row, known in zip(counts[1:], (before.prompt, before.late, before.edges), strict=True):
        row[: len(known)] = known
    for each in nodes:
        counts[0, each.first_step : each.first_step + len(each.per_step)] += each.per_step
    for rows in written:
        counts[1:, : rows.per_step.shape[1]] += rows.per_step
    return replace(
        before,
        node_offsets=np.concatenate([[0], np.cumsum(counts[0])]),
        prompt=counts[1],
        late=counts[2],
        edges=counts[3],
        parts=(*before.parts, *(part for rows in written for part in rows.parts)),
        people=(*before.people, *people),
    )


class NodeTask(NamedTuple):
    """A table of nodes, and the steps of its segment."""

    path: str
    steps: range


class NodesFound(NamedTuple):
    """How many nodes a table has at each step, and the type of their ids."""

    path: str
    rows: int
    text: bool
    first_step: int
    per_step: Int64s


def _node_tasks(home: Path, sealed: Sequence[tuple[SealedTables, range]]) -> list[NodeTask]:
    return [
        NodeTask(str(home / file.name), steps)
        for each, steps in sealed
        for file in each.nodes.files
    ]


def count_nodes(task: NodeTask) -> NodesFound:
    """The nodes of a table; runs on a worker."""
    import pyarrow as pa
    from pyarrow import parquet

    file = parquet.ParquetFile(task.path)
    text = not pa.types.is_integer(file.schema_arrow.field("node").type)
    rows, steps = file.metadata.num_rows, task.steps
    if "step" in file.schema_arrow.names:
        places = file.read(["step"])["step"].to_numpy() - steps.start
        per_step = np.bincount(places, minlength=len(steps))
    else:
        per_step = np.array([rows])
    return NodesFound(task.path, rows, text, steps.start, per_step)


class EdgeTask(NamedTuple):
    """Some row groups of a table of edges, to be written to one file per class."""

    graph: SparkGraph
    path: str
    groups: tuple[int, ...]
    steps: range


class Laid(NamedTuple):
    """Files of edges, and per step prompt pairs, late edges, and all edges."""

    parts: tuple[Part, ...]
    per_step: Int64s


def _edge_tasks(
    home: Path, sealed: Sequence[tuple[SealedTables, range]], graph: SparkGraph
) -> list[EdgeTask]:
    from pyarrow import parquet

    tasks, light = [], graph.only(())
    for tables, steps in sealed:
        for file in tables.edges.files:
            path = str(home / file.name)
            footer = parquet.read_metadata(path)
            rows = [footer.row_group(place).num_rows for place in range(footer.num_row_groups)]
            shares: dict[int, list[int]] = {}
            for place, before in enumerate(accumulate(rows, initial=0)):
                if place < len(rows):
                    shares.setdefault(before // _AT_ONCE, []).append(place)
            tasks += [EdgeTask(light, path, tuple(share), steps) for share in shares.values()]
    return tasks


def lay_out(task: EdgeTask) -> Laid:
    """Rows of a segment by class; runs on a worker."""
    from pyarrow import parquet

    graph, table = task.graph, parquet.ParquetFile(task.path).read_row_groups(list(task.groups))
    newer, late = table["newer"].to_numpy(), table["late"].to_numpy()
    entries = table["older"].to_numpy() << np.int32(2) | table["direction"].to_numpy()
    if "step" in table.column_names:
        steps = table["step"].to_numpy()
    else:
        steps = np.full(len(newer), task.steps.start, np.int32)
    parts: list[Part] = []
    per_step = np.zeros((3, task.steps.stop), np.int64)
    for is_late in (False, True):
        rows = late == is_late
        columns = newer[rows], entries[rows].astype(np.int32), steps[rows]
        parts += class_files(graph.workspace, graph.colours, *columns, is_late)
        per_step[int(is_late)] = np.bincount(steps[rows], minlength=task.steps.stop)
    both = ((entries & BOTH) == BOTH) & graph.directed
    weights = np.where(both, 2, 1)
    per_step[2] = np.bincount(steps, weights=weights, minlength=task.steps.stop)
    return Laid(tuple(parts), per_step)


class WriteTask(NamedTuple):
    """The nodes of some labels with their prompt edges, or late edges of some steps, or all.

    Attributes:
        graph: with the files that are read.
        folder: where tables go.
        steps: of the segment.
        labels: of the nodes; None in a task for late edges alone.
        late_steps: whose late edges are written; of those, only with `late_labels` as newer ends.
        late_labels: see there.
    """

    graph: SparkGraph
    folder: str
    steps: range
    labels: range | None
    late_steps: range
    late_labels: range


class Wrote(NamedTuple):
    """The files of a task."""

    nodes: Written | None
    edges: Written


class WroteSegment(NamedTuple):
    """The files of a segment for the row of each step, and its tables of nodes."""

    files: dict[str, Any]
    people: list[NodePart]


def write(
    cluster: Cluster, folder: Path, graph: SparkGraph, steps: range, text: bool
) -> WroteSegment:
    """Write what some steps add to a graph.

    Args:
        cluster: whose workers write.
        folder: of segments.
        graph: with these steps.
        steps: which.
        text: whether ids are written as text; else as whole numbers.
    """
    clear_leftovers(folder)  # here is the one writer, since the database has let it in
    tasks = _write_tasks(replace(graph, text_ids=text), folder, steps)
    wrote, name = cluster.run(write_rows, tasks), f"{steps[0]:04}"
    parts = [each.nodes for each in wrote if each.nodes is not None]
    nodes = put_in_place(folder, f"{name}-nodes", parts)
    edges = put_in_place(folder, f"{name}-edges", [each.edges for each in wrote])
    labels = [task.labels for task in tasks if task.labels is not None]
    people = [
        NodePart(str(folder / file.name), own.start, len(own), text)
        for file, own in zip(nodes.files, labels, strict=True)
    ]
    return WroteSegment({"nodes": nodes.to_data(), "edges": edges.to_data()}, people)


def _write_tasks(graph: SparkGraph, folder: Path, steps: range) -> list[WriteTask]:
    """One, if all fits a file; else some for nodes with their prompt edges, some for late ones."""
    first, stop = int(graph.node_offsets[steps.start]), int(graph.node_offsets[steps.stop])
    prompt = int(graph.prompt[steps.start : steps.stop].sum())
    late = int(graph.late[steps.start : steps.stop].sum())
    many = max(1, ceil(max(stop - first, prompt) / WHOLE))
    everybody, nobody = range(stop), range(0)
    if many == 1 and late <= WHOLE:
        return [_task(graph, folder, steps, range(first, stop), steps, everybody)]
    cuts = np.linspace(first, stop, many + 1).astype(int).tolist()
    tasks = [_task(graph, folder, steps, range(a, b), range(0), nobody) for a, b in pairwise(cuts)]
    for step in steps:
        pieces = ceil(int(graph.late[step]) / WHOLE)
        ends = np.linspace(0, stop, pieces + 1).astype(int).tolist()
        own = range(step, step + 1)
        tasks += [
            _task(graph, folder, steps, None, own, range(a, b)) for a, b in pairwise(ends) if pieces
        ]
    return tasks


def _task(
    graph: SparkGraph, folder: Path, steps: range, labels: range | None, late: range, newer: range
) -> WriteTask:
    """A task that takes along the names of those files only that it reads."""

    def wanted(part: Part) -> bool:
        own = late if part.late else steps if labels else range(0)
        return part.first_step < own.stop and part.last_step >= own.start

    people = [
        part
        for part in graph.people
        if labels and part.first < labels.stop and part.first + part.rows > labels.start
    ]
    parts = tuple(part for part in graph.parts if wanted(part))
    light = replace(graph, parts=parts, people=tuple(people))
    return WriteTask(light, str(folder), steps, labels, late, newer)


def write_rows(task: WriteTask) -> Wrote:
    """Write the tables of a task; runs on a worker."""
    prompt, late = _edges(task, late=False), _edges(task, late=True)
    nodes = None
    if task.labels is not None:
        nodes = write_part(task.folder, _nodes(task, task.labels, prompt.newer))
    tables = [
        edge_table(prompt.newer, prompt.entries, prompt.steps, late=False),
        edge_table(late.newer, late.entries, late.steps, late=True),
    ]
    return Wrote(nodes, write_part(task.folder, pl.concat(tables)))


class _Rows(NamedTuple):
    newer: Int32s
    entries: Int32s
    steps: Int32s


def _edges(task: WriteTask, *, late: bool) -> _Rows:
    """The task's edges of one kind, in the order of a segment."""
    graph = task.graph
    labels = task.late_labels if late else task.labels or range(0)
    steps = task.late_steps if late else task.steps
    pieces = [_rows(graph, part, labels) for part in graph.parts if part.late == late]
    nothing = _Rows(*(np.empty(0, np.int32) for _ in _Rows._fields))
    newer, entries, own = (np.concatenate(each) for each in zip(nothing, *pieces, strict=True))
    within = (own >= steps.start) & (own < steps.stop)
    newer, entries, own = newer[within], entries[within], own[within]
    order = np.lexsort((entries, newer, own))
    return _Rows(newer[order], entries[order], own[order])


def _rows(graph: SparkGraph, part: Part, labels: range) -> _Rows:
    """The edges of a file whose newer ends have some labels, each with its step."""
    edges = read_edges(graph, part)
    steps = edges.steps()
    if not part.late:  # ascending, so that they stand together
        begin, end = np.searchsorted(edges.newer, [labels.start, labels.stop])
        return _Rows(edges.newer[begin:end], edges.entries[begin:end], steps[begin:end])
    chosen = (edges.newer >= labels.start) & (edges.newer < labels.stop)
    return _Rows(edges.newer[chosen], edges.entries[chosen], steps[chosen])


def _nodes(task: WriteTask, labels: range, newer: Int32s) -> pl.DataFrame:
    """The task's nodes in label order."""
    graph = task.graph
    names = ["stated", "stratum"] if graph.grouped else ["stated"]
    ids, told = [pl.Series("node", [], pl.String)], [np.empty((0, len(names)), np.int32)]
    for part in graph.people:
        begin, end = max(labels.start, part.first), min(labels.stop, part.first + part.rows)
        table = graph.workspace.read(part.name, ["node", *names])
        own = pl.DataFrame(table.slice(begin - part.first, end - begin))
        ids.append(own["node"].cast(pl.String))
        told.append(own.select(names).to_numpy())
    kind = pl.String if graph.text_ids else pl.Int64
    links = np.bincount(newer - np.int32(labels.start), minlength=len(labels)).astype(np.int32)
    places = np.arange(labels.start, labels.stop)
    steps = (np.searchsorted(graph.node_offsets, places, side="right") - 1).astype(np.int32)
    stated, *strata = np.concatenate(told).T
    nodes = node_table(pl.concat(ids).cast(kind), stated, links, steps)
    return nodes.with_columns(pl.Series("stratum", each) for each in strata)
