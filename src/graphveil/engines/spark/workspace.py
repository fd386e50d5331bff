"""The workspace: a private folder that the driver and all workers reach, for the files of a graph.

Tasks write files under names of their own and return these names. What a task wrote that failed,
or ran twice, is in nobody's list: retries and speculation change nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

_PRIVATE = 0o700


@dataclass(frozen=True)
class Workspace:
    """A folder as a path, or as an address that Arrow knows: s3://, gs://, hdfs://.

    Attributes:
        address: of the folder.
    """

    address: str

    @classmethod
    def within(cls, parent: str | None) -> Workspace:
        """A new folder in a given one, or in the temporary one of this machine."""
        if parent is None:
            return cls(tempfile.mkdtemp(prefix="graphveil-graph-"))
        if "://" in parent and not parent.startswith("file://"):
            return cls(f"{parent.rstrip('/')}/graphveil-{uuid.uuid4().hex}")
        folder = Path(parent.removeprefix("file://")).absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return cls(tempfile.mkdtemp(prefix="graphveil-graph-", dir=folder))
        except OSError as error:
            raise EngineError(
                f"the workspace {str(folder)[:80]} cannot be written. Choose another folder that "
                "the driver and all workers reach."
            ) from error

    @cached_property
    def _place(self) -> tuple[Any, str]:
        from pyarrow import fs

        if "://" not in self.address:
            return fs.LocalFileSystem(), self.address
        found: tuple[Any, str] = fs.FileSystem.from_uri(self.address.replace("s3a://", "s3://"))
        return found

    def _found(self, name: str) -> tuple[str, Any]:
        """Where a file is: here, or elsewhere, if its name is a whole path."""
        from pyarrow import fs

        if name.startswith("/"):
            return name, fs.LocalFileSystem()
        system, folder = self._place
        return f"{folder}/{name}", system

    def for_spark(self, name: str) -> str:
        """The address of a file as Spark's own readers want it."""
        if name.startswith("/"):
            return Path(name).as_uri()
        if "://" not in self.address:
            return (Path(self.address) / name).as_uri()
        return f"{self.address.replace('s3://', 's3a://')}/{name}"

    def write(self, stem: str, table: pa.Table) -> str:
        """Write a table under a name of its own, whole, and return the name."""
        from pyarrow import parquet

        name = f"{stem}-{uuid.uuid4().hex}.parquet"
        system, folder = self._place
        options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
        if system.type_name == "local":
            path = Path(folder) / name
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                parquet.write_table(table, out, **options)
        else:
            parquet.write_table(table, f"{folder}/{name}", filesystem=system, **options)
        return name

    def read(self, name: str, columns: list[str] | None = None) -> pa.Table:
        """A table that was written; of a file elsewhere, the name is its whole path."""
        from pyarrow import parquet

        path, system = self._found(name)
        return parquet.read_table(path, columns=columns, filesystem=system, use_threads=False)

    def batches(self, name: str, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """The same, at most so many rows at a time."""
        from pyarrow import parquet

        path, system = self._found(name)
        with parquet.ParquetFile(path, filesystem=system) as file:
            yield from file.iter_batches(rows, columns=columns, use_threads=False)

    def content(self, name: str) -> bytes:
        """The bytes of a file that was written; of a file elsewhere, the name is its whole path."""
        path, system = self._found(name)
        with system.open_input_stream(path) as file:
            found: bytes = file.read()
            return found

    def remove(self) -> None:
        """Delete everything in it; what is gone already is no error."""
        system, folder = self._place
        if system.type_name == "local":
            shutil.rmtree(folder, ignore_errors=True)
        else:
            system.delete_dir(folder)
