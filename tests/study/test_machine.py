"""What one machine remembers: where, by whom it can be read, and what is taken for a code."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from graphveil.errors import ParameterError, StorageError
from graphveil.study import StoredStudy
from graphveil.study import machine as machines
from graphveil.study.machine import FORMAT, Machine, Mark, SeenRow, require_code
from studies import opened, promise

STUDY, LINEAGE = "a" * 64, "b" * 64
MARK = Mark(SeenRow(12, "c" * 64), SeenRow(9, "d" * 64))


@pytest.fixture
def place(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "deep" / "state")


@pytest.mark.parametrize(
    ("system", "platform", "variables", "place"),
    [
        ("posix", "linux", {}, "home/.local/state/graphveil"),
        ("posix", "linux", {"XDG_STATE_HOME": "/var/x"}, "/var/x/graphveil"),
        ("posix", "linux", {"XDG_STATE_HOME": "relative"}, "home/.local/state/graphveil"),
        ("posix", "linux", {"LOCALAPPDATA": "/data"}, "home/.local/state/graphveil"),
        ("posix", "darwin", {"XDG_STATE_HOME": "/x"}, "home/Library/Application Support/graphveil"),
        ("nt", "win32", {}, "home/AppData/Local/graphveil"),
        ("nt", "win32", {"LOCALAPPDATA": "/data"}, "/data/graphveil"),
        ("posix", "linux", {"GRAPHVEIL_STATE": "/s", "XDG_STATE_HOME": "/x"}, "/s"),
        ("posix", "linux", {"GRAPHVEIL_STATE": ""}, "home/.local/state/graphveil"),
    ],
)
def test_memory_is_where_the_system_keeps_state(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    platform: str,
    variables: dict[str, str],
    place: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(machines, "os", SimpleNamespace(name=system, environ=variables))
    monkeypatch.setattr(machines, "sys", SimpleNamespace(platform=platform))
    assert Machine.here() == Machine(tmp_path / place)


def test_a_memory_that_depends_on_where_one_stands_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(machines.VARIABLE, "state")
    with pytest.raises(StorageError, match="from the root on"):
        Machine.here()


@pytest.mark.parametrize("inside", ["", "state", "private/state", "link/state"])
def test_a_memory_within_the_study_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: str
) -> None:
    """A copy or a restored backup would bring its own along, and be taken for the original."""
    study = opened(tmp_path / "study", machine=Machine(tmp_path / "beside"))
    (study.folder.root / "link").symlink_to(study.folder.private)
    monkeypatch.setenv(machines.VARIABLE, str(tmp_path / "study" / inside))
    with pytest.raises(StorageError, match="lies within the study") as refused:
        StoredStudy.at(tmp_path / "study")
    assert len(str(refused.value)) < 300
    monkeypatch.setenv(machines.VARIABLE, str(tmp_path / "new" / inside))
    with pytest.raises(StorageError, match="lies within the study"):
        StoredStudy.create(tmp_path / "new", promise())
    assert not (tmp_path / "new").exists()
    monkeypatch.setenv(machines.VARIABLE, str(tmp_path / "beside"))
    assert StoredStudy.at(tmp_path / "study").publish().steps == [0]


def test_a_code_is_made_once_and_is_nobody_elses(place: Machine, tmp_path: Path) -> None:
    assert place.known_code() == ""
    assert not place.folder.exists()  # asking writes nothing
    code = place.code()
    assert re.fullmatch("[0-9a-f]{16}", code)
    assert place.code() == place.known_code() == Machine(place.folder).code() == code
    assert Machine(tmp_path / "other").code() != code
    assert json.loads(place.folder.joinpath("machine.json").read_text())["code"] == code


def test_a_code_that_is_no_text_is_refused(place: Machine) -> None:
    place.code()
    place.folder.joinpath("machine.json").write_bytes(b"\xff\xfe")
    with pytest.raises(StorageError, match=r"machine\.json' cannot be read"):
        place.known_code()


def test_what_is_remembered_comes_back(place: Machine) -> None:
    assert place.memory(STUDY).marks == {}
    assert not place.folder.exists()
    place.remember(STUDY, {LINEAGE: MARK})
    assert place.memory(STUDY).marks == {LINEAGE: MARK}
    assert place.memory("e" * 64).marks == {}
    later = {LINEAGE: MARK, "f" * 64: Mark(MARK.announced, MARK.announced)}
    place.remember(STUDY, later)
    assert place.memory(STUDY).marks == later
    (seen,) = place.folder.rglob("seen.json")
    assert f'"format": {FORMAT}' in seen.read_text()
    assert FORMAT == 1  # what earlier versions can read


def test_only_the_owner_can_look(place: Machine) -> None:
    before = os.umask(0)
    try:
        place.remember(STUDY, {LINEAGE: MARK})
        place.code()
    finally:
        os.umask(before)
    made = [place.folder.parent, place.folder, *place.folder.rglob("*")]
    assert {path.stat().st_mode & 0o777 for path in made if path.is_dir()} == {0o700}
    assert {path.stat().st_mode & 0o077 for path in made if path.is_file()} == {0}


def test_whoever_holds_a_study_finds_what_a_killed_one_left_removed(place: Machine) -> None:
    with place.holding(STUDY):
        folder = place.folder / "studies" / STUDY
        left = folder / f".graphveil-{'0' * 32}.part"
        left.touch()
        place.remember(STUDY, {LINEAGE: MARK})
        assert left.exists()
    with place.holding(STUDY):
        assert not left.exists()
        assert place.memory(STUDY).marks == {LINEAGE: MARK}


def test_a_study_is_held_by_one_at_a_time(place: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    class WaitingError(Exception):
        pass

    def wait(taken: object, holder: object) -> None:
        if not taken():  # type: ignore[operator]
            raise WaitingError

    monkeypatch.setattr("graphveil.study.folder.wait_for", wait)
    others = place.holding("e" * 64)
    with place.holding(STUDY), others, pytest.raises(WaitingError), place.holding(STUDY):
        pass
    with place.holding(STUDY):
        pass


def test_a_folder_that_another_process_makes_meanwhile_is_taken(
    place: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path.is_dir

    def is_dir(path: Path) -> bool:
        found = plain(path)
        if not found:
            path.mkdir(parents=True, exist_ok=True)
        return found

    monkeypatch.setattr(Path, "is_dir", is_dir)
    place.remember(STUDY, {LINEAGE: MARK})
    assert place.memory(STUDY).marks == {LINEAGE: MARK}


def test_a_folder_that_cannot_be_made_is_told_in_words(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()
    lost = Machine(blocked / "state")
    for act in (lost.code, lambda: lost.remember(STUDY, {}), lost.holding(STUDY).__enter__):
        with pytest.raises(StorageError, match="cannot be written: File exists"):
            act()


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[]", b'{"lineages": {"a": [1]}}'])
def test_a_memory_that_cannot_be_read_is_not_none(place: Machine, content: bytes) -> None:
    place.remember(STUDY, {LINEAGE: MARK})
    (seen,) = place.folder.rglob("seen.json")
    seen.write_bytes(content)
    with pytest.raises(StorageError, match="cannot be read"):
        place.memory(STUDY)


@pytest.mark.parametrize("number", [0, 1, 2**31 - 1])
def test_a_remembered_row_is_one_that_a_ledger_can_have(place: Machine, number: int) -> None:
    mark = Mark(SeenRow(number, "c" * 64), SeenRow(number, "d" * 64))
    place.remember(STUDY, {LINEAGE: mark})
    assert place.memory(STUDY).marks == {LINEAGE: mark}


@pytest.mark.parametrize(
    "row", ['[-1, "c"]', '[2147483648, "c"]', '["1", "c"]', "[1, 2]", '[1.5, "c"]']
)
def test_no_other_row_is_believed(place: Machine, row: str) -> None:
    place.remember(STUDY, {LINEAGE: MARK})
    (seen,) = place.folder.rglob("seen.json")
    seen.write_text(f'{{"format": 1, "lineages": {{"{LINEAGE}": [{row}, [1, "d"]]}}}}')
    with pytest.raises(StorageError, match="cannot be read"):
        place.memory(STUDY)


def test_a_code_is_16_digits_of_another_machine(place: Machine) -> None:
    own = place.code()
    require_code("0123456789abcdef", place)
    for wrong in (
        "",
        "0123456789abcde",
        "0123456789abcdef0",
        "0123456789abcdeg",
        own.upper() + "0",
    ):
        with pytest.raises(ParameterError, match="16 digits and letters"):
            require_code(wrong, place)
    with pytest.raises(ParameterError, match="is this machine"):
        require_code(own, place)


def test_what_was_left_half_written_is_removed(place: Machine) -> None:
    place.code()
    left = place.folder / f".graphveil-{'0' * 32}.part"
    left.touch()
    place.code()
    assert not left.exists()


@pytest.mark.parametrize(
    ("memory", "study", "shared"),
    [
        ("home/.local/state/graphveil", "home/work/study", "home"),
        ("home/.local/state/graphveil", "home", "home"),
        ("data/state", "data/study", "data"),
        ("home/state", "data/study", None),
    ],
)
def test_what_one_backup_restores_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str, study: str, shared: str | None
) -> None:
    """The folder for temporary files stands for one from which nothing is restored."""
    monkeypatch.setattr(machines, "gettempdir", lambda: str(tmp_path))
    found = Machine(tmp_path / memory).backed_up_with(tmp_path / study)
    assert found == (None if shared is None else tmp_path / shared)


def test_what_lies_on_two_disks_or_in_the_root_is_not_restored_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Machine(Path("/nowhere/state")).backed_up_with(Path("/elsewhere/study")) is None
    monkeypatch.setattr(machines, "_device", lambda path: path.name)
    assert Machine(tmp_path / "state").backed_up_with(tmp_path / "study") is None
    assert Machine(tmp_path / "a" / "same").backed_up_with(tmp_path / "b" / "same") is not None
