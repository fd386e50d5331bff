"""What older versions stored, this one opens, checks, reports, adds to and goes on with.

Each golden study (`tools/golden.py`) is unpacked as a steward would find it: with the memory of its
machine, or on a new machine that adopts it.
"""

from __future__ import annotations

import csv
import json
import re
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest
import sqlalchemy as sa
import tomli_w

import golden
from commands import graphveil
from graphveil.errors import NewerFormatError
from graphveil.mechanisms.mechanism import registered
from graphveil.study.chain import PublicRow, as_text, read_rows
from graphveil.study.facts import Announcement, Event
from graphveil.study.history import History
from graphveil.study.ledger import StoredTable
from graphveil.study.machine import VARIABLE
from graphveil.study.reading import StoredSeries, plan_of, state_of
from steward import run, run_json
from studies import promise
from study_databases import execute
from test_dumped_databases import restore

ARCHIVES = sorted(golden.GOLDEN.glob("*.tar.xz"))
NAMES = [archive.name.removesuffix(".tar.xz") for archive in ARCHIVES]
ON_A_SERVER = [name for name in NAMES if name.endswith("-postgresql")]
IN_A_FOLDER = [name for name in NAMES if name not in ON_A_SERVER]
# The others take the same way; but some of all mechanisms have noise that no adoption draws anew.
TO_ADOPT = [
    name for name in IN_A_FOLDER if name.endswith(("-extended", "-groups", "-pool", "-waiting"))
]
REFUSED = 9  # the exit code where the witness does not let a study go on
MOST_BYTES = 1_000_000  # of all together


@dataclass(frozen=True)
class Unpacked:
    """A golden study, and what it had published when it was packed."""

    study: Path
    ledger: bytes
    rows: tuple[dict[str, str], ...]

    @classmethod
    def of(cls, study: Path) -> Unpacked:
        ledger = (study / "public" / "ledger.jsonl").read_bytes()
        return cls(study, ledger, published_rows(study))


