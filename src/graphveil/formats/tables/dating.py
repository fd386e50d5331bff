"""Which column of a table dates its nodes or edges, or the refusal if there is none.

A refusal is returned rather than raised where a file of another format may have the dates.
"""

from __future__ import annotations

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import names_by_text, no_such, plain, unnamed_date
from graphveil.formats.tables.table_file import TableFile

OWN_TIME = "time"

Dating = tuple[str | None, InputError | None]


def node_time_column(table: TableFile, named: str | None) -> Dating:
    """The column that dates nodes: the one named, or else the one called time."""
    column = names_by_text(table.names).get(plain(named or OWN_TIME))
    if column is not None:
        return column, None
    if named is not None:
        return None, no_such_column(table, named)
    return None, unnamed_date("column", "node", Place(table.file.name), table.date_columns())


def edge_time_column(table: TableFile, named: str | None, otherwise: str = "") -> Dating:
    """The column that dates edges: the one named, or else the one called `otherwise`."""
    column = names_by_text(table.names).get(plain(named or otherwise))
    if named is None:
        return column if otherwise else None, None
    return column, None if column is not None else no_such_column(table, named)


def no_such_column(table: TableFile, named: str) -> InputError:
    """The refusal of a date column that was named but is not there."""
    place = Place(table.file.name, column=named)
    return no_such("column", place, table.names, table.date_columns())
