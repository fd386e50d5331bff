"""Segments: the sealed graph in private tables that are only ever added to.

Each private table is a file that only its owner may read, with its checksum in the ledger. Read one
after the other, those of segments are the columns of a graph sequence. Where each step was sealed
by itself there are thousands: they are read some dozens at a time, which takes a seventh of the
time.
"""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.columns import texts_of
from graphveil.calendar.times import values_of
from graphveil.deferred import pl
from graphveil.errors import IntegrityError
from graphveil.graph.columns import Column
from graphveil.graph.intake.identity import IdIndex, integers_or_text, same_form
from graphveil.graph.sequence import BOTH, GraphSequence, Growth, LateEdges
from graphveil.study.folder import write_private
from graphveil.study.ledger import SealedTables, StoredFile, StoredTable
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    from graphveil.graph.intake.id_table import Ids
    from graphveil.graph.intake.records import Table
    from graphveil.study.promise import Promise


# Private tables: files that only their owner may read, each with its checksum.


def write_table(folder: Path, stem: str, frame: pl.DataFrame) -> StoredTable:
    """Write a table under a name of its own; what is returned belongs in the ledger."""
    return _written(folder, stem, "parquet", table_bytes(frame))


def write_list(folder: Path, stem: str, frame: pl.DataFrame) -> StoredTable:
    """The same as CSV, for a person to open."""
    return _written(folder, stem, "csv", frame.write_csv().encode())


def table_bytes(frame: pl.DataFrame) -> bytes:
    """A table as Parquet: the same rows always give the same bytes."""
    buffer = io.BytesIO()
    frame.rechunk().write_parquet(buffer, compression="zstd", compression_level=1)
    return buffer.getvalue()


def _written(folder: Path, stem: str, ending: str, content: bytes) -> StoredTable:
    """Write a file under a name of its own.

    No two share a name: a process that lost its connection to the database, and does not know
    it yet, must not write over what the next writer has committed.
    """
    clear_leftovers(folder)  # here is the one writer, since the database has let it in
    path = folder / f"{stem}-{secrets.token_hex(4)}.{ending}"
    write_private(path, content)
    return StoredTable((StoredFile(path.name, checksum(content)),))


def read_table(folder: Path, stored: StoredTable) -> pl.DataFrame:
    """Read a table after verifying its checksum."""
    return read_tables(folder, [stored])


def read_tables(folder: Path, stored: Sequence[StoredTable]) -> pl.DataFrame:
    """The same for tables of one form, one below the other."""
    several = [each for table in stored for each in table.files]
    files: list[IO[bytes]] = [io.BytesIO(checked(folder, each)) for each in several]
    return pl.read_parquet(files if len(files) > 1 else files[0])


def checked(folder: Path, stored: StoredFile) -> bytes:
    """The bytes of a private file; refuses a file with another checksum."""
    path = folder / stored.name
    if path.is_symlink() or not path.is_file():
        raise IntegrityError(
            f"private/{folder.name}/{stored.name} is missing. Restore it from a backup of the "
            "private folder."
        )
    content = path.read_bytes()
    if checksum(content) != stored.sha256:
        raise IntegrityError(
            f"private/{folder.name}/{stored.name} was changed: its checksum is not the one in the "
            "ledger. Restore it from a backup of the private folder."
        )
    return content


def checksum(content: bytes) -> str:
    """What the ledger knows a file by."""
    return hashlib.sha256(content).hexdigest()


# The links that wait for somebody to be known, as text that says what their source said.


LINK = ("source", "target", "time")


def links_awaiting(tables: Sequence[Table]) -> pl.DataFrame:
    """Rows of links as text, once each, whatever their sources held them in."""
    kinds = dict.fromkeys(LINK, pl.String)
    links = [_link_texts(table, kinds) for table in tables]
    return pl.concat([pl.DataFrame(schema=kinds), *links]).unique(maintain_order=True)


def _link_texts(table: Table, kinds: dict[str, type[pl.String]]) -> pl.DataFrame:
    frame = table.frame
    ends = {end: integers_or_text(table, end).cast(pl.String) for end in ("source", "target")}
    time = texts_of(values_of(frame["time"]) if "time" in frame.columns else [None] * len(frame))
    return pl.DataFrame({**ends, "time": time}, schema=kinds)


# The tables of a segment: all engines write the same form.
#
# A segment is what one or several steps add that were sealed together. Its nodes in label order,
# each with the step that its record stated and the number of its prompt edges; and its edges:
# first the prompt ones in list order, then the late ones by step, newer and older end. Each row
# says its step; in studies from before that, only where a segment has several.


