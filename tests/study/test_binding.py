"""What ties a remembered file to its place: noticed in a copy, and unmoved by ordinary days."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from graphveil.study import binding
from graphveil.study.binding import Binding
from graphveil.study.machine import Machine, Mark, SeenRow

STUDY, LINEAGE = "a" * 64, "b" * 64
MARK = Mark(SeenRow(1, "c" * 64), SeenRow(1, "c" * 64))
ONE, OTHER = "1" * 32, "2" * 32


@pytest.fixture
def seen(tmp_path: Path) -> Path:
    machine = Machine(tmp_path / "state")
    machine.remember(STUDY, {LINEAGE: MARK})
    if Binding.at(place_of(machine)).born is None:
        pytest.skip("this file system does not tell when a file was made")
    return place_of(machine)


def place_of(machine: Machine) -> Path:
    return machine.folder / "studies" / STUDY / "seen.json"


def is_copied(path: Path) -> bool:
    return Machine(path.parents[2]).memory(STUDY).copied == {LINEAGE}


def _by_bytes(path: Path, _: Path) -> None:
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(content)


def _by_rename(path: Path, room: Path) -> None:
    shutil.copy2(path, room / "copy")
    (room / "copy").replace(path)


def _over_a_newer_one(path: Path, room: Path) -> None:
    """The way of `cp` and `rsync --inplace`: the file stays, its content is an older one."""
    shutil.copy2(path, room / "copy")
    Machine(path.parents[2]).remember(STUDY, {LINEAGE: MARK})
    path.write_bytes((room / "copy").read_bytes())


@pytest.mark.parametrize("way", [_by_bytes, _by_rename, _over_a_newer_one])
def test_a_restored_file_is_noticed(
    seen: Path, tmp_path: Path, way: Callable[[Path, Path], None]
) -> None:
    assert not is_copied(seen)
    way(seen, tmp_path)
    assert is_copied(seen)


def _touched(path: Path) -> None:
    path.chmod(0o640)
    os.utime(path, (1, 1))


def _moved(path: Path) -> None:
    """To another name on the same disk, and back."""
    path.parents[2].rename(path.parents[2].with_name("elsewhere"))
    path.parents[2].with_name("elsewhere").rename(path.parents[2])


def _linked(path: Path) -> None:
    os.link(path, path.with_name("also"))


@pytest.mark.parametrize("event", [_touched, _moved, _linked])
def test_what_happens_on_ordinary_days_is_no_copy(
    seen: Path, event: Callable[[Path], None]
) -> None:
    event(seen)
    assert not is_copied(seen)
    Machine(seen.parents[2]).remember(STUDY, {LINEAGE: MARK})
    assert not is_copied(seen)


def test_what_an_earlier_version_remembered_is_trusted_and_then_bound(seen: Path) -> None:
    said = json.loads(seen.read_text())
    del said["place"]
    seen.write_text(json.dumps(said))
    assert not is_copied(seen)
    Machine(seen.parents[2]).remember(STUDY, {LINEAGE: MARK})
    assert json.loads(seen.read_text())["place"]["born"] == Binding.at(seen).born


@pytest.mark.parametrize("place", [None, [], 7, {}, {"born": "x", "machine": 1}, {"born": None}])
def test_a_place_that_says_nothing_is_not_compared(place: object) -> None:
    assert Binding.read(place) == Binding()
    assert not Binding.read(place).is_left(Binding(5, "here"))
    assert not Binding(5, "here").is_left(Binding())


def test_one_difference_is_enough() -> None:
    assert Binding(5, "here").is_left(Binding(6, "here"))
    assert Binding(5, "here").is_left(Binding(5, "there"))
    assert Binding(None, "here").is_left(Binding(5, "there"))
    assert not Binding(5, "here").is_left(Binding(5, "here"))


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system with an id, and with its folders on an own disk."""
    (tmp_path / "id").write_text(f"{ONE}\n")
    mounts(tmp_path, ("/", "ext4"))
    monkeypatch.setattr(binding, "MACHINE_ID", tmp_path / "id")
    monkeypatch.setattr(binding, "MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(binding, "PASSING", (tmp_path / "passing",))
    return tmp_path


def mounts(place: Path, *mounted: tuple[str, str]) -> None:
    lines = (f"1 2 3:4 / {where} rw,relatime - {kind} /dev/x rw" for where, kind in mounted)
    (place / "mounts").write_text("\n".join(lines))


def machine_in(place: Path) -> str | None:
    return Binding.at(place / "id").machine


def test_another_machine_is_noticed(system: Path) -> None:
    found = machine_in(system)
    assert found is not None
    assert found not in (ONE, ONE[:16])  # its id is nobody else's business
    (system / "id").write_text(f"{OTHER}\n")
    assert machine_in(system) not in (None, found)


@pytest.mark.parametrize("kind", ["nfs4", "nfs", "cifs", "fuse.sshfs", "9p", "overlay", "tmpfs"])
def test_a_disk_of_several_machines_is_of_none(system: Path, kind: str) -> None:
    """A home directory on a server is used from many."""
    mounts(system, ("/", "ext4"), (str(system.resolve()), "xfs"), (str(system.resolve()), kind))
    assert machine_in(system) is None
    mounts(system, ("/", kind), (str(system.resolve()), "btrfs"), (str(system / "other"), kind))
    assert machine_in(system) is not None


@pytest.mark.parametrize("text", ["", "uninitialized", "x" * 32, ONE[:31], "\udcff"])
def test_an_id_that_is_none_is_not_compared(system: Path, text: str) -> None:
    (system / "id").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert machine_in(system) is None


def test_a_container_and_a_system_without_memory_have_no_id(system: Path) -> None:
    (system / "passing").touch()
    assert machine_in(system) is None


def test_a_system_that_tells_nothing_is_not_compared(
    system: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (system / "mounts").unlink()
    assert machine_in(system) is None
    assert Binding.at(system / "none") == Binding()
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    assert Binding.at(system / "id").born is None
