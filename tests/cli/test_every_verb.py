"""What holds of every command alike: JSON for programs, silence on request, its exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import ROOT, graphveil
from documents import COMMANDS
from experiment_data import write_pair
from graphveil.cli import VERBS, ending
from graphveil.cli.commands import demo, experiments
from graphveil.cli.commands.measuring import VIOLATION
from steward import PROMISE, SERIES, opened, people, run

CLINIC = ("--nodes", "examples/clinic/nodes.csv", "--edges", "examples/clinic/edges.csv")
EDGES = ("edges", "--bound", "3")


def steps_of_a_life(place: Path) -> list[tuple[str, ...]]:
    """Every command once, in an order in which all of them succeed."""
    study, pair = str(place / "study"), write_pair(place / "mine")
    files = [str(path) for path in people(place / "files")]
    reproduce = ("--statistic", "edges", "--runs", "2", "--workers", "1", "--figure", "epsilon")
    return [
        ("demo", str(place / "demo")),
        ("new", study, *PROMISE, *SERIES),
        ("plan", study),
        ("rehearse", study, "--people", "60", "--links", "40", "--to", str(place)),
        ("memo", study, "--to", str(place / "memo.html")),
        ("promise", *files, "--epsilon", "1"),
        ("add", study, *files),
        ("publish", study),
        ("status", study),
        ("releases", study),
        ("series", study, "--open", "triangles", "--epsilon", "1/4"),
        ("report", study),
        ("verify", study),
        ("extend", study, "--steps", "1", "--yes"),
        ("adopt", study, "--reason", "a test", "--yes"),
        ("hand-over",),
        ("serve", study, "--no-open"),
        ("statistics",),
        ("sensitivity", *EDGES),
        ("count", "edges", *CLINIC),
        ("audit", *EDGES, "--epsilon", "1", "--horizon", "2", "--runs", "2000"),
        ("datasets",),
        ("formats",),
        ("generate", "synthetic-1:years=3,yearly=5", str(place / "drawn"), "--seed", "1"),
        ("reproduce", "--dataset", str(pair), "--out", str(place / "out"), *reproduce),
    ]


@pytest.fixture
def small_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A demo without its scenes, which have a test of their own, small models, a short server."""
    monkeypatch.setattr(demo, "_scenes", lambda folder, exports: [])
    monkeypatch.setattr(experiments, "DRAWN", ("synthetic-1:years=3,yearly=5",))
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: None)


@pytest.mark.usefixtures("small_ones")
def test_json_is_one_document_and_nothing_else(tmp_path: Path) -> None:
    life = steps_of_a_life(tmp_path)
    assert {verb for verb, *_ in life} == set(COMMANDS)
    for verb, *arguments in life:
        finished = graphveil(verb, *arguments, "--json")
        assert finished.code == 0, (verb, finished.err)
        json.loads(finished.out)


@pytest.mark.usefixtures("small_ones")
def test_quiet_is_silent_and_works_all_the_same(tmp_path: Path) -> None:
    long = ("audit", "reproduce")
    for verb, *arguments in (each for each in steps_of_a_life(tmp_path) if each[0] not in long):
        finished = graphveil(verb, *arguments, "--quiet")
        assert (finished.code, finished.out) == (0, ""), (verb, finished.err)
        told = finished.err.splitlines()
        assert not told or (verb == "promise" and len(told) == 1), (verb, told)  # a warning
    assert json.loads(graphveil("status", str(tmp_path / "study"), "--quiet", "--json").out)
    refused = graphveil("publish", str(tmp_path / "nowhere"), "--quiet")
    assert (refused.code, refused.out) == (7, "")
    assert "there is no study" in refused.err


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_refusal_prints_no_half_of_a_document(verb: str, tmp_path: Path) -> None:
    lacking = {"plan": ("edges",), "hand-over": (str(tmp_path),), "demo": (str(ROOT),)}
    lacking |= {"statistics": ("--tau",), "datasets": (str(tmp_path / "none"),)}
    finished = graphveil(verb, *lacking.get(verb, (str(tmp_path / "none"),)), "--json")
    assert finished.code != 0
    assert finished.err
    if verb == "verify":  # whose document is what it found
        assert json.loads(finished.out)["outcome"] == "failed"
    else:
        assert finished.out == ""


def test_every_verb_takes_the_same_options() -> None:
    assert len(VERBS) == len(COMMANDS)
    for verb in COMMANDS:
        page = graphveil(verb, "--help").out
        assert "--json" in page, verb
        assert re.search(r"-q, --quiet|--quiet, -q", page), verb


def test_a_failed_verification_says_why_in_its_document(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    run("publish", root)
    page = root / "public" / "report.html"
    page.write_text(page.read_text().replace("<title>", "<title>not "))
    finished = graphveil("verify", str(root), "--json")
    told = json.loads(finished.out)
    assert (finished.code, told["verified"]) == (9, False)
    assert "report.html" in told["failure"]


def completed(*words: str, home: Path) -> list[str]:
    """What the shell is offered for the last word."""
    asked = {"_GRAPHVEIL_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words)}
    asked |= {"COMP_CWORD": str(len(words) - 1), "HOME": str(home)}
    finished = subprocess.run(
        [sys.executable, "-m", "graphveil"], env=os.environ | asked, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return finished.stdout.split()


def test_the_shell_completes_verbs_and_options(tmp_path: Path) -> None:
    assert completed("graphveil", "pu", home=tmp_path) == ["publish"]
    assert "--through" in completed("graphveil", "publish", "--th", home=tmp_path)
    assert "--tau" in completed("graphveil", "sensitivity", "--ta", home=tmp_path)


def test_completion_is_installed(tmp_path: Path) -> None:
    named = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # or it asks who started it
    finished = subprocess.run(
        [sys.executable, "-m", "graphveil", "--install-completion", "bash"],
        env=os.environ | named | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    written = (tmp_path / ".bash_completions" / "graphveil.sh").read_text()
    assert "_GRAPHVEIL_COMPLETE=complete_bash" in written


def test_every_exit_code_is_in_the_table() -> None:
    table = (ROOT / "docs" / "command-line.md").read_text().split("\n## ")[0]
    rows = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
    told = [int(code) for row in rows for code in row.split(",")]
    codes = {0, ending.DECLINED, *ending.EXIT_CODES.values(), VIOLATION, ending.UNFINISHED}
    codes |= {ending.INTERNAL_ERROR, ending.INTERRUPTED, ending.TERMINATED}
    assert told == sorted(codes)


def answering(root: Path, answer: bytes) -> tuple[int, str]:
    """The code and standard output of `adopt`, asked at a terminal."""
    terminal, inside = pty.openpty()
    command = [sys.executable, "-m", "graphveil", "adopt", str(root), "--reason", "a test"]
    with subprocess.Popen(
        [*command, "--json"], stdin=inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        os.close(inside)
        os.write(terminal, answer)
        out, _ = process.communicate(timeout=120)
    os.close(terminal)
    return process.returncode, out


def test_no_is_an_answer(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    assert answering(root, b"n\n") == (ending.DECLINED, "")
    code, out = answering(root, b"y\n")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    assert found


def test_a_draft_tells_programs_what_it_will_cost(tmp_path: Path) -> None:
    told = json.loads(run("new", tmp_path / "study", *PROMISE, *SERIES, "--json").out)
    assert [each["series"] for each in told["series"]] == ["edges", "degrees"]
    assert told["budget"]["epsilon_left"] == "0.5"
    assert Path(told["study_file"]).is_file()
