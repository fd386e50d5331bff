"""Databases: how one is looked into, with its failures in words.

Writers, and readers of a server, come through `sql_engines`.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from graphveil.errors import StorageError
from graphveil.posix import NO_FOLLOW, set_mode
from graphveil.study.storage import locks
from graphveil.study.storage.folder import OWNER_ONLY_FILE

SQLITE = "sqlite:///"  # before the name of a file


@contextmanager
def in_words() -> Iterator[None]:
    """The message of a driver, without its statements and values, which are secrets."""
    try:
        yield
    except Exception as error:
        if not _is_of_a_driver(error):
            raise
        if type(error).__name__ == "NoSuchModuleError":
            raise StorageError("this kind of database is not supported; use PostgreSQL.") from error
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StorageError(
            f"the ledger database failed: {cause}. What was committed is safe; fix the cause, "
            "then run the command again."
        ) from error


def _is_of_a_driver(error: Exception) -> bool:
    """Whether it came from a database; SQLAlchemy has raised nothing before it was imported."""
    if isinstance(error, sqlite3.Error | ModuleNotFoundError | UnicodeError):
        return True
    alchemy = sys.modules.get("sqlalchemy.exc")
    return alchemy is not None and isinstance(error, alchemy.SQLAlchemyError)


def made(url: str) -> str:
    """Make an SQLite file that only its owner may read, before anything is in it."""
    if url.startswith(SQLITE):
        flags = os.O_CREAT | os.O_RDWR | NO_FOLLOW
        descriptor = os.open(url.removeprefix(SQLITE), flags, OWNER_ONLY_FILE)
        set_mode(descriptor, OWNER_ONLY_FILE)  # its journal takes the same permissions
        os.close(descriptor)
    return url


@contextmanager
def look_into(url: str) -> Iterator[sqlite3.Connection]:
    """One moment of an SQLite file; nothing is changed."""
    with closing(sqlite3.connect(url.removeprefix(SQLITE), timeout=locks.PATIENCE)) as connection:
        sqlite_settings(connection)
        connection.execute("BEGIN")
        yield connection
        connection.rollback()


def sqlite_settings(connection: Any, _: object = None) -> None:
    """Durable before it is reported; a truncated journal is synced too, a deleted one is not."""
    connection.isolation_level = None  # BEGIN is ours
    for pragma in ("synchronous = FULL", "journal_mode = TRUNCATE", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def note_beside(database: str) -> Path:
    """The note in which the writer of an SQLite database says who it is."""
    return Path(f"{database}-writer")
