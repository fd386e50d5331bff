"""The store: one database per study, in which every change is one transaction.

SQLite in the private folder, or PostgreSQL for a team. There is one writer at a time: SQLite has
BEGIN IMMEDIATE, PostgreSQL an advisory lock. The writer sees all that was committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import StorageError, require_known_format
from graphveil.study.storage import locks
from graphveil.study.storage.databases import SQLITE, in_words, look_into, made, note_beside
from graphveil.study.storage.reading import VERSION, Reading, SqliteSource

if TYPE_CHECKING:
    import sqlalchemy as sa

    from graphveil.study.storage.transaction import Transaction


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
        from graphveil.study.storage.transaction import make_tables

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
        from graphveil.study.storage.sql import engine_at

        return engine_at(self.url)

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A consistent look at what was committed; blocks nobody."""
        with in_words():
            if self.url.startswith(SQLITE):
                with look_into(self.url) as connection:
                    yield Reading(SqliteSource(connection))
            else:
                from graphveil.study.storage.transaction import SqlSource

                with self._connected() as connected:
                    yield Reading(SqlSource(connected))

    def require_sound(self, require: Callable[[sa.Connection, sa.MetaData], str]) -> str:
        """Let a check look at the database itself, and at the tables that it should have."""
        from graphveil.study.storage.transaction import TABLES

        with in_words(), self._connected() as connection:
            return require(connection, TABLES)

    @contextmanager
    def transaction(self, at: str | None = None) -> Iterator[Transaction]:
        """The one writer: waits for others, then commits at the end, unless something fails.

        Args:
            at: the time that its rows carry; by default that of its beginning. How long
                counting takes depends on the data, so no row tells when that was over.
        """
        from graphveil.study.storage.transaction import Transaction

        with in_words(), self.engine.begin() as connection, self._noted():
            yield Transaction(connection, at or now())

    def _noted(self) -> AbstractContextManager[None]:
        """Leave a note for waiting writers about who this is; a server knows that itself."""
        if not self.url.startswith(SQLITE):
            return nullcontext()
        return locks.noted(note_beside(self.url.removeprefix(SQLITE)))

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        with self.engine.connect().execution_options(reading=True) as connection:
            yield connection
