"""Jobs: a function of ours runs on the workers, once for each of some small descriptions.

What fails for good becomes our error with Spark's reason. Messages of tasks may hold anything, so
only what kind of failure it was is repeated, never their text.
"""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from graphveil.engines.spark.packets import Packet
from graphveil.engines.spark.session import task_bytes
from graphveil.errors import EngineError, GraphveilError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

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
        """As our setting says."""
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
            found = places.map(partial(_perform, function, packed)).collect()
        return [pickle.loads(each) for each in found]

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
            found = going.mapPartitionsWithIndex(partial(_receive, receive)).collect()
        return [pickle.loads(each) for each in found]


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
    """What a task hands back: bytes, of which Spark knows nothing."""
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
    """Messages of libraries may quote records, and workers' logs are read by many."""
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
    told = f"a task failed {attempts[1]} times" if attempts else "a job failed"
    if _LOST.search(text):
        return f"{told}, and its worker was lost; it may need more memory"
    if "ModuleNotFoundError" in kinds:
        return f"{told}: graphveil, or a library that it needs, is not on the workers"
    if "FileNotFoundError" in kinds:
        return f"{told}: a worker does not reach a file of the workspace, or of the tables"
    return f"{told} ({', '.join(kinds[-2:])})" if kinds else told
