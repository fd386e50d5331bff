"""Soundness of the ledger database: its own consistency, and its tables against the ledger.

What the chain of hashes does not cover: pages and indexes of the file, keys and constraints,
triggers that somebody added, and the tables that follow from the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import sqlalchemy as sa

from graphveil.errors import IntegrityError
from graphveil.series import state as states
from graphveil.study.ledger import Ledger
from graphveil.study.public.facts import Event
from graphveil.study.storage import server_schema
from graphveil.study.storage.keeping import plan_of, state_of
from graphveil.study.storage.reading import StoredSeries

Releases = frozenset[tuple[str, int, int]]
_RESTORE = "Restore the newest backup of the private folder."


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
        raise _unsound("SQLite finds it damaged (integrity_check)")
    if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise _unsound("a row refers to another that does not exist (foreign_key_check)")


def _require_sqlite_schema(connection: sa.Connection, tables: sa.MetaData) -> None:
    """Every table as graphveil makes it; and nothing else, but indexes of its own."""
    found, expected = _sqlite_schema(connection), _expected_sqlite_schema(tables)
    for name, made in expected.items():
        if made[0] == "table" and found.get(name) != made:
            raise _unsound(f"table '{name}' is not as graphveil makes it")
    for name, entry in found.items():
        if expected.get(name) != entry:
            raise _unsound(f"{entry[0]} '{name}' is none of graphveil's")


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
        raise _unsound(found)


def require_tables_agree(
    ledger: Ledger, kept: Mapping[str, StoredSeries], releases: Releases
) -> None:
    """Refuse tables that do not follow from the ledger, in either direction."""
    opened = {each.series for each in ledger.series}
    for name in opened ^ kept.keys():
        raise _unsound(f"series '{name}' is in the ledger or in the table of series, but not both")
    made = {
        (row.fact["series"], row.fact["step"], row.number) for row in ledger.of(Event.RELEASE_MADE)
    }
    for name, step, row in made ^ releases:
        raise _unsound(
            f"the release of '{name}' at step {step} (row {row}) is in the ledger or in the table "
            "of releases, but not both"
        )
    _require_first_states(ledger, kept, {name for name, *_ in made})


def _require_first_states(
    ledger: Ledger, kept: Mapping[str, StoredSeries], released: set[str]
) -> None:
    """A series without a release has drawn nothing yet."""
    if any(row.event == "study adopted" for row in ledger.rows):
        return  # which states the states itself
    for name, stored in kept.items():
        fresh, found = states.start(plan_of(name, stored)), state_of(name, stored)
        if name not in released and found != fresh:
            raise _unsound(f"series '{name}' has a state, but no release")


def _unsound(problem: str) -> IntegrityError:
    return IntegrityError(f"the ledger database: {problem}. {_RESTORE}")
