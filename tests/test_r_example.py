"""The example in R reads what a study publishes, and checks its chain, where R is installed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT
from steward import opened, run

SCRIPT = ROOT / "examples" / "r" / "read_study.R"
WHOLE = ROOT / "examples" / "r" / "run_study.R"


def in_r(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = shutil.which("Rscript") or pytest.skip("R is not installed here")
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def public(tmp_path: Path) -> Path:
    needed = 'stopifnot(requireNamespace("jsonlite"), requireNamespace("digest"))'
    if in_r("-e", needed).returncode:
        pytest.skip("R has no jsonlite or no digest here")
    study = opened(tmp_path / "study")
    run("publish", study, "--through", "2003", "--early")
    return study / "public"


def test_r_reads_the_tables_and_checks_the_chain(public: Path) -> None:
    rows = (public / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    finished = in_r(str(SCRIPT), str(public))
    assert finished.returncode == 0, finished.stderr
    assert f"chain: {json.loads(rows[-1])['hash']}" in finished.stdout
    assert "edges" in finished.stdout
    assert "2003" in finished.stdout


def test_r_notices_a_changed_row(public: Path) -> None:
    ledger = public / "ledger.jsonl"
    text = ledger.read_text(encoding="utf-8")
    ledger.write_text(text.replace('"title":"A study', '"title":"B study', 1), encoding="utf-8")
    finished = in_r(str(SCRIPT), str(public))
    assert finished.returncode != 0
    assert "was changed" in finished.stderr


def test_r_runs_a_whole_study(tmp_path: Path) -> None:
    if in_r("-e", 'stopifnot(requireNamespace("reticulate"))').returncode:
        pytest.skip("R has no reticulate here")
    finished = in_r(str(WHOLE), str(tmp_path / "study"), sys.executable)
    assert finished.returncode == 0, finished.stderr
    rows = [line.split() for line in finished.stdout.splitlines()]
    named = [row[:2] for row in rows if row and row[0] in ("people", "clusters", "links")]
    assert len(named) == 9
    assert (tmp_path / "study" / "public" / "report.html").exists()
