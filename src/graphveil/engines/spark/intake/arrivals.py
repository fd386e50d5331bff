"""Arrivals in relational terms: each new node once, in label order, in files of the workspace."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from graphveil.engines.spark.graph import NodePart, SparkGraph
from graphveil.engines.spark.intake.resolving import Reading, refuse_marked, resolved
from graphveil.engines.spark.intake.tables import SparkTable
from graphveil.engines.spark.jobs import failing_as_ours, mapped
from graphveil.engines.spark.workspace import Workspace
from graphveil.errors import PastStepError
from graphveil.graph.intake import arrivals as words
from graphveil.graph.intake.appending import refuse_too_many
from graphveil.graph.intake.report import IntakeReport
from graphveil.graph.intake.resolving import NO_TIME, NO_TIME_HINT
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import UNSTATED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

DROPPED = -2  # stands for the label of a node that was left out, with its links
_WRITTEN = "part int, name string, nodes long, found binary"
_WHOLE_NUMBER = "^(0|-?[1-9][0-9]*)$"


@dataclass(frozen=True, eq=False)
class Arrived:
    """The nodes that a batch adds.

    Attributes:
        people: their files, in order of labels.
        per_step: (steps of the calendar that anybody names,) how many arrive.
        dropped: ids that were left out with their links, or None.
        report: what became of the rows.
        last_step: at which the last of those arrives who stand in the batch; -1 if nobody does.
        texts: whether the ids of the batch are text, as the one intake would keep them.
    """

    people: tuple[NodePart, ...] = field(repr=False)
    per_step: np.ndarray = field(repr=False)
    dropped: DataFrame | None = field(repr=False)
    report: IntakeReport = field(repr=False)
    last_step: int = field(repr=False)
    texts: bool


@dataclass(frozen=True)
class Coming:
    """How nodes of a batch arrive.

    Attributes:
        reading: how rows become people and steps.
        late: refuse records of closed steps, or let them "join" the first open one.
        undated: refuse nodes without a time, put them into the "first" open step, or "drop" them.
        only_earlier: whether a known node may state a later step without being re-dated.
    """

    reading: Reading
    late: Late
    undated: str
    only_earlier: bool = False


def arrive(
    session: SparkSession,
    graph: SparkGraph,
    table: SparkTable | None,
    coming: Coming,
    waiting: DataFrame | None = None,
) -> Arrived:
    """Everybody who waits, and who is new in a table, once each, behind those who are there.

    Args:
        session: whose workers do it.
        graph: who is there.
        table: the batch.
        coming: its rules.
        waiting: nodes that came before and are not there yet: `node`, `step` and the number of
            their `batch`, of which the first counts.
    """
    rows = waiting_and_given(session, table, coming.reading, waiting)
    one = one_each(rows, graph, session, coming).persist()
    gone = coming.undated == "drop"
    try:
        counts, last = _counted(one, graph, coming)
        if table is not None:
            _refuse(rows, one, table, graph, counts, coming)
        refuse_too_many(graph.nodes + counts["coming"])
        new, dropped = one.filter("node is not null and label is null"), None
        if gone:
            dropped = _set_aside(session, graph, new.filter("not waits and stated is null"))
            new = new.filter("waits or stated is not null")
        with failing_as_ours():
            people, per_step = _labelled(new, graph, counts["coming"])
    finally:
        one.unpersist()
    report = _report(counts, gone=gone)
    return Arrived(people, per_step, dropped, report, last, bool(counts["texts"]))


def _counted(one: DataFrame, graph: SparkGraph, coming: Coming) -> tuple[dict[str, int], int]:
    """What became of nodes, by name; and the last step at which one of the batch arrives."""
    from pyspark.sql import functions as F  # noqa: N812

    sums = _counts(graph, only_earlier=coming.only_earlier)
    last = F.max(F.expr("if(rows > 0 and label is null, step, null)")).alias("last")
    with failing_as_ours():
        found = one.agg(
            *(F.sum(each).alias(name) for name, each in sums.items()),
            last,
            F.max("texts").alias("texts"),
        )
        row = found.collect()[0].asDict()
    at = row.pop("last")
    return {name: int(n or 0) for name, n in row.items()}, -1 if at is None else int(at)


def _set_aside(session: SparkSession, graph: SparkGraph, nodes: DataFrame) -> DataFrame:
    """Nodes that are left out, in files: what they were found from is not kept."""
    with failing_as_ours():
        ids = nodes.select("node")
        written = mapped(ids, partial(_write_ids, graph.workspace), "name string").collect()
    if not written:
        return session.createDataFrame([], ids.schema)
    files = (graph.workspace.for_spark(row.name) for row in written)
    return session.read.schema(ids.schema).parquet(*files)


def _write_ids(workspace: Workspace, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    given = [batch for batch in batches if batch.num_rows]
    if given:
        name = workspace.write("dropped", pa.Table.from_batches(given))
        yield pa.RecordBatch.from_arrays([pa.array([name])], names=["name"])


def _report(counts: dict[str, int], *, gone: bool) -> IntakeReport:
    """What became of the rows of a batch; `gone` are those without a time."""
    added = counts["new"] - (counts["undated"] if gone else 0)
    return IntakeReport(
        nodes_added=added,
        known_nodes=counts["known"],
        repeated_nodes=counts["rows"]
        - added
        - counts["known"]
        - (counts["undated_rows"] if gone else 0),
        redated_nodes=counts["redated"],
        undated_nodes=0 if gone else counts["undated"],
        late_nodes=counts["past"],
        trimmed_ids=counts["trimmed"],
        respelled_ids=counts["respelled"],
        folded_nodes=counts["folded"],
        nodes_undated=counts["undated_rows"] if gone else 0,
    )


def waiting_and_given(
    session: SparkSession,
    table: SparkTable | None,
    reading: Reading,
    waiting: DataFrame | None,
) -> DataFrame:
    """The rows of a batch, and those who wait, which have a batch of their own."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = resolved(session, table, reading)
    rows = rows.withColumn("batch", F.lit(None).cast("int"))
    if waiting is None:
        return rows
    return rows.unionByName(waiting.select("node", "step", "batch"), allowMissingColumns=True)


