"""Expected sizes: stored, public, shown beside the noise, and drowned series need a yes."""

from __future__ import annotations

import io
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from steward import PROMISE, contents, drafted, opened, people, run, run_json

SIZED = ("--expected", "edges=5000", "--expected", "degrees=4000")


def entries(root: Path) -> dict[str, dict[str, Any]]:
    study = tomllib.loads((root / "public" / "study.toml").read_text())
    return {each["name"]: each for each in study["series"]}


def test_sizes_are_stored_and_shown_with_what_noise_leaves_of_them(tmp_path: Path) -> None:
    root = tmp_path / "study"
    said = run("new", root, *PROMISE, "--series", "edges@1/4", "--series",
               "degree-ccdf:expected=4000@1/4=degrees", "--expected", "edges=5000").out  # fmt: skip
    assert {name: each["expected"] for name, each in entries(root).items()} == {
        "edges": 5000, "degrees": 4000,
    }  # fmt: skip
    assert re.search(r"about 5,000 +useful, ±0\.9%", said)
    plans = {each["series"]: each for each in run_json("plan", root)["series"]}
    assert plans["edges"]["expected"] == 5000
    assert plans["edges"]["usefulness"] == "useful"
    assert plans["edges"]["relative_error"] == pytest.approx(plans["edges"]["last_std"] / 5000)
    assert "about 5,000" in run("status", root).out


def test_a_study_without_sizes_is_as_it_always_was(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    assert all("expected" not in each for each in entries(root).values())
    assert "expected" not in run("status", root).out
    run("publish", root, "--all")
    public = root / "public"
    assert '"expected"' not in (public / "ledger.jsonl").read_text()
    assert '"expected"' not in (public / "card.json").read_text()
    assert "<dt>Expected</dt>" not in (public / "report.html").read_text()


def test_the_public_is_told_what_was_expected(tmp_path: Path) -> None:
    root = opened(tmp_path / "study", *SIZED)
    run("publish", root, "--all")
    rows = [
        json.loads(line) for line in (root / "public" / "ledger.jsonl").read_text().splitlines()
    ]
    told = {row["fact"]["series"]: row["fact"]["promise"] for row in rows[1:3]}
    assert {name: each["expected"] for name, each in told.items()} == {
        "edges": 5000,
        "degrees": 4000,
    }
    assert rows[0]["fact"]["study"]["series"][0]["expected"] == 5000
    card = json.loads((root / "public" / "card.json").read_text())
    assert card["series"][0]["expected"] == {"size": 5000, "usefulness": "useful"}
    page = (root / "public" / "report.html").read_text()
    assert "about 5,000 in the end, which the publisher stated beforehand" in page
    status = {each["name"]: each for each in run_json("status", root)["series"]}
    assert status["edges"]["usefulness"] == "useful"
    assert run_json("verify", root)["verified"]


def test_what_is_said_does_not_depend_on_the_records(tmp_path: Path) -> None:
    pages = []
    for name, edges in (("few", "source,target\n"), ("more", "source,target\nP0,P1\nP1,P2\n")):
        root = drafted(tmp_path / name, *SIZED)
        run("add", root, *people(tmp_path / f"{name}-files", edges=edges))
        run("publish", root, "--all")
        page = (root / "public" / "report.html").read_text()
        pages.append([line for line in page.splitlines() if "stated beforehand" in line])
    assert pages[0] == pages[1] != []


def test_a_drowned_series_needs_a_yes(tmp_path: Path) -> None:
    root = tmp_path / "study"
    wanted = ("new", str(root), *PROMISE, "--series", "edges@1/4", "--expected", "edges=100")
    finished = graphveil(*wanted)
    assert finished.code == 2
    assert "'edges': expected about 100; predicted error ±" in finished.err
    assert ": too noisy" in finished.err
    assert "larger --epsilon" in finished.err
    assert len(finished.err) < 320
    assert not root.exists()
    run(*wanted, "--yes")
    assert entries(root)["edges"]["expected"] == 100


@pytest.mark.parametrize(("answer", "made"), [("y\n", True), ("n\n", False)])
def test_at_a_terminal_a_yes_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, made: bool
) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    root = tmp_path / "study"
    finished = graphveil("new", str(root), *PROMISE, "--series", "edges:expected=20")
    assert "A series is too noisy to tell" in finished.err
    assert (finished.code == 0) is made
    assert root.exists() is made


def test_a_series_that_is_opened_later_is_judged_as_well(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    wanted = ("series", str(root), "--open", "nodes", "--epsilon", "1/4", "--expected")
    before = contents(root)
    assert "too noisy" in run(*wanted, "9", "--dry-run").out, "a try refuses nothing"
    finished = graphveil(*wanted, "9")
    assert (finished.code, contents(root)) == (2, before)
    assert "'nodes': expected about 9; predicted error ±" in finished.err
    assert run_json(*wanted, "9", "--yes")["usefulness"] == "drowned"
    assert entries(root)["nodes"]["expected"] == 9


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--expected", "links=5"), "Series: edges, degrees"),
        (("--expected", "edges"), "not of the form SERIES=N"),
        (("--expected", "edges=-5"), "must be a whole number, not '-5'"),
        (("--expected", "edges=" + "9" * 5000), "must be a whole number, not"),
        (("--expected", "edges=9", "--expected", "edges=8"), "'edges' is given twice"),
        (("--series", "nodes:expected=5@1/4", "--expected", "nodes=6"), "'nodes' is given twice"),
        (("--expected", "edges=0"), "expected"),
        (("--expected", "edges=9999999999999999"), "expected"),
    ],
)
def test_refusals(tmp_path: Path, more: tuple[str, ...], message: str) -> None:
    series = ("--series", "edges@1/4", "--series", "degree-ccdf@1/4=degrees")
    finished = graphveil("new", str(tmp_path / "study"), *PROMISE, *series, *more)
    assert finished.code == 2, finished.err
    assert message in finished.err
    assert len(finished.err) < 320
    assert not (tmp_path / "study").exists()
