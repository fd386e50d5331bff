"""Batches on the workers: reads records that wait with Spark, and stores new ones.

They lie in private files that tasks write into the folder of a study, as those of segments do, and
that the driver puts in place.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import uuid
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphveil.backends.spark.graph import Workspace
from graphveil.backends.spark.intake.resolving import Reading, asked
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.intake.taking import Waiting
from graphveil.backends.spark.jobs import (
    FRAME,
    Cluster,
    Packet,
    Parts,
    Sorter,
    SparkCluster,
    delivered,
    failing_as_ours,
    mapped,
    opened_rows,
    packets,
    received,
    sent,
)
from graphveil.deferred import pl
from graphveil.errors import IntegrityError
from graphveil.posix import NEW_FILE, set_mode, sync_folder
from graphveil.study.backends import Stored
from graphveil.study.folder import OWNER_ONLY_FILE
from graphveil.study.ledger import BatchEntry, StoredFile, StoredTable
from graphveil.study.records.segments import checked, checksum, table_bytes, write_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

WHOLE = 4_000_000  # rows up to which a table is one file, whatever engine writes it
_CHUNK = 1 << 24
_WRITTEN = "part int, name string, sha256 string"
_KINDS = {"string": "string", "large_string": "string", "int32": "int", "int64": "long"}


class WaitingBatches(NamedTuple):
    """Records that wait; `text` says whether their nodes would be text beside each other."""

    records: Waiting | None
    text: bool


def load(cluster: SparkCluster, stored: Stored, steps: int) -> WaitingBatches:
    """Everything that was added, not withdrawn, and not sealed yet."""
    home = stored.folder.batches
    entries = [each for each in stored.ledger.batches if each.last_step >= steps]
    if not entries:
        return WaitingBatches(None, text=False)
    files = [f for each in entries for f in (*each.nodes.files, *each.edges.files)]
    require_unchanged(cluster, home, files)
    nodes = [_nodes(cluster, home, each) for each in entries]
    grouped = bool(stored.promise.groups)
    edges = [_read(cluster, home, each.edges) for each in entries]
    text = any(each.schema["node"].dataType.typeName() == "string" for each, _ in nodes)
    waiting = Waiting(
        _all(_as_text(*each, grouped=grouped) for each in nodes),
        _all(map(_ends, edges)),
        _rows(home, [each.nodes for each in entries]),
        _rows(home, [each.edges for each in entries]),
    )
    return WaitingBatches(waiting, text)


def rows_waiting(stored: Stored) -> int:
    """How many rows of edges are not sealed."""
    made = len(stored.ledger.sealed)
    entries = [each for each in stored.ledger.batches if each.last_step >= made]
    return _rows(stored.folder.batches, [each.edges for each in entries])


def _rows(home: Path, tables: Sequence[StoredTable]) -> int:
    """How many rows tables have, from the footers of their files."""
    from pyarrow import parquet

    files = [file for each in tables for file in each.files]
    return sum(parquet.read_metadata(home / file.name).num_rows for file in files)


def until(waiting: Waiting, step: int) -> Waiting:
    """Those that can arrive at `step` or before."""
    due = f"step is null or step <= {step}"
    nodes, edges = waiting.nodes.filter(due), waiting.edges.filter(due)
    return waiting._replace(nodes=nodes, edges=edges)


def _nodes(cluster: SparkCluster, home: Path, entry: BatchEntry) -> tuple[DataFrame, int]:
    return _read(cluster, home, entry.nodes), entry.number


def _read(cluster: SparkCluster, home: Path, table: StoredTable) -> DataFrame:
    """The rows of a table; batches of the first versions call the column of steps `time`."""
    from pyarrow import parquet

    paths = [home / file.name for file in table.files]
    # Spark would start a job to look into a footer.
    columns = [f"{each.name} {_KINDS[str(each.type)]}" for each in parquet.read_schema(paths[0])]
    reader = cluster.session.read.schema(", ".join(columns))
    frame = reader.parquet(*(path.as_uri() for path in paths))
    return frame.withColumnsRenamed({"time": "step"})


def _as_text(rows: DataFrame, number: int, *, grouped: bool) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    node = F.col("node").cast("string").alias("node")
    place = F.lit(-1 - number).cast("long").alias("place")
    strata = [F.col("stratum").cast("int")] if grouped else []
    return rows.select(node, F.col("step").cast("int"), place, *strata)


def _ends(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    ends = [F.col(end).cast("string").alias(end) for end in ("source", "target")]
    return rows.select(*ends, F.col("step").cast("int"), F.lit(-1).cast("long").alias("place"))


def _all(frames: Iterator[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionByName(other), frames)


class Form(NamedTuple):
    """The columns of a table of a batch: ids, each as text or as whole numbers, and the step.

    And people's labels in all groups, if there are groups.
    """

    ids: tuple[tuple[str, bool], ...]
    grouped: bool = False

    @property
    def columns(self) -> dict[str, type[pl.DataType]]:
        """Their types in a file."""
        ids = {name: pl.String if text else pl.Int64 for name, text in self.ids}
        return {**ids, **dict.fromkeys(["step", *(["stratum"] if self.grouped else [])], pl.Int32)}


class Order(NamedTuple):
    """The file of a table to which each row of a batch belongs.

    Attributes:
        cuts: the first place of each file but the first.
        files: how many there are.
    """

    cuts: tuple[int, ...]
    files: int

    @classmethod
    def of(cls, spans: Sequence[tuple[int, int]]) -> Order:
        """As many files as are needed for some rows.

        Args:
            spans: the first place of each of many runs of rows, and how many rows it has.
        """
        total = sum(rows for _, rows in spans)
        files = max(1, ceil(total / WHOLE))
        cuts: list[int] = []
        before = 0
        for first, rows in sorted(spans):
            while len(cuts) + 1 < files and before + rows > (len(cuts) + 1) * WHOLE:
                cuts.append(first + (len(cuts) + 1) * WHOLE - before)
            before += rows
        return cls(tuple(cuts), files)

    def file(self, rows: pa.Table) -> Parts:
        """The number of the file of each row."""
        places = rows["place"].to_numpy()
        files: Parts = np.searchsorted(self.cuts, places, side="right").astype(np.int64)
        return files


class Target(NamedTuple):
    """Where a table of a batch goes.

    Attributes:
        folder: of batches.
        stem: of the table's name.
        form: its columns.
        order: in which its rows are written: that in which they came.
        schema: of the rows as they come.
    """

    folder: Path
    stem: str
    form: Form
    order: Order
    schema: pa.Schema

    def in_place(self, written: Iterable[Written | None]) -> StoredTable:
        """Give the files that tasks have written, in order, their names."""
        present = [each for each in written if each is not None]
        if present:
            return put_in_place(self.folder, self.stem, present)
        return write_table(self.folder, self.stem, pl.DataFrame(schema=self.form.columns))


def write_nodes(
    cluster: SparkCluster, workspace: Workspace, target: Target, files: Sequence[str]
) -> StoredTable:
    """Write rows of nodes that lie in files of a workspace, in no order."""
    send, receive = partial(_send_rows, workspace, target), partial(_write_rows, target)
    return target.in_place(cluster.exchange(send, files, receive, target.order.files))


def _send_rows(workspace: Workspace, target: Target, name: str) -> Iterator[Packet]:
    rows = workspace.read(name, target.schema.names).cast(target.schema)
    yield from packets(rows, target.order.file(rows))


def _write_rows(target: Target, part: int, came: Iterator[Packet]) -> Written | None:
    """Write a file of a table; runs on a worker."""
    import pyarrow as pa

    known, rows = [], []
    for packet in came:
        if packet.note:
            known.append(opened_rows(packet.content, _places())["place"].to_numpy())
        else:
            rows.append(opened_rows(packet.content, target.schema))
    frame = pl.DataFrame(pa.Table.from_batches(rows, target.schema)).sort("place")
    if known:
        sealed = np.isin(frame["place"].to_numpy(), np.concatenate(known))
        frame = frame.filter(~pl.Series(sealed))
    if not len(frame):
        return None
    kinds = target.form.columns
    return write_part(str(target.folder), frame.select(list(kinds)).cast(kinds))  # type: ignore[arg-type]


def _places() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([("place", pa.int64())])


def write_edges(
    cluster: SparkCluster,
    target: Target,
    tables: Sequence[SparkTable],
    reading: Reading,
    known: DataFrame | None,
) -> StoredTable:
    """Write the rows of tables of edges.

    Args:
        cluster: whose workers do it.
        target: where they go.
        tables: that have them.
        reading: how they become people and steps.
        known: the places of those that are sealed, or left out; None if there are none.
    """
    if not tables:
        return target.in_place([])
    rows = asked(cluster.session, tables, reading, target.order.file, None).filter("not note")
    if known is not None:
        rows = rows.unionByName(mapped(known, partial(_send_known, target), FRAME))
    with failing_as_ours():
        frame = delivered(rows, target.order.files)
        found = mapped(frame, partial(_write_edges, target), _WRITTEN).collect()
    written = sorted((row.part, Written(row.name, row.sha256)) for row in found)
    return target.in_place([each for _, each in written])


def _send_known(target: Target, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sorter = Sorter(_places(), target.order.file)
    for batch in batches:
        yield from sent(packet._replace(note=True) for packet in sorter.add(batch.cast(_places())))
    yield from sent(packet._replace(note=True) for packet in sorter.send())


def _write_edges(target: Target, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    came = list(received(batches))
    written = _write_rows(target, 0, iter(came))
    if written is not None:
        columns = [[came[0].part], [written.name], [written.sha256]]
        kinds = pa.int32(), pa.string(), pa.string()
        arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=["part", "name", "sha256"])


# Private files that workers write into the folder of a study, and the driver puts in place.
#
# A task writes under a name that nobody else has, of the kind that killed processes leave; so what
# a task wrote that failed, or ran twice, is removed by the next writer.


class Written(NamedTuple):
    """A file that a task has written, not yet in its place."""

    name: str
    sha256: str


def write_part(folder: str, frame: pl.DataFrame) -> Written:
    """Write rows into a private folder; runs on a worker."""
    content = table_bytes(frame)
    name = f".graphveil-{uuid.uuid4().hex}.part"
    write_new(Path(folder) / name, content)
    return Written(name, checksum(content))


def write_new(path: Path, content: bytes) -> None:
    """Write a file that nobody else has, and that only its owner may read."""
    with os.fdopen(os.open(path, NEW_FILE, OWNER_ONLY_FILE), "wb") as file:
        set_mode(file.fileno(), OWNER_ONLY_FILE)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def put_in_place(folder: Path, stem: str, parts: Sequence[Written]) -> StoredTable:
    """Give the files of a table their names; what is returned belongs in the ledger."""
    stem, files = f"{stem}-{secrets.token_hex(4)}", []
    for place, part in enumerate(parts):
        name = f"{stem}.parquet" if len(parts) == 1 else f"{stem}-{place:04}.parquet"
        (folder / part.name).rename(folder / name)
        files.append(StoredFile(name, part.sha256))
    sync_folder(folder)
    return StoredTable(tuple(files))


def file_sum(path: str) -> str | None:
    """The checksum of a file; None where there is none. Runs on a worker."""
    digest = hashlib.sha256()
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def require_unchanged(cluster: Cluster, folder: Path, files: Sequence[StoredFile]) -> None:
    """Refuse files with another checksum, with the same message as every other reader."""
    for file, actual in zip(
        files, cluster.run(file_sum, [str(folder / file.name) for file in files]), strict=True
    ):
        if actual != file.sha256:
            checked(folder, file)  # which says what is wrong
            raise IntegrityError(
                f"private/{folder.name}/{file.name} was not found by a worker. All workers must "
                "reach the folder of the study."
            )
