"""The transaction: the tables of a study, and the one writer who enters rows into them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import sqlalchemy as sa

from graphveil.errors import StudyError
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.public.facts import Event, Fact
from graphveil.study.storage.reading import KEPT, VERSION, Reading, StoredSeries

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
