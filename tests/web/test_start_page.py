"""The start: studies that are known, opened and taken off the list again."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from graphveil.steward.custody import known_studies
from graphveil.study import machine
from graphveil.study.machine import Machine
from sites import entered, running, small_study, text_of


@pytest.fixture(autouse=True)
def fresh_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("GRAPHVEIL_STATE", str(tmp_path / "state"))
    return Machine.here()


def test_a_study_is_listed_wherever_it_was_begun(tmp_path: Path) -> None:
    study = small_study(tmp_path / "far" / "away")
    (tmp_path / "home").mkdir()
    with running(tmp_path / "home") as site:
        page = entered(site).get("/").text
    assert f'href="/study/{study.key}/">A study for tests</a>' in page
    assert str(study.folder) in page


def test_studies_beside_each_other_are_found(tmp_path: Path, fresh_machine: Machine) -> None:
    small_study(tmp_path)
    (fresh_machine.folder / machine.FILE).unlink()
    assert known_studies() == ()
    with running(tmp_path) as site:
        page = entered(site).get("/").text
    assert "A study for tests" in page
    assert [each.folder.name for each in known_studies()] == ["study"]


def test_a_study_is_taken_off_the_list_and_opened_again(tmp_path: Path) -> None:
    study = small_study(tmp_path)
    with running(tmp_path) as site:
        visitor = entered(site)
        page = visitor.post("/forget", at="/", key=study.key).text
        assert "It is no longer listed" in page
        assert "A study for tests" not in page
        assert study.folder.is_dir()
        page = visitor.post("/open", at="/", folder="study").text
    assert "A study for tests" in page
    assert [each.key for each in known_studies()] == [study.key]


@pytest.mark.parametrize(
    "folder", ["nowhere", "", "files", "/", "\0", "x" * 5000, "study/public", "~nobody~"]
)
def test_a_folder_without_a_study_is_refused(tmp_path: Path, folder: str) -> None:
    small_study(tmp_path)
    with running(tmp_path) as site:
        page = entered(site).post("/open", at="/", folder=folder)
    assert page.status_code == 200
    said = text_of(page.text)
    refusals = ("there is no study in", "Name the folder", "cannot be opened", "is the public part")
    assert any(words in said for words in refusals)


def test_the_list_is_for_its_owner_only_and_may_be_broken(
    tmp_path: Path, fresh_machine: Machine
) -> None:
    small_study(tmp_path)
    file = fresh_machine.folder / machine.FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for content in ("", "[]", "{", '{"studies": [1]}', '{"studies": [{"key": 1, "folder": 2}]}'):
        file.write_text(content)
        assert known_studies() == ()
    assert len(known_studies(tmp_path)) == 1
    assert json.loads(file.read_text())["format"] == 1


def test_the_oldest_of_many_are_forgotten(
    tmp_path: Path, fresh_machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MOST", 3)
    for name in "abcd":
        machine.remember(fresh_machine, tmp_path / name)
    assert [each.folder.name for each in machine.known(fresh_machine)] == ["d", "c", "b"]