Int32s = NDArray[np.int32]


def node_table(ids: Ids, stated: Int32s, links: Int32s, steps: Int32s) -> pl.DataFrame:
    """Nodes in label order."""
    return pl.DataFrame({"node": ids, "stated": stated, "links": links, "step": steps})


def edge_table(newer: Int32s, entries: Int32s, steps: Int32s, *, late: bool) -> pl.DataFrame:
    """Edges of one kind, in order."""
    return pl.DataFrame(
        {
            "newer": newer,
            "older": entries >> np.int32(2),
            "direction": (entries & BOTH).astype(np.uint8),
        }
    ).with_columns(late=pl.lit(late), step=pl.Series(steps))


# Segments: read one after the other, their tables are the columns of a graph sequence.


FEW = 64  # segments are read one by one, so that nothing of a large graph is copied
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Segment:
    """The tables of some steps; a secret.

    Attributes:
        steps: which.
        nodes: columns `node`, `stated`, `links`; with several steps surely `step`; with groups
            `stratum`.
        edges: columns `newer`, `older`, `direction`, `late`; with several steps surely `step`.
    """

    steps: range
    nodes: pl.DataFrame = field(repr=False)
    edges: pl.DataFrame = field(repr=False)

    @property
    def node_counts(self) -> list[int]:
        """How many nodes each step has."""
        return self._per_step(self.nodes)

    @property
    def prompt_edges(self) -> pl.DataFrame:
        """Those that are in a node's list."""
        return self.edges.head(self._prompt)

    @property
    def late_edges(self) -> pl.DataFrame:
        """Those with a step of their own."""
        return self.edges.slice(self._prompt)

    @property
    def late_counts(self) -> list[int]:
        """How many late edges each step has."""
        return self._per_step(self.late_edges)

    @cached_property
    def _prompt(self) -> int:
        return int(self.nodes["links"].sum())

    def _per_step(self, rows: pl.DataFrame) -> list[int]:
        if len(self.steps) == 1:
            return [len(rows)]
        places = rows["step"].to_numpy() - self.steps.start
        return np.bincount(places, minlength=len(self.steps)).tolist()  # type: ignore[no-any-return]


def segment(sequence: GraphSequence, steps: range) -> Segment:
    """What these steps add to the graph."""
    ends = sequence.node_offsets[steps.start : steps.stop + 1]
    first, stop = ends[[0, -1]].tolist()
    lengths = np.diff(sequence.offsets[first : stop + 1]).astype(np.int32)
    numbers = np.arange(steps.start, steps.stop, dtype=np.int32)
    of_nodes = np.repeat(numbers, np.diff(ends))
    names = sequence.names.slice(first, stop - first)
    nodes = node_table(names, sequence.stated[first:stop], lengths, of_nodes)
    if sequence.strata is not None:
        nodes = nodes.with_columns(stratum=pl.Series(sequence.strata[first:stop]))
    prompt = sequence.entries[sequence.offsets[first] : sequence.offsets[stop]]
    newer = np.repeat(np.arange(first, stop, dtype=np.int32), lengths)
    late_ends = sequence.late.offsets[steps.start : steps.stop + 1]
    begin, end = late_ends[[0, -1]].tolist()
    late = sequence.late.newer[begin:end], sequence.late.entries[begin:end]
    edges = [
        edge_table(newer, prompt, np.repeat(of_nodes, lengths), late=False),
        edge_table(*late, np.repeat(numbers, np.diff(late_ends)), late=True),
    ]
    return Segment(steps, nodes, pl.concat(edges))


def nothing_sealed(promise: Promise) -> GraphSequence:
    """The graph of a study before its first step."""
    oriented = promise.degree_bound.kind == "oriented"
    return GraphSequence.begin(
        promise.calendar,
        directed=promise.directed,
        oriented=oriented,
        grouped=bool(promise.groups),
    )


def load(
    folder: Path,
    sealed: Sequence[SealedTables],
    promise: Promise,
    before: GraphSequence | None = None,
) -> GraphSequence:
    """The sealed graph; verifies the checksum of every file that is read.

    Args:
        folder: where the tables lie.
        sealed: those of every step.
        promise: of the study.
        before: the first of these steps, where they are known already.
    """
    known = before.steps if before else 0
    later = [each for each in together(sealed) if each[1].start >= known]
    if not later:
        return before or nothing_sealed(promise)
    at_once = 1 if len(later) <= FEW else AT_ONCE
    some = (later[place : place + at_once] for place in range(0, len(later), at_once))
    parts = [part for each in some for part in _read(folder, each)]
    more = _joined(nothing_sealed(promise), parts)
    return more if before is None else _behind(before, more)


