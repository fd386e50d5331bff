"""Engines of SQLAlchemy: how writers reach a database, and how one of them at a time is let in.

Writers wait for each other: by BEGIN IMMEDIATE in SQLite, by an advisory lock in PostgreSQL. Who
holds up the others is told after a while.
"""

from __future__ import annotations

import logging
import os
import socket
from contextlib import suppress
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from graphveil.errors import ParameterError, StorageError
from graphveil.study.storage import waiting
from graphveil.study.storage.databases import SQLITE, note_beside, sqlite_settings

LONGEST_NAME = 63  # that PostgreSQL keeps of a client
_LOGGED_AS = "graphveil"
# Where a pipeline logs everything, SQLAlchemy would write down the rows: true counts and noise.
logging.getLogger(f"sqlalchemy.engine.Engine.{_LOGGED_AS}").setLevel(logging.WARNING)


def engine_at(url: str) -> sa.Engine:
    """How the database at a URL is reached; SQLite where it names a file."""
    if not url.startswith(SQLITE):
        return _postgresql(url)
    # Not parsed as a URL: the name of a folder may have a ? or % in it.
    place = sa.URL.create("sqlite", database=url.removeprefix(SQLITE))
    engine = _discreet(place, connect_args={"timeout": waiting.PATIENCE})
    sa.event.listen(engine, "connect", sqlite_settings)
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _discreet(url: str | sa.URL, **options: Any) -> sa.Engine:
    """An engine that shows no values, neither in errors nor in logs."""
    return sa.create_engine(
        url, poolclass=sa.NullPool, hide_parameters=True, logging_name=_LOGGED_AS, **options
    )


def _sqlite_begin(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("reading", False):
        connection.exec_driver_sql("BEGIN")
        return
    # SQLite itself would wait in silence, and hear no Ctrl-C meanwhile.
    connection.exec_driver_sql("PRAGMA busy_timeout = 0")
    note = note_beside(str(connection.engine.url.database))
    waiting.wait_for(partial(_begun, connection), partial(waiting.noted_holder, note))
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {waiting.PATIENCE * 1000:.0f}")


def _begun(connection: sa.Connection) -> bool:
    """Begin to write, unless somebody else does."""
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    except exc.OperationalError as error:
        if "locked" not in str(error.orig):
            raise
        return False
    return True


def _postgresql(url: str) -> sa.Engine:
    parsed = _address(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    name = f"{waiting.running_command()}, process {os.getpid()} on {socket.gethostname()}"
    engine = _discreet(parsed, connect_args={"application_name": name[:LONGEST_NAME]})
    sa.event.listen(engine, "begin", _postgresql_begin)
    return engine


def _address(url: str) -> sa.URL:
    """A URL, parsed; what cannot be read is not repeated: a password may be in it."""
    with suppress(ValueError, exc.ArgumentError):
        parsed = sa.make_url(url)
        if "@" not in (parsed.host or ""):  # else the end of a password is taken for a host
            return parsed
    raise ParameterError(
        "database",
        "is not the URL of a database",
        hint="It looks like postgresql://user:password@host/name; write @ in a password as %40.",
    )


def _postgresql_begin(connection: sa.Connection) -> None:
    """Readers see one moment; writers wait for each other, separately for each schema."""
    if connection.get_execution_options().get("reading", False):
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        return
    # Whatever the server's default is: behind the lock, the writer has to see the newest.
    connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE")
    connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
    waiting.wait_for(partial(_let_in, connection), partial(_holder, connection))


def _let_in(connection: sa.Connection) -> bool:
    """Take the one lock of the schema, unless somebody else has it; refuses where there is none."""
    taken = connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({_KEY})").scalar()
    if taken is None:  # neither taken nor held: the current schema is NULL
        raise StorageError(
            "the database shows this user no schema, so that there is no place for tables. Make "
            "one (CREATE SCHEMA), or set search_path to one that is there and may be used."
        )
    return bool(taken)


def _holder(connection: sa.Connection) -> str:
    """Who has it, as far as the server lets us see that."""
    connection.exec_driver_sql("SAVEPOINT looking")
    try:
        found = connection.exec_driver_sql(_WHO_HOLDS).first()
    except exc.DBAPIError:
        found = None
    connection.exec_driver_sql("ROLLBACK TO SAVEPOINT looking")
    return waiting.SOMEBODY if found is None else " ".join(str(part) for part in found if part)


_KEY = "hashtext(current_schema()), 4471"
_WHO_HOLDS = """
SELECT coalesce(nullif(activity.application_name, ''), 'backend ' || activity.pid),
       'of ' || activity.usename,
       'since ' || to_char(activity.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM pg_locks AS held JOIN pg_stat_activity AS activity USING (pid)
WHERE held.locktype = 'advisory' AND held.granted AND held.objid = 4471
  AND held.classid = hashtext(current_schema())::oid
  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
