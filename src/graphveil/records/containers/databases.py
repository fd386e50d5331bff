"""Tables of databases, by address and table or query: `sqlite:///cases.db#people`.

SQLite and PostgreSQL are read with SQLAlchemy, DuckDB with its own library. Nothing is written: the
query is undone. A password in an address is never shown or stored.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.records.containers.held_tables import (
    Texts,
    held,
    library,
    no_such_part,
    refuse_too_many,
    text_columns,
)
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import Ceiling, SourceFile, require_file

_ADDRESS = re.compile(
    r"(sqlite|duckdb|postgresql(?:\+psycopg)?|postgres)://[^#]*(?:#.*)?", re.DOTALL
)
_QUERY = re.compile(r"\s*(select|with|from)\s", re.IGNORECASE)
_FIRST_ROW = 1
_MALFORMED = (ValueError, OverflowError, RuntimeError)  # a port, a name or a value that is none
_AT_ONCE = 1_000
_LEAST_FOR_DUCKDB = 1 << 28  # bytes that it needs for itself


@dataclass
class _Answer:
    """Rows of a query, which become text as they come.

    Attributes:
        name: what messages call it.
        options: what the steward says, of which the limit counts.
        ceiling: on the memory that they take.
    """

    name: str
    options: ReadingOptions
    ceiling: Ceiling
    parts: list[Texts] = field(default_factory=list)
    cells: int = 0

    def fetch(self, names: list[str], some_more: Callable[[int], Any]) -> None:
        """Every row, some at a time; refuses more than may be held."""
        self.parts.append(text_columns(names, [[] for _ in names]))
        while rows := some_more(_AT_ONCE):
            self.cells += len(rows) * len(names)
            refuse_too_many(self.cells, self.name, self.options)
            part = text_columns(names, list(zip(*rows, strict=True)))
            self.ceiling.take(int(part[0].estimated_size()), self.name)
            self.parts.append(part)

    def table(self) -> SourceFile:
        """All rows as a table."""
        import polars as pl

        frame = pl.concat([part for part, _ in self.parts])
        inexact = {
            column: np.concatenate([
                found.get(column, np.zeros(part.height, np.bool_)) for part, found in self.parts
            ])
            for column in {each for _, found in self.parts for each in found}
        }  # fmt: skip
        kind = "a table of a database"
        return held(
            Path(self.name), self.name, frame, kind, _FIRST_ROW, self.options, self.ceiling, inexact
        )


def is_address(text: str) -> bool:
    """Whether a word is the address of a database, and no path."""
    return _ADDRESS.fullmatch(text) is not None


def table_at(text: str, options: ReadingOptions, ceiling: Ceiling) -> SourceFile:
    """The rows of a table or query."""
    address, _, part = text.partition("#")
    scheme, _, rest = address.partition("://")
    name = f"{scheme}:{rest.rpartition('@')[2].rpartition('/')[2]}"
    asked = _duckdb if scheme == "duckdb" else _sqlalchemy
    if scheme in ("sqlite", "duckdb"):
        _require_file(rest, name)
    own = f"{name}#{'query' if _QUERY.match(part) else part}"
    answer = _Answer(own, options, ceiling)
    asked(address, part, name, answer)
    return answer.table()


def _require_file(rest: str, name: str) -> None:
    path = Path(rest.partition("?")[0].removeprefix("/"))
    if path.exists():
        require_file(path)
    else:
        raise InputError(
            "there is no such database file", place=Place(name),
            hint="Check the path: three slashes before a path from here, four before one from /.",
        )  # fmt: skip


def _sqlalchemy(address: str, part: str, name: str, answer: _Answer) -> None:
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
            streamed = connection.execution_options(stream_results=True)
            result = streamed.execute(sql.text(query))
            answer.fetch(list(result.keys()), result.fetchmany)  # and undone
    except (sql.exc.SQLAlchemyError, *_MALFORMED) as error:
        raise _refused(name) from error


def _duckdb(address: str, part: str, name: str, answer: _Answer) -> None:
    duckdb = library("duckdb", "duckdb", Place(name))
    path = address.partition("://")[2].removeprefix("/")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            most = max(answer.ceiling.most, _LEAST_FOR_DUCKDB)
            connection.execute(f"SET memory_limit = '{most} bytes'")
            query = part
            if not _QUERY.match(part):
                known = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
                if part not in known:
                    raise no_such_part("table", part, known, name)
                query = 'SELECT * FROM "{}"'.format(part.replace('"', '""'))
            result = connection.execute(query)
            names = [column[0] for column in result.description]
            answer.fetch(names, result.fetchmany)
    except (duckdb.Error, *_MALFORMED) as error:
        raise _refused(name) from error


def _refused(name: str) -> InputError:
    return InputError(
        "the database cannot be read, or refuses the query",
        place=Place(name),
        hint="Check address, password and query; a table or query stands behind #.",
    )
