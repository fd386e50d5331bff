"""What the stores promise: durable, one writer, append-only, discreet, for their owner alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from graphveil.errors import IntegrityError, ParameterError, StorageError, StudyError
from graphveil.study import StoredStudy
from graphveil.study.facts import Event
from graphveil.study.reading import StoredSeries
from graphveil.study.store import Store
from studies import opened, promise
from study_databases import new_database


def scalar(store: Store, query: str) -> object:
    with store.engine.connect() as connection:
        return connection.exec_driver_sql(query).scalar()


@contextmanager
def statements(store: Store) -> Iterator[list[str]]:
    """The statements that reach the driver meanwhile."""
    found: list[str] = []

    def note(_: object, __: object, statement: str, *more: object) -> None:
        found.append(statement)

    sa.event.listen(store.engine, "before_cursor_execute", note)
    yield found
    sa.event.remove(store.engine, "before_cursor_execute", note)


def test_sqlite_is_synced_before_anybody_is_told(root: Path) -> None:
    store = opened(root).store
    assert scalar(store, "PRAGMA synchronous") == 2  # FULL
    assert scalar(store, "PRAGMA journal_mode") == "truncate"
    assert scalar(store, "PRAGMA foreign_keys") == 1


def test_sqlite_lets_one_writer_in_from_the_start(root: Path) -> None:
    study = opened(root)
    with statements(study.store) as found:
        study.publish()
    assert [each for each in found if each.startswith("BEGIN")].count("BEGIN IMMEDIATE") == 1
    writes = next(n for n, each in enumerate(found) if each.startswith(("INSERT", "UPDATE")))
    assert "BEGIN IMMEDIATE" in found[:writes]


def test_postgresql_lets_one_writer_in_from_the_start(root: Path, postgresql: str) -> None:
    study = opened(root, new_database(postgresql))
    with statements(study.store) as found:
        study.withdraw(1)
    lock = next(n for n, each in enumerate(found) if "pg_try_advisory_xact_lock" in each)
    assert "SET LOCAL synchronous_commit = on" in found[:lock]
    assert any("READ COMMITTED" in each for each in found[:lock])
    assert not [each for each in found[:lock] if each.startswith(("INSERT", "UPDATE"))]


def test_writers_wait_for_each_other_whatever_the_server_prefers(
    root: Path, postgresql: str
) -> None:
    """With a serializable default a writer would look before it waits."""
    url = new_database(postgresql)
    with sa.create_engine(url, poolclass=sa.NullPool).begin() as connection:
        name = sa.make_url(url).database
        connection.exec_driver_sql(
            f"ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'"
        )
    study = opened(root, url)
    with study.store.transaction() as transaction:
        level = transaction._connection.exec_driver_sql("SHOW transaction_isolation").scalar()
    assert level == "read committed"
    assert study.publish().steps == [0]


def _release_again(study: StoredStudy) -> None:
    with study.store.transaction() as transaction:
        row = transaction.append(Event.RELEASE_MADE, private={})
        transaction.enter_release("edges", 0, row)


def test_a_second_release_of_a_step_is_impossible_by_hand(root: Path, database: str | None) -> None:
    study = opened(root, database)
    study.publish()
    before = study.ledger()
    with pytest.raises(StorageError, match=r"(?i)unique"):
        _release_again(study)
    assert study.ledger() == before  # the row that was entered with it is gone as well


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO ledger SELECT * FROM ledger WHERE number = 0",
        "INSERT INTO releases SELECT * FROM releases WHERE step = 0",
        "INSERT INTO series SELECT * FROM series",
        "INSERT INTO releases VALUES ('nobody', 7, 0)",
        "INSERT INTO releases VALUES ('edges', 7, 999)",
    ],
)
def test_the_tables_themselves_refuse(root: Path, database: str | None, statement: str) -> None:
    study = opened(root, database)
    study.publish()
    with pytest.raises(sa.exc.IntegrityError), study.store.engine.begin() as connection:
        connection.exec_driver_sql(statement)


def test_a_row_changed_by_hand_is_noticed(root: Path, database: str | None) -> None:
    study = opened(root, database)
    study.publish()
    with study.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE ledger SET at = '2001-01-01T00:00:00Z' WHERE number = 1")
    with pytest.raises(IntegrityError, match="row 1"):
        study.publish()


def _begin_and_fail(study: StoredStudy) -> None:
    with study.store.transaction() as transaction:
        transaction.append(Event.REFUSAL, private={})
        transaction.open_series("ghost", StoredSeries("{}", "{}"))
        raise ZeroDivisionError


def test_a_failed_transaction_leaves_no_trace(root: Path, database: str | None) -> None:
    study = opened(root, database)
    before = study.ledger()
    with pytest.raises(ZeroDivisionError):
        _begin_and_fail(study)
    assert study.ledger() == before
    with study.store.reading() as committed:
        assert "ghost" not in committed.series()


def test_a_database_of_a_newer_version(root: Path, database: str | None) -> None:
    with opened(root, database).store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE about SET value = '3' WHERE key = 'version'")
    before = (root / "public" / "ledger.jsonl").read_bytes()
    with pytest.raises(StudyError, match="the ledger database has format 3"):
        StoredStudy.at(root).publish()
    assert (root / "public" / "ledger.jsonl").read_bytes() == before


def test_a_missing_database_is_not_made_anew(root: Path) -> None:
    study = opened(root)
    study.folder.database.unlink()
    with pytest.raises(StorageError, match="missing from the private folder"):
        StoredStudy.at(root).publish()
    assert not study.folder.database.exists()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to look" * 99])
def test_a_file_that_is_no_ledger(root: Path, content: bytes) -> None:
    study = opened(root)
    study.folder.database.write_bytes(content)
    with pytest.raises(StorageError, match="ledger database"):
        StoredStudy.at(root).publish()


def test_one_database_is_one_study(root: Path, postgresql: str) -> None:
    url = new_database(postgresql)
    opened(root / "first", url)
    with pytest.raises(StudyError, match="already holds a study"):
        StoredStudy.create(root / "second", promise(), database=url)
    assert not (root / "second" / "public" / "study.toml").exists()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://steward:hunter2@127.0.0.1:1/none",
        "postgresql+psycopg://steward:hunter2@127.0.0.1:1/none",
        "mysql://steward:hunter2@127.0.0.1/none",
        "postgresql://steward:hunter2@127.0.0.1:port/none",
        "postgresql://steward:my@hunter2@127.0.0.1:1/none",
        "postgresql://steward:x@h:hunter2@127.0.0.1:1/none",
        "steward:hunter2",
    ],
)
def test_a_password_is_never_shown(root: Path, url: str) -> None:
    with pytest.raises((StorageError, ParameterError)) as caught:
        StoredStudy.create(root, promise(), database=url)
    assert "hunter2" not in str(caught.value)
    with pytest.raises((StorageError, ParameterError)) as caught:
        Store.connect(url)
    assert "hunter2" not in str(caught.value)


def test_a_server_that_is_gone_for_a_while(root: Path, postgresql: str) -> None:
    study = opened(root, new_database(postgresql))
    elsewhere = study.folder.private / "store.toml"
    right = elsewhere.read_text()
    elsewhere.write_text('url = "postgresql://steward:hunter2@127.0.0.1:1/none"\n')
    with pytest.raises(StorageError, match="run the command again"):
        StoredStudy.at(root).publish()
    elsewhere.write_text(right)
    assert StoredStudy.at(root).publish().steps == [0]


def test_only_the_owner_can_look_into_the_private_part(root: Path, database: str | None) -> None:
    usual = os.umask(0)  # the most careless of all users
    try:
        study = opened(root, database)
        study.publish(1)
        with study.store.transaction():  # the journal of SQLite is there meanwhile
            modes = {path: path.stat().st_mode & 0o777 for path in (root / "private").rglob("*")}
    finally:
        os.umask(usual)
    assert {oct(mode) for path, mode in modes.items() if path.is_dir()} == {"0o700"}
    assert {oct(mode) for path, mode in modes.items() if path.is_file()} == {"0o600"}
    assert (root / "private").stat().st_mode & 0o777 == 0o700
    assert len(modes) >= 9
    public = [path.stat().st_mode & 0o777 for path in (root / "public").iterdir()]
    assert {oct(mode) for mode in public} == {"0o644"}


@pytest.mark.parametrize("name", ["what now?", "100% sure", "a#b", "käse mit löchern"])
def test_folders_may_have_any_name(tmp_path: Path, name: str) -> None:
    study = opened(tmp_path / name)
    assert study.publish().steps == [0]
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert study.folder.database.stat().st_size > 0


def test_a_half_made_study_does_not_remember_another_database(root: Path) -> None:
    """Somebody began with PostgreSQL, was interrupted, and begins again without."""
    with pytest.raises(StorageError):
        StoredStudy.create(root, promise(), database="postgresql://127.0.0.1:1/none")
    assert StoredStudy.create(root, promise()).store.engine.dialect.name == "sqlite"


def test_time_may_go_backwards(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the ledger is the order of its rows, whatever the clock says."""
    from datetime import UTC, datetime, timedelta

    from graphveil.study import store
    from graphveil.study.verification import verify

    class Backwards(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Backwards:
            return cls(2030, 1, 1, tzinfo=UTC) - timedelta(days=next(days))

    days = iter(range(1000))
    monkeypatch.setattr(store, "datetime", Backwards)
    study = opened(root)
    study.publish(1)
    stamps = [row.at for row in study.ledger().rows]
    assert stamps == sorted(stamps, reverse=True)
    assert list(verify(study))


def test_a_server_that_does_not_answer_leaves_no_folder_behind(root: Path) -> None:
    with pytest.raises(StorageError):
        StoredStudy.create(root, promise(), database="postgresql://nobody@127.0.0.1:1/nothing")
    assert not root.exists()
