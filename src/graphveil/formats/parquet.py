"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import Wanted, match_columns
from graphveil.graph.records import Table


def read_parquet(path: Path, wanted: Wanted) -> Table:
    """Read the wanted columns of a Parquet file; rows are counted from 1."""
    import polars as pl

    try:
        found = list(pl.read_parquet_schema(path))
        names = match_columns(found, wanted, path.name)
        frame = pl.read_parquet(path, columns=list(names.values()))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            "the file cannot be read as Parquet; it is damaged or of another kind",
            place=Place(path.name),
            mend="Write it again, or use CSV.",
        ) from error
    ours = {theirs: name for name, theirs in names.items()}
    return Table(frame.rename(ours), path.name, 1, names)
