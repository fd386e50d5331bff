"""Jobs: a function of ours runs on the workers, once for each of some small descriptions.

What fails finally becomes our error with Spark's reason. Messages of tasks may hold anything, so
only what kind of failure it was is repeated, never their text.
"""

from __future__ import annotations

import os
import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.session import task_bytes
from graphveil.deferred import pl
from graphveil.errors import EngineError, GraphveilError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


# Packets: rows on their way to the task that needs them, as bytes that Spark moves unseen.
#
# Spark's own shuffles and joins make an object of every row. A packet holds thousands of them in
# Arrow's form, all for one *part*, and costs as much as its bytes. Notes are packets for nobody
# in particular: what a task has to say about its rows, handed on until somebody listens.


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
    if ids.dtype == pl.Int64:
        hashes = ids.to_numpy().view(np.uint64) * _MIXER
    else:
        from graphveil.graph.intake.identity import TextBytes
        from graphveil.graph.intake.kernels import hash_texts

        hashes = np.empty(len(ids), np.uint64)
        hash_texts(*TextBytes.of(ids), _SEED, hashes)
        hashes *= _MIXER
    part: Parts = ((hashes >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)).astype(np.int64)
    return part


def part_of_rows(column: str, parts: int, rows: pa.Table) -> Parts:
    """The part of each row, by one of its columns."""
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
    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    return (table if schema is None else table.cast(schema)).combine_chunks()


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


Given = TypeVar("Given")
Found = TypeVar("Found")
_KIND = re.compile(r"\b([A-Z]\w*(?:Exception|Error|Failure))\b")
_LOST = re.compile(
    r"(ExecutorLostFailure|Lost executor|heartbeat|Container killed|exit(?:ed)? code)"
)
_ATTEMPTS = re.compile(r"failed (\d+) times?")


class Cluster(Protocol):
    """Where tasks run."""

    @property
    def cores(self) -> int:
        """How many run side by side."""

    @property
    def task_bytes(self) -> int:
        """What each may hold."""

    def run(self, function: Callable[[Given], Found], tasks: Sequence[Given]) -> list[Found]:
        """What a function makes of each description, in order.

        The function has to be at the top of a module: workers import it.
        """


@dataclass(frozen=True)
class SparkCluster:
    """The workers of a Spark session."""

    session: SparkSession

    @property
    def cores(self) -> int:
        """As Spark counts them."""
        return int(self.session.sparkContext.defaultParallelism)

    @property
    def task_bytes(self) -> int:
        """The bytes that one task may hold, by our setting."""
        return task_bytes(self.session)

    def run(self, function: Callable[[Given], Found], tasks: Sequence[Given]) -> list[Found]:
        """One task of Spark for each description; there is no query whose plan would be compiled.

        Descriptions are packed here, so that a task unpacks its own alone.
        """
        if not tasks:
            return []
        packed = [pickle.dumps(task) for task in tasks]
        places = self.session.sparkContext.parallelize(range(len(tasks)), len(tasks))
        with failing_as_ours():
            results = places.map(partial(_perform, function, packed)).collect()
        return [pickle.loads(each) for each in results]

    def exchange(
        self,
        send: Callable[[Given], Iterable[Packet]],
        tasks: Sequence[Given],
        receive: Callable[[int, Iterator[Packet]], Found],
        parts: int,
    ) -> list[Found]:
        """What is made of each part of what all tasks send, in order of parts.

        Args:
            send: the packets of a task; at the top of a module, as everything that tasks do.
            tasks: their descriptions.
            receive: makes something of the packets of a part, which come in any order.
            parts: how many there are.
        """
        packed = [pickle.dumps(task) for task in tasks]
        places = self.session.sparkContext.parallelize(range(len(tasks)), max(1, len(tasks)))
        with failing_as_ours():
            going = places.flatMap(partial(_send, send, packed)).partitionBy(parts, int)
            results = going.mapPartitionsWithIndex(partial(_receive, receive)).collect()
        return [pickle.loads(each) for each in results]


def mapped(frame: DataFrame, function: Any, schema: str) -> DataFrame:
    """Arrow batches through a function; PySpark's word about pandas concerns none of it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        warnings.filterwarnings("ignore", message=".*pandas", category=UserWarning)
        return frame.mapInArrow(partial(_map, function), schema)


def _map(function: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    with _working():
        yield from function(batches)


def settle() -> None:
    """Tell Python that the libraries of a worker are there to stay.

    Spark looks for garbage after every task, among everything that Python has: a quarter of a
    second each time for what our libraries hold, which is more than many a task takes.
    """
    import gc
    import sys

    if len(sys.modules) > _SETTLED[0]:  # more were imported since
        _SETTLED[0] = len(sys.modules)
        gc.collect()
        gc.freeze()


_SETTLED = [0]  # how many modules this worker had; a worker has one task at a time


def _perform(function: Callable[[Given], Found], packed: Sequence[bytes], place: int) -> bytes:
    """The result of a task: bytes that are opaque to Spark."""
    with _working():
        return pickle.dumps(function(pickle.loads(packed[place])))


def _send(
    send: Callable[[Given], Iterable[Packet]], packed: Sequence[bytes], place: int
) -> Iterator[tuple[int, bytes]]:
    with _working():
        for packet in send(pickle.loads(packed[place])):
            yield packet.part, bytes(packet.content)


def _receive(
    receive: Callable[[int, Iterator[Packet]], Found], part: int, came: Iterator[tuple[int, bytes]]
) -> Iterator[bytes]:
    with _working():
        yield pickle.dumps(receive(part, (Packet(part, content) for _, content in came)))


@contextmanager
def _working() -> Iterator[None]:
    """A task at work, whose errors say no more than where they were raised.

    Messages of libraries may quote records, and workers' logs are read by many.
    """
    # Spark has one process for each core. Polars asks when it loads, which is in a task: deferred.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    try:
        yield
    except Exception as error:
        raise RuntimeError(f"{type(error).__name__} in {_where(error)}") from None
    settle()


def _where(error: BaseException) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{last.name}, line {last.lineno}"


@contextmanager
def failing_as_ours() -> Iterator[None]:
    """Whatever Spark raises is ours, with the kind of failure and no word of a record."""
    try:
        yield
    except GraphveilError:
        raise
    except Exception as error:  # Py4J and PySpark have no common ancestor
        if isinstance(error, KeyboardInterrupt):
            raise
        raise EngineError(
            f"Spark gave up: {_reason(str(error))}. Nothing was changed or published; look into "
            "the logs of its workers."
        ) from None  # the chain would carry text of tasks into shared logs


def _reason(text: str) -> str:
    """The kind of failure, from a message that may hold anything."""
    kinds = list(dict.fromkeys(_KIND.findall(text)))
    attempts = _ATTEMPTS.search(text)
    message = f"a task failed {attempts[1]} times" if attempts else "a job failed"
    if _LOST.search(text):
        return f"{message}, and its worker was lost; it may need more memory"
    if "ModuleNotFoundError" in kinds:
        return f"{message}: graphveil, or a library that it needs, is not on the workers"
    if "FileNotFoundError" in kinds:
        return f"{message}: a worker does not reach a file of the workspace, or of the tables"
    return f"{message} ({', '.join(kinds[-2:])})" if kinds else message
