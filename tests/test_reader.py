"""A reader of a published study needs a few small libraries (`requirements/reader.txt`)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from commands import ROOT
from steward import opened, run

NEEDED = ROOT / "requirements" / "reader.txt"
WITHOUT = ("filelock", "numba", "opendp", "polars", "scipy", "sqlalchemy")
MOST_BYTES = 150_000_000
PROGRAM = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None  # as if it were not installed
from graphveil.cli import main
main()
"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What somebody else has published."""
    study = opened(tmp_path_factory.mktemp("published") / "study")
    run("publish", study, "--through", "2003", "--early")
    copied = tmp_path_factory.mktemp("reader") / "public"
    shutil.copytree(study / "public", copied)
    return copied


def reader(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, ",".join(WITHOUT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", ["verify", "releases", "report"])
def test_what_is_published_is_read_and_verified(public: Path, verb: str) -> None:
    before = {path: path.read_bytes() for path in public.rglob("*") if path.is_file()}
    finished = reader(verb, public)
    assert finished.returncode == 0, finished.stderr
    assert {path: path.read_bytes() for path in public.rglob("*") if path.is_file()} == before


def test_another_command_names_what_it_needs(tmp_path: Path) -> None:
    finished = reader("demo", tmp_path / "demo", "--quiet")
    assert finished.returncode == 13
    assert re.search(r"needs \w+, which is not installed here", finished.stderr)
    assert len(finished.stderr) < 300


def installed(names: Iterator[str], seen: dict[str, Distribution]) -> dict[str, Distribution]:
    """These distributions, and all that they need here."""
    for name in names:
        if name.lower() in seen:
            continue
        seen[name.lower()] = distribution(name)
        wanted = map(Requirement, seen[name.lower()].requires or ())
        here = (each for each in wanted if not each.marker or each.marker.evaluate({"extra": ""}))
        installed((each.name for each in here), seen)
    return seen


def test_it_is_small() -> None:
    lines = NEEDED.read_text(encoding="utf-8").splitlines()
    wanted = {Requirement(line).name for line in lines if not line.startswith("#")}
    found = installed(iter(sorted(wanted)), {})
    assert not found.keys() & set(WITHOUT)
    files = (Path(str(file.locate())) for each in found.values() for file in each.files or ())
    size = sum(path.stat().st_size for path in files if path.is_file() and path.suffix != ".pyc")
    assert 0 < size < MOST_BYTES, f"{size:,} bytes"
    project = {Requirement(each).name for each in distribution("graphveil").requires or ()}
    assert wanted < project
