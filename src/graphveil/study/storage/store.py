"""The store: one database per study, in which every change is one transaction.

SQLite in the private folder, or PostgreSQL for a team. Writers are let in one at a time: by
BEGIN IMMEDIATE there, by an advisory lock here. Whoever is in sees all that was committed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from graphveil.errors import IntegrityError, StorageError, StudyError
from graphveil.study.ledger import Ledger, LedgerRow, require_chain
from graphveil.study.public.facts import Event, Fact
from graphveil.study.storage import waiting
from graphveil.study.storage.databases import engine_at, in_words, made, note_beside

VERSION = 2  # of the tables below; since 2, machines and databases bear witness

_TABLES = sa.MetaData()
_ABOUT = sa.Table(
    "about", _TABLES, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text)
)
_LEDGER = sa.Table(
    "ledger",
    _TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("at", sa.Text, nullable=False),
    sa.Column("event", sa.Text, nullable=False, index=True),
    sa.Column("public", sa.Text),
    sa.Column("private", sa.Text, nullable=False),
    sa.Column("salt", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
)
_SERIES = sa.Table(
    "series",
    _TABLES,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)
# The last line of defence: whatever a program does, a step of a series is entered once.
_RELEASES = sa.Table(
    "releases",
    _TABLES,
    sa.Column("series", sa.Text, sa.ForeignKey("series.name"), primary_key=True),
    sa.Column("step", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row", sa.Integer, sa.ForeignKey("ledger.number"), nullable=False),
)


def now() -> str:
    """The time, in UTC, as rows carry it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class StoredSeries:
    """A series as it is kept: its plan, and its state, which is a secret."""

    plan: str
    state: str = field(repr=False)

    @classmethod
    def found(cls, name: object, plan: object, state: object) -> StoredSeries:
        """What a database has in its columns, where anything may stand."""
        if isinstance(name, str) and isinstance(plan, str) and isinstance(state, str):
            return cls(plan, state)
        raise IntegrityError(
            "the table of series in the ledger database holds something else than text. Restore "
            "the newest backup of the private folder."
        )


class Reading:
    """What was committed, at one moment."""

    def __init__(self, connection: sa.Connection) -> None:
        self._connection = connection

    def ledger(self) -> Ledger:
        """All rows, once their chain is found whole."""
        found = self._connection.execute(sa.select(_LEDGER).order_by(_LEDGER.c.number))
        rows = tuple(LedgerRow.stored(*row) for row in found)
        require_chain(rows)
        return Ledger(rows)

    def last_hash(self) -> str | None:
        """The hash of the newest row."""
        newest = sa.select(_LEDGER.c.hash).order_by(_LEDGER.c.number.desc()).limit(1)
        return self._connection.execute(newest).scalar()

    def hash_of(self, number: int) -> str | None:
        """The hash of a row; None if there is no such row."""
        query = sa.select(_LEDGER.c.hash).where(_LEDGER.c.number == number)
        return self._connection.execute(query).scalar()

    def newest(self, *events: Event) -> LedgerRow | None:
        """The newest row, or that of some kinds."""
        query = sa.select(_LEDGER)
        return self._newest(query.where(_LEDGER.c.event.in_(events)) if events else query)

    def newest_told(self) -> LedgerRow | None:
        """The newest row that the public is told."""
        return self._newest(sa.select(_LEDGER).where(_LEDGER.c.public.is_not(None)))

    def _newest(self, query: sa.Select[Any]) -> LedgerRow | None:
        found = self._connection.execute(query.order_by(_LEDGER.c.number.desc()).limit(1)).first()
        return None if found is None else LedgerRow.stored(*found)

    def is_witnessed(self) -> bool:
        """Whether it was written by a graphveil that lets machines and databases bear witness."""
        return int(_about(self._connection, "version") or 0) >= 2

    def is_at_home(self) -> bool | None:
        """Whether the tables are where they were opened; None of SQLite, which cannot tell."""
        home = _home(self._connection)
        return None if home is None else home == _about(self._connection, "home")

    def series(self) -> dict[str, StoredSeries]:
        """Every series by name."""
        found = self._connection.execute(sa.select(_SERIES))
        return {name: StoredSeries.found(name, plan, state) for name, plan, state in found}

    def releases(self) -> frozenset[tuple[str, int, int]]:
        """Series, step and row of every release that was entered."""
        return frozenset(tuple(row) for row in self._connection.execute(sa.select(_RELEASES)))

    def require_sound(self, require: Callable[[sa.Connection, sa.MetaData], str]) -> str:
        """Let a check look at the database itself."""
        return require(self._connection, _TABLES)


