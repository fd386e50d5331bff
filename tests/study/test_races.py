"""Several processes at once: a step has one value, nobody loses a record, and all end well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from fault_runs import (
    Processes,
    Values,
    at,
    counted,
    look,
    memory,
    processes,
    request,
    require_whole,
    steps_told,
    strangers,
    twice,
)
from graphveil.errors import StorageError
from graphveil.records import from_rows
from graphveil.study import SeriesPromise, StoredStudy, publishing, stored_study
from graphveil.study.backends import AddOptions
from graphveil.study.folder import Folder
from graphveil.study.ledger import Ledger
from graphveil.study.public_part import PublishedText, published_text
from graphveil.study.reading import Reading
from studies import opened, people, released
from study_databases import new_database


@pytest.fixture(scope="module")
def fresh() -> Iterator[Processes]:
    with processes() as made:
        yield made


@pytest.mark.parametrize("many", [2, 8])
def test_all_publish_the_same_step(
    root: Path, database: str | None, fresh: Processes, many: int
) -> None:
    """Whoever comes later finds the step sealed; only one that begins later may seal the next."""
    opened(root, database, memory(root))
    seen: Values = {}
    ended = fresh.together([request(root, "publish")] * many)
    assert [each.kind for each in ended] == [None] * many, ended
    look(root, seen)
    assert twice(seen) == []
    assert 1 <= steps_told(root) <= 4
    require_whole(root)
    assert strangers(root, {"README.txt", "study.toml", "ledger.jsonl"}) == set()


def test_all_ask_for_one_step_by_name(root: Path, database: str | None, fresh: Processes) -> None:
    opened(root, database, memory(root))
    ended = fresh.together([request(root, "publish 2001")] * 8)
    assert [each.kind for each in ended] == [None] * 8, ended
    assert len({each.head for each in ended}) == 1  # each of them saw the same bytes at its end
    assert steps_told(root) == 1
    require_whole(root)


def test_adding_while_others_publish(root: Path, database: str | None, fresh: Processes) -> None:
    opened(root, database, memory(root))
    commands = ["publish 2001", "add", "publish 2001", "add"]
    ended = fresh.together([request(root, command) for command in commands])
    assert [each.kind for each in ended] == [None] * 4, ended
    at(root).publish(3)
    assert counted(root, "edges") == [1, 2, 2, 1]
    require_whole(root)


def test_withdrawing_while_others_publish(
    root: Path, database: str | None, fresh: Processes
) -> None:
    """Either the batch was there for the step or it was not; what is left belongs together."""
    opened(root, database, memory(root))
    commands = ["publish 2001", "withdraw"]
    ended = fresh.together([request(root, command) for command in commands])
    published, withdrawn = (each.kind for each in ended)
    assert published is None, ended
    assert withdrawn in (None, "StudyError"), ended  # who comes after the seal is refused
    at(root).publish(3)
    assert counted(root, "edges") == ([1, 2, 2, 1] if withdrawn else [0, 0, 0, 0])
    require_whole(root)


def test_opening_a_series_while_others_publish(
    root: Path, database: str | None, fresh: Processes
) -> None:
    opened(root, database, memory(root))
    commands = ["publish 2001", "series", "publish 2001"]
    ended = fresh.together([request(root, command) for command in commands])
    assert [each.kind for each in ended] == [None] * 3, ended
    at(root).publish(1)
    assert ("nodes", 1) in released(at(root))
    require_whole(root)


@pytest.mark.parametrize("meanwhile", ["add", "publish", "series", "withdraw"])
def test_what_was_prepared_too_early_is_prepared_again(
    root: Path, database: str | None, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """Another process is faster, after this one has counted and before it seals."""
    slow, other = opened(root, database, memory(root)), at(root)
    act: dict[str, Callable[[], object]] = {
        "add": lambda: other.add(people()),
        "publish": lambda: other.publish(0),
        "withdraw": lambda: other.withdraw(1),
        "series": lambda: other.open_series(
            SeriesPromise(name="nodes", statistic="nodes", epsilon="1/2")
        ),
    }
    plain, left = publishing.prepare, [act[meanwhile]]

    def interrupted(*arguments: object) -> publishing.Prepared:
        prepared = plain(*arguments)  # type: ignore[arg-type]
        if left:
            left.pop()()
        return prepared

    monkeypatch.setattr(publishing, "prepare", interrupted)
    slow.publish(0)
    assert steps_told(root) == 1
    assert counted(root, "edges") == ([0] if meanwhile == "withdraw" else [1])
    assert (("nodes", 0) in released(slow)) == (meanwhile == "series")
    require_whole(root)


def _something_public(study: StoredStudy, command: str) -> None:
    if command == "publish":
        study.publish()
    else:
        study.open_series(SeriesPromise(name="n", statistic="nodes", epsilon="1/2"))


@pytest.mark.parametrize("command", ["publish", "series"])
def test_what_is_announced_before_the_ledger_is_read_is_in_it(
    root: Path, database: str | None, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    reader, other = opened(root, database, memory(root)), at(root)
    left = [True]

    def looked(folder: Folder) -> PublishedText:
        public = published_text(folder)
        if left and left.pop():
            _something_public(other, command)
        return public

    monkeypatch.setattr(stored_study, "published_text", looked)
    assert reader.ledger().public_rows == published_text(reader.folder).rows


@pytest.mark.parametrize("command", ["publish", "series"])
def test_what_is_announced_after_the_ledger_was_read_is_no_alarm(
    root: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Only PostgreSQL lets somebody commit while another one still reads."""
    reader, other = opened(root, new_database(postgresql), memory(root)), at(root)
    plain, left = Reading.ledger, [True]

    def read(self: Reading) -> Ledger:
        found = plain(self)
        if left and left.pop():
            _something_public(other, command)
        return found

    monkeypatch.setattr(Reading, "ledger", read)
    assert len(reader.ledger().public_rows) < len(published_text(reader.folder).rows)


def end_sessions(url: str) -> None:
    """Do what a server does to sessions that idle for too long."""
    with sa.create_engine(url, poolclass=sa.NullPool).connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_writer_that_lost_its_lock_harms_nobody(root: Path, postgresql: str) -> None:
    """The server ends the session of a slow writer; another one adds; the slow one goes on."""
    url = new_database(postgresql)
    first, slow = opened(root, url, memory(root)), at(root)
    with pytest.raises(StorageError), slow.store.transaction() as transaction:  # noqa: PT012
        ledger = transaction.ledger()
        records = from_rows([("P9", 2001)], [])
        found = slow.backend.candidate(slow.stored(ledger), records, AddOptions())
        end_sessions(url)
        added = first.add(people())
        stored_study.store_batch(transaction, ledger, found)  # under the same number
    assert added.batch == 2
    assert [each.number for each in first.ledger().batches] == [1, 2]
    first.publish(3)
    assert counted(root, "edges") == [1, 2, 2, 1]
    require_whole(root)
