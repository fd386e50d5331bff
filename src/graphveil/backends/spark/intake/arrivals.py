"""Arrivals on the workers: each new node once, in label order, in files of the workspace."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import NodePart, SparkGraph
from graphveil.backends.spark.intake.label_index import LabelIndex
from graphveil.backends.spark.intake.people import ArrivalRules, Arriving, PartFound, found_in
from graphveil.backends.spark.intake.resolving import Broken, Note, asked, by_rule, together
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.jobs import (
    Packet,
    SparkCluster,
    as_arrow,
    delivered,
    failing_as_ours,
    mapped,
    opened_rows,
    packets,
    part_of_rows,
    received,
)
from graphveil.deferred import pl
from graphveil.errors import PastStepError
from graphveil.graph.intake.appending import refuse_too_many
from graphveil.graph.intake.arrivals import CLOSED_HINT
from graphveil.graph.intake.identity import identity_order
from graphveil.graph.intake.records import IntakeReport

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


# Ranking: new nodes in order of step and identity, in files whose place tells their labels.
#
# A few nodes of every part show the driver where to cut, so that files are of like size. Each
# part then sends its nodes to the files in which they belong.


Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
IN_A_FILE = 1 << 18  # nodes, or about as many


class Cuts(NamedTuple):
    """Where files begin: steps and ids, in their order; and whether ids are text."""

    steps: Int32s
    ids: list[object]
    text: bool

    @property
    def series(self) -> pl.Series:
        """The ids."""
        return pl.Series(self.ids, dtype=pl.String if self.text else pl.Int64)

    def ranks(self, ids: pl.Series, steps: Int32s) -> Int64s:
        """In which file each node belongs."""
        both = pl.concat([ids.rename(""), self.series.rename("")])
        order = identity_order(both, np.concatenate([steps, self.steps]))
        found = np.empty(len(both), np.int64)
        found[order] = np.cumsum(order >= len(ids))
        return found[: len(ids)]


class _Ranked(NamedTuple):
    """A file of nodes: how many at which steps."""

    name: str
    rows: int
    steps: Int32s
    counts: Int64s


def ranked(
    cluster: SparkCluster, graph: SparkGraph, parts: Sequence[PartFound]
) -> tuple[tuple[NodePart, ...], Int64s]:
    """Files of the new nodes in order of labels, and how many arrive at each step."""
    count, text, light = sum(each.new for each in parts), graph.text_ids, _light(graph)
    if not count:
        return (), np.zeros(graph.steps, np.int64)
    cuts = _cuts(parts, max(1, count // IN_A_FILE), text=text)
    came = cluster.exchange(
        partial(_send, light, cuts),
        [each.people for each in parts if each.people],
        partial(_write, light),
        len(cuts.ids) + 1,
    )
    people, first, total = [], graph.nodes, np.zeros(graph.steps, np.int64)
    for file in filter(None, came):
        people.append(NodePart(file.name, first, file.rows, text))
        first += file.rows
        total = np.pad(total, (0, max(0, int(file.steps.max()) + 1 - len(total))))
        total[file.steps] += file.counts
    return tuple(people), total


def _light(graph: SparkGraph) -> SparkGraph:
    """The graph without the names of its files."""
    return replace(graph, parts=(), people=())


def _cuts(parts: Sequence[PartFound], files: int, *, text: bool) -> Cuts:
    """Cuts between so many files of about the same size, as far as the samples tell.

    A part is weighted by the number of its nodes, whatever the size of its sample.
    """
    sampled = [each for each in parts if each.new]
    cuts = Cuts(
        np.concatenate([each.sample[0] for each in sampled]),
        [node for each in sampled for node in each.sample[1]],
        text,
    )
    weights = np.concatenate(
        [np.full(len(each.sample[1]), each.new / len(each.sample[1])) for each in sampled]
    )
    order = identity_order(cuts.series, cuts.steps)
    before = np.cumsum(weights[order])
    aims = before[-1] * np.arange(1, files) / files
    chosen = order[np.unique(np.searchsorted(before, aims).clip(max=len(order) - 1))]
    return Cuts(cuts.steps[chosen], [cuts.ids[place] for place in chosen], text)


def _schema(graph: SparkGraph) -> pa.Schema:
    """The columns of a file of new nodes, the step last."""
    import pyarrow as pa

    kind = pa.string() if graph.text_ids else pa.int64()
    names = ["stated", "stratum", "step"] if graph.grouped else ["stated", "step"]
    return pa.schema([("node", kind), *((name, pa.int32()) for name in names)])


def _send(graph: SparkGraph, cuts: Cuts, name: str) -> Iterator[Packet]:
    """The new nodes of a part in packets; runs on a worker."""
    new = pl.DataFrame(graph.workspace.read(name))
    rows = as_arrow(new, _schema(graph))
    yield from packets(rows, cuts.ranks(new["node"], new["step"].to_numpy()))


def _write(graph: SparkGraph, part: int, came: Iterator[Packet]) -> _Ranked | None:
    """Write a file in its order; runs on a worker."""
    import pyarrow as pa

    schema = _schema(graph)
    rows = [opened_rows(packet.content, schema) for packet in came]
    if not rows:
        return None
    table = pa.Table.from_batches(rows).combine_chunks()
    steps = table["step"].to_numpy()
    order = identity_order(pl.Series(table["node"]), steps)
    name = graph.workspace.write("nodes", table.select(schema.names[:-1]).take(order))
    return _Ranked(name, len(table), *np.unique(steps, return_counts=True))


_FOUND = "found binary"


@dataclass(frozen=True, eq=False)
class Arrived:
    """The nodes that a batch adds.

    Attributes:
        people: their files, in order of labels.
        per_step: (steps of the calendar that anybody names,) how many arrive.
        parts: the result of each part of the ids.
        note: the findings about the rows.
    """

    people: tuple[NodePart, ...] = field(repr=False)
    per_step: np.ndarray = field(repr=False)
    parts: tuple[PartFound, ...] = field(repr=False)
    note: Note = field(repr=False)

    @property
    def report(self) -> IntakeReport:
        """What became of the rows, but for how they are spelled."""
        report = sum((each.report for each in self.parts), IntakeReport())
        return replace(report, folded_nodes=self.note.folded)

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The rules that rows break."""
        return by_rule([*self.note.broken, *(b for each in self.parts for b in each.broken)])

    @property
    def last_step(self) -> int:
        """At which the last node of the batch arrives; -1 if there is none."""
        return max((each.last_step for each in self.parts), default=-1)

    @property
    def texts(self) -> bool:
        """Whether the ids of the batch are text, as the one intake would keep them."""
        return bool(self.note.texts)

    @property
    def dropped(self) -> list[tuple[int, str | None]]:
        """The files of nodes that were left out, with their parts of an index."""
        return [(each.part, each.dropped) for each in self.parts]

    def require_open(self, table: SparkTable) -> None:
        """Refuse rows of closed steps, where these do not join the open one."""
        past = [each.past for each in self.parts if each.past is not None]
        if past:
            place, what = min(past)
            raise PastStepError(what, place=table.place(place, "time"), hint=CLOSED_HINT)


