"""A held lock: after two seconds those who wait are told who holds it, and go on waiting."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from graphveil.errors import StorageError
from graphveil.study import StoredStudy, folder
from studies import opened

HERE = f"process {os.getpid()} on {socket.gethostname()}"


class Clock:
    """Time that passes only while somebody sleeps, and stands still while something happens."""

    def __init__(self) -> None:
        self.now = 0.0
        self.at: dict[float, Callable[[], None]] = {}

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for moment in [moment for moment in self.at if moment <= self.now]:
            self.at.pop(moment)()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(folder, "time", made)
    return made


@contextmanager
def held(study: StoredStudy, lock: str, clock: Clock, until: float | None = None) -> Iterator[None]:
    """Another thread, with a connection of its own, holds a lock, and has let go at a moment."""
    taken, told = Event(), Event()

    def hold() -> None:
        with study.store.transaction() if lock == "the ledger" else study.folder.lock():
            taken.set()
            told.wait(60)

    def let_go() -> None:
        told.set()
        thread.join()

    thread = Thread(target=hold)
    thread.start()
    if until is not None:
        clock.at[until] = let_go
    assert taken.wait(60)
    try:
        yield
    finally:
        let_go()


@pytest.mark.parametrize("lock", ["the ledger", "the public part"])
def test_who_waits_is_told_who_is_in_the_way_and_goes_on(
    root: Path, database: str | None, lock: str, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    study = opened(root, database)
    with held(study, lock, clock, until=5.0), caplog.at_level(logging.WARNING):
        assert study.publish().steps == [0]
    assert 5.0 <= clock.now < 60
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 1, messages
    assert HERE in messages[0]
    assert "since 20" in messages[0]


def test_nobody_is_told_before_two_seconds(
    root: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    study = opened(root)
    with held(study, "the ledger", clock, until=1.9), caplog.at_level(logging.WARNING):
        study.publish()
    assert not caplog.records


@pytest.mark.parametrize("lock", ["the ledger", "the public part"])
def test_patience_ends_and_says_so(
    root: Path, database: str | None, lock: str, clock: Clock
) -> None:
    study = opened(root, database)
    with (
        held(study, lock, clock),
        pytest.raises(StorageError, match=f"still held by .*{HERE}.*, after 120 seconds"),
    ):
        study.publish()
    assert study.publish().steps == ([0] if lock == "the ledger" else [])


def test_a_note_that_nobody_can_read_is_somebodys(tmp_path: Path) -> None:
    note = tmp_path / "note"
    assert folder.noted_holder(note) == "another process"
    for content in (b"", b"\xff", b"[1]", b'{"pid": 1}', b"[" * 100_000):
        note.write_bytes(content)
        assert folder.noted_holder(note) == "another process"


def test_a_note_is_gone_with_its_holder(root: Path) -> None:
    study = opened(root)
    study.publish()
    assert not [path for path in root.rglob("*") if "holder" in path.name or "writer" in path.name]


def test_a_note_names_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["/usr/bin/graphveil", "add", "study", "patients.csv"]
    monkeypatch.setattr("sys.argv", command)
    assert folder.running_command() == "graphveil add"
