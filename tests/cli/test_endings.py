"""However a command ends: its own exit code, one plain message, and no secret in it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import polars as pl
import pytest

from commands import graphveil
from graphveil.errors import InputError
from graphveil.study import publishing, study
from steward import opened, run

SECRET = "P0 has 17 links"


def fail(*_: object, **__: object) -> None:
    raise KeyError(SECRET)


def test_an_error_that_nobody_foresaw_tells_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = opened(tmp_path / "study")
    monkeypatch.setattr(study.Study, "publish", fail)
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
    monkeypatch.setattr(study.Study, "publish", panic)
    ended = graphveil("publish", str(root))
    assert (ended.code, SECRET in ended.err, "Traceback" in ended.err) == (70, False, False)


def test_a_name_as_long_as_a_file_is_cut_in_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise InputError(f"there is no field '{'x' * 100_000}'", hint="Look again.")

    root = opened(tmp_path / "study")
    monkeypatch.setattr(study.Study, "publish", refuse)
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
    plain = study.Study.announce

    def interrupted(self: study.Study, known: object = None) -> object:
        monkeypatch.setattr(study.Study, "announce", plain)
        os.kill(os.getpid(), number)
        return plain(self)

    monkeypatch.setattr(study.Study, "announce", interrupted)
    ended = graphveil("publish", str(root), "--through", "2003")
    assert ended.code == code
    assert "Sealed for good by then: 2002 to 2003, 2 steps" in ended.err
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
    monkeypatch.setattr(study.Study, "committed", interrupted)
    for command in ("status", "verify", "series"):
        if command == "verify":
            continue
        ended = graphveil(command, str(root))
        assert ended.code == 130
        assert "What was committed stands" in ended.err
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
