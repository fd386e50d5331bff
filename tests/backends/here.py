"""The tasks of the Spark engine without Spark: one after the other, in this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

from graphveil.backends.spark.jobs import Packet

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

Given = TypeVar("Given")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Here:
    """A cluster of nobody else; what goes to a task and back is pickled, as on a real one."""

    cores: int = 2
    task_bytes: int = 1 << 30

    @property
    def session(self) -> Here:
        """Itself: it makes frames, too."""
        return self

    def createDataFrame(self, rows: list[Any], schema: str) -> HereFrame:  # noqa: N802
        """A frame without rows."""
        assert not rows, schema
        return HereFrame([])

    def run(self, function: Callable[[Given], Found], tasks: Sequence[Given]) -> list[Found]:
        sent: list[Given] = pickle.loads(pickle.dumps(list(tasks)))
        return [pickle.loads(pickle.dumps(function(task))) for task in sent]

    def exchange(
        self,
        send: Callable[[Given], Iterable[Packet]],
        tasks: Sequence[Given],
        receive: Callable[[int, Iterator[Packet]], Found],
        parts: int,
    ) -> list[Found]:
        """What is made of each part of what all tasks send."""
        sent = [packet for task in tasks for packet in send(pickle.loads(pickle.dumps(task)))]
        rows = [Packet(packet.part, bytes(packet.content)) for packet in sent]
        return [receive(part, iter([p for p in rows if p.part == part])) for part in range(parts)]


@dataclass(frozen=True)
class HereFrame:
    """What the intake asks of a frame of Spark: batches in partitions, and tasks over them."""

    partitions: list[list[pa.RecordBatch]]

    @classmethod
    def of(cls, frame: pl.DataFrame, partitions: int = 2) -> HereFrame:
        """Rows in partitions of about the same size."""
        import polars as pl

        size = max(1, -(-len(frame) // partitions))
        pieces = frame.iter_slices(size) if len(frame) else []
        oldest = pl.CompatLevel.oldest()
        return cls([each.to_arrow(compat_level=oldest).to_batches() for each in pieces])

    def mapInArrow(self, function: Any, schema: str) -> HereFrame:  # noqa: N802
        """What a function makes of each partition; its schema is that of what comes out."""
        function = pickle.loads(pickle.dumps(function))
        return HereFrame([list(function(iter(each))) for each in self.partitions])

    def repartitionById(self, parts: int, column: Any) -> HereFrame:  # noqa: N802
        """Every row in the partition of its part."""
        rows = [batch for each in self.partitions for batch in each]
        return HereFrame(
            [[row for row in rows if row["part"][0].as_py() == part] for part in range(parts)]
        )

    def unionByName(self, other: HereFrame) -> HereFrame:  # noqa: N802
        """All rows of both."""
        return HereFrame([*self.partitions, *other.partitions])

    def select(self, *names: str) -> HereFrame:
        """Some columns."""
        return HereFrame([[batch.select(list(names)) for batch in p] for p in self.partitions])

    def __getitem__(self, name: str) -> str:
        return name

    def collect(self) -> list[Any]:
        """Every row."""
        return [
            SimpleNamespace(**row)
            for each in self.partitions
            for batch in each
            for row in batch.to_pylist()
        ]

    def count(self) -> int:
        """How many rows there are."""
        return sum(batch.num_rows for each in self.partitions for batch in each)
