"""Private tables: files that only their owner may read, each with its checksum."""

from __future__ import annotations

import hashlib
import io
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from graphveil.errors import IntegrityError
from graphveil.study.ledger import StoredFile
from graphveil.study.storage.folder import write_private
from graphveil.whole_files import clear_leftovers

if TYPE_CHECKING:
    import polars as pl


def write_table(folder: Path, stem: str, frame: pl.DataFrame) -> StoredFile:
    """Write a table under a name of its own; what is returned belongs in the ledger."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=1)
    return _written(folder, stem, "parquet", buffer.getvalue())


def write_list(folder: Path, stem: str, frame: pl.DataFrame) -> StoredFile:
    """The same as CSV, for a person to open."""
    return _written(folder, stem, "csv", frame.write_csv().encode())


def _written(folder: Path, stem: str, ending: str, content: bytes) -> StoredFile:
    """Write a file under a name of its own.

    No two share a name: a process that lost its connection to the database, and does not know
    it yet, must not write over what the next writer has committed.
    """
    clear_leftovers(folder)  # here is the one writer, since the database has let it in
    path = folder / f"{stem}-{secrets.token_hex(4)}.{ending}"
    write_private(path, content)
    return StoredFile(path.name, _checksum(content))


def read_table(folder: Path, stored: StoredFile) -> pl.DataFrame:
    """Read a table, once it is found to be the one that was written."""
    import polars as pl

    return pl.read_parquet(io.BytesIO(checked(folder, stored)))


def read_tables(folder: Path, stored: Sequence[StoredFile]) -> pl.DataFrame:
    """The same for tables of one form, one below the other."""
    import polars as pl

    files: list[IO[bytes]] = [io.BytesIO(checked(folder, each)) for each in stored]
    return pl.read_parquet(files)


def checked(folder: Path, stored: StoredFile) -> bytes:
    """The bytes of a private file; refuses others than those that were written."""
    path = folder / stored.name
    if path.is_symlink() or not path.is_file():
        raise IntegrityError(
            f"private/{folder.name}/{stored.name} is missing. Restore it from a backup of the "
            "private folder."
        )
    content = path.read_bytes()
    if _checksum(content) != stored.sha256:
        raise IntegrityError(
            f"private/{folder.name}/{stored.name} was changed: its checksum is not the one in the "
            "ledger. Restore it from a backup of the private folder."
        )
    return content


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
