"""`hand-over` and `adopt`, as a steward runs them on two machines."""

from __future__ import annotations

import json
import re
from pathlib import Path
from shutil import copytree

import pytest

from commands import graphveil
from steward import PROMISE, SERIES, opened, people, run, run_json


def on(monkeypatch: pytest.MonkeyPatch, machine: Path) -> None:
    """Be on another machine from now on."""
    monkeypatch.setenv("GRAPHVEIL_STATE", str(machine))


def test_a_study_is_handed_over_and_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    on(monkeypatch, new)
    said = run("hand-over").out
    code = said.removeprefix("This machine: ").strip()
    assert said == run("hand-over").out
    on(monkeypatch, old)
    root = opened(tmp_path / "study")
    run("publish", root, "--no-report")
    copytree(root, tmp_path / "copy")
    assert f"Handed over to {code}" in run("hand-over", root, "--to", code).out
    for command in (
        ["publish", str(root)],
        ["series", str(root), "--open", "nodes", "--epsilon", "1/8"],
    ):
        refused = graphveil(*command)
        assert refused.code == 9
        assert len(refused.err) < 400
        assert "graphveil adopt" in refused.err
    assert "handed over" in run("status", root).out
    copytree(root, tmp_path / "moved")
    on(monkeypatch, new)
    run("publish", tmp_path / "moved", "--no-report")
    assert run_json("status", tmp_path / "moved")["this_machine"] == "in step"
    assert run_json("status", tmp_path / "copy")["this_machine"] == "unknown to this machine"


def test_a_copy_is_adopted_only_when_it_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on(monkeypatch, tmp_path / "old")
    root = opened(tmp_path / "study")
    run("publish", root, "--no-report")
    copy = copytree(root, tmp_path / "copy")
    on(monkeypatch, tmp_path / "new")
    before = (copy / "public" / "ledger.jsonl").read_bytes()
    refused = graphveil("adopt", str(copy), "--reason", "moved")
    assert (refused.code, "Give --yes" in refused.err) == (2, True)
    assert "costs every person up to ε = 0.75 more" in refused.out
    assert (copy / "public" / "ledger.jsonl").read_bytes() == before
    told = json.loads(run("adopt", copy, "--reason", "moved", "--yes", "--json").out)
    assert told["adopted"]
    assert all(each["next_after"] >= each["next_before"] > 0 for each in told["changes"])
    assert "study went on from a copy" in (copy / "public" / "report.html").read_text()
    run("publish", copy)
    assert json.loads(run("verify", copy, "--json").out)["verified"]


@pytest.mark.parametrize("given", [["study"], ["--to", "0" * 16], ["study", "--to", "nobody"]])
def test_a_hand_over_without_a_code_is_refused(tmp_path: Path, given: list[str]) -> None:
    opened(tmp_path / "study")
    finished = graphveil("hand-over", *given, folder=tmp_path)
    assert finished.code == 2
    assert "`graphveil hand-over`" in finished.err


def test_a_steward_is_told_where_one_backup_restores_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And can move the memory elsewhere, with the noise, by what the sentence says."""
    monkeypatch.setattr("graphveil.study.machine.gettempdir", lambda: str(tmp_path))
    home, root = tmp_path / "home", tmp_path / "home" / "study"
    monkeypatch.setenv("GRAPHVEIL_STATE", str(home / "state"))
    drafted = graphveil("new", str(root), *PROMISE, *SERIES)
    assert f"both lie in {home}" in drafted.err
    assert "not restored with it, before records are added." in drafted.err
    run("add", root, *people(home / "files"))
    run("publish", root, "--no-report")
    found = graphveil("status", str(root), "--json")
    assert found.code == 0
    assert "and move the study there: `graphveil hand-over`" in found.err
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "elsewhere"))
    (code,) = re.findall("[0-9a-f]{16}", run("hand-over").out)
    monkeypatch.setenv("GRAPHVEIL_STATE", str(home / "state"))
    run("hand-over", root, "--to", code)
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "elsewhere"))
    run("publish", root, "--no-report")
    assert graphveil("status", str(root)).err == ""
