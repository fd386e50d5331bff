"""A steward's small study, by commands: files, folders, and what may not have changed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from commands import Finished, graphveil

PROMISE = (
    "--title", "A study for tests", "--population", "made-up people", "--publisher", "the tests",
    "--bound", "4", "--bound-reason", "nobody made up more",
    "--every", "year", "--first", "2001", "--last", "2004",
    "--epsilon", "1", "--epsilon-reason", "an example",
)  # fmt: skip
SERIES = ("--series", "edges@1/4", "--series", "degree-ccdf@1/4=degrees")
NODES = "node,time\n" + "".join(f"P{number},{2001 + number // 2}\n" for number in range(8))
EDGES = "source,target\nP0,P1\nP1,P2\nP0,P2\nP3,P4\nP4,P5\nP6,P1\n"


def run(*arguments: object) -> Finished:
    """Run a command that has to succeed."""
    finished = graphveil(*map(str, arguments))
    assert finished.code == 0, finished.err
    return finished


def run_json(*arguments: object) -> Any:
    """What a command says to programs."""
    return json.loads(run(*arguments, "--json").out)


def drafted(root: Path, *more: str) -> Path:
    """A draft with two series and half of its budget left."""
    run("new", root, *PROMISE, *SERIES, *more)
    return root


def people(folder: Path, nodes: str = NODES, edges: str = EDGES) -> tuple[Path, Path]:
    """Two files of records."""
    folder.mkdir(exist_ok=True)
    paths = folder / "nodes.csv", folder / "edges.csv"
    for path, text in zip(paths, (nodes, edges), strict=True):
        path.write_text(text)
    return paths


def opened(root: Path, *more: str) -> Path:
    """A study with eight people in it, of which nothing is sealed."""
    drafted(root, *more)
    run("add", root, *people(root.parent / "files"))
    return root


def contents(root: Path) -> dict[str, str]:
    """A checksum of every file of a study, by path; locks and notes on attempts are no content."""
    found = (path for path in sorted(root.rglob("*")) if path.is_file() and path.name != "lock")
    files = (path for path in found if path.parent.name != "attempts")
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
