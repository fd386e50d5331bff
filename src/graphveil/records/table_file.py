"""Files of one table each, tables in memory, and several of them as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from graphveil.calendar.columns import texts_of
from graphveil.calendar.times import values_of
from graphveil.deferred import pl
from graphveil.errors import InputError, Place, RecordError
from graphveil.graph.intake.identity import NOT_WHOLE, STORE_AS, integers_or_text
from graphveil.graph.intake.records import Records, Table, Violation
from graphveil.records.columns import EDGES, NODES, Wanted, match_columns, refuse_repeated
from graphveil.records.dates import look_like_dates
from graphveil.records.delimited import DelimitedTable
from graphveil.records.options import DEFAULTS, ReadingOptions
from graphveil.records.parquet import ParquetTable, is_parquet
from graphveil.records.source_file import Held, SourceFile

# Tables that were read already, from a sheet, a database or an object of R.


_LOOKED_AT = 50
_IDS = ("node", "source", "target")


@dataclass(frozen=True)
class HeldTable:
    """A table whose rows are there."""

    file: SourceFile
    table: Held

    @property
    def kind(self) -> str:
        """By what such a file is recognised, in words."""
        return self.table.kind

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return list(self.table.frame.columns)

    def date_columns(self) -> list[str]:
        """The columns whose first values look like dates."""
        head = self.table.frame.head(_LOOKED_AT)
        return [name for name in head.columns if look_like_dates(head[name].to_list())]

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns; the limit was held when they were read."""
        refuse_repeated(self.names, columns.values(), Place(self.file.name))
        frame = self.table.frame
        chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        table = Table(chosen, self.file.name, names=columns, numbers=self.table.numbers)
        return table.marked(*self._inexact_ids(columns))

    def _inexact_ids(self, columns: dict[str, str]) -> list[Violation]:
        """The ids that are numbers too large to tell people apart."""
        inexact = self.table.inexact
        return [
            Violation(np.flatnonzero(inexact[theirs]), ours, NOT_WHOLE, STORE_AS)
            for ours, theirs in columns.items()
            if ours in _IDS and theirs in inexact
        ]


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
        """The columns that look like dates, judged by the beginning of the file."""

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


def claimed_table(file: SourceFile, insisted: bool) -> TableFile | None:
    """The table in a file that may be one; None if it is none and nobody insists on it."""
    try:
        return table_file(file)
    except InputError:
        if insisted:
            raise
        return None


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


# Tables of several files as one, in which every row keeps its own place.


def joined(tables: Sequence[Table], columns: tuple[str, ...]) -> Table:
    """All rows of the tables, with these columns; a column that a table lacks stays empty."""
    if not tables:
        return Table(pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), "no file")
    if len(tables) == 1:
        return tables[0]
    alike = [_with_columns(table, columns) for table in tables]
    for column in columns:
        kinds = {table.frame.schema[column] for table in alike}
        if len(kinds) > 1:
            alike = [_with_text(table, column) for table in alike]
    return Table.joined(alike)


def _with_columns(table: Table, columns: tuple[str, ...]) -> Table:
    empty = [
        pl.lit(None, dtype=pl.String).alias(name)
        for name in columns
        if name not in table.frame.columns
    ]
    return replace(table, frame=table.frame.with_columns(empty).select(columns))


def _with_text(table: Table, column: str) -> Table:
    """The table with one column as text that says the same."""
    values = table.frame[column]
    if values.dtype == pl.String:
        return table
    if values.dtype == pl.Int64:
        text = values.cast(pl.String)
    elif column == "time":
        text = texts_of(values_of(values))
    else:
        return _with_text_of_ids(table, column)
    return replace(table, frame=table.frame.with_columns(text.alias(column)))


def _with_text_of_ids(table: Table, column: str) -> Table:
    """The same for ids of other types; a row whose id is none is marked, and left empty."""
    try:
        text = integers_or_text(table, column).cast(pl.String)
    except RecordError as refused:
        violation = Violation(refused.rows, column, refused.rule, refused.hint)
        emptied = table.frame[column].scatter(refused.rows, None)
        frame = table.frame.with_columns(emptied.alias(column))
        return _with_text_of_ids(replace(table.marked(violation), frame=frame), column)
    return replace(table, frame=table.frame.with_columns(text.alias(column)))
