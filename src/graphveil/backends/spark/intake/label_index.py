"""Where ids find their labels: files of ids with labels, in parts by the value of the id.

Looking up an id reads only the files of its part, so that no task holds more ids than one part
has, whatever the size of the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import NodePart, Workspace
from graphveil.backends.spark.jobs import (
    AT_ONCE,
    Packet,
    SparkCluster,
    opened_rows,
    packets,
    part_of_rows,
)
from graphveil.deferred import pl
from graphveil.graph.intake.identity import UNKNOWN

if TYPE_CHECKING:
    import pyarrow as pa

    from graphveil.graph.intake.id_table import IdTable

Int32s = NDArray[np.int32]
MOST_IDS = 1 << 18  # of a part, so that searching stays in the cache
MOST_ROWS = 1 << 22  # that look for their labels in one part


def parts_for(ids: int, rows: int) -> int:
    """Into how many parts so many ids are divided, which so many rows look for."""
    return max(1, -(-ids // MOST_IDS), -(-rows // MOST_ROWS))


@dataclass(frozen=True)
class Finder:
    """The ids of one part with their labels; private.

    Attributes:
        table: in which ids are looked up.
        known: the label of each of its ids.
        stated: the step that each one's record stated.
        strata: the labels of each one in all groups, if there are groups.
    """

    table: IdTable = field(repr=False)
    known: Int32s = field(repr=False)
    stated: Int32s = field(repr=False)
    strata: Int32s | None = field(default=None, repr=False)

    def labels(self, ids: pl.Series) -> Int32s:
        """The label of each id, or UNKNOWN."""
        places = self.table.labels(ids)
        if not len(self.known):
            return places
        return np.where(places == UNKNOWN, np.int32(UNKNOWN), self.known[places])


@dataclass(frozen=True)
class LabelIndex:
    """Files with the columns `node`, `label` and `stated`, and `stratum` if there are groups.

    Attributes:
        workspace: where they are.
        text: whether ids are text; else whole numbers.
        files: of each part.
        grouped: whether people have labels of groups.
    """

    workspace: Workspace
    text: bool
    files: tuple[tuple[str, ...], ...] = field(repr=False)
    grouped: bool = False

    @classmethod
    def of_nobody(
        cls, workspace: Workspace, parts: int, *, text: bool, grouped: bool = False
    ) -> LabelIndex:
        """An index without ids."""
        return cls(workspace, text, ((),) * parts, grouped)

    @property
    def parts(self) -> int:
        """How many there are."""
        return len(self.files)

    @property
    def schema(self) -> pa.Schema:
        """Of its files."""
        import pyarrow as pa

        kind = pa.string() if self.text else pa.int64()
        strata = [("stratum", pa.int32())] if self.grouped else []
        return pa.schema([("node", kind), ("label", pa.int32()), ("stated", pa.int32()), *strata])

    def extended(self, cluster: SparkCluster, people: Sequence[NodePart]) -> LabelIndex:
        """The index with more nodes."""
        if not people:
            return self
        empty = replace(self, files=((),) * self.parts)
        send, receive = partial(_labelled, empty), partial(_write, empty)
        written = cluster.exchange(send, people, receive, self.parts)
        return self.joined(enumerate(written))

    def joined(self, files: Iterable[tuple[int, str | None]]) -> LabelIndex:
        """The index with more files, each for a part."""
        own = [list(names) for names in self.files]
        for part, name in files:
            own[part] += [] if name is None else [name]
        return replace(self, files=tuple(map(tuple, own)))

    def finder(self, part: int) -> Finder:
        """The ids of a part; on a worker."""
        import pyarrow as pa

        from graphveil.graph.intake.id_table import IdTable

        tables = [self.workspace.read(name, self.schema.names) for name in self.files[part]]
        table = pa.concat_tables(
            [self.schema.empty_table(), *(t.cast(self.schema) for t in tables)]
        )
        ids = pl.Series(table["node"])
        held = (table[name].to_numpy() for name in self.schema.names[1:])
        return Finder(IdTable.for_now(ids), *held)


def _labelled(index: LabelIndex, people: NodePart) -> Iterator[Packet]:
    """The nodes of a file in packets; runs on a worker."""
    import pyarrow as pa

    first = people.first
    told = ["stated", "stratum"] if index.grouped else ["stated"]
    for batch in index.workspace.batches(people.name, ["node", *told], AT_ONCE):
        labels = np.arange(first, first + batch.num_rows, dtype=np.int32)
        first += batch.num_rows
        columns = [batch["node"], pa.array(labels), *(batch[name] for name in told)]
        rows = pa.table(columns, names=index.schema.names).cast(index.schema)
        yield from packets(rows, part_of_rows("node", index.parts, rows))


def _write(index: LabelIndex, part: int, came: Iterator[Packet]) -> str | None:
    """Write the file of a part; runs on a worker."""
    import pyarrow as pa

    rows = [opened_rows(packet.content, index.schema) for packet in came]
    if not rows:
        return None
    return index.workspace.write("labels", pa.Table.from_batches(rows))
