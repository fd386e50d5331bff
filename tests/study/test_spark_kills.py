"""The driver of Spark is killed at each of its effects on a study; the next command goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from graphveil.steward.adding import add
from graphveil.study import StoredStudy
from graphveil.study.verification import verify
from spark_sessions import local_session
from studies import promise
from test_spark_study import FIRST, LOCAL, SECOND, SERIES, exact, files_of, publish

pytestmark = pytest.mark.slow
PROGRAM = "from graphveil.cli import main; main()"
PATIENCE = 300.0

# By command: what is seen in the private folder when it is killed.
SEEN: dict[str, dict[str, str]] = {
    "add": {"a part of a batch": "batches/.graphveil-*.part", "a table": "batches/0002-nodes-*"},
    "publish": {
        "a part of a segment": "segments/.graphveil-*.part",
        "a table": "segments/0001-nodes-*",
        "a file that is kept": "kept/spark/edges-*",
        "the list of them": "kept/spark/0001-*",
        "the commit": "",
    },
}


@pytest.fixture(scope="module", autouse=True)
def _session() -> None:
    local_session()


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study with a sealed step, and two batches to go on with."""
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "machine"))
    root = tmp_path / "study"
    StoredStudy.create(root, promise(series=SERIES))
    add(root, files_of(tmp_path, FIRST, 1))
    publish(root, LOCAL)
    return root


def started(root: Path, command: list[str]) -> subprocess.Popen[bytes]:
    spark = ["--engine", "spark", "--master", "local[2]"]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, *spark],
        cwd=root.parent, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


def killed_when(process: subprocess.Popen[bytes], seen: Callable[[], bool]) -> bool:
    """Kill a command, with Java and all workers, as soon as something is seen."""
    since = time.monotonic()
    while process.poll() is None and time.monotonic() - since < PATIENCE:
        if seen():
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        time.sleep(0.01)
    return False


def finished(root: Path, command: list[str]) -> None:
    process = started(root, command)
    told = process.communicate()[0].decode()
    assert process.returncode == 0, told


@pytest.mark.parametrize("moment", SEEN["publish"])
def test_a_killed_publish_has_sealed_all_or_nothing(study: Path, moment: str) -> None:
    private, command = study / "private", ["publish", str(study), "--step", "2002", "--no-report"]
    rows, pattern = len(StoredStudy.at(study).ledger().rows), SEEN["publish"][moment]

    def seen() -> bool:
        if not pattern:
            return len(StoredStudy.at(study).ledger().rows) > rows
        return any(private.glob(pattern))

    assert killed_when(started(study, command), seen)
    sealed = len(StoredStudy.at(study).ledger().sealed)
    assert sealed in ((2,) if not pattern else (1, 2))
    finished(study, command)
    publish(study, LOCAL, 3)
    assert all(check.is_finished for check in verify(StoredStudy.at(study)))
    assert not list(private.glob("*/.graphveil-*.part"))
    assert exact(study) == expected(study, [])


@pytest.mark.parametrize("moment", SEEN["add"])
def test_a_killed_add_has_kept_all_or_nothing(study: Path, moment: str) -> None:
    tables = files_of(study.parent, SECOND, 2)
    private, command = study / "private", ["add", str(study), *tables]
    assert killed_when(started(study, command), lambda: any(private.glob(SEEN["add"][moment])))
    if len(StoredStudy.at(study).ledger().batches) == 1:
        finished(study, command)
    assert len(StoredStudy.at(study).ledger().batches) == 2
    publish(study, LOCAL, 3)
    assert all(check.is_finished for check in verify(StoredStudy.at(study)))
    assert not list(private.glob("*/.graphveil-*.part"))
    assert exact(study) == expected(study, tables)


def expected(study: Path, tables: list[str]) -> list[list[int]]:
    """What the local engine counts, undisturbed."""
    root = study.parent / "undisturbed" / "study"
    shutil.rmtree(root.parent, ignore_errors=True)
    root.parent.mkdir()
    StoredStudy.create(root, promise(series=SERIES))
    add(root, files_of(study.parent, FIRST, 1))
    publish(root, LOCAL)
    if tables:
        add(root, tables)
    publish(root, LOCAL, 3)
    return exact(root)
