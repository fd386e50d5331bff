"""Lines to copy: what a terminal and Python do with them is what the page has done."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import graphveil
from graphveil.steward.staging import Reading
from graphveil.steward.status import status
from graphveil.study import StoredStudy
from graphveil.web.wording import adding, only_commands, publishing
from steward import run
from studies import promise

READING = Reading(
    "contacts",
    {"time": "onset,report", "where": ["type=person"], "day_first": False, "excel_dates": True,
     "group": [], "max_distance": None, "all_listed": False},
    strict=True, yes=True,
)  # fmt: skip
FILES = {"people.csv": "case_id,onset,type,report\na,1/2/2001,person,\nb,,person,3/4/2002\n",
         "links it's.csv": "from,to\na,b\n"}  # fmt: skip


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    StoredStudy.create(tmp_path / "a study", promise())
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "a study"


def named(study: Path) -> list[str]:
    return [str(study.parent / name) for name in FILES]


def test_the_command_adds_what_the_page_adds(study: Path) -> None:
    words = shlex.split(adding(study, named(study), READING).command)
    assert words[:2] == ["graphveil", "add"]
    assert "2 nodes added" in run(*words[1:]).err
    words = shlex.split(publishing(study, "2001", early=True).command)
    run(*words[1:])
    assert status(study).steps.steps_sealed == 1


def test_the_lines_of_python_do_the_same(study: Path) -> None:
    names: dict[str, object] = {"graphveil": graphveil}
    exec(adding(study, named(study), READING).python, names)
    exec(publishing(study, "2001", early=True).python, names)
    assert status(study).steps.steps_sealed == 1


def test_every_command_that_is_named_exists(study: Path) -> None:
    for is_open in (False, True):
        for _, command in only_commands(study, is_open=is_open):
            words = shlex.split(command)
            text = run(words[1], "--help").out
            assert all(each in text for each in words if each.startswith("--")), command
