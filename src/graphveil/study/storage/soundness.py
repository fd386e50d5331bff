"""Soundness of the ledger database: its own consistency.

What neither the chain of hashes nor `agreement` covers: pages and indexes of the file, keys and
constraints, and triggers that somebody added.
"""

from __future__ import annotations

import re

import sqlalchemy as sa

from graphveil.study.storage import server_schema
from graphveil.study.storage.agreement import unsound


def require_sound(connection: sa.Connection, tables: sa.MetaData) -> str:
    """Refuse a database that contradicts itself, or that does more than graphveil made it for."""
    if connection.dialect.name == "sqlite":
        _require_whole_file(connection)
        _require_sqlite_schema(connection, tables)
        return "whole, with its own tables, keys and constraints"
    _require_server_schema(connection, tables)
    return "its own tables, keys and constraints; pages are the server's matter"


def _require_whole_file(connection: sa.Connection) -> None:
    problems = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars().all()
    if problems != ["ok"]:
        raise unsound("SQLite finds it damaged (integrity_check)")
    if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise unsound("a row refers to another that does not exist (foreign_key_check)")


def _require_sqlite_schema(connection: sa.Connection, tables: sa.MetaData) -> None:
    """Every table as graphveil makes it; and nothing else, but indexes of its own."""
    found, expected = _sqlite_schema(connection), _expected_sqlite_schema(tables)
    for name, made in expected.items():
        if made[0] == "table" and found.get(name) != made:
            raise unsound(f"table '{name}' is not as graphveil makes it")
    for name, entry in found.items():
        if expected.get(name) != entry:
            raise unsound(f"{entry[0]} '{name}' is none of graphveil's")


def _sqlite_schema(connection: sa.Connection) -> dict[str, tuple[str, str]]:
    """Kind and definition of everything in the file, by name; blanks do not matter."""
    query = "SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    rows = connection.exec_driver_sql(query).all()
    return {str(name): (str(kind), re.sub(r"\s+", " ", str(sql))) for name, kind, sql in rows}


def _expected_sqlite_schema(tables: sa.MetaData) -> dict[str, tuple[str, str]]:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.begin() as connection:
        tables.create_all(connection)
        found = _sqlite_schema(connection)
    engine.dispose()
    return found


def _require_server_schema(connection: sa.Connection, tables: sa.MetaData) -> None:
    found = server_schema.difference(connection, tables)
    if found is not None:
        raise unsound(found)
