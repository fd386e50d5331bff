"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import Wanted, match_columns
from graphveil.graph.records import Table

MAGIC = b"PAR1"
_FIRST_ROW = 1


def read_parquet(path: Path, wanted: Wanted) -> Table:
    """Read the wanted columns of a Parquet file; rows are counted from 1."""
    names = match_columns(column_names(path, path.name), wanted, path.name)
    return read_parquet_columns(path, path.name, names)


def column_names(path: Path, name: str) -> list[str]:
    """The columns of a Parquet file."""
    import polars as pl

    try:
        return list(pl.read_parquet_schema(path))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name) from error


def read_parquet_columns(path: Path, name: str, names: dict[str, str]) -> Table:
    """Read columns of a Parquet file; `names` has the user's names by ours."""
    import polars as pl

    columns = list(dict.fromkeys(names.values()))
    try:
        frame = pl.read_parquet(path, columns=columns, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _damaged(name) from error
    chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in names.items())
    return Table(chosen, name, _FIRST_ROW, names)


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be read as Parquet; it is damaged or of another kind",
        place=Place(name),
        hint="Write it again, or use CSV.",
    )
