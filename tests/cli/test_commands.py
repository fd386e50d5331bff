"""The commands, as a user types them."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import ROOT, graphveil
from documents import COMMANDS
from graphveil import __version__
from graphveil.cli.commands.demo import made_up
from graphveil.statistics import statistic

CLINIC = ["--nodes", "examples/clinic/nodes.csv", "--edges", "examples/clinic/edges.csv"]


def as_json(*arguments: str) -> Any:
    finished = graphveil(*arguments, "--json")
    assert finished.code == 0, finished.err
    return json.loads(finished.out)


def test_statistics_are_listed_by_their_agreed_names() -> None:
    names = {row["name"] for row in as_json("statistics")}
    assert names >= {
        "nodes", "edges", "high-degree", "high-out-degree", "high-in-degree",
        "degree-histogram", "out-degree-histogram", "in-degree-histogram", "degree-ccdf",
        "out-degree-ccdf", "in-degree-ccdf", "triangles", "cyclic-triangles",
        "transitive-triangles", "stars", "out-stars", "in-stars", "components", "clusters",
        "clustered", "pattern",
    }  # fmt: skip
    table = graphveil("statistics").out
    assert all(name in table for name in names)


@pytest.mark.parametrize(
    ("arguments", "l1", "static", "paper"),
    [
        (("edges", "--bound", "4"), 4, 4, 4),
        (("high-degree", "--tau", "2", "--bound", "4"), 9, 5, 9),
        (("high-degree", "--tau", "4", "--bound", "4"), 5, 5, 9),
        (("degree-histogram", "--bound", "3"), 35, 7, 43),
        (("transitive-triangles", "--in-bound", "3", "--out-bound", "3"), 18, 18, 15),
        (("transitive-triangles", "--in-bound", "3", "--out-bound", "3", "--oriented"), 9, 9, 15),
        (("stars", "--k", "2", "--bound", "4"), 18, 18, 18),
        (("clusters", "--bound", "4"), 8, 3, None),
        (("edges", "--bound", "10", "--hubs", "2"), 12, 10, None),
        (("high-degree", "--tau", "3", "--bound", "10", "--hubs", "2"), 27, 14, None),
        (
            ("high-degree", "--tau", "3", "--bound", "10", "--hubs", "2", "--if-broken", "refuse"),
            25, 13, None,
        ),
        (("edges", "--in-bound", "1", "--out-bound", "5", "--hubs", "0x1"), 7, 6, None),
        (("clustered", "--k", "3", "--bound", "4"), 17, 9, None),
        (("pattern", "--edges", "a-b,b-c,c-a", "--bound", "5"), 10, 10, 10),
        (("pattern", "--edges", "a>b", "--in-bound", "2", "--out-bound", "3"), 5, 5, 5),
    ],
)  # fmt: skip
def test_sensitivity_as_json(
    arguments: tuple[str, ...], l1: int, static: int, paper: int | None
) -> None:
    found = as_json("sensitivity", *arguments)
    assert {"l1", "static_l1", "exact", "paper"} <= found.keys()
    assert (found["l1"], found["static_l1"]) == (l1, static)
    assert found["paper"] == paper


def test_count_as_json() -> None:
    found = as_json("count", "edges", *CLINIC, "--every", "5")
    assert found["steps"] == ["2005", "2010", "2015", "2020"]
    assert found["totals"][-1] == 1189
    assert sum(found["differences"]) == 1189
    assert "never for publication" in found["private"]


def test_count_says_that_it_is_private() -> None:
    finished = graphveil("count", "degree-histogram", *CLINIC)
    assert finished.code == 0
    assert "PRIVATE" in finished.err
    assert "2024" in finished.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("triangles",),
        ("stars", "--k", "3"),
        ("high-degree", "--tau", "3"),
        ("degree-ccdf",),
        ("components",),
        ("clusters",),
        ("clustered", "--k", "3", "--directed"),
        ("pattern", "--pattern", "a-b,b-c,c-d"),
        ("pattern", "--edges", "a-b,b-c,c-d"),
        ("transitive-triangles", "--directed"),
        ("pattern", "--pattern", "a>b,b>c", "--directed", "--every", "year"),
        ("out-stars", "--k", "2", "--oriented"),
    ],
)
def test_every_kind_of_statistic_can_be_counted(arguments: tuple[str, ...]) -> None:
    found = as_json("count", *arguments, *CLINIC)
    assert len(found["steps"]) == len(found["totals"]) == len(found["differences"]) == 20


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("sensitivity", "triangle", "--bound", "3"), 2, "Did you mean 'triangles'?"),
        (("sensitivity", "edges"), 2, "give either --bound D"),
        (("sensitivity", "edges", "--bound", "3", "--in-bound", "2"), 2, "give either --bound D"),
        (("sensitivity", "edges", "--bound", "0"), 2, "at least 1"),
        (("sensitivity", "edges", "--hubs", "1"), 2, "hubs: are people with more links"),
        (("sensitivity", "edges", "--bound", "3", "--hubs", "0"), 2, "without hubs"),
        (("sensitivity", "high-degree", "--bound", "3"), 2, "tau: is needed"),
        (("sensitivity", "high-degree", "--tau", "4", "--bound", "3"), 2, "tau"),
        (("sensitivity", "edges", "--tau", "4", "--bound", "3"), 2, "has no meaning"),
        (("sensitivity", "stars", "--k", "1", "--bound", "3"), 2, "edges"),
        (("sensitivity", "pattern", "--edges", "a-b,c-d", "--bound", "3"), 2, "connected"),
        (("sensitivity", "triangles", "--in-bound", "3", "--out-bound", "3"), 2, "degree bound"),
        (("count", "triangles", *CLINIC, "--directed"), 2, "undirected graphs only"),
        (("count", "edges", *CLINIC, "--every", "decade"), 2, "decade"),
        (("count", "edges", "--nodes", "no.csv", "--edges", "non.csv"), 3, "no such file"),
        (("count", "edges", "--nodes", CLINIC[1], "--edges", CLINIC[1]), 3, "given twice"),
    ],
)
def test_refusals_are_one_plain_message_and_a_code(
    arguments: tuple[str, ...], code: int, message: str
) -> None:
    finished = graphveil(*arguments)
    assert finished.code == code, finished.err
    assert message in finished.err
    assert "Traceback" not in finished.err
    assert finished.out == ""


def test_input_errors_name_the_row_and_no_id(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("node,time\nalice,2001\nbob,2002\n")
    (tmp_path / "edges.csv").write_text("source,target\nalice,bob\nalice,mallory\n")
    files = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv")]
    finished = graphveil("count", "edges", *files)
    assert finished.code == 3
    assert "edges.csv, row 3, column 'target'" in finished.err
    assert not any(name in finished.err for name in ("alice", "bob", "mallory"))


def test_overflow_has_a_code_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("node,time\n" + "".join(f"{i},1\n" for i in range(201)))
    rows = "".join(f"0,{i}\n" for i in range(1, 201))
    (tmp_path / "edges.csv").write_text(f"source,target\n{rows}")
    files = ["--nodes", str(tmp_path / "nodes.csv"), "--edges", str(tmp_path / "edges.csv")]
    finished = graphveil("count", "stars", "--k", "100", *files)
    assert finished.code == 5
    assert "64" in finished.err


def test_help_needs_no_heavy_library() -> None:
    """What makes help instant, said so that no timer is needed."""
    probe = (
        "import sys, graphveil, graphveil.cli\n"
        "heavy = {'numpy', 'numba', 'polars', 'rich.table', 'networkx', 'pandas'}\n"
        "heavy |= {'sqlalchemy', 'pydantic', 'opendp'}\n"
        "sys.exit(sorted(heavy & sys.modules.keys()) and 1 or 0)"
    )
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0


@pytest.mark.parametrize("command", ["plan", "series", "new"])
def test_help_of_a_command_needs_little_more(command: str) -> None:
    probe = (
        "import sys; from graphveil.cli import program\n"
        f"program()([{command!r}, '--help'], standalone_mode=False)\n"
        "heavy = {'numba', 'polars', 'scipy', 'sqlalchemy', 'opendp'}\n"
        "sys.exit(sorted(heavy & sys.modules.keys()) and 1 or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", probe], check=False, capture_output=True)
    assert finished.returncode == 0


def test_the_version_is_told() -> None:
    assert graphveil("--version").out == f"graphveil {__version__}\n"


def test_options_of_statistics_come_from_the_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """A statistic that asks for something new has its option in every command that takes one."""
    known = statistic.known_parameters()
    depth = replace(known["k"], name="depth", flags=("--depth", "--horizon"), help="How deep.")
    monkeypatch.setattr(statistic, "known_parameters", lambda: {**known, "depth": depth})
    for command in ("plan", "series", "sensitivity", "count", "audit"):
        page = graphveil(command, "--help").out
        assert re.search(r"^  --depth(, --horizon)? N +How deep", page, re.MULTILINE), command
        assert page.count("\n  --horizon ") + page.count("--depth, --horizon ") == 1, command
    finished = graphveil("sensitivity", "edges", "--bound", "3", "--depth", "2")
    assert "depth: has no meaning for 'edges'" in finished.err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example(command: str) -> None:
    assert f"Example: graphveil {command}" in graphveil(command, "--help").out


def test_the_example_files_are_made_up() -> None:
    network = made_up("graphveil demo", first_year=2005, years=20, per_year=60)
    rows = {"nodes": ["node,time"], "edges": ["source,target"]}
    rows["nodes"] += [f"{person},{year}" for person, year in network.people]
    rows["edges"] += [f"{one},{other}" for one, other in network.links]
    for name, lines in rows.items():
        assert (ROOT / "examples" / "clinic" / f"{name}.csv").read_text().splitlines() == lines


def test_the_steward_comes_first_in_help() -> None:
    names = re.findall(r"^  ([a-z][a-z-]+)  ", graphveil("--help").out, re.MULTILINE)
    assert tuple(names) == COMMANDS


def test_a_disk_that_fails_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "study")

    monkeypatch.setattr("graphveil.steward.reporting.find", fail)
    finished = graphveil("report", "study")
    assert finished.code == 10
    assert finished.err == "graphveil: study: No space left on device.\n"


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("graphveil.steward.reporting.find", interrupt)
    finished = graphveil("report", "study")
    assert finished.code not in (0, None)
    assert "Traceback" not in finished.err
