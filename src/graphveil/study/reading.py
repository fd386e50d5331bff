"""Reading: what was committed, at one moment, asked in plain SQL that every database understands.

Most commands only look. SQLite answers them by the standard library; who writes, or keeps a study
on a server, does so through SQLAlchemy, which takes longer to import than a look does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from graphveil.errors import IntegrityError, ParameterError, require_known_format
from graphveil.study.facts import Event
from graphveil.study.ledger import Ledger, LedgerRow, require_chain

if TYPE_CHECKING:
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.series.state import SeriesState

VERSION = 2  # of the tables
WITNESSED = 2  # the version since which machines and databases bear witness
_ROW = "SELECT number, at, event, public, private, salt, hash FROM ledger"
KEPT = "kept by "  # before the name of an engine, in the table `about`
_NEWEST = "ORDER BY number DESC LIMIT 1"
# Whatever plain data of another form can lead to.
UNREADABLE = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError,
    ParameterError,
)  # fmt: skip
Read = TypeVar("Read")


@dataclass(frozen=True)
class StoredSeries:
    """A series as it is stored: its plan, and its state, which is a secret."""

    plan: str
    state: str = field(repr=False)

    @classmethod
    def found(cls, name: object, plan: object, state: object) -> StoredSeries:
        """A series from the columns of a database, which may contain anything."""
        if isinstance(name, str) and isinstance(plan, str) and isinstance(state, str):
            return cls(plan, state)
        raise IntegrityError(
            "the table of series in the ledger database holds something else than text. Restore "
            "the newest backup of the private folder."
        )


class EntriesOfSeries(NamedTuple):
    """What the list of releases has of one series.

    Attributes:
        releases: how many, each of another step.
        first: the first step.
        last: the last step.
        row: the number of the newest row.
    """

    releases: int
    first: int
    last: int
    row: int


class Source(Protocol):
    """A connection that sees one moment."""

    def ask(self, query: str, /, **values: Any) -> Sequence[Sequence[Any]]:
        """The rows that answer a query, in which each value is named by a colon."""

    def home(self) -> str | None:
        """Which tables these are, by what a copy cannot share with them; None of SQLite."""


class Reading:
    """What was committed, at one moment."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def ledger(self) -> Ledger:
        """All rows; refuses a broken chain."""
        stored = self._source.ask(f"{_ROW} ORDER BY number")
        rows = tuple(LedgerRow.stored(*row) for row in stored)
        require_chain(rows)
        return Ledger(rows, self._beside())

    def _beside(self) -> dict[str, str]:
        """The checkpoint that each engine stored, as JSON."""
        stored = self._source.ask("SELECT key, value FROM about")
        texts = [(key, value) for key, value in stored if isinstance(key, str)]
        return {
            key.removeprefix(KEPT): value
            for key, value in texts
            if key.startswith(KEPT) and isinstance(value, str)
        }

    def last_hash(self) -> str | None:
        """The hash of the newest row."""
        return self._text(f"SELECT hash FROM ledger {_NEWEST}")

    def hash_of(self, number: int) -> str | None:
        """The hash of a row; None if there is no such row."""
        return self._text("SELECT hash FROM ledger WHERE number = :number", number=number)

    def newest(self, *events: Event) -> LedgerRow | None:
        """The newest row, or that of some kinds."""
        kinds = {f"kind_{place}": event.value for place, event in enumerate(events)}
        listed = ", ".join(f":{each}" for each in kinds)
        return self._newest(f"WHERE event IN ({listed})" if kinds else "", **kinds)

    def newest_told(self) -> LedgerRow | None:
        """The newest row that is published."""
        return self._newest("WHERE public IS NOT NULL")

    def _newest(self, which: str, **values: Any) -> LedgerRow | None:
        stored = self._source.ask(f"{_ROW} {which} {_NEWEST}", **values)
        return LedgerRow.stored(*stored[0]) if stored else None

    def is_witnessed(self) -> bool:
        """Whether it was written by a graphveil that lets machines and databases bear witness."""
        return self.version() >= WITNESSED

    def version(self) -> int:
        """The version of the tables; refuses one that is older than when the study was opened.

        One changed cell would otherwise let every copy pass for a study without a witness.
        """
        found = _version(self.about("version"))
        opened = self._newest("WHERE number = 0")
        sealed = opened.secret.get("version", 0) if opened else 0  # which the first ones lack
        if isinstance(sealed, int) and found < sealed:
            raise IntegrityError(
                f"the ledger database says that it has version {found}, but the study was opened "
                f"with version {sealed}: a cell was changed. Restore the newest backup of the "
                "private folder."
            )
        return found

    def is_at_home(self) -> bool | None:
        """Whether the tables are where they were opened; None for SQLite, which does not know."""
        home = self._source.home()
        return None if home is None else home == self.about("home")

    def about(self, key: str) -> str | None:
        """An entry of the table `about`, by key."""
        return self._text("SELECT value FROM about WHERE key = :key", key=key)

    def series(self) -> dict[str, StoredSeries]:
        """Every series by name."""
        stored = self._source.ask("SELECT name, plan, state FROM series")
        return {name: StoredSeries.found(name, plan, state) for name, plan, state in stored}

    def releases(self) -> frozenset[tuple[str, int, int]]:
        """Series, step and row of every release that was entered."""
        stored = self._source.ask('SELECT series, step, "row" FROM releases')
        return frozenset((series, step, row) for series, step, row in stored)

    def entries(self) -> dict[str, EntriesOfSeries]:
        """The ends of the list of releases, by series."""
        stored = self._source.ask(
            'SELECT series, count(*), min(step), max(step), max("row") FROM releases '
            "GROUP BY series"
        )
        return {name: EntriesOfSeries(*entries) for name, *entries in stored}

    def _text(self, query: str, **values: Any) -> str | None:
        stored = self._source.ask(query, **values)
        return stored[0][0] if stored else None


