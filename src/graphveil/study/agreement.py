"""Agreement: the tables beside the ledger hold what the ledger's newest rows commit to.

The chain of hashes covers the rows alone. Plans, states (which hold the noise of the future) and
the list of releases lie in tables of their own, where a damaged cell would be drawn from like any
other. So every writer compares them with the chain, inside its transaction and before it counts,
draws or writes anything; `graphveil verify` does the same, and looks at every release.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import sqlalchemy as sa

from graphveil.errors import IntegrityError
from graphveil.series import state as states
from graphveil.study import sql as server_schema
from graphveil.study.chain import canonical, digest
from graphveil.study.facts import Event
from graphveil.study.ledger import Ledger, LedgerRow
from graphveil.study.reading import EntriesOfSeries, Reading, StoredSeries

Releases = frozenset[tuple[str, int, int]]
Found = TypeVar("Found")
_RENEWING = frozenset((Event.STUDY_ADOPTED.value, Event.STUDY_EXTENDED.value))
RESTORE = "Restore the newest backup of the private folder."


class Commitment(NamedTuple):
    """What a stored text has to be, according to a row.

    Attributes:
        row: which says it.
        sha256: of the text.
    """

    row: LedgerRow
    sha256: str


def require_agreement(reading: Reading) -> None:
    """Refuse to go on with tables that the newest rows of the ledger do not commit to.

    What it costs does not grow with the number of releases, but for one look at their index.
    """
    ledger = reading.ledger()
    require_series(ledger, reading.series())
    _require_entries(ledger, reading.entries())


def require_series(ledger: Ledger, stored_series: Mapping[str, StoredSeries]) -> None:
    """Refuse plans and states that differ from those that the ledger commits to."""
    plans, stated = committed_plans(ledger), committed_states(ledger)
    for name in plans.keys() ^ stored_series.keys():
        raise unsound(f"series '{name}' is in the ledger or in the table of series, but not both")
    for name, stored in stored_series.items():
        _require_same("plan", name, stored.plan, plans[name])
        _require_same("state", name, stored.state, stated[name])


def _require_same(part: str, name: str, stored: str, said: Commitment) -> None:
    if digest(stored) != said.sha256:
        raise IntegrityError(
            f"{said.row.place}: the stored {part} of series '{name}' is not the one that this row "
            f"commits to. Nothing was changed or published. {RESTORE}"
        )


def committed_plans(ledger: Ledger) -> dict[str, Commitment]:
    """The newest plan of each series; an extension and an adoption renew it."""
    plans = {
        name: Commitment(row, _of(row, lambda row: row.secret["plan"]))
        for name, (row, _) in _opened(ledger).items()
    }
    for row in ledger.rows:
        if row.event in _RENEWING:
            plans |= _renewed(row, "plans")
    return plans


def committed_states(ledger: Ledger) -> dict[str, Commitment]:
    """The newest state of each series: after its last release, or renewed, or its first one."""
    opened, newest = _opened(ledger), dict[str, Commitment]()
    for row in reversed(ledger.rows):
        if opened.keys() <= newest.keys() or row.event == Event.STUDY_OPENED:
            break
        for name, commitment in _states_of(row).items():
            newest.setdefault(name, commitment)
    first = {name: Commitment(row, _first_state(width)) for name, (row, width) in opened.items()}
    return first | newest


def _opened(ledger: Ledger) -> dict[str, tuple[LedgerRow, int]]:
    """Every series by name: the row that opened it, and how many numbers it publishes at once."""
    rows = ledger.of(Event.SERIES_OPENED)
    return {each.series: (row, each.width) for row, each in zip(rows, ledger.series, strict=True)}


def _first_state(width: int) -> str:
    """The SHA-256 of a state in which nothing is drawn yet."""
    return digest(canonical(states.first(width).to_dict()))


def _states_of(row: LedgerRow) -> dict[str, Commitment]:
    """The states that one row commits to, by series."""
    if row.event == Event.RELEASE_MADE:  # the last of its transaction states what was stored
        return {_of(row, _series): Commitment(row, row.secret.get("state", "none"))}
    return _renewed(row, "states") if row.event == Event.STUDY_ADOPTED else {}


def _renewed(row: LedgerRow, part: str) -> dict[str, Commitment]:
    said = _of(row, lambda row: dict(row.secret[part]))
    return {name: Commitment(row, sha256) for name, sha256 in said.items()}


def _series(row: LedgerRow) -> str:
    return str(row.fact["series"])


def _of(row: LedgerRow, part: Callable[[LedgerRow], Found]) -> Found:
    """A part of a row, where a forger may have put anything."""
    try:
        return part(row)
    except (LookupError, TypeError, ValueError) as error:
        raise IntegrityError(f"{row.place}: does not say what was stored. {RESTORE}") from error


def _require_entries(ledger: Ledger, found: Mapping[str, EntriesOfSeries]) -> None:
    """Refuse a list of releases with other steps, or another end, than the ledger has."""
    made = {each.series: each for each in ledger.series if each.releases}
    rows = {_of(row, _series): row.number for row in _last_releases(ledger)}
    expected = {
        name: EntriesOfSeries(len(each.releases), each.first_step, each.releases[-1].step, row)
        for name, row in rows.items()
        if (each := made.get(name)) is not None
    }
    if expected != found:
        raise unsound("the table of releases does not list those of the ledger")


def _last_releases(ledger: Ledger) -> list[LedgerRow]:
    """The rows of the last step that was sealed; every series has one, once it has any."""
    last: list[LedgerRow] = []
    for row in reversed(ledger.rows):
        if row.event == Event.STEP_SEALED:
            break
        if row.event == Event.RELEASE_MADE:
            last.append(row)
    return last


def require_all_releases(ledger: Ledger, releases: Releases) -> None:
    """Refuse a list of releases that does not follow from the ledger, row by row."""
    made: set[Any] = {
        (row.fact["series"], row.fact["step"], row.number) for row in ledger.of(Event.RELEASE_MADE)
    }
    for name, step, row in made ^ releases:
        raise unsound(
            f"the release of '{name}' at step {step} (row {row}) is in the ledger or in the table "
            "of releases, but not both"
        )


def unsound(problem: str) -> IntegrityError:
    """The message about a database that contradicts itself or the ledger."""
    return IntegrityError(f"the ledger database: {problem}. {RESTORE}")


# Soundness of the ledger database: its own consistency.
#
# What neither the chain of hashes nor `agreement` covers: pages and indexes of the file, keys
# and constraints, and triggers that somebody added.


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
        raise unsound("SQLite finds it damaged (integrity_check)")
    if connection.exec_driver_sql("PRAGMA foreign_key_check").first() is not None:
        raise unsound("a row refers to another that does not exist (foreign_key_check)")


def _require_sqlite_schema(connection: sa.Connection, tables: sa.MetaData) -> None:
    """Every table as graphveil makes it; and nothing else, but indexes of its own."""
    actual, expected = _sqlite_schema(connection), _expected_sqlite_schema(tables)
    for name, made in expected.items():
        if made[0] == "table" and actual.get(name) != made:
            raise unsound(f"table '{name}' is not as graphveil makes it")
    for name, entry in actual.items():
        if expected.get(name) != entry:
            raise unsound(f"{entry[0]} '{name}' is none of graphveil's")


def _sqlite_schema(connection: sa.Connection) -> dict[str, tuple[str, str]]:
    """Kind and definition of everything in the file, by name; blanks do not matter."""
    query = "SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    rows = connection.exec_driver_sql(query).all()
    return {str(name): (str(kind), re.sub(r"\s+", " ", str(sql))) for name, kind, sql in rows}


def _expected_sqlite_schema(tables: sa.MetaData) -> dict[str, tuple[str, str]]:
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.begin() as connection:
        tables.create_all(connection)
        schema = _sqlite_schema(connection)
    engine.dispose()
    return schema


def _require_server_schema(connection: sa.Connection, tables: sa.MetaData) -> None:
    difference = server_schema.difference(connection, tables)
    if difference is not None:
        raise unsound(difference)
