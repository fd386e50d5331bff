"""Private tables: files that only their owner may read, each with its checksum."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graphveil.errors import IntegrityError
from graphveil.study.ledger import StoredFile, StoredTable
from graphveil.study.storage.folder import write_private
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    import polars as pl


def write_table(folder: Path, stem: str, frame: pl.DataFrame) -> StoredTable:
    """Write a table under a name of its own; what is returned belongs in the ledger."""
    return _written(folder, stem, "parquet", table_bytes(frame))


def write_list(folder: Path, stem: str, frame: pl.DataFrame) -> StoredTable:
    """The same as CSV, for a person to open."""
    return _written(folder, stem, "csv", frame.write_csv().encode())


def table_bytes(frame: pl.DataFrame) -> bytes:
    """A table as Parquet: the same bytes of the same rows, whoever writes them."""
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
    """Read a table, once it is found to be the one that was written."""
    return read_tables(folder, [stored])


def read_tables(folder: Path, stored: Sequence[StoredTable]) -> pl.DataFrame:
    """The same for tables of one form, one below the other."""
    import polars as pl

    several = [each for table in stored for each in table.files]
    files: list[IO[bytes]] = [io.BytesIO(checked(folder, each)) for each in several]
    return pl.read_parquet(files if len(files) > 1 else files[0])


def checked(folder: Path, stored: StoredFile) -> bytes:
    """The bytes of a private file; refuses others than those that were written."""
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