def published_rows(study: Path) -> tuple[dict[str, str], ...]:
    with (study / "public" / "releases.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def unpacked(name: str, folder: Path) -> Unpacked:
    with tarfile.open(golden.GOLDEN / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="tar")
    return Unpacked.of(folder / "study")


def require_same(found: Unpacked) -> None:
    """What was published is the beginning of what is published now, column by column."""
    now = Unpacked.of(found.study)
    assert now.ledger.startswith(found.ledger)
    same = [{key: row[key] for key in found.rows[0]} for row in now.rows]
    assert [row for row in found.rows if row not in same] == []


def require_readable(found: Unpacked) -> None:
    """What changes nothing, up to the page, which another version may have written otherwise."""
    status = run_json("status", found.study)
    made = {(each["series"], each["label"]) for each in run_json("releases", found.study)}
    assert made == {(row["series"], row["label"]) for row in found.rows}
    assert status["steps_sealed"] == len({row["label"] for row in found.rows})
    for folder in (found.study, found.study / "public"):
        failure = json.loads(graphveil("verify", str(folder), "--json").out)["failure"]
        assert failure is None or "`graphveil report` " in failure


def require_to_go_on(found: Unpacked, files: Path) -> None:
    """A later batch, all steps up to it, and the page."""
    files.mkdir()
    for name, text in zip(("nodes", "edges"), golden.people(golden.LAST, golden.LAST), strict=True):
        (files / f"{name}.csv").write_text(text)
    run("add", found.study, files / "nodes.csv", files / "edges.csv")
    run("publish", found.study, "--through", golden.LAST, "--no-report")
    run("report", found.study)
    for folder in (found.study, found.study / "public"):
        assert run("verify", folder).out.endswith("All checks passed.\n")
    labels = [json.loads(line)["fact"]["label"] for line in _sealed(found.study)]
    assert labels == [str(year) for year in range(golden.FIRST, golden.LAST + 1)]
    require_same(found)


def _sealed(study: Path) -> Iterator[str]:
    lines = (study / "public" / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    return (line for line in lines if json.loads(line)["event"] == "step sealed")


@pytest.mark.parametrize("name", IN_A_FOLDER)
def test_with_the_memory_of_its_machine_it_goes_on(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = unpacked(name, tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    require_readable(found)
    require_to_go_on(found, tmp_path / "files")


@pytest.mark.parametrize("name", TO_ADOPT)
def test_a_new_machine_adopts_it(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = unpacked(name, tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "new-machine"))
    assert graphveil("publish", str(found.study)).code == REFUSED
    run("adopt", found.study, "--reason", "the old machine is gone", "--yes")
    require_to_go_on(found, tmp_path / "files")


@pytest.mark.parametrize("name", ON_A_SERVER)
def test_a_dump_is_restored_and_adopted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgresql: str
) -> None:
    found = unpacked(name, tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    execute(postgresql, "DROP SCHEMA IF EXISTS golden CASCADE")
    url = sa.make_url(postgresql).update_query_dict({"options": "-csearch_path=golden"})
    text = url.render_as_string(hide_password=False)
    restore((tmp_path / "dump.sql").read_bytes(), text)
    (found.study / "private" / "store.toml").write_bytes(tomli_w.dumps({"url": text}).encode())
    require_readable(found)
    assert graphveil("publish", str(found.study)).code == REFUSED
    run("adopt", found.study, "--reason", "the old server is gone", "--yes")
    require_to_go_on(found, tmp_path / "files")


def test_every_mechanism_has_a_golden_study(tmp_path: Path) -> None:
    stored = "".join(unpacked(name, tmp_path / name).ledger.decode() for name in IN_A_FOLDER)
    assert [name for name in registered() if f'"mechanism":"{name}"' not in stored] == []


def test_they_are_small_and_none_was_made_again() -> None:
    assert sum(archive.stat().st_size for archive in ARCHIVES) < MOST_BYTES
    found = {each.name: sha256(each.read_bytes()).hexdigest() for each in ARCHIVES}
    lines = (golden.GOLDEN / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    assert found == {name: digest for digest, name in (line.split() for line in lines)}


@pytest.mark.parametrize("file", ["ledger.jsonl", "releases.csv"])
def test_one_published_digit_that_changed_is_noticed(file: str, tmp_path: Path) -> None:
    found = unpacked("2026-11-hubs", tmp_path)
    require_same(found)
    path = found.study / "public" / file
    path.write_bytes(path.read_bytes().replace(b"0.95", b"0.94", 1))
    with pytest.raises(AssertionError):
        require_same(found)


NEWER = {"software": "graphveil 9.1.0", "noise": "OpenDP 9"}


def test_a_study_of_a_newer_format_says_which_version_to_install() -> None:
    """The ledger names who wrote it; a name that is none is not shown."""
    study = promise().to_data() | {"format": 99}
    for software, advice in (
        ("graphveil 9.1.0", "Install graphveil 9.1.0 or newer."),
        ("graphveil 9; rm -rf x", "Install the newest graphveil."),
    ):
        told = NEWER | {"software": software, "study": study}
        row = Announcement("row 0", Event.STUDY_OPENED, told, "2030-01-01T00:00:00Z")
        with pytest.raises(NewerFormatError, match=re.escape(advice)):
            History.of([row], "ledger.jsonl")


def test_an_event_of_a_newer_version_says_which_version_to_install(tmp_path: Path) -> None:
    found = unpacked("2026-11-waiting", tmp_path)
    rows = read_rows(found.ledger.decode())
    later = PublicRow.after(rows[-1], at=rows[-1].at, event="study merged", fact=NEWER, seal="0")
    path = found.study / "public" / "ledger.jsonl"
    path.write_text(as_text([*rows, later]), encoding="utf-8")
    for folder in (found.study / "public", found.study):
        refused = graphveil("verify", str(folder))
        assert refused.code != 0
    assert "Install graphveil 9.1.0 or newer." in graphveil("releases", str(path.parent)).err


def test_a_database_of_a_newer_format_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = unpacked("2026-11-waiting", tmp_path)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "state"))
    with closing(sqlite3.connect(found.study / "private" / "ledger.sqlite")) as database:
        database.execute("UPDATE about SET value = '99' WHERE key = 'version'")
        database.commit()
    refused = graphveil("publish", str(found.study))
    assert refused.code != 0
    assert "the ledger database has format 99" in refused.err
    assert "Install the newest graphveil." in refused.err
    require_same(found)


@pytest.mark.parametrize("part", ["plan", "state"])
def test_a_part_of_a_series_of_a_newer_format_is_refused(part: str, tmp_path: Path) -> None:
    found = unpacked("2026-11-waiting", tmp_path)
    with closing(sqlite3.connect(found.study / "private" / "ledger.sqlite")) as database:
        query = "SELECT plan, state FROM series WHERE name = 'edges'"
        texts = dict(zip(("plan", "state"), database.execute(query).fetchone(), strict=True))
    texts[part] = json.dumps(json.loads(texts[part]) | {"format": 99})
    read = {"plan": plan_of, "state": state_of}[part]
    with pytest.raises(NewerFormatError, match=f"the {part} of a series has format 99"):
        read("edges", StoredSeries(**texts))


def test_a_table_of_a_newer_format_is_refused() -> None:
    stated = {"name": "nodes.parquet", "sha256": "0"}
    assert StoredTable.of(stated | {"format": 1}) == StoredTable.of(stated)
    for newer in (stated | {"format": 2}, [stated, stated | {"format": 2}]):
        with pytest.raises(NewerFormatError, match="a private table has format 2"):
            StoredTable.of(newer)