def _behind(before: GraphSequence, more: GraphSequence) -> GraphSequence:
    """A graph with the steps that follow; their labels go on from its own."""
    held, late = before.growth or Growth.of(before), before.late
    growth = Growth(
        index=held.index.extended(more.ids),
        stated=held.stated.extended(more.stated),
        offsets=held.offsets.extended(more.offsets[1:] + len(before.entries)),
        entries=held.entries.extended(more.entries),
        late_newer=held.late_newer.extended(more.late.newer),
        late_entries=held.late_entries.extended(more.late.entries),
        strata=None if held.strata is None else held.strata.extended(_strata(more)),
    )
    return replace(
        before,
        names=growth.index.ids,
        stated=growth.stated.values,
        node_offsets=np.append(before.node_offsets, more.node_offsets[1:] + before.nodes),
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=LateEdges(
            np.append(late.offsets, more.late.offsets[1:] + len(late)),
            growth.late_newer.values,
            growth.late_entries.values,
        ),
        growth=growth,
        strata=None if growth.strata is None else growth.strata.values,
    )


def _strata(sequence: GraphSequence) -> NDArray[np.int32]:
    assert sequence.strata is not None, "all steps of a study have groups, or none has"
    return sequence.strata


def together(sealed: Sequence[SealedTables]) -> list[tuple[SealedTables, range]]:
    """The tables in order, each with the steps that were sealed in them."""
    grouped, first = [], 0
    for tables, steps in groupby(sealed):
        stop = first + len(list(steps))
        grouped.append((tables, range(first, stop)))
        first = stop
    return grouped


def _read(folder: Path, some: Sequence[tuple[SealedTables, range]]) -> list[Segment]:
    """Segments that follow each other."""
    merged = _read_as_one(folder, some) if len(some) > 1 else None
    if merged is not None:
        return [merged]
    return [
        Segment(steps, read_table(folder, tables.nodes), read_table(folder, tables.edges))
        for tables, steps in some
    ]


def _read_as_one(folder: Path, some: Sequence[tuple[SealedTables, range]]) -> Segment | None:
    """All of them, as if they had been sealed together; None if their tables differ in form."""
    try:
        nodes = read_tables(folder, [tables.nodes for tables, _ in some])
        if "step" not in nodes.columns:  # nor has it the edges
            return None
        edges = read_tables(folder, [tables.edges for tables, _ in some])
    except pl.exceptions.PolarsError:  # ids were numbers at first, and are text now
        return None
    late, steps = pl.col("late"), range(some[0][1].start, some[-1][1].stop)
    return Segment(steps, nodes, pl.concat([edges.filter(~late), edges.filter(late)]))


def _joined(empty: GraphSequence, parts: Sequence[Segment]) -> GraphSequence:
    ids = pl.concat(same_form(*(part.nodes["node"] for part in parts))).rename("id")
    nodes = pl.concat([part.nodes.select("stated", "links") for part in parts])
    late = [part.late_edges for part in parts]
    growth = Growth(
        index=IdIndex.of(ids),
        stated=Column.joined([nodes["stated"].to_numpy()]),
        offsets=Column.joined([_ends(nodes["links"].to_numpy())]),
        entries=_entries([part.prompt_edges for part in parts]),
        late_newer=Column.joined([edges["newer"].to_numpy() for edges in late]),
        late_entries=_entries(late),
        strata=(
            None
            if empty.strata is None
            else Column.joined([part.nodes["stratum"].to_numpy() for part in parts])
        ),
    )
    return replace(
        empty,
        names=ids,
        stated=growth.stated.values,
        node_offsets=_ends([count for part in parts for count in part.node_counts]),
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=LateEdges(
            _ends([count for part in parts for count in part.late_counts]),
            growth.late_newer.values,
            growth.late_entries.values,
        ),
        growth=growth,
        strata=None if growth.strata is None else growth.strata.values,
    )


def _entries(parts: Sequence[pl.DataFrame]) -> Column[np.int32]:
    """Older neighbours and directions, packed as a sequence has them."""
    column = Column.joined([part["older"].to_numpy() for part in parts])
    entries = column.values  # as yet, nobody else has it
    entries <<= 2
    entries |= np.concatenate([part["direction"].to_numpy() for part in parts])
    return column


def _ends(lengths: NDArray[np.int32] | Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
