"""The disk fills up, breaks or turns read-only at every effect: plain words, and nothing lost."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from fault_benches import every_fault
from fault_runs import (
    Processes,
    Template,
    Values,
    at,
    counted,
    look,
    memory,
    processes,
    require_whole,
    steps_told,
    strangers,
    twice,
)
from faults import ERRORS, Fault, Watch, install
from graphveil.errors import GraphveilError, StorageError
from studies import opened

FILES = {"README.txt", "study.toml", "ledger.jsonl"}
SECRETS = ("P0", "INSERT", "UPDATE", "parameters", "salt")  # people, statements, values


def struck(root: Path, fault: Fault | None) -> tuple[list[str], StorageError | None]:
    """Publish with a fault: the effects until then, and the error that was raised."""
    watch = Watch(root, fault)
    with pytest.MonkeyPatch.context() as patch:
        install(watch, patch.setattr)
        try:
            at(root).publish()
        except StorageError as error:
            return watch.names, error
    return watch.names, None


def require_plain(error: GraphveilError | str | None) -> None:
    """A message says what happened, in one sentence or two, and tells no secret."""
    message = str(error)
    assert "cannot be written" in message or "ledger database" in message, message
    assert "No space" in message or "full" in message or "Read-only" in message or (
        "readonly" in message or "I/O" in message or "Input/output" in message
    ), message  # fmt: skip
    assert not [secret for secret in SECRETS if secret in message], message


def require_resumed(root: Path, seen: Values) -> None:
    """One more publish finishes the step, and everything is there."""
    steps = steps_told(root) + 1
    at(root).publish()
    look(root, seen)
    require_whole(root)
    assert twice(seen) == []
    assert steps_told(root) == steps
    assert strangers(root, FILES) == set()
    assert counted(root, "edges") == [1, 2, 2, 1][:steps]


@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_errors_at_every_effect_of_publish(root: Path, tmp_path: Path, number: int) -> None:
    """A full and a read-only disk stay so; an I/O error happens once."""
    template = Template.of(opened(root, machine=memory(root)))
    lasts = number != errno.EIO
    names, _ = struck(template.copy(tmp_path / "whole"), None)
    faults = list(every_fault(names, number, lasts=lasts))
    assert len(faults) == 132
    chosen = [each for each in faults if each.when != "after"] if lasts else faults
    some = chosen[:: 4 if number == errno.ENOSPC else 9]
    for place, fault in enumerate(some):
        copy, seen = template.copy(tmp_path / str(place)), Values()
        _, error = struck(copy, fault)
        require_plain(error)
        look(copy, seen)
        require_resumed(copy, seen)


@pytest.mark.slow
@pytest.mark.parametrize("number", ERRORS, ids=errno.errorcode.get)
def test_errors_at_every_effect_on_every_store(
    root: Path, database: str | None, tmp_path: Path, number: int
) -> None:
    template = Template.of(opened(root, database, memory(root)))
    names, _ = struck(template.copy(tmp_path / "whole"), None)
    cases = [each for lasts in (False, True) for each in every_fault(names, number, lasts=lasts)]
    for place, fault in enumerate(cases):
        copy, seen = template.copy(tmp_path / str(place)), Values()
        _, error = struck(copy, fault)
        require_plain(error)
        look(copy, seen)
        require_resumed(copy, seen)
    print(f"\n{errno.errorcode[number]}: {len(cases)} errors, on {database or 'SQLite'}")


@pytest.fixture(scope="module")
def fresh() -> object:
    with processes() as made:
        yield made


def test_the_system_itself_refuses_to_write_more(
    root: Path, tmp_path: Path, fresh: Processes
) -> None:
    """With a limit on the size of files, SQLite and Python meet real errors, wherever they are."""
    study = opened(root, machine=memory(root))
    template, size = Template.of(study), study.folder.database.stat().st_size
    refused = 0
    for limit in (0, 1500, size - 4096, size, size + 4096):
        copy, seen = template.copy(tmp_path / str(limit)), Values()
        ended = fresh.run(copy, "publish", largest_file=limit)
        refused += ended.kind == "StorageError"
        assert ended.kind in (None, "StorageError"), ended
        look(copy, seen)
        require_resumed(copy, seen)
    assert refused >= 3


def test_a_lock_that_cannot_be_had_is_a_storage_error(root: Path) -> None:
    study = opened(root)
    lock = study.folder.private / "lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()  # nobody can open this for writing, whoever they are
    with pytest.raises(StorageError, match="cannot be locked: Is a directory"):
        study.publish()
    lock.rmdir()
    assert study.publish().steps == []  # it was sealed; now it is announced
    assert study.publish().steps == [1]


def test_half_files_on_a_disk_that_turned_read_only(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a killed process left cannot be removed there; that is not what the steward is told."""
    study = opened(root)
    (study.folder.public / ".ledger.jsonl.part").write_text("half")
    install(Watch(root, Fault(0, "before", errno.EROFS, lasts=True)), monkeypatch.setattr)
    with pytest.raises(StorageError, match="readonly"):
        study.publish()
