"""Which columns of a table date its nodes or edges, or the refusal if there are none.

A refusal is returned rather than raised where a file of another format may have the dates.
"""

from __future__ import annotations

from collections.abc import Callable

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import names_by_text, no_such, plain, unnamed_date
from graphveil.formats.tables.table_file import TableFile

OWN_TIME = "time"

Dating = tuple[tuple[str, ...], InputError | None]


def named_columns(named: str, is_there: Callable[[str], bool]) -> list[str]:
    """The columns that an option names: one, or several with commas between them."""
    if is_there(named):
        return [named]
    return [part.strip() for part in named.split(",") if part.strip()]


def node_time_columns(table: TableFile, named: str | None) -> Dating:
    """The columns that date nodes: those named, or else the one called time."""
    columns, missing = _found(table, named or OWN_TIME)
    if missing is None:
        return columns, None
    if named is not None:
        return (), no_such_column(table, missing)
    return (), unnamed_date("column", "node", Place(table.file.name), table.date_columns())


def edge_time_columns(table: TableFile, named: str | None, otherwise: str = "") -> Dating:
    """The columns that date edges: those named, or else the one called `otherwise`."""
    if named is None and not otherwise:
        return (), None
    columns, missing = _found(table, named or otherwise)
    if missing is None:
        return columns, None
    return (), None if named is None else no_such_column(table, missing)


def own_time_column(table: TableFile) -> tuple[str, ...]:
    """The column called time, where a file of another format has the one that was named."""
    return _found(table, OWN_TIME)[0]


def _found(table: TableFile, named: str) -> tuple[tuple[str, ...], str | None]:
    """The user's columns of these names, and the first name that is not there."""
    theirs = names_by_text(table.names)
    wanted = named_columns(named, lambda name: plain(name) in theirs)
    missing = [name for name in wanted if plain(name) not in theirs]
    return tuple(theirs[plain(name)] for name in wanted if name not in missing), (
        missing[0] if missing else None
    )


def no_such_column(table: TableFile, named: str) -> InputError:
    """The refusal of a date column that was named but is not there."""
    place = Place(table.file.name, column=named)
    return no_such("column", place, table.names, table.date_columns())
