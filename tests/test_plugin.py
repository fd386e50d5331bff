"""A statistic and a format of another package, from `new` to `verify`, and without the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from commands import ROOT
from graphveil.errors import MissingPlugInError, ParameterError
from graphveil.registry import Registry

EXAMPLE = ROOT / "examples" / "plugin"
NEW = (
    "new", "s", "--title", "T", "--population", "P", "--publisher", "Q", "--bound", "5",
    "--bound-reason", "r", "--every", "year", "--first", "2021", "--last", "2023", "--epsilon", "2",
    "--epsilon-reason", "r", "--series", "acme-graphs.leaves@1=leaves", "--series", "edges@1",
)  # fmt: skip
MISSING = 13


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as an installer leaves it: its modules, and what is known about them."""
    home = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "src" / "acme_graphs", home / "acme_graphs")
    about = home / f"acme_graphs-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [f"[{g}]\n" + "".join(f"{k} = {v}\n" for k, v in each.items()) for g, each in groups]
    (about / "entry_points.txt").write_text("".join(lines))
    return home


def run(folder: Path, *arguments: str, plug_in: Path | None = None, code: int = 0) -> str:
    """What a command prints, in a process that has the plug-in or has not."""
    extra = {} if plug_in is None else {"PYTHONPATH": os.pathsep.join([str(plug_in), *sys.path])}
    finished = subprocess.run(
        [sys.executable, "-m", "graphveil", *arguments],
        cwd=folder,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == code, (arguments, finished.stdout, finished.stderr)
    return finished.stdout + finished.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Path:
    """A folder with a study `s` of one published step."""
    folder = tmp_path_factory.mktemp("plugin")
    run(folder, *NEW, plug_in=installed)
    added = run(folder, "add", "s", str(EXAMPLE / "people.roster"), plug_in=installed)
    assert "read as acme-graphs.roster" in added
    run(folder, "publish", "s", "--through", "2021", plug_in=installed)
    return folder


def test_with_the_plug_in_every_command_works(published: Path, installed: Path) -> None:
    for command in ("status", "releases", "report", "verify"):
        run(published, command, "s", plug_in=installed)
    lines = (published / "s/public/ledger.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    facts = [each["fact"] for each in rows if each["event"] == "series opened"]
    assert [each.get("defined_by") for each in facts] == [{"statistic": "acme-graphs 1.0.0"}, None]
    assert "acme-graphs 1.0.0" in (published / "s/public/card.json").read_text()
    assert "acme-graphs 1.0.0" in (published / "s/public/report.html").read_text()


def test_without_it_what_is_public_can_still_be_read_and_checked(published: Path) -> None:
    assert "leaves" in run(published, "status", "s")
    assert "leaves" in run(published, "releases", "s")
    shutil.copytree(published / "s/public", published / "downloaded")
    run(published, "verify", "downloaded")
    before = (published / "s/public/report.html").read_bytes()
    run(published, "report", "s")
    assert (published / "s/public/report.html").read_bytes() == before


def test_without_it_nothing_is_counted_and_the_name_to_install_is_said(published: Path) -> None:
    for arguments in (("publish", "s", "--step", "2022"), ("verify", "s")):
        assert "pip install acme-graphs" in run(published, *arguments, code=MISSING)


def test_without_it_a_draft_says_what_to_install(tmp_path: Path) -> None:
    assert "pip install acme-graphs" in run(tmp_path, *NEW, code=MISSING)


def test_its_own_test_attacks_the_claim(installed: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(installed), *sys.path])}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    finished = subprocess.run(
        command, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout


def test_what_no_package_announces_cannot_be_studied() -> None:
    class Own:
        """Defined in a script, which no other command would run."""

    group = "graphveil.statistics"
    registry: Registry[object] = Registry("statistic", group, group)
    registry.enter("own.leaves", Own())
    with pytest.raises(ParameterError, match="no installed package announces"):
        registry.plug_in("own.leaves")
    with pytest.raises(MissingPlugInError, match="pip install other"):
        registry.named("other.leaves")
