"""Batches on the workers: records that wait, as Spark reads them, and new ones as they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from graphveil.engines.spark.intake.taking import Waiting
from graphveil.engines.spark.jobs import SparkCluster, failing_as_ours, mapped
from graphveil.study.ledger import BatchEntry, StoredTable
from graphveil.study.records.holding import Stored
from graphveil.study.records.private_tables import write_table
from graphveil.study.records.spark.files import (
    WHOLE,
    Written,
    put_in_place,
    require_unchanged,
    write_part,
)

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_WRITTEN = "part int, name string, sha256 string"
_KINDS = {"string": "string", "large_string": "string", "int32": "int", "int64": "long"}


class Kept(NamedTuple):
    """Records that wait; `text` says whether their nodes would be text beside each other."""

    records: Waiting | None
    text: bool


def load(cluster: SparkCluster, stored: Stored, steps: int) -> Kept:
    """Everything that was added, not withdrawn, and not sealed yet."""
    home = stored.folder.batches
    entries = [each for each in stored.ledger.batches if each.last_step >= steps]
    if not entries:
        return Kept(None, text=False)
    files = [f for each in entries for f in (*each.nodes.files, *each.edges.files)]
    require_unchanged(cluster, home, files)
    nodes = [_nodes(cluster, home, each) for each in entries]
    edges = [_read(cluster, home, each.edges) for each in entries]
    text = any(each.schema["node"].dataType.typeName() == "string" for each, _ in nodes)
    return Kept(Waiting(_all(_as_text(*each) for each in nodes), _all(map(_ends, edges))), text)


def rows_waiting(stored: Stored) -> int:
    """How many rows of edges are not sealed; files say so in their footers."""
    from pyarrow import parquet

    home, made = stored.folder.batches, len(stored.ledger.sealed)
    entries = [each for each in stored.ledger.batches if each.last_step >= made]
    files = [file for each in entries for file in each.edges.files]
    return sum(parquet.read_metadata(home / file.name).num_rows for file in files)


def until(waiting: Waiting, step: int) -> Waiting:
    """Those that can arrive at `step` or before."""
    due = f"step is null or step <= {step}"
    return Waiting(waiting.nodes.filter(due), waiting.edges.filter(due))


def _nodes(cluster: SparkCluster, home: Path, entry: BatchEntry) -> tuple[DataFrame, int]:
    return _read(cluster, home, entry.nodes), entry.number


def _read(cluster: SparkCluster, home: Path, table: StoredTable) -> DataFrame:
    """The rows of a table; batches of the first versions call the column of steps `time`."""
    from pyarrow import parquet

    paths = [home / file.name for file in table.files]
    # Spark would start a job to look into a footer.
    columns = [f"{each.name} {_KINDS[str(each.type)]}" for each in parquet.read_schema(paths[0])]
    reader = cluster.session.read.schema(", ".join(columns))
    found = reader.parquet(*(path.as_uri() for path in paths))
    return found.withColumnsRenamed({"time": "step"})


def _as_text(rows: DataFrame, number: int) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    node = F.col("node").cast("string").alias("node")
    return rows.select(node, F.col("step").cast("int"), F.lit(number).alias("batch"))


def _ends(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    ends = [F.col(end).cast("string").alias(end) for end in ("source", "target")]
    return rows.select(*ends, F.col("step").cast("int"))


def _all(frames: Iterator[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)


class Form(NamedTuple):
    """The columns of a table of a batch: ids, each as text or as whole numbers, and the step."""

    ids: tuple[tuple[str, bool], ...]

    @property
    def names(self) -> list[str]:
        """Of its columns."""
        return [*(name for name, _ in self.ids), "step"]


def write(folder: Path, stem: str, rows: DataFrame | None, most: int, form: Form) -> StoredTable:
    """Write rows of a batch in the order in which they came; there are at most so many."""
    import polars as pl

    parts: list[Written] = []
    if rows is not None:
        many = max(1, ceil(most / WHOLE))
        placed = rows.select(*form.names, "place")
        ordered = placed.repartitionByRange(many, "place") if many > 1 else placed.repartition(1)
        ordered = ordered.sortWithinPartitions("place")
        with failing_as_ours():
            found = mapped(ordered, partial(_write, str(folder), form), _WRITTEN).collect()
        parts = [Written(row.name, row.sha256) for row in sorted(found, key=lambda row: row.part)]
    if parts:
        return put_in_place(folder, stem, parts)
    kinds = {name: pl.String if text else pl.Int64 for name, text in form.ids}
    return write_table(folder, stem, pl.DataFrame(schema={**kinds, "step": pl.Int32}))


def _write(folder: str, form: Form, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import polars as pl
    import pyarrow as pa
    from pyspark import TaskContext

    given = [batch for batch in batches if batch.num_rows]
    if not given:
        return
    frame = pl.DataFrame(pa.Table.from_batches(given))
    kinds = {name: pl.String if text else pl.Int64 for name, text in form.ids}
    ids = [pl.col(name).cast(kind) for name, kind in kinds.items()]
    written = write_part(folder, frame.select(*ids, pl.col("step").cast(pl.Int32)))
    context = TaskContext.get()
    yield pa.RecordBatch.from_arrays(
        [
            pa.array([context.partitionId() if context else 0], pa.int32()),
            pa.array([written.name]),
            pa.array([written.sha256]),
        ],
        names=["part", "name", "sha256"],
    )
