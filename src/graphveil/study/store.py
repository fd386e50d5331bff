"""The store: one database per study, in which every change is one transaction.

SQLite in the private folder, or PostgreSQL for a team. Writers are let in one at a time: by
BEGIN IMMEDIATE there, by an advisory lock here. Whoever is in sees all that was committed.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from graphveil.errors import IntegrityError, ParameterError, StorageError, StudyError
from graphveil.study import waiting
from graphveil.study.folder import OWNER_ONLY_FILE
from graphveil.study.ledger import Ledger, LedgerRow, require_chain
from graphveil.study.public.facts import Event, Fact

VERSION = 2  # of the tables below; since 2, machines and databases bear witness
LONGEST_NAME = 63  # that PostgreSQL keeps of a client
_LOGGED_AS = "graphveil"
# Where a pipeline logs everything, SQLAlchemy would write down the rows: true counts and noise.
logging.getLogger(f"sqlalchemy.engine.Engine.{_LOGGED_AS}").setLevel(logging.WARNING)

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
        return None if found is None else LedgerRow(*found)

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
        with _in_words():
            store = cls(_engine(_made(url)))
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
        with _in_words():
            store = cls(_engine(url))
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
        with _in_words(), self._connected() as connection:
            yield Reading(connection)

    @contextmanager
    def transaction(self, at: str | None = None) -> Iterator[Transaction]:
        """The one writer: waits for others, then commits at the end, unless something fails.

        Args:
            at: the time that its rows carry; by default that of its beginning. How long
                counting takes depends on the data, so no row tells when that was over.
        """
        with _in_words(), self.engine.begin() as connection, self._noted():
            yield Transaction(connection, at or now())

    def _noted(self) -> AbstractContextManager[None]:
        """Those who wait for this writer learn who it is; a server knows that itself."""
        if self.engine.dialect.name != "sqlite":
            return nullcontext()
        return waiting.noted(_note_beside(self.engine))

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


@contextmanager
def _in_words() -> Iterator[None]:
    """What a driver says, without its statements and values, which are secrets."""
    try:
        yield
    except exc.NoSuchModuleError as error:
        raise StorageError("this kind of database is not supported; use PostgreSQL.") from error
    except (exc.SQLAlchemyError, ModuleNotFoundError, UnicodeError) as error:
        cause = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise StorageError(
            f"the ledger database failed: {cause}. What was committed is safe; fix the cause, "
            "then run the command again."
        ) from error


def _made(url: str) -> str:
    """Make an SQLite file that only its owner may read, before anything is in it."""
    if url.startswith("sqlite:///"):
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(url.removeprefix("sqlite:///"), flags, OWNER_ONLY_FILE)
        os.fchmod(descriptor, OWNER_ONLY_FILE)  # its journal takes the same permissions
        os.close(descriptor)
    return url


def _engine(url: str) -> sa.Engine:
    if not url.startswith("sqlite:///"):
        return _postgresql(url)
    # Not parsed as a URL: the name of a folder may have a ? or % in it.
    place = sa.URL.create("sqlite", database=url.removeprefix("sqlite:///"))
    engine = _discreet(place, connect_args={"timeout": waiting.PATIENCE})
    sa.event.listen(engine, "connect", _sqlite_settings)
    sa.event.listen(engine, "begin", _sqlite_begin)
    return engine


def _discreet(url: str | sa.URL, **options: Any) -> sa.Engine:
    """An engine that shows no values, neither in errors nor in logs."""
    return sa.create_engine(
        url, poolclass=sa.NullPool, hide_parameters=True, logging_name=_LOGGED_AS, **options
    )


def _sqlite_settings(connection: Any, _: object) -> None:
    """Durable before it is reported; a truncated journal is synced too, a deleted one is not."""
    connection.isolation_level = None  # BEGIN is ours, see below
    for pragma in ("synchronous = FULL", "journal_mode = TRUNCATE", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _sqlite_begin(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("reading", False):
        connection.exec_driver_sql("BEGIN")
        return
    # SQLite itself would wait in silence, and hear no Ctrl-C meanwhile.
    connection.exec_driver_sql("PRAGMA busy_timeout = 0")
    note = _note_beside(connection.engine)
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


def _note_beside(engine: sa.Engine) -> Path:
    """Where the one writer of an SQLite database says who it is."""
    return Path(f"{engine.url.database}-writer")


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
    """Take the one lock of the schema, unless somebody else has it."""
    return bool(connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock({_KEY})").scalar())


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
