"""Files of one table each: what such a file offers, and which kind of table it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import EDGES, NODES, Wanted, match_columns
from graphveil.formats.options import DEFAULTS, ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.delimited import DelimitedTable
from graphveil.formats.tables.held import HeldTable
from graphveil.formats.tables.parquet import ParquetTable, is_parquet
from graphveil.graph.intake.records import Records, Table


class TableFile(Protocol):
    """A file whose columns have names, whatever its bytes."""

    @property
    def kind(self) -> str:
        """By what such a file is recognised, in words."""

    @property
    def file(self) -> SourceFile:
        """Where the table comes from."""

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""

    def date_columns(self) -> list[str]:
        """The columns that look like dates, as far as this can be told from the beginning."""

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns; `columns` has the user's names by ours."""


_BY_ENDING: dict[str, Callable[[SourceFile], TableFile]] = {
    ".csv": DelimitedTable.of,
    ".csv.gz": DelimitedTable.of,
    ".parquet": ParquetTable.of,
}


def table_file(file: SourceFile) -> TableFile:
    """The table in a file, by its content."""
    if file.held is not None:
        return HeldTable(file, file.held)
    return ParquetTable.of(file) if is_parquet(file) else DelimitedTable.of(file)


def read_pair(nodes: str | Path, edges: str | Path, options: ReadingOptions = DEFAULTS) -> Records:
    r"""Records from a native pair of files: nodes(node, time), edges(source, target[, time]).

    Each file may be CSV, gzipped CSV or Parquet. Of the options, the limit on bytes counts.

    Examples:
        >>> _ = Path("nodes.csv").write_text("node,time\nann,2021\nbob,2022\n")
        >>> _ = Path("edges.csv").write_text("source,target\nann,bob\n")
        >>> read_pair("nodes.csv", "edges.csv").edges.frame.rows()
        [('ann', 'bob')]
    """
    return Records(
        nodes=read_table(Path(nodes), NODES, options), edges=read_table(Path(edges), EDGES, options)
    )


def read_table(path: Path, wanted: Wanted, options: ReadingOptions = DEFAULTS) -> Table:
    """The wanted columns of one table, by the ending of its file name."""
    file = SourceFile.found(path, path.name)
    table = _by_ending(file)
    return table.read(match_columns(table.names, wanted, file.name), options.table_bytes)


def _by_ending(file: SourceFile) -> TableFile:
    for ending, opened in _BY_ENDING.items():
        if file.path.name.lower().endswith(ending):
            return opened(file)
    raise InputError(
        "the ending of the file name does not tell how to read it",
        place=Place(file.name),
        hint=f"Known endings: {', '.join(_BY_ENDING)}.",
    )