class Transaction(Reading):
    """The one writer's view; all of it is committed together, or none.

    Nobody else writes meanwhile, so the ledger is read once, and grows by what is entered.
    """

    def __init__(self, connection: sa.Connection, at: str) -> None:
        super().__init__(connection)
        self._at = at
        self._found: Ledger | None = None
        self._entered: list[LedgerRow] = []

    def ledger(self) -> Ledger:
        """All rows, those included that this transaction has entered."""
        if self._found is None:
            self._found, self._entered = super().ledger(), []
        return self._found.followed_by(self._entered)

    def append(self, what: Fact | Event, *, private: dict[str, Any]) -> LedgerRow:
        """Enter an event behind the last one: a fact for the public, or its mere kind.

        Args:
            what: what the public is told; of an event that it is not told, the kind.
            private: what it is not told.
        """
        event, fact = (what.event, what) if isinstance(what, Fact) else (what, None)
        row = LedgerRow.after(
            self._last(),
            event,
            at=self._at,
            public=fact,
            private=private,
            salt=secrets.token_hex(32),
        )
        self._connection.execute(sa.insert(_LEDGER).values(**asdict(row)))
        self._entered.append(row)
        return row

    def _last(self) -> LedgerRow | None:
        return self._entered[-1] if self._entered else self.newest()

    def settle(self) -> None:
        """From now on the study is at home here, and witnessed."""
        _say(self._connection, "version", str(VERSION))
        _say(self._connection, "home", _home(self._connection))

    def leave(self) -> None:
        """From now on the study is nowhere at home, until a machine settles it."""
        _say(self._connection, "home", None)

    def open_series(self, name: str, stored: StoredSeries) -> None:
        """Keep a new series."""
        self._connection.execute(sa.insert(_SERIES).values(name=name, **vars(stored)))

    def renew_series(self, name: str, stored: StoredSeries) -> None:
        """Keep another plan and state of a series."""
        self._connection.execute(
            sa.update(_SERIES).where(_SERIES.c.name == name).values(**vars(stored))
        )

    def enter_release(self, name: str, step: int, row: LedgerRow) -> None:
        """Enter a release; refuses a second one of the same step."""
        entry = {"series": name, "step": step, "row": row.number}
        self._connection.execute(sa.insert(_RELEASES).values(**entry))

    def keep_state(self, name: str, state: str) -> None:
        """Keep the state of a series after its last release."""
        self._connection.execute(
            sa.update(_SERIES).where(_SERIES.c.name == name).values(state=state)
        )


@dataclass(frozen=True)
class Store:
    """A database that holds one study."""

    engine: sa.Engine

    @classmethod
    def create(cls, url: str) -> Store:
        """The store at `url`, with empty tables; refuses one that holds a study."""
        with in_words():
            store = cls(engine_at(made(url)))
            with store.engine.begin() as connection:
                _make_tables(connection)
        return store

    @classmethod
    def connect(cls, url: str) -> Store:
        """The store at `url`, which must be there and of this version."""
        if url.startswith("sqlite:///") and not Path(url.removeprefix("sqlite:///")).exists():
            raise StorageError(
                "the ledger database is missing from the private folder. Restore the newest "
                "backup of the private folder; do not start again without it, since what was "
                "published still counts."
            )
        with in_words():
            store = cls(engine_at(url))
            with store._connected() as connection:
                found = _about(connection, "version")
        if _number(found) > VERSION:
            raise StudyError(
                f"the ledger database was written by a newer graphveil (format {found}; this one "
                f"knows up to {VERSION}). Update graphveil."
            )
        return store

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """A consistent look at what was committed; blocks nobody."""
        with in_words(), self._connected() as connection:
            yield Reading(connection)

    @contextmanager
    def transaction(self, at: str | None = None) -> Iterator[Transaction]:
        """The one writer: waits for others, then commits at the end, unless something fails.

        Args:
            at: the time that its rows carry; by default that of its beginning. How long
                counting takes depends on the data, so no row tells when that was over.
        """
        with in_words(), self.engine.begin() as connection, self._noted():
            yield Transaction(connection, at or now())

    def _noted(self) -> AbstractContextManager[None]:
        """Those who wait for this writer learn who it is; a server knows that itself."""
        if self.engine.dialect.name != "sqlite":
            return nullcontext()
        return waiting.noted(note_beside(self.engine))

    @contextmanager
    def _connected(self) -> Iterator[sa.Connection]:
        with self.engine.connect().execution_options(reading=True) as connection:
            yield connection


def _make_tables(connection: sa.Connection) -> None:
    """Make what is missing; what a killed process made already is as good."""
    if sa.inspect(connection).has_table("ledger"):
        if connection.execute(sa.select(sa.func.count()).select_from(_LEDGER)).scalar_one():
            raise StudyError(
                "the database already holds a study. One database (or one schema of it) is one "
                "study: choose another."
            )
        return
    _TABLES.create_all(connection)
    _say(connection, "version", str(VERSION))
    _say(connection, "home", _home(connection))


def _about(connection: sa.Connection, key: str) -> str | None:
    """What the database says about itself."""
    return connection.execute(sa.select(_ABOUT.c.value).where(_ABOUT.c.key == key)).scalar()


def _say(connection: sa.Connection, key: str, value: str | None) -> None:
    """Let it say something else, or no longer."""
    connection.execute(sa.delete(_ABOUT).where(_ABOUT.c.key == key))
    if value is not None:
        connection.execute(sa.insert(_ABOUT).values(key=key, value=value))


def _home(connection: sa.Connection) -> str | None:
    """Which tables these are, by what a clone or a restored dump cannot share with them.

    PostgreSQL knows the identity of the cluster, the database and the table. A byte for byte
    copy of a whole cluster has the same, but not the same address. SQLite knows nothing.
    """
    if connection.dialect.name == "sqlite":
        return None
    url = connection.engine.url
    address = f"{url.host or url.query.get('host')}:{url.port or ''}/{url.database}"
    may_ask = "SELECT has_function_privilege('pg_control_system()', 'execute')"
    asked = [
        "SELECT oid FROM pg_database WHERE datname = current_database()",
        "SELECT 'ledger'::regclass::oid",
    ]
    if connection.exec_driver_sql(may_ask).scalar():
        asked.append("SELECT system_identifier FROM pg_control_system()")
    found = (connection.exec_driver_sql(query).scalar() for query in asked)
    return " ".join([address, *map(str, found)])


def _number(version: object) -> int:
    """The version of the tables, in which anything may stand."""
    if isinstance(version, str) and re.fullmatch("[1-9][0-9]{0,8}", version):
        return int(version)
    raise IntegrityError(
        "the ledger database does not say which version it has. Restore the newest backup of the "
        "private folder."
    )
