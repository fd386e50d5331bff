"""However a command ends: its own exit code, one plain message, and no secret in it."""

from __future__ import annotations

import os
import pickle
import signal
from pathlib import Path

import polars as pl
import pytest

from commands import graphveil
from graphveil.cli.ending import EXIT_CODES, INTERNAL_ERROR
from graphveil.errors import (
    EngineError,
    GraphveilError,
    InputError,
    ParameterError,
    StorageError,
    StudyError,
)
from graphveil.study import publishing, stored_study
from steward import opened, run

SECRET = "P0 has 17 links"


def fail(*_: object, **__: object) -> None:
    raise KeyError(SECRET)


def test_an_error_that_nobody_foresaw_tells_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = opened(tmp_path / "study")
    monkeypatch.setattr(stored_study.StoredStudy, "publish", fail)
    ended = graphveil("publish", str(root))
    assert ended.code == 70
    assert "internal error (KeyError in test_endings.py, line" in ended.err
    assert SECRET not in ended.err
    assert len(ended.err.splitlines()) == 1
    assert len(ended.err) < 300
    monkeypatch.setenv("GRAPHVEIL_DEBUG", "1")
    assert SECRET in graphveil("publish", str(root)).err


def test_a_panic_in_a_library_is_an_internal_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of polars are no exceptions, as Python has it."""

    def panic(*_: object, **__: object) -> None:
        raise pl.exceptions.PanicException(SECRET)

    root = opened(tmp_path / "study")
    monkeypatch.setattr(stored_study.StoredStudy, "publish", panic)
    ended = graphveil("publish", str(root))
    assert (ended.code, SECRET in ended.err, "Traceback" in ended.err) == (70, False, False)


def test_a_name_as_long_as_a_file_is_cut_in_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError(f"there is no field '{'x' * 100_000}'", hint="Look again.")

    root = opened(tmp_path / "study")
    monkeypatch.setattr(stored_study.StoredStudy, "publish", refuse)
    ended = graphveil("publish", str(root))
    assert ended.code == 3
    assert "xxx … xxx" in ended.err
    assert "Look again." in ended.err
    assert len(ended.err) < 300


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "TERM"]
)
def test_an_interrupted_backfill_says_what_was_sealed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    number: int,
    code: int,
) -> None:
    root = opened(tmp_path / "study")
    run("publish", root)
    # Whatever runs the tests in the background may have them ignore Ctrl-C, as nohup does.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    plain = stored_study.StoredStudy.announce

    def interrupted(self: stored_study.StoredStudy, known: object = None) -> object:
        monkeypatch.setattr(stored_study.StoredStudy, "announce", plain)
        os.kill(os.getpid(), number)
        return plain(self)

    monkeypatch.setattr(stored_study.StoredStudy, "announce", interrupted)
    ended = graphveil("publish", str(root), "--through", "2003")
    assert ended.code == code
    assert "Sealed by then: 2002 to 2003, 2 steps" in ended.err
    assert f"graphveil publish {root}" in ended.err
    assert "Traceback" not in ended.err
    assert "2001" not in ended.err
    assert "earlier run" in run("publish", root).out
    run("verify", root)


def test_an_interruption_before_the_seal_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    root = opened(tmp_path / "study")
    monkeypatch.setattr(publishing, "prepare", interrupted)
    ended = graphveil("publish", str(root))
    assert (ended.code, ended.out) == (130, "")
    assert "before a step was sealed: nothing was changed" in ended.err


def test_any_command_can_be_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    root = opened(tmp_path / "study")
    monkeypatch.setattr(stored_study.StoredStudy, "committed", interrupted)
    for command in ("status", "verify", "series"):
        if command == "verify":
            continue
        ended = graphveil(command, str(root))
        assert ended.code == 130
        assert "What was committed stands" in ended.err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


@pytest.mark.parametrize(
    "word",
    ["mysql://ann:SECRET@host/base", "postgresql://ann:SE@C/RET@host:port/base#t",
     "postgresql://[::1", "postgresql://ann:SECRET@[::1/base#t", "sqlite:///#", "duckdb:///#",
     "postgresql://127.0.0.1:1/base?password=SECRET&x=1#t", "oracle://ann:SECRET@host/base#t"],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["formats", "verify", "status", "plan", "releases", "count"])
def test_addresses_are_refused_without_their_passwords(
    verb: str, word: str, tmp_path: Path
) -> None:
    ended = graphveil(verb, word, folder=tmp_path)
    assert ended.code not in (0, INTERNAL_ERROR)
    assert "SECRET" not in ended.out + ended.err
    assert "RET@" not in ended.out + ended.err


def test_what_python_sees_of_an_address_has_no_password() -> None:
    for kind in (StudyError, StorageError, EngineError, GraphveilError):
        assert str(kind("at 'mysql://ann:SECRET@host/x'")) == "at 'mysql://ann:***@host/x'"
    refused = ParameterError("database", "mysql://ann:SECRET@host")
    assert "SECRET" not in str(pickle.loads(pickle.dumps(refused)))


ENCODINGS = ["zlib", "idna", "undefined", "punycode", "hex", "base64", "bz2", "uu", "quopri",
             "rot13", "a\0b", "\udcff", "klingon"]  # fmt: skip


@pytest.mark.parametrize("name", ENCODINGS)
def test_encodings_of_no_text_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node,time\na,2001\n")
    ended = graphveil("formats", "n.csv", "--encoding", name, folder=tmp_path)
    assert ended.code == EXIT_CODES[ParameterError]
    assert "encoding: '" in ended.err
    assert ended.err.encode()


@pytest.mark.parametrize("name", ["utf-32", "utf-16", "utf_8_sig", "utf-7"])
def test_encodings_of_other_text_are_read_or_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("node,time\na,2001\n")
    ended = graphveil("formats", "n.csv", "--encoding", name, folder=tmp_path)
    assert ended.code in (0, EXIT_CODES[InputError])


@pytest.mark.parametrize("ending", ["csv", "xlsx", "rds"])
def test_pipes_and_names_of_no_text_are_refused_at_once(ending: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f"pipe.{ending}")
    odd = os.fsdecode(b"\xff.") + ending
    (tmp_path / odd).write_text("node,time\na,2001\n")
    for word, told in {
        f"pipe.{ending}": "is a pipe", odd: "no UTF-8 text", f"sqlite:///pipe.{ending}#t": "a pipe",
        f"duckdb:///pipe.{ending}#t": "is a pipe",
    }.items():  # fmt: skip
        ended = graphveil("formats", word, folder=tmp_path)
        assert ended.code == EXIT_CODES[InputError]
        assert told in ended.err
        assert ended.err.encode()


def test_a_pipe_in_a_study_is_refused_at_once(tmp_path: Path) -> None:
    opened(tmp_path / "study")
    ledger = tmp_path / "study" / "public" / "ledger.jsonl"
    ledger.unlink()
    os.mkfifo(ledger)
    for verb in ("verify", "status", "report", "publish"):
        ended = graphveil(verb, str(tmp_path / "study"))
        assert ended.code == EXIT_CODES[StorageError]
        assert "public/ledger.jsonl is a pipe" in ended.err
