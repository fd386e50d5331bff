"""Files of one table each: which reader reads which ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import EDGES, NODES, Wanted
from graphveil.graph.records import Records, Table

TableReader: TypeAlias = Callable[[Path, Wanted], Table]


def _readers() -> dict[str, TableReader]:
    from graphveil.formats.delimited import read_csv
    from graphveil.formats.parquet import read_parquet

    return {
        ".csv": read_csv,
        ".csv.gz": read_csv,
        ".parquet": read_parquet,
    }


def read_pair(nodes: str | Path, edges: str | Path) -> Records:
    """Records from a native pair of files: nodes(node, time), edges(source, target[, time]).

    Each file may be CSV, gzipped CSV or Parquet.
    """
    return Records(nodes=read_table(Path(nodes), NODES), edges=read_table(Path(edges), EDGES))


def read_table(path: Path, wanted: Wanted) -> Table:
    """One table, by the ending of its file name."""
    if not path.is_file():
        raise InputError("there is no such file", place=Place(str(path)))
    for ending, reader in _readers().items():
        if path.name.lower().endswith(ending):
            return reader(path, wanted)
    known = ", ".join(_readers())
    raise InputError(
        "the ending does not tell how to read this file",
        place=Place(path.name),
        hint=f"Known endings: {known}.",
    )
