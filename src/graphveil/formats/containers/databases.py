"""Tables of databases, by address and table or query: `sqlite:///cases.db#people`.

SQLite and PostgreSQL are read with SQLAlchemy, DuckDB with its own library. Nothing is written: the
query is undone. A password in an address is never shown or kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphveil.errors import InputError, Place
from graphveil.formats.containers.held_tables import (
    held,
    library,
    no_such_part,
    refuse_too_many,
    text_columns,
)
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile

_ADDRESS = re.compile(
    r"(sqlite|duckdb|postgresql(?:\+psycopg)?|postgres)://[^#]*(?:#.*)?", re.DOTALL
)
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_FIRST_ROW = 1
_AT_ONCE = 10_000

Answer = tuple[list[str], list[tuple[Any, ...]]]


def is_address(text: str) -> bool:
    """Whether a word is the address of a database, and no path."""
    return _ADDRESS.fullmatch(text) is not None


def table_at(text: str, options: ReadingOptions) -> SourceFile:
    """The rows of a table or query."""
    address, _, part = text.partition("#")
    scheme, _, rest = address.partition("://")
    name = f"{scheme}:{rest.rpartition('@')[2].rpartition('/')[2]}"
    asked = _duckdb if scheme == "duckdb" else _sqlalchemy
    if scheme in ("sqlite", "duckdb"):
        _require_file(rest, name)
    own = f"{name}#{'query' if _QUERY.match(part) else part}"
    names, rows = asked(address, part, name, lambda cells: refuse_too_many(cells, own, options))
    frame = text_columns(names, zip(*rows, strict=True) if rows else [[] for _ in names])
    return held(Path(own), own, frame, "a table of a database", _FIRST_ROW, options)


def _require_file(rest: str, name: str) -> None:
    path = Path(rest.partition("?")[0].removeprefix("/"))
    if not path.is_file():
        raise InputError(
            "there is no such database file", place=Place(name),
            hint="Check the path: three slashes before a path from here, four before one from /.",
        )  # fmt: skip


def _sqlalchemy(address: str, part: str, name: str, allow: Callable[[int], None]) -> Answer:
    import sqlalchemy as sql

    url = re.sub(r"^postgres(ql)?(\+psycopg)?://", "postgresql+psycopg://", address)
    if url.startswith("postgresql"):
        library("psycopg", "postgresql", Place(name))
    try:
        engine = sql.create_engine(url, poolclass=sql.pool.NullPool)
        with engine.connect() as connection:
            query = part
            if not _QUERY.match(part):
                tables = sql.inspect(connection)
                known = [*tables.get_table_names(), *tables.get_view_names()]
                if part not in known:
                    raise no_such_part("table", part, known, name)
                query = f"SELECT * FROM {engine.dialect.identifier_preparer.quote(part)}"
            result = connection.execute(sql.text(query))
            return _fetched(list(result.keys()), result.fetchmany, allow)  # and undone
    except sql.exc.SQLAlchemyError as error:
        raise _refused(name) from error


def _duckdb(address: str, part: str, name: str, allow: Callable[[int], None]) -> Answer:
    duckdb = library("duckdb", "duckdb", Place(name))
    path = address.partition("://")[2].removeprefix("/")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            query = part
            if not _QUERY.match(part):
                known = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
                if part not in known:
                    raise no_such_part("table", part, known, name)
                query = 'SELECT * FROM "{}"'.format(part.replace('"', '""'))
            result = connection.execute(query)
            names = [column[0] for column in result.description]
            return _fetched(names, result.fetchmany, allow)
    except duckdb.Error as error:
        raise _refused(name) from error


def _fetched(names: list[str], fetch: Callable[[int], Any], allow: Callable[[int], None]) -> Answer:
    rows: list[tuple[Any, ...]] = []
    while some := fetch(_AT_ONCE):
        rows += [tuple(row) for row in some]
        allow(len(rows) * len(names))
    return names, rows


def _refused(name: str) -> InputError:
    return InputError(
        "the database cannot be read, or refuses the query",
        place=Place(name),
        hint="Check address, password and query; a table or query stands behind #.",
    )
