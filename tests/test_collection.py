"""Tests are collected alike by every process, whatever its clock and its hash seed."""

from __future__ import annotations

import os
import subprocess
import sys

from commands import ROOT


def collected(seed: str) -> list[str]:
    """The ids of all tests, in order, as a fresh process finds them."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-p", "no:cacheprovider"]
    finished = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in finished.stdout.splitlines() if "::" in line]


def test_two_processes_collect_the_same_tests() -> None:
    # The second begins seconds after the first, so that a time in an id would differ, too.
    first = collected("1")
    assert len(first) > 1000
    assert collected("2") == first
