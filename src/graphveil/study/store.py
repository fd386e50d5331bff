"""The store: one database per study, in which every change is one transaction.

SQLite in the private folder, or PostgreSQL for a team. There is one writer at a time: SQLite has
BEGIN IMMEDIATE, PostgreSQL an advisory lock. The writer sees all that was committed.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import StorageError, require_known_format
from graphveil.posix import NO_FOLLOW, set_mode
from graphveil.study.folder import OWNER_ONLY_FILE, PATIENCE, noted
from graphveil.study.reading import VERSION, Reading, SqliteSource

if TYPE_CHECKING:
    import sqlalchemy as sa

    from graphveil.study.sql import Transaction

SQLITE = "sqlite:///"  # before the name of a file


def now() -> str:
    """The time, in UTC, as rows carry it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Store:
    """A database that holds one study.

    Attributes:
        url: where it is.
    """

    url: str

    @classmethod
    def create(cls, url: str) -> Store:
        """The store at `url`, with empty tables; refuses one that holds a study."""
        from graphveil.study.sql import make_tables

        with in_words():
            store = cls(made(url))
            with store.engine.begin() as connection:
                make_tables(connection)
        return store

    @classmethod
    def connect(cls, url: str) -> Store:
        """The store at `url`, which must be there and of this version."""
        if url.startswith(SQLITE) and not Path(url.removeprefix(SQLITE)).exists():
            raise StorageError(
                "the ledger database is missing from the private folder. Restore the newest "
                "backup of the private folder; do not start again without it, since what was "
                "published still counts."
            )
        store = cls(url)
        with store.reading() as reading:
            version = reading.version()
        require_known_format("the ledger database", version, VERSION)
        return store

    @cached_property
    def engine(self) -> sa.Engine:
        """How writers reach it, and readers of a server."""
        from graphveil.study.sql import engine_at

        return engine_at(self.url)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A consistent look at what was committed; blocks nobody."""
        with in_words():
            if self.url.startswith(SQLITE):
                with look_into(self.url) as connection:
                    yield Reading(SqliteSource(connection))
            else:
                from graphveil.study.sql import SqlSource

                with self._connected() as connected:
                    yield Reading(SqlSource(connected))

    def require_sound(self, require: Callable[[sa.Connection, sa.MetaData], str]) -> str:
        """Let a check look at the database itself, and at the tables that it should have."""
        from graphveil.study.sql import TABLES

        with in_words(), self._connected() as connection:
            return require(connection, TABLES)

    @contextmanager
    def transaction(self, at: str | None = None) -> Iterator[Transaction]:
        """The one writer: waits for others, then commits at the end, unless something fails.

        Args:
            at: the time that its rows carry; by default that of its beginning. How long
                counting takes depends on the data, so no row tells when that was over.
        """
        from graphveil.study.sql import Transaction

        with in_words(), self.engine.begin() as connection, self._noted():
            yield Transaction(connection, at or now())

    def _noted(self) -> AbstractContextManager[None]:
        """Leave a note for waiting writers about who this is; a server knows that itself."""
        if not self.url.startswith(SQLITE):
            return nullcontext()
        return noted(note_beside(self.url.removeprefix(SQLITE)))

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        with self.engine.connect().execution_options(reading=True) as connection:
            yield connection


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
    with closing(sqlite3.connect(url.removeprefix(SQLITE), timeout=PATIENCE)) as connection:
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
