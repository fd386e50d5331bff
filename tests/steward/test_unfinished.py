"""What a killed command leaves is told as unfinished, with the command that finishes it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from commands import graphveil
from graphveil.report import charts
from graphveil.whole_files import write_bytes
from steward import opened, run, run_json


class Killed(BaseException):
    """A process that is gone."""


@pytest.fixture(autouse=True)
def plain_charts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        charts, "drawing", lambda each, *_, **__: f"<svg>{len(each.releases)}</svg>".encode()
    )


@pytest.fixture
def study(tmp_path: Path) -> Path:
    root = opened(tmp_path / "study")
    run("publish", root)
    run("verify", root)
    return root


def kill_after(monkeypatch: pytest.MonkeyPatch, module: str, files: int) -> None:
    """Let a command die once it has written so many files."""
    left = iter(range(files))

    def write(*given: object, **options: object) -> None:
        if next(left, None) is None:
            raise Killed
        write_bytes(*given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(import_module(module), "write_bytes", write)


def require_unfinished(root: Path, what: str) -> None:
    """Told as such to people and programs, finished by one command, and nothing is sealed by it."""
    before = run_json("status", root)["steps_sealed"]
    ended = graphveil("verify", str(root))
    assert ended.code == 11, ended
    assert what in ended.out
    assert f"Next: graphveil report {root}" in ended.out
    told = graphveil("verify", str(root), "--json")
    assert (told.code, '"outcome": "unfinished"' in told.out) == (11, True)
    assert '"verified": false' in told.out
    run("releases", root)
    run("report", root)
    assert "All checks passed." in run("verify", root).out
    assert run_json("verify", root)["outcome"] == "passed"
    assert run_json("status", root)["steps_sealed"] == before


@pytest.mark.parametrize("files", [0, 1])
def test_a_series_that_was_killed_before_it_was_announced(
    study: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    with monkeypatch.context() as patch:
        kill_after(patch, "graphveil.study.public_part", files)
        with pytest.raises(Killed):
            graphveil("series", str(study), "--open", "nodes", "--epsilon", "1/4")
    what = "1 row still to be announced" if files == 0 else "is of before the newest series"
    require_unfinished(study, what)


@pytest.mark.parametrize("files", [0, 1, 3, 6])
def test_a_report_that_was_killed_in_the_middle(
    study: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    with monkeypatch.context() as patch:
        kill_after(patch, "graphveil.report.artefacts", files)
        with pytest.raises(Killed):
            graphveil("publish", str(study))
    require_unfinished(study, "is older than the ledger, or missing")


def test_a_publication_without_a_report(study: Path) -> None:
    run("publish", study, "--no-report")
    require_unfinished(study, "releases.csv is older than the ledger")


def test_the_first_publication_without_a_report(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    run("publish", root, "--no-report")
    require_unfinished(root, "releases.csv is older than the ledger, or missing")


def test_line_ends_and_comments_are_told_and_do_not_matter(study: Path) -> None:
    ledger, file = study / "public" / "ledger.jsonl", study / "public" / "study.toml"
    ledger.write_bytes(ledger.read_bytes().replace(b"\n", b"\r\n"))
    require_unfinished(study, "with other line ends")
    file.write_text("# ours\n" + file.read_text())
    require_unfinished(study, "has a comment or blanks of its own")


def test_an_unfinished_state_hides_no_change(study: Path) -> None:
    run("publish", study, "--no-report")
    table = study / "public" / "releases.csv"
    table.write_bytes(table.read_bytes().replace(b"edges", b"egdes", 1))
    ended = graphveil("verify", str(study))
    assert ended.code == 9
    assert "releases.csv, row 2 is not what graphveil makes" in ended.err


def test_a_row_in_other_words_is_refused(study: Path) -> None:
    ledger = study / "public" / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace('{"at":', '{"at":"1999","at":', 1))
    ended = graphveil("verify", str(study))
    assert ended.code == 9
    assert "row 0 (study opened): is not written as graphveil writes it" in ended.err


def test_files_of_others_are_named(study: Path) -> None:
    (study / "public" / "patients.csv").write_text("")
    assert "not looked into: patients.csv" in run("verify", study).out
