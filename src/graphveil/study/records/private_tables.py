"""Private tables: files that only their owner may read, each with its checksum."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.columns import texts_of
from graphveil.calendar.times import values_of
from graphveil.errors import IntegrityError
from graphveil.graph.intake.identity import integers_or_text
from graphveil.graph.sequence import BOTH
from graphveil.study.ledger import StoredFile, StoredTable
from graphveil.study.storage.folder import write_private
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    import polars as pl

    from graphveil.graph.intake.id_table import Ids
    from graphveil.graph.intake.records import Table


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
    import polars as pl

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
    import polars as pl

    kinds = dict.fromkeys(LINK, pl.String)
    links = [_link_texts(table, kinds) for table in tables]
    return pl.concat([pl.DataFrame(schema=kinds), *links]).unique(maintain_order=True)


def _link_texts(table: Table, kinds: dict[str, type[pl.String]]) -> pl.DataFrame:
    import polars as pl

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
    import polars as pl

    return pl.DataFrame({"node": ids, "stated": stated, "links": links, "step": steps})


def edge_table(newer: Int32s, entries: Int32s, steps: Int32s, *, late: bool) -> pl.DataFrame:
    """Edges of one kind, in order."""
    import polars as pl

    return pl.DataFrame(
        {
            "newer": newer,
            "older": entries >> np.int32(2),
            "direction": (entries & BOTH).astype(np.uint8),
        }
    ).with_columns(late=pl.lit(late), step=pl.Series(steps))