def arrive(
    cluster: SparkCluster,
    index: LabelIndex,
    graph: SparkGraph,
    table: SparkTable | None,
    arrival_rules: ArrivalRules,
    waiting: DataFrame | None = None,
    *,
    note_rows: bool = False,
) -> Arrived:
    """All nodes that wait or are new in a table, once each, ranked after the known nodes.

    Args:
        cluster: whose workers do it.
        index: the labels of who is there.
        graph: likewise.
        table: the batch.
        arrival_rules: its rules.
        waiting: nodes that came before and are not there yet: `node`, `step`, and as `place` a
            number below zero, which is the lower the later the batch.
        note_rows: whether to write which rows of the batch are not sealed.
    """
    arriving = Arriving(_light(graph), index, arrival_rules, note_rows)
    address = partial(part_of_rows, "node", index.parts)
    tables = [] if table is None else [table]
    rows = asked(cluster.session, tables, arrival_rules.reading, address, waiting)
    with failing_as_ours():
        came = mapped(delivered(rows, index.parts), partial(_arrive, arriving), _FOUND).collect()
    found: list[tuple[Note, PartFound]] = [pickle.loads(row.found) for row in came]
    note, parts = together(note for note, _ in found), tuple(part for _, part in found)
    refuse_too_many(graph.nodes + sum(each.new for each in parts))
    return Arrived(*ranked(cluster, graph, parts), parts, note)


def _arrive(arriving: Arriving, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    schema = arriving.arrival_rules.reading.schema
    notes, rows, part = [], [], 0
    for packet in received(batches):
        if packet.note:
            notes.append(pickle.loads(packet.content))
        else:
            part = packet.part
            rows.append(opened_rows(packet.content, schema))
    if notes or rows:
        found = found_in(arriving, part, pa.Table.from_batches(rows, schema))
        blob = pickle.dumps((together(notes), found))
        yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])


def nodes_at(session: SparkSession, graph: SparkGraph, names: Sequence[str]) -> DataFrame:
    """The ids in files of a workspace: the column `node`."""
    schema = f"node {'string' if graph.text_ids else 'long'}"
    if not names:
        return session.createDataFrame([], schema)
    return session.read.schema(schema).parquet(*map(graph.workspace.for_spark, names))


def everybody(session: SparkSession, graph: SparkGraph) -> DataFrame:
    """The ids of all nodes of a graph: the column `node`."""
    kind = "string" if graph.text_ids else "long"
    found = session.createDataFrame([], f"node {kind}")
    for form in (False, True):
        files = [graph.workspace.for_spark(p.name) for p in graph.people if p.text == form]
        if files:
            reader = session.read.schema(f"node {'string' if form else 'long'}")  # or a job looks
            found = found.unionByName(
                reader.parquet(*files).selectExpr(f"cast(node as {kind}) node")
            )
    return found
