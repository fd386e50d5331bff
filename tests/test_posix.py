"""A study without anything that POSIX systems alone have, which is how Windows looks to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT

# The one module that knows these names sees a system without them.
HIDING = """
import os, sys, types
import graphveil.posix as posix
hidden = ("fchmod", "getuid", "O_NOFOLLOW")
posix.os = types.SimpleNamespace(**{k: v for k, v in vars(os).items() if k not in hidden})
posix.fcntl, posix.NO_FOLLOW = None, 0
posix.NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
from graphveil.cli import main
main()
"""
NEW = (
    "new", "s", "--title", "T", "--population", "P", "--publisher", "Q", "--bound", "5",
    "--bound-reason", "r", "--every", "year", "--first", "2001", "--last", "2003", "--epsilon", "1",
    "--epsilon-reason", "r", "--series", "edges",
)  # fmt: skip
ALONE = re.compile(r"\b(fchmod|getuid|geteuid|fcntl|O_NOFOLLOW)\b")


def run(folder: Path, *arguments: str) -> str:
    finished = subprocess.run(
        [sys.executable, "-c", HIDING, *arguments],
        cwd=folder,
        env={**os.environ, "GRAPHVEIL_STATE": str(folder / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="nothing has to be hidden there")
def test_a_study_needs_nothing_that_posix_alone_has(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("node,time\na,2001\nb,2001\n")
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    run(tmp_path, *NEW)
    run(tmp_path, "add", "s", "nodes.csv", "edges.csv")
    run(tmp_path, "publish", "s", "--through", "2001")
    assert "All checks passed" in run(tmp_path, "verify", "s")


def test_one_module_knows_what_posix_alone_has() -> None:
    found = {
        path.name
        for path in (ROOT / "src").glob("**/*.py")
        if ALONE.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"posix.py"}