def one_each(rows: DataFrame, graph: SparkGraph, session: SparkSession, coming: Coming) -> Any:
    """One row for each node: what its rows state, and whether it is known already."""
    from pyspark.sql import functions as F  # noqa: N812

    own, waits = F.col("batch").isNull(), F.col("batch").isNotNull()
    first, last = F.min(F.when(own, F.col("step"))), F.max(F.when(own, F.col("step")))
    merges = coming.reading.rules.merges_ids
    sums = [F.sum(name).alias(name) for name in ("trimmed", "respelled", "folded")]
    one = rows.groupBy("node").agg(
        first.alias("stated"),
        (first if merges else last).alias("stated_last"),
        (F.lit(merges) | F.col("node").isNull() | first.eqNullSafe(last)).alias("agree"),
        F.count(F.when(own, 1)).alias("rows"),
        F.count("fault").alias("bad"),
        F.max("texts").alias("texts"),
        F.max(waits).alias("waits"),
        F.min(F.when(waits, F.struct("batch", "step")))["step"].alias("waited"),
        *sums,
    )
    there = labels(session, graph).withColumnsRenamed({"stated": "was"})
    steps = F.array(F.lit(0), *(F.lit(int(n)) for n in graph.node_offsets[1:]))
    arrived = F.aggregate(
        steps, F.lit(-1), lambda before, end: before + (F.col("label") >= end).cast("int")
    )
    open_step = F.lit(graph.steps)
    is_there = F.col("label").isNotNull()
    found = one.join(there, "node", "left").withColumns(
        {
            "known": is_there | F.col("waits"),
            "was": F.coalesce(
                F.when(is_there, F.col("was")).otherwise(F.col("waited")), F.lit(UNSTATED)
            ),
            "states": F.coalesce(
                F.when(F.col("waits"), F.col("waited")).otherwise(F.col("stated")), F.lit(UNSTATED)
            ),
        }
    )
    return found.withColumn("step", F.greatest("states", open_step)).withColumn(
        "arrived", F.when(is_there, arrived).otherwise(F.col("step"))
    )


def _counts(graph: SparkGraph, *, only_earlier: bool) -> dict[str, Column]:
    """What is counted over one row for each node."""
    from pyspark.sql import functions as F  # noqa: N812

    def times(condition: str) -> Column:
        return F.when(F.expr(condition), 1).otherwise(0)

    there, past = "node is not null", f"stated is not null and stated < {graph.steps}"
    differs = "stated < was" if only_earlier else "(stated <> was or stated_last <> was)"
    redated = f"known and stated is not null and {differs}"
    return {
        **{name: F.col(name) for name in ("rows", "bad", "trimmed", "respelled", "folded")},
        "new": times(f"{there} and not known"),
        "coming": times(f"{there} and label is null"),
        "known": times("known and rows > 0"),
        "differing": times("not known and not agree"),
        "undated": times(f"{there} and not known and stated is null"),
        "undated_rows": F.when(F.expr(f"{there} and not known and stated is null"), F.col("rows")),
        "past": times(f"{there} and not known and {past}"),
        "redated": times(redated),
        "moved": times(f"{redated} and stated <> arrived"),
    }


def _refuse(
    rows: DataFrame,
    one: DataFrame,
    table: SparkTable,
    graph: SparkGraph,
    counts: dict[str, int],
    coming: Coming,
) -> None:
    """Refuse the first row that breaks a rule, rule by rule in the order of the one intake."""
    if counts["bad"]:
        refuse_marked(table, rows)
    late = coming.late
    if counts["undated"] and coming.undated == "refuse":
        place = _first(rows, one.filter("not known and stated is null"))
        raise table.refusal(place, "time", NO_TIME, NO_TIME_HINT)
    if counts["moved"] and late == "refuse":
        place = _first(rows, one.filter("known and stated <> arrived and stated <> was"))
        raise table.refusal(place, "time", words.OTHER_STEP, words.OTHER_STEP_HINT)
    if counts["past"] and late == "refuse":
        place = _first(rows, one.filter(f"not known and stated < {graph.steps}"))
        raise PastStepError(
            words.CLOSED.format(graph.calendar.label(graph.steps)),
            place=table.place(place, "time"),
            hint=words.CLOSED_HINT,
        )
    if counts["differing"]:
        place = _first_differing(rows, one.filter("not known and not agree"))
        raise table.refusal(place, "time", words.TWO_TIMES, words.TWO_TIMES_HINT)


