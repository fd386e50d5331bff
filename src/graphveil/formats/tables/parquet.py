"""Parquet files: tables whose columns have types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import refuse_repeated
from graphveil.formats.source_file import SourceFile, too_large
from graphveil.formats.tables.parquet_sizes import bytes_needed
from graphveil.graph.intake.identity import require_id_type
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import polars as pl

_MAGIC = b"PAR1"
_FIRST_ROW = 1
_SHOWN = 60  # characters of a type that a message repeats


def is_parquet(file: SourceFile) -> bool:
    """Whether a file says that it is Parquet."""
    return file.head.startswith(_MAGIC)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file: its columns, and all rows on demand; rows are counted from 1.

    Attributes:
        file: where it comes from.
        types: its columns, each with its type.
    """

    kind: ClassVar[str] = "Parquet"
    file: SourceFile
    types: dict[str, pl.DataType]

    @classmethod
    def of(cls, file: SourceFile) -> ParquetTable:
        """The table in a file, or a refusal."""
        import polars as pl

        try:
            return cls(file, dict(pl.read_parquet_schema(file.path)))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(file.name) from error

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return list(self.types)

    def date_columns(self) -> list[str]:
        """None: the beginning of a Parquet file holds no rows to look at."""
        return []

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns.

        Args:
            columns: the user's name for each of the columns, by ours.
            most_bytes: the largest table to hold in memory; a small file can hold many rows.
        """
        import polars as pl

        refuse_repeated(self.names, columns.values(), Place(self.file.name))
        chosen = list(dict.fromkeys(columns.values()))
        self._require_types(columns)
        try:
            if bytes_needed(self.file.path, chosen) > most_bytes:
                raise too_large(self.file.name, most_bytes)
            frame = pl.read_parquet(self.file.path, columns=chosen, glob=False)
        except (
            ValueError,
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
            OSError,
        ) as error:
            raise _damaged(self.file.name) from error
        renamed = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        return Table(renamed, self.file.name, _FIRST_ROW, columns)

    def _require_types(self, columns: dict[str, str]) -> None:
        """Refuse columns whose type can hold no ids or no times."""
        for ours, theirs in columns.items():
            kind, place = self.types[theirs], Place(self.file.name, column=theirs)
            if ours in ("node", "source", "target", "case", "infector"):
                require_id_type(kind, place)
            elif ours.startswith("time") and not _holds_times(kind):
                raise InputError(
                    f"the column has the type {str(kind)[:_SHOWN]}, which holds no times",
                    place=place,
                    hint="Store times as dates, timestamps, whole numbers or text.",
                )


def _holds_times(kind: pl.DataType) -> bool:
    import polars as pl

    texts = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    return kind.is_numeric() or isinstance(kind, (*texts, pl.Date, pl.Datetime))


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be read as Parquet; it is damaged or of another kind",
        place=Place(name),
        hint="Export it again, or use CSV.",
    )
