"""Links, open doors and odd umasks: nothing is written elsewhere, and secrets stay closed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import graphveil
from graphveil.errors import ParameterError, StorageError, StudyError
from graphveil.steward.custody import exposure
from graphveil.study import StoredStudy, folder
from graphveil.study.folder import Folder
from graphveil.whole_files import write_bytes, write_whole
from steward import opened, run
from studies import opened as opened_study
from studies import promise

ARTEFACTS = (
    "releases.csv", "changes.csv", "revised.csv", "dictionary.csv", "card.json", "report.html",
    "datapackage.json", "dataset.jsonld",
)  # fmt: skip


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that a link is to overwrite."""
    path = tmp_path / "secret"
    path.write_text("secret")
    return path


@pytest.mark.parametrize("name", ["study.toml", "ledger.jsonl", "charts/edges.svg", *ARTEFACTS])
def test_a_planted_link_lets_nobody_overwrite_a_file(
    tmp_path: Path, secret: Path, name: str
) -> None:
    root = opened(tmp_path / "study")
    run("publish", root)
    before = secret.read_bytes()
    place = root / "public" / name
    if name.endswith(("toml", "jsonl")):
        secret.write_bytes(before := place.read_bytes())
    place.unlink()
    place.symlink_to(secret)
    for command in ("report", "publish"):
        ended = graphveil(command, str(root))
        assert ended.code == 10
        assert "link" in ended.err
        assert secret.read_bytes() == before
    place.unlink()
    assert graphveil("report", str(root)).code == (7 if place.suffix == ".toml" else 0)


@pytest.mark.parametrize("part", ["public", "public/charts", "private", "private/segments"])
def test_a_folder_that_is_a_link_is_refused(tmp_path: Path, part: str) -> None:
    root = opened(tmp_path / "study")
    run("publish", root)
    (root / part).rename(tmp_path / "elsewhere")
    (root / part).symlink_to(tmp_path / "elsewhere")
    for command in ("publish", "report", "verify", "status"):
        ended = graphveil(command, str(root))
        assert ended.code == 10, command
        assert f"{Path(part).name} is a link" in ended.err


def test_the_way_to_a_study_may_be_a_link(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    (tmp_path / "home").symlink_to(tmp_path)
    run("publish", tmp_path / "home" / "study")
    run("verify", tmp_path / "home" / "study")
    assert (root / "public" / "report.html").is_file()


def test_the_old_fixed_name_is_not_followed(tmp_path: Path, secret: Path) -> None:
    (tmp_path / ".page.html.part").symlink_to(secret)
    write_bytes(tmp_path / "page.html", b"whole")
    assert secret.read_text() == "secret"


def test_temporary_names_cannot_be_guessed(tmp_path: Path) -> None:
    names: set[str] = set()
    for _ in range(3):
        write_whole(
            tmp_path / "page.html",
            lambda _: names.update(path.name for path in tmp_path.glob("*.part")),
        )
    assert len(names) == 3
    assert not list(tmp_path.glob("*.part"))


def test_a_file_that_the_user_names_may_be_reached_by_links_but_be_none(
    tmp_path: Path, secret: Path
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "way").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "way" / "plot.svg", lambda file: file.write(b"1"), parameter="plot")
    assert (tmp_path / "real" / "plot.svg").read_bytes() == b"1"
    (tmp_path / "plot.svg").symlink_to(secret)
    with pytest.raises(ParameterError, match="plot: cannot be written: it is a link"):
        write_whole(tmp_path / "plot.svg", lambda file: file.write(b"1"), parameter="plot")
    with pytest.raises(StorageError, match="its folder 'way' is a link"):
        write_bytes(tmp_path / "way" / "plot.svg", b"2")


def test_nothing_half_stays_when_somebody_interrupts(tmp_path: Path) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "page.html", interrupted)
    assert not list(tmp_path.iterdir())


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o277])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_permissions_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    root = opened(tmp_path / "study")
    run("publish", root)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (root, *root.rglob("*"))}
    for path, mode in modes.items():
        private = path.is_relative_to(root / "private")
        expected = (0o700 if private else 0o755) if path.is_dir() else (0o600 if private else 0o644)
        assert mode == expected, path
    journals = [path for path in modes if path.name.endswith("-journal")]
    assert journals
    assert exposure(root) is None


def test_every_command_says_that_others_can_read_the_private_part(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    (root / "private").chmod(0o750)
    for command in ("publish", "status", "releases", "report", "verify", "series", "plan"):
        ended = graphveil(command, str(root))
        assert ended.code == 0, ended.err
        assert f"chmod -R go-rwx {root / 'private'}" in ended.err, command
    ended = graphveil("add", str(root), str(tmp_path / "files" / "nodes.csv"), "--dry-run")
    assert "WARNING: the private folder is open to other users" in ended.err
    (root / "private").chmod(0o700)
    assert graphveil("status", str(root)).err == ""


def test_a_single_open_file_is_named_as_such(root: Path) -> None:
    study = opened_study(root)
    assert exposure(root) is None
    table = next(study.folder.batches.iterdir())
    table.chmod(0o644)
    found = exposure(root)
    assert found is not None
    assert found.paths == (table,)
    assert "a file in private/ is open" in str(found)


def test_what_killed_processes_left_is_removed_by_the_next_writer(root: Path) -> None:
    study = opened_study(root)
    (study.folder.charts).mkdir()
    left = [
        study.folder.public / ".ledger.jsonl.part",  # of an earlier version
        study.folder.public / f".graphveil-{'a' * 32}.part",
        study.folder.charts / f".graphveil-{'b' * 32}.part",
        study.folder.segments / f".graphveil-{'c' * 32}.part",
    ]
    own = study.folder.public / ".my own.part"
    for path in (*left, own):
        path.write_text("half")
    study.publish()
    assert not [path for path in left if path.exists()]
    assert own.exists()


def test_two_who_make_one_study_at_once_make_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = folder.make_folder

    def overtaken(place: Folder) -> None:
        monkeypatch.setattr("graphveil.study.stored_study.make_folder", plain)
        StoredStudy.create(root, promise(title="The faster one"))
        plain(place)

    monkeypatch.setattr("graphveil.study.stored_study.make_folder", overtaken)
    with pytest.raises(StudyError, match="already holds a study"):
        StoredStudy.create(root, promise(title="The slower one"))
    assert StoredStudy.at(root).promise().title == "The faster one"