@dataclass(frozen=True)
class SqliteSource:
    """An SQLite file, by the standard library's own driver."""

    connection: Any  # of sqlite3, whose stubs let `execute` take anything

    def ask(self, query: str, /, **values: Any) -> Sequence[Sequence[Any]]:
        """The rows that answer a query."""
        rows: list[Sequence[Any]] = self.connection.execute(query, values).fetchall()
        return rows

    def home(self) -> str | None:
        """SQLite knows nothing of where it is."""
        return None


def _version(stored: object) -> int:
    """The version of the tables; the stored value may be anything."""
    if isinstance(stored, str) and re.fullmatch("[1-9][0-9]{0,8}", stored):
        return int(stored)
    raise IntegrityError(
        "the ledger database does not say which version it has. Restore the newest backup of the "
        "private folder."
    )


def plan_of(name: str, stored: StoredSeries) -> Plan:
    """How a series is published, as it was decided when it was opened."""
    from graphveil.mechanisms.planning.plan import Plan

    return _read(Plan.from_dict, name, "plan", stored.plan)


def state_of(name: str, stored: StoredSeries) -> SeriesState:
    """The state of a series; a secret."""
    return _read(_sound_state, name, "state", stored.state)


def _sound_state(data: dict[str, Any]) -> SeriesState:
    from graphveil.series.state import FORMAT, SeriesState

    require_known_format("the state of a series", data.get("format"), FORMAT)
    state = SeriesState.from_dict(data)
    places = (state.step, state.epoch, state.epoch_start)
    asked = () if state.asked is None else (state.asked,)
    numbers = (*places, *asked, *state.totals, *(each for drawn in state.noise for each in drawn))
    lengths = {len(drawn) for drawn in state.noise}
    if any(type(each) is not int for each in numbers) or len(lengths) > 1:
        raise ValueError("not a state")
    return state


def _read(read: Callable[[dict[str, Any]], Read], name: str, part: str, text: str) -> Read:
    try:
        return read(json.loads(text))
    except UNREADABLE as error:
        raise IntegrityError(
            f"series '{name}': its {part} in the ledger database cannot be read. Restore the "
            "newest backup of the private folder."
        ) from error
