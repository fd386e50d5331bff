"""Running a study into faults: fresh processes to be struck, copies to strike, and a look after."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from faults import MEMORY, Fault
from graphveil.study import StoredStudy
from graphveil.study.machine import Machine
from graphveil.study.verification import verify

HERE = Path(__file__).resolve().parent
PATHS = [HERE.parents[1] / "src", HERE, HERE.parent]
ONE_THREAD = ("POLARS_MAX_THREADS", "RAYON_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS")
TABLES = ("about", "ledger", "series", "releases")

Values = dict[tuple[str, int], set[tuple[int, ...]]]


@dataclass(frozen=True)
class Outcome:
    """How a command ended.

    Attributes:
        killed_by: a signal, or 0.
        effects: what it did, by name.
        kind: the error that it reported, if any.
        message: what that error said.
        head: the checksum of the public ledger, as it was at the end.
    """

    killed_by: int
    effects: list[str] = field(default_factory=list)
    kind: str | None = None
    message: str = ""
    head: str = ""


@dataclass(frozen=True)
class Processes:
    """A source of fresh processes.

    Attributes:
        server: what forks them.
        kills: how many of them were killed so far, by command.
    """

    server: subprocess.Popen[str]
    kills: Counter[str] = field(default_factory=Counter)

    def run(
        self,
        root: Path,
        command: str,
        fault: Fault | None = None,
        *,
        database: str | None = None,
        largest_file: int | None = None,
    ) -> Outcome:
        """Run a command in a fresh process."""
        return self.together([request(root, command, fault, database, largest_file)])[0]

    def together(self, requests: Sequence[dict[str, Any]]) -> list[Outcome]:
        """Run commands at the same moment, each in a fresh process."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(requests) + "\n")
        self.server.stdin.flush()
        ended = [Outcome(**answer) for answer in json.loads(self.server.stdout.readline())]
        self.kills.update(
            asked["command"] for asked, each in zip(requests, ended, strict=True) if each.killed_by
        )
        return ended


def request(
    root: Path,
    command: str,
    fault: Fault | None = None,
    database: str | None = None,
    largest_file: int | None = None,
) -> dict[str, Any]:
    """What the server is asked."""
    return {
        "root": str(root),
        "command": command,
        "fault": None if fault is None else asdict(fault),
        "database": database,
        "largest_file": largest_file,
    }


@contextmanager
def processes() -> Iterator[Processes]:
    """A source of fresh processes that have everything loaded."""
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    environment["PYTHONPATH"] = os.pathsep.join(map(str, PATHS))
    with subprocess.Popen(
        [sys.executable, str(HERE / "fault_server.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        assert json.loads(server.stdout.readline()) == "ready"
        yield Processes(server)


@dataclass(frozen=True)
class Template:
    """A study at some moment, to be had again and again.

    A PostgreSQL database is not copied: its rows are put back, so that only one copy of the
    study may be in use at a time.
    """

    root: Path
    rows: dict[str, list[dict[str, Any]]]

    @classmethod
    def of(cls, study: StoredStudy) -> Template:
        """The study as it is now."""
        if study.store.engine.dialect.name == "sqlite":
            return cls(study.folder.root, {})
        with study.store.engine.connect() as connection:
            found = {name: connection.execute(sa.text(f"SELECT * FROM {name}")) for name in TABLES}
            return cls(
                study.folder.root,
                {name: [*map(dict, rows.mappings())] for name, rows in found.items()},
            )

    def copy(self, place: Path) -> Path:
        """The study as it was, at another place."""
        shutil.copytree(self.root, place)
        let_memory_move(place / MEMORY)
        if self.rows:
            engine = StoredStudy.at(self.root).store.engine
            with engine.begin() as connection:
                connection.exec_driver_sql(f"TRUNCATE {', '.join(TABLES)}")
                for name, rows in self.rows.items():
                    _put_back(connection, name, rows)
        return place


def let_memory_move(folder: Path) -> None:
    """Let what a machine remembers go on from a copy, as that of an earlier version would."""
    for path in folder.rglob("*.json"):
        said = json.loads(path.read_text())
        path.write_text(json.dumps({key: said[key] for key in said if key != "place"}))


def _put_back(connection: sa.Connection, name: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        columns = ", ".join(f'"{key}"' for key in rows[0])
        values = ", ".join(f":{key}" for key in rows[0])
        connection.execute(sa.text(f"INSERT INTO {name} ({columns}) VALUES ({values})"), rows)


def memory(root: Path) -> Machine:
    """The machine that remembers the study in a folder, and is copied with it."""
    return Machine(root / MEMORY)


def at(root: Path) -> StoredStudy:
    """The study in a folder."""
    return StoredStudy.at(root, machine=memory(root))


def look(root: Path, seen: Values) -> None:
    """Collect every value in the public ledger, its half file, the public table and the store."""
    for path in [*(root / "public").rglob("*.jsonl"), *(root / "public").rglob("*.part")]:
        for line in path.read_text(errors="replace").splitlines():
            _collect(line, seen)
    for path in (root / "public").glob("releases.csv"):
        _collect_table(path, seen)
    with StoredStudy.at(root).store.reading() as committed:
        for row in committed.ledger().public_rows:
            _collect(row.line(), seen)


def _collect(line: str, seen: Values) -> None:
    try:
        row = json.loads(line)
    except ValueError:  # half a line, in half a file
        return
    if isinstance(row, dict) and row.get("event") == "release made":  # the file may be any
        fact = row["fact"]
        seen.setdefault((fact["series"], fact["step"]), set()).add(tuple(fact["raw"]))


def _collect_table(path: Path, seen: Values) -> None:
    numbers: dict[tuple[str, int], list[int]] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            numbers.setdefault((row["series"], int(row["step"])), []).append(int(row["raw"]))
    for release, raw in numbers.items():
        seen.setdefault(release, set()).add(tuple(raw))


def twice(seen: Values) -> list[tuple[str, int]]:
    """The releases that were seen with more than one value."""
    return [release for release, values in seen.items() if len(values) > 1]


def steps_told(root: Path) -> int:
    """How many steps the public part tells of."""
    ledger = root / "public" / "ledger.jsonl"
    return ledger.read_text().count('"event":"step sealed"') if ledger.exists() else 0


def strangers(root: Path, expected: set[str]) -> set[str]:
    """Files of the public part that should not be there, or are missing; and half files."""
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    public = {name.removeprefix("public/") for name in found if name.startswith("public/")}
    # The memory of a study that was never opened stays as it is: nobody will ask for it.
    halves = {name for name in found if name.endswith(".part") and not name.startswith(MEMORY)}
    return public ^ expected | halves


def require_whole(root: Path) -> None:
    """Refuse a study that `verify` would refuse."""
    assert list(verify(at(root)))


def counted(root: Path, series: str) -> list[int]:
    """The exact differences of a series of one number, as they were sealed."""
    rows = StoredStudy.at(root).ledger().rows
    return [row.secret["differences"][0] for row in rows if row.fact.get("series") == series
            and row.event == "release made"]  # fmt: skip
