"""SQL: how writers reach a database one at a time, and the one transaction that enters rows.

Writers wait for each other: by BEGIN IMMEDIATE in SQLite, by an advisory lock in PostgreSQL. A
writer that waits long gets a message about who holds the lock.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import sqlalchemy as sa
from sqlalchemy import exc

from graphveil.errors import ParameterError, StorageError, StudyError
from graphveil.study.facts import Event, Fact
from graphveil.study.folder import (
    PATIENCE,
    SOMEBODY,
    noted_holder,
    running_command,
    wait_for,
)
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.reading import KEPT, VERSION, Reading, StoredSeries
from graphveil.study.store import SQLITE, note_beside, sqlite_settings

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
    engine = _discreet(place, connect_args={"timeout": PATIENCE})
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
    wait_for(partial(_begun, connection), partial(noted_holder, note))
    connection.exec_driver_sql(f"PRAGMA busy_timeout = {PATIENCE * 1000:.0f}")


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
    name = f"{running_command()}, process {os.getpid()} on {socket.gethostname()}"
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
    wait_for(partial(_let_in, connection), partial(_holder, connection))


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
        holder = connection.exec_driver_sql(_WHO_HOLDS).first()
    except exc.DBAPIError:
        holder = None
    connection.exec_driver_sql("ROLLBACK TO SAVEPOINT looking")
    return SOMEBODY if holder is None else " ".join(str(part) for part in holder if part)


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


# The schema on a PostgreSQL server: all that it has of graphveil's tables, and nothing besides.
#
# A trigger can change what is entered, a child table or a policy what is read, a table that is
# not logged forgets at a crash. So everything that the server knows of a table is listed, as
# words, and compared with what graphveil makes; what is not foreseen here is a difference, too.


Features = dict[str, set[str]]

_OURS = """
WITH ours AS (
    SELECT oid, relname, relkind::text, relpersistence::text, relrowsecurity
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%(ours)s)
)
"""
_FEATURES = (
    """
    SELECT relname, relkind || relpersistence || CASE WHEN relrowsecurity THEN
        ' with row security' ELSE '' END
    FROM ours
    """,
    """
    SELECT relname, 'column ' || attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attnotnull THEN ' not null' ELSE '' END
        || CASE WHEN atthasdef OR attidentity <> '' OR attgenerated <> '' THEN
            ' made by itself' ELSE '' END
    FROM ours JOIN pg_attribute ON attrelid = ours.oid
    WHERE attnum > 0 AND NOT attisdropped
    """,
    """
    SELECT relname, CASE contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique'
        WHEN 'f' THEN 'foreign key to ' || confrelid::regclass::text
        ELSE 'constraint ' || conname END
        || ' (' || (
            SELECT string_agg(attname, ', ' ORDER BY place)
            FROM unnest(conkey) WITH ORDINALITY AS named (number, place)
            JOIN pg_attribute ON attrelid = conrelid AND attnum = number
        ) || ')' || CASE WHEN convalidated AND NOT condeferred THEN '' ELSE ', loosely' END
    FROM ours JOIN pg_constraint ON conrelid = ours.oid
    WHERE contype <> 'n' -- newer servers list NOT NULL here as well
    """,
    """
    SELECT relname, 'index ' || indexrelid::regclass::text
    FROM ours JOIN pg_index ON indrelid = ours.oid
    WHERE NOT EXISTS (
        SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u')
    )
    """,
    """
    SELECT relname, 'trigger ' || tgname || CASE WHEN tgisinternal THEN ', switched off' ELSE '' END
    FROM ours JOIN pg_trigger ON tgrelid = ours.oid
    WHERE NOT tgisinternal OR tgenabled <> 'O'
    """,
    "SELECT relname, 'rule ' || rulename FROM ours JOIN pg_rewrite ON ev_class = ours.oid",
    "SELECT relname, 'policy ' || polname FROM ours JOIN pg_policy ON polrelid = ours.oid",
    """
    SELECT relname, 'relative ' || CASE WHEN inhparent = ours.oid THEN inhrelid ELSE inhparent END
        ::regclass::text
    FROM ours JOIN pg_inherits ON ours.oid IN (inhparent, inhrelid)
    """,
)


def difference(connection: sa.Connection, tables: sa.MetaData) -> str | None:
    """The first difference from what graphveil makes, in words; None if there is none."""
    actual = _found(connection, list(tables.tables))
    for table in tables.sorted_tables:
        required, made = set(_required(table)), actual[table.name]
        stranger = min(made - required - _allowed(table), default=None)
        if required - made:
            return f"table '{table.name}' is not as graphveil makes it"
        if stranger is not None:
            return f"{stranger}, of table '{table.name}', is none of graphveil's"
    return None


def _found(connection: sa.Connection, names: list[str]) -> Features:
    """What the server knows of each table."""
    features: Features = {name: set() for name in names}
    for query in _FEATURES:
        for table, feature in connection.exec_driver_sql(_OURS + query, {"ours": names}):
            features[table].add(feature)
    return features


def _required(table: sa.Table) -> Iterator[str]:
    """What graphveil makes of a table."""
    yield "rp"  # an ordinary table, which is logged
    for column in table.columns:
        kind = str(column.type).lower()
        yield f"column {column.name} {kind}{'' if column.nullable else ' not null'}"
        if column.unique:
            yield f"unique ({column.name})"
        for key in column.foreign_keys:
            yield f"foreign key to {key.column.table.name} ({column.name})"
    yield f"primary key ({', '.join(each.name for each in table.primary_key)})"


def _allowed(table: sa.Table) -> set[str]:
    """What it may have as well: it only makes reading faster."""
    return {f"index {each.name}" for each in table.indexes}


# The tables of a study, and the one writer who enters rows into them.


TABLES = sa.MetaData()
_ABOUT = sa.Table(
    "about", TABLES, sa.Column("key", sa.Text, primary_key=True), sa.Column("value", sa.Text)
)
_LEDGER = sa.Table(
    "ledger",
    TABLES,
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
    TABLES,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)
# The last line of defence: whatever a program does, a step of a series is entered once.
_RELEASES = sa.Table(
    "releases",
    TABLES,
    sa.Column("series", sa.Text, sa.ForeignKey("series.name"), primary_key=True),
    sa.Column("step", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("row", sa.Integer, sa.ForeignKey("ledger.number"), nullable=False),
)


@dataclass(frozen=True)
class SqlSource:
    """A connection of SQLAlchemy, to whatever database."""

    connection: sa.Connection

    def ask(self, query: str, /, **values: Any) -> Sequence[Sequence[Any]]:
        """The rows that answer a query."""
        return self.connection.execute(sa.text(query), values).all()

    def home(self) -> str | None:
        """Which tables these are."""
        return _home(self.connection)


class Transaction(Reading):
    """The one writer's view; all of it is committed together, or none.

    Nobody else writes meanwhile, so the ledger is read once, and grows by what is entered.
    """

    def __init__(self, connection: sa.Connection, at: str) -> None:
        super().__init__(SqlSource(connection))
        self._connection = connection
        self._at = at
        self._found: Ledger | None = None
        self._entered: list[LedgerRow] = []

    def ledger(self) -> Ledger:
        """All rows, those included that this transaction has entered."""
        if self._found is None:
            self._found, self._entered = super().ledger(), []
        return self._found.followed_by(self._entered)

    def resume(self, known: Ledger) -> None:
        """Take rows that were read and checked before, if they are still all there is."""
        if known.last is not None and self.last_hash() == known.last.hash:
            self._found = known

    def append(self, what: Fact | Event, *, private: dict[str, Any]) -> LedgerRow:
        """Append an event to the ledger: a fact to publish, or the kind of an unpublished event.

        Args:
            what: the fact to publish; for an event that is not published, its kind.
            private: the unpublished part.
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
        self.enter(row)
        return row

    def enter(self, row: LedgerRow) -> None:
        """Enter a row that was made to follow the last one."""
        self._connection.execute(sa.insert(_LEDGER).values(**asdict(row)))
        self._entered.append(row)

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

    def keep_beside(self, engine: str, entry: str) -> None:
        """Store the checkpoint of an engine beside the rows, in the same transaction."""
        _say(self._connection, f"{KEPT}{engine}", entry)


def make_tables(connection: sa.Connection) -> None:
    """Make what is missing; what a killed process made already is as good."""
    if sa.inspect(connection).has_table("ledger"):
        if connection.execute(sa.select(sa.func.count()).select_from(_LEDGER)).scalar_one():
            raise StudyError(
                "the database already holds a study. One database (or one schema of it) is one "
                "study: choose another."
            )
        return
    TABLES.create_all(connection)
    _say(connection, "version", str(VERSION))
    _say(connection, "home", _home(connection))


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
