"""A team works from several machines; a clone or a restored dump of its database does not."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

import pytest
import sqlalchemy as sa
import tomli_w

from fault_runs import TABLES, Template
from graphveil.errors import IntegrityError
from graphveil.study import StoredStudy
from graphveil.study.machine import Machine
from graphveil.study.verification import verify
from graphveil.study.witness import WitnessVerdict
from studies import opened, released
from study_databases import execute, new_database


@pytest.fixture
def machines(tmp_path: Path) -> list[Machine]:
    return [Machine(tmp_path / f"machine-{number}") for number in range(3)]


def cloned(study: StoredStudy, server: str, place: Path, machine: Machine) -> StoredStudy:
    """A dump of the database, restored into another schema, and a copy of the folder."""
    url = new_database(server)
    schema = str(sa.make_url(url).query["options"]).partition("=")[2]
    with study.store.engine.connect() as connection:
        home = connection.exec_driver_sql("SELECT current_schema()").scalar()
    for table in TABLES:
        execute(server, f"CREATE TABLE {schema}.{table} (LIKE {home}.{table} INCLUDING ALL)")
        execute(server, f"INSERT INTO {schema}.{table} SELECT * FROM {home}.{table}")
    copytree(study.folder.root, place)
    (place / "private" / "store.toml").write_bytes(tomli_w.dumps({"url": url}).encode())
    return StoredStudy.at(place, machine=machine)


def test_a_team_works_from_several_machines(
    root: Path, postgresql: str, machines: list[Machine]
) -> None:
    study = opened(root, new_database(postgresql), machines[0])
    for step, machine in enumerate([machines[0], machines[1], machines[2], machines[0]]):
        assert StoredStudy.at(root, machine=machine).publish().steps == [step]
    assert [each.name for each in verify(study)][-1] == "this machine"


def test_a_clone_is_refused_and_can_be_adopted(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    study = opened(root, new_database(postgresql), machines[0])
    study.publish()
    for machine in machines[:2]:
        clone = cloned(study, postgresql, tmp_path / f"clone-{machine.folder.name}", machine)
        assert clone.verdict() is WitnessVerdict.MOVED
        with pytest.raises(IntegrityError, match="a clone or a restored dump"):
            clone.publish()
        clone.adopt("a new server")
        assert clone.publish().steps == [1]
        assert StoredStudy.at(clone.folder.root, machine=machines[2]).publish().steps == [2]
    study.publish()
    assert released(study)["edges", 0] == released(clone)["edges", 0]


def test_a_database_that_was_restored_in_place_is_behind(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    """What a machine saw is a lower bound; the home is the same, and the public part is older."""
    study = opened(root, new_database(postgresql), machines[0])
    study.publish()
    backup = Template.of(study)
    copytree(root, tmp_path / "backup")
    StoredStudy.at(root, machine=machines[1]).publish()
    study.publish()
    old = Template(tmp_path / "backup", backup.rows).copy(tmp_path / "restored")
    for machine in machines[:2]:
        with pytest.raises(IntegrityError, match="older than what this machine saw"):
            StoredStudy.at(old, machine=machine).publish()


def test_a_database_is_handed_over(
    root: Path, postgresql: str, machines: list[Machine], tmp_path: Path
) -> None:
    here, there, other = machines
    study = opened(root, new_database(postgresql), here)
    study.publish()
    study.hand_over(there.code())
    for machine in (here, other):
        with pytest.raises(IntegrityError, match="handed over to the machine"):
            StoredStudy.at(root, machine=machine).publish()
    moved, again = (
        cloned(study, postgresql, tmp_path / name, there) for name in ("moved", "again")
    )
    assert moved.publish().steps == [1]
    assert StoredStudy.at(moved.folder.root, machine=other).publish().steps == [2]
    with pytest.raises(IntegrityError, match="a clone or a restored dump"):
        again.publish()
    assert moved.verdict() is WitnessVerdict.IN_STEP
