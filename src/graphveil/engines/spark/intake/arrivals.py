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
    """

    people: tuple[NodePart, ...] = field(repr=False)
    per_step: np.ndarray = field(repr=False)
    dropped: DataFrame | None = field(repr=False)
    report: IntakeReport = field(repr=False)


def arrive(
    session: SparkSession,
    graph: SparkGraph,
    table: SparkTable,
    reading: Reading,
    late: Late,
    undated: str,
) -> Arrived:
    """Everybody who is new in a table, once each, labelled behind those who are there."""
    from pyspark.sql import functions as F  # noqa: N812

    rows = resolved(table, reading)
    one = _one_each(rows, graph, session, merges=reading.rules.merges_ids).persist()
    try:
        with failing_as_ours():
            found = one.agg(*(F.sum(each).alias(name) for name, each in _counts(graph).items()))
            counts = {name: int(n or 0) for name, n in found.collect()[0].asDict().items()}
        _refuse(rows, one, table, graph, counts, late=late, undated=undated)
        refuse_too_many(graph.nodes + counts["new"])
        new = one.filter("node is not null and not known")
        dropped = new.filter("stated is null").select("node") if undated == "drop" else None
        if dropped is not None:
            new = new.filter("stated is not null")
        with failing_as_ours():
            people, per_step = _labelled(new, graph, counts["new"])
            if dropped is not None:  # `one` is not kept
                dropped = session.createDataFrame(dropped.collect(), dropped.schema)
    finally:
        one.unpersist()
    gone = undated == "drop"
    added = counts["new"] - (counts["undated"] if gone else 0)
    report = IntakeReport(
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
    return Arrived(people, per_step, dropped, report)


def _one_each(rows: DataFrame, graph: SparkGraph, session: SparkSession, *, merges: bool) -> Any:
    """One row for each node: what its rows state, and whether it is known already."""
    from pyspark.sql import functions as F  # noqa: N812

    sums = [F.sum(name).alias(name) for name in ("trimmed", "respelled", "folded")]
    one = rows.groupBy("node").agg(
        F.min("step").alias("stated"),
        (F.lit(merges) | F.col("node").isNull() | F.min("step").eqNullSafe(F.max("step"))).alias(
            "agree"
        ),
        F.count(F.lit(1)).alias("rows"),
        F.count("fault").alias("bad"),
        *sums,
    )
    if not graph.nodes:
        nothing = F.lit(None).cast("int")
        return one.withColumns({"known": F.lit(False), "was": nothing, "arrived": nothing})
    there = labels(session, graph).withColumnsRenamed({"stated": "was"})
    steps = F.array(*(F.lit(int(n)) for n in graph.node_offsets[1:]))
    arrived = F.aggregate(
        steps, F.lit(0), lambda before, end: before + (F.col("label") >= end).cast("int")
    )
    return one.join(there, "node", "left").withColumns(
        {"known": F.col("label").isNotNull(), "arrived": arrived}
    )


def _counts(graph: SparkGraph) -> dict[str, Column]:
    """What is counted over one row for each node."""
    from pyspark.sql import functions as F  # noqa: N812

    def times(condition: str) -> Column:
        return F.when(F.expr(condition), 1).otherwise(0)

    there, past = "node is not null", f"stated is not null and stated < {graph.steps}"
    redated = f"known and stated is not null and stated <> coalesce(was, {UNSTATED})"
    return {
        **{name: F.col(name) for name in ("rows", "bad", "trimmed", "respelled", "folded")},
        "new": times(f"{there} and not known"),
        "known": times("known"),
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
    *,
    late: Late,
    undated: str,
) -> None:
    """Refuse the first row that breaks a rule, rule by rule in the order of the one intake."""
    if counts["bad"]:
        refuse_marked(table, rows)
    if counts["undated"] and undated == "refuse":
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
    step = F.greatest(F.coalesce("stated", F.lit(graph.steps)), F.lit(graph.steps)).alias("step")
    keys = [F.col("step"), *_identity(text=graph.text_ids)]
    stated = F.coalesce("stated", F.lit(UNSTATED)).alias("stated")
    parts = max(1, min(200, count // 100_000))
    ordered = new.select("node", stated, step).repartitionByRange(parts, *keys)
    ordered = ordered.sortWithinPartitions(*keys)
    written = mapped(ordered, partial(_write, graph.workspace), _WRITTEN).collect()
    people, first, total = [], graph.nodes, np.zeros(graph.steps, np.int64)
    for row in sorted(written, key=lambda row: row.part):
        people.append(NodePart(row.name, first, row.nodes))
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
    from pyspark.sql import functions as F  # noqa: N812

    folder = graph.workspace.for_spark
    files = session.read.parquet(*(f"{folder}/{part.name}" for part in graph.people))
    bases = F.create_map(*(F.lit(x) for part in graph.people for x in (part.name, part.first)))
    first = F.element_at(bases, F.col("_metadata.file_name")).cast("long")
    label = (first + F.col("_metadata.row_index")).cast("int").alias("label")
    return files.select("node", label, "stated")
