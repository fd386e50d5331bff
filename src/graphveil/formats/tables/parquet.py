"""Parquet files: tables whose columns have types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import refuse_repeated
from graphveil.formats.source_file import SourceFile
from graphveil.graph.records import Table

_MAGIC = b"PAR1"
_FIRST_ROW = 1


def is_parquet(file: SourceFile) -> bool:
    """Whether a file says that it is Parquet."""
    return file.head.startswith(_MAGIC)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file: its columns, and all rows on demand; rows are counted from 1.

    Attributes:
        file: where it comes from.
        names: its columns.
    """

    kind: ClassVar[str] = "Parquet"
    file: SourceFile
    names: list[str]

    @classmethod
    def of(cls, file: SourceFile) -> ParquetTable:
        """The table in a file, or a refusal."""
        import polars as pl

        try:
            return cls(file, list(pl.read_parquet_schema(file.path)))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(file.name) from error

    def date_columns(self) -> list[str]:
        """None: the beginning of a Parquet file holds no rows to look at."""
        return []

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns.

        Args:
            columns: the user's name for each of the columns, by ours.
            most_bytes: without effect, since nothing is decompressed before it is read.
        """
        import polars as pl

        refuse_repeated(self.names, columns.values(), Place(self.file.name))
        chosen = list(dict.fromkeys(columns.values()))
        try:
            frame = pl.read_parquet(self.file.path, columns=chosen, glob=False)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(self.file.name) from error
        renamed = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        return Table(renamed, self.file.name, _FIRST_ROW, columns)


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be read as Parquet; it is damaged or of another kind",
        place=Place(name),
        hint="Export it again, or use CSV.",
    )