def _first(rows: DataFrame, chosen: DataFrame) -> int:
    """The first row of some nodes."""
    with failing_as_ours():
        found = rows.join(chosen.select("node"), "node", "semi").agg({"place": "min"}).collect()
    return int(found[0][0])


def _first_differing(rows: DataFrame, chosen: DataFrame) -> int:
    """The first row that states another step than the first row of its node."""
    from pyspark.sql import functions as F  # noqa: N812

    theirs = rows.filter("step is not null").join(chosen.select("node"), "node", "semi")
    first = theirs.groupBy("node").agg(F.min_by("step", "place").alias("at_first"))
    with failing_as_ours():
        other = theirs.join(first, "node").filter("step <> at_first").agg({"place": "min"})
        found = other.collect()
    return int(found[0][0])


class _Written(NamedTuple):
    """What one task wrote: how many nodes at which steps."""

    steps: np.ndarray
    counts: np.ndarray


def _labelled(
    new: DataFrame, graph: SparkGraph, count: int
) -> tuple[tuple[NodePart, ...], np.ndarray]:
    """Write nodes by step and identity; a file's place tells the labels of its nodes."""
    from pyspark.sql import functions as F  # noqa: N812

    if not count:
        return (), np.zeros(graph.steps, np.int64)
    keys = [F.col("step"), *_identity(text=graph.text_ids)]
    stated = F.col("states").alias("stated")
    parts = max(1, min(200, count // 100_000))
    ordered = new.select("node", stated, "step").repartitionByRange(parts, *keys)
    ordered = ordered.sortWithinPartitions(*keys)
    written = mapped(ordered, partial(_write, graph.workspace), _WRITTEN).collect()
    people, first, total = [], graph.nodes, np.zeros(graph.steps, np.int64)
    for row in sorted(written, key=lambda row: row.part):
        people.append(NodePart(row.name, first, row.nodes, graph.text_ids))
        first += row.nodes
        found: _Written = pickle.loads(row.found)
        total = np.pad(total, (0, max(0, int(found.steps.max()) + 1 - len(total))))
        total[found.steps] += found.counts
    return tuple(people), total


def _identity(*, text: bool) -> list[Column]:
    """The one order of ids: whole numbers by value, then other text; see `identity_order`."""
    from pyspark.sql import functions as F  # noqa: N812

    node = F.col("node")
    if not text:
        return [node]
    whole, length = node.rlike(_WHOLE_NUMBER), F.octet_length(node)
    negative = whole & node.startswith("-")
    turned = F.translate(node, "0123456789", "9876543210")
    return [
        F.when(negative, 0).when(whole, 1).otherwise(2),
        F.when(negative, -length).when(whole, length).otherwise(0),
        F.when(negative, turned).otherwise(node),
    ]


def _write(workspace: Workspace, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyspark import TaskContext

    given = [batch for batch in batches if batch.num_rows]
    if not given:
        return
    found = pa.Table.from_batches(given)
    name = workspace.write("nodes", found.select(["node", "stated"]))
    steps, counts = np.unique(found["step"].to_numpy(), return_counts=True)
    context = TaskContext.get()
    blob = pickle.dumps(_Written(steps, counts))
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([context.partitionId() if context else 0], pa.int32()),
            pa.array([name]),
            pa.array([len(found)], pa.int64()),
            pa.array([blob], pa.binary()),
        ],
        names=["part", "name", "nodes", "found"],
    )


def labels(session: SparkSession, graph: SparkGraph) -> DataFrame:
    """Every node of a graph with its label: columns `node`, `label` and `stated`."""
    kind = "string" if graph.text_ids else "long"
    if not graph.people:
        return session.createDataFrame([], f"node {kind}, label int, stated int")
    by_form = {form: [p for p in graph.people if p.text == form] for form in (False, True)}
    found = [_labels(session, graph, parts, kind) for parts in by_form.values() if parts]
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


def _labels(
    session: SparkSession, graph: SparkGraph, parts: list[NodePart], kind: str
) -> DataFrame:
    """Nodes of files in which ids have one form."""
    from pyspark.sql import functions as F  # noqa: N812

    own = "string" if parts[0].text else "long"
    reader = session.read.schema(f"node {own}, stated int")  # or a job would look into a footer
    files = reader.parquet(*(graph.workspace.for_spark(part.name) for part in parts))
    bases = F.create_map(*(F.lit(x) for part in parts for x in (part.file, part.first)))
    first = F.element_at(bases, F.col("_metadata.file_name")).cast("long")
    label = (first + F.col("_metadata.row_index")).cast("int").alias("label")
    return files.select(F.col("node").cast(kind).alias("node"), label, "stated")
