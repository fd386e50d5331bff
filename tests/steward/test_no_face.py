"""The steward's functions belong to no face: they know no terminal, and print nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphveil.steward import adding, drafting, outlook, publishing, reporting, series, verifying
from graphveil.steward.publishing import PublishRequest
from graphveil.steward.reporting import published
from graphveil.steward.requests import SeriesRequest
from graphveil.steward.status import status
from graphveil.study.backends import AddOptions
from steward import people
from study_requests import REQUEST

PROBE = """
import sys
from importlib import import_module
from pkgutil import walk_packages
import graphveil.steward
for module in walk_packages(graphveil.steward.__path__, "graphveil.steward."):
    import_module(module.name)
faces = {"typer", "click", "rich", "graphveil.cli"}
sys.exit(", ".join(sorted(faces & sys.modules.keys())) or 0)
"""


def test_no_module_imports_a_terminal() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", PROBE], check=False, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr


def test_nothing_is_printed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root, files = tmp_path / "study", people(tmp_path / "files")
    drafting.create(root, REQUEST)
    outlook.study_outlook(root).as_data()
    adding.add(root, files, how=AddOptions(dry_run=True)).lines()
    adding.add(root, files).as_data()
    publishing.publish(root, PublishRequest()).as_data()
    series.open_series(root, SeriesRequest("stars", {"k": 2}, epsilon="1/8"))
    status(root).as_data()
    reporting.report(root)
    published(root)
    verifying.verify(root).as_data()
    assert capfd.readouterr() == ("", "")
