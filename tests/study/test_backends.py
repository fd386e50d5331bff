"""Backends are found by name: ours, and those that another package announces."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from graphveil.backends import LocalEngine
from graphveil.cli import program
from graphveil.errors import ParameterError
from graphveil.study import StoredStudy, backends
from graphveil.study.backends import BackendChoice
from graphveil.study.records.local import LocalBackend
from studies import promise

ELSEWHERE = """
from contextlib import contextmanager

from graphveil.study.records.local import LocalBackend

asked = []


class Elsewhere(LocalBackend):
    @classmethod
    @contextmanager
    def opened(cls, master, settings):
        asked.append((master, dict(settings)))
        yield cls()

    def grown(self, stored, through):
        asked.append(through)
        return super().grown(stored, through)
"""


@pytest.fixture
def announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with three backends: one that works, one that is broken, one with our name."""
    home = tmp_path / "site"
    about = home / "acme_cluster-1.0.dist-info"
    about.mkdir(parents=True)
    (home / "acme_cluster.py").write_text(ELSEWHERE)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-cluster\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[graphveil.backends]\nacme = acme_cluster:Elsewhere\nbroken = acme_gone:Nobody\n"
        "local = acme_cluster:Elsewhere\n"
    )
    monkeypatch.syspath_prepend(str(home))
    monkeypatch.delitem(sys.modules, "acme_cluster", raising=False)


def test_ours_are_there_and_count() -> None:
    assert {"local", "spark"} <= set(backends.names())
    here = backends.here()
    assert isinstance(here, LocalBackend)
    assert isinstance(here, LocalEngine)


def test_a_backend_of_another_package_takes_in_and_counts(tmp_path: Path, announced: None) -> None:
    assert {"acme", "broken", "local", "spark"} <= set(backends.names())
    root = tmp_path / "study"
    StoredStudy.create(root, promise())
    (tmp_path / "people.csv").write_text("node,time\na,2001\nb,2001\n")
    (tmp_path / "links.csv").write_text("source,target\na,b\n")
    files = [str(tmp_path / name) for name in ("people.csv", "links.csv")]
    there = ["--engine", "acme", "--master", "acme://here", "--conf", "size=2"]
    for verb, *more in (
        ["add", str(root), *files, *there],
        ["publish", str(root), "--through", "2001", *there],
        ["verify", str(root), *there],
    ):
        done = CliRunner().invoke(program(verb), [verb, *more])
        assert done.exit_code == 0, done.output
    import acme_cluster  # type: ignore[import-not-found]

    assert acme_cluster.asked == [("acme://here", {"size": "2"})] * 2 + [0] + [
        ("acme://here", {"size": "2"})
    ]


def test_nobody_stands_in_for_ours(announced: None) -> None:
    assert backends.backend("local") is LocalBackend


def test_one_that_is_not_there_or_cannot_be_imported_is_refused(
    tmp_path: Path, announced: None
) -> None:
    with pytest.raises(ParameterError, match=r"none called 'sprak'.*'spark'"):
        backends.backend("sprak")
    with pytest.raises(ParameterError, match="'broken' of acme_gone:Nobody cannot be imported"):
        backends.backend("broken")
    root = tmp_path / "study"
    study = StoredStudy.create(root, promise())
    done = CliRunner().invoke(program("add"), ["add", str(root), "x.csv", "--engine", "sprak"])
    assert done.exit_code != 0
    assert not study.ledger().rows
    counted = CliRunner().invoke(program("count"), ["count", "edges", "x.csv", "--engine", "acme"])
    assert counted.exit_code != 0


def test_settings_are_for_others_than_the_local_one(tmp_path: Path) -> None:
    done = CliRunner().invoke(program("add"), ["add", str(tmp_path), "x.csv", "--conf", "a=b"])
    assert done.exit_code != 0
    assert BackendChoice().name == "local"
