"""Packets: rows on their way to the task that needs them, as bytes that Spark moves unseen.

Spark's own shuffles and joins make an object of every row. A packet holds thousands of them in
Arrow's form, all for one *part*, and costs as much as its bytes. Notes are packets for nobody in
particular: what a task has to say about its rows, handed on until somebody listens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

Parts = NDArray[np.int64]
FRAME = "part int, note boolean, content binary"
AT_ONCE = 1 << 19  # rows that are sorted into packets together
_MIXER = np.uint64(0x9E3779B97F4A7C15)
_SEED = 0x5EED  # all tasks must agree; tables of ids have seeds of their own


class Packet(NamedTuple):
    """Bytes for a part.

    Attributes:
        part: where they belong.
        content: rows in Arrow's form; of a note, whatever its writer made.
        note: whether this is one.
    """

    part: int
    content: pa.Buffer | bytes
    note: bool = False


def part_of(ids: pl.Series, parts: int) -> Parts:
    """The part of each id, by its value alone."""
    import polars as pl

    if ids.dtype == pl.Int64:
        hashes = ids.to_numpy().view(np.uint64) * _MIXER
    else:
        from graphveil.graph.intake.id_kernels import hash_texts
        from graphveil.graph.intake.texts import TextBytes

        hashes = np.empty(len(ids), np.uint64)
        hash_texts(*TextBytes.of(ids), _SEED, hashes)
        hashes *= _MIXER
    found: Parts = ((hashes >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)
    return found


def part_of_rows(column: str, parts: int, rows: pa.Table) -> Parts:
    """The part of each row, by one of its columns."""
    import polars as pl

    return part_of(pl.Series(rows[column]), parts)


def packets(rows: pa.Table, part: Parts) -> Iterator[Packet]:
    """Rows by their part, in which they keep their order."""
    if not len(part):
        return
    most = int(part.max())
    narrow = part.astype(np.uint16) if most < 1 << 16 else part  # which NumPy sorts by digits
    order = np.argsort(narrow, kind="stable")
    [batch] = rows.combine_chunks().take(order).combine_chunks().to_batches()
    ends = np.cumsum(np.bincount(part, minlength=most + 1)).tolist()
    begin = 0
    for place, end in enumerate(ends):
        if end > begin:
            yield Packet(place, batch.slice(begin, end - begin).serialize())
        begin = end


def as_arrow(frame: pl.DataFrame, schema: pa.Schema | None = None) -> pa.Table:
    """Rows in the form in which tasks hand them on, and write them."""
    import polars as pl

    found = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    return (found if schema is None else found.cast(schema)).combine_chunks()


def opened_rows(content: pa.Buffer | bytes, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of a packet."""
    import pyarrow as pa

    return pa.ipc.read_record_batch(pa.py_buffer(content), schema)


@dataclass(eq=False)
class Sorter:
    """Gathers rows, and sends them in packets: many at a time, so that packets are few.

    Attributes:
        schema: of the rows.
        address: the part of each row.
    """

    schema: pa.Schema
    address: Callable[[pa.Table], Parts]
    _held: list[pa.RecordBatch] = field(default_factory=list)
    _rows: int = 0

    def add(self, rows: pa.RecordBatch) -> Iterator[Packet]:
        """Take rows, and send all if there are enough."""
        self._held.append(rows)
        self._rows += rows.num_rows
        if self._rows >= AT_ONCE:
            yield from self.send()

    def send(self) -> Iterator[Packet]:
        """Send what was taken."""
        import pyarrow as pa

        table = pa.Table.from_batches(self._held, self.schema)
        self._held, self._rows = [], 0
        yield from packets(table, self.address(table))


def sent(found: Iterable[Packet]) -> Iterator[pa.RecordBatch]:
    """Packets as a task of Spark hands them out."""
    import pyarrow as pa

    for part, content, note in found:
        whole = pa.py_buffer(content)
        ends = pa.py_buffer(np.array([0, whole.size], np.int32))
        binary = pa.Array.from_buffers(pa.binary(), 1, [None, ends, whole])  # copies nothing
        columns = [pa.array([part], pa.int32()), pa.array([note]), binary]
        yield pa.RecordBatch.from_arrays(columns, names=["part", "note", "content"])


def received(batches: Iterable[pa.RecordBatch]) -> Iterator[Packet]:
    """Packets as a task of Spark gets them."""
    for batch in batches:
        parts, notes = batch["part"].to_pylist(), batch["note"].to_pylist()
        for part, note, content in zip(parts, notes, batch["content"], strict=True):
            yield Packet(part, content.as_buffer(), note)


def delivered(frame: DataFrame, parts: int) -> DataFrame:
    """Packets in the task of their part."""
    return frame.repartitionById(parts, frame["part"])
