"""`graphveil demo`: everything at once, from nothing to a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import graphveil
from graphveil.cli.commands import demo
from steward import run, run_json


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where the demo was made, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    return folder, run("demo", folder).out


def test_the_demo_shows_every_verb(shown: tuple[Path, str]) -> None:
    folder, out = shown
    for verb in ("new", "plan", "add", "publish", "status", "releases", "series", "report"):
        assert f"$ graphveil {verb} {folder}" in out
    assert "joined the first open step" in out
    assert "no longer listed: kept" in out
    assert "All checks passed." in out
    assert out.rstrip().endswith(str(folder / "public" / "report.html"))


def test_the_demo_leaves_a_study(shown: tuple[Path, str]) -> None:
    folder, _ = shown
    assert {path.name for path in folder.iterdir()} == {"public", "private"}
    status = run_json("status", folder)
    assert (status["steps_sealed"], status["public_part_is_current"]) == (12, True)
    assert len(status["series"]) == 7
    assert (folder / "private" / "exports").stat().st_mode & 0o077 == 0


def test_the_demo_overwrites_nobody_else(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    finished = graphveil("demo", str(tmp_path))
    assert finished.code == 7
    assert "was not made by the demo" in finished.err
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


def test_the_demo_remakes_its_own_folder(tmp_path: Path) -> None:
    demo._make_room(tmp_path / "demo")
    (tmp_path / "demo" / "old").write_text("old")
    demo._make_room(tmp_path / "demo")
    assert not (tmp_path / "demo" / "old").exists()
