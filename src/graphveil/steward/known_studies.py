"""Known studies: those that this machine knows of, and those that lie in a folder of studies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from graphveil.errors import GraphveilError, StudyError

MOST_BESIDE = 200  # folders that are looked into


@dataclass(frozen=True)
class KnownStudy:
    """A study of this machine, as a list shows it.

    Attributes:
        key: a random name for its folder.
        folder: where it is.
        title: as its study file has it; nothing where that cannot be read.
        is_open: whether it is more than a draft.
    """

    key: str
    folder: Path
    title: str
    is_open: bool


def known_studies(beside: Path | None = None) -> tuple[KnownStudy, ...]:
    """Every study that is known and still there, the newest first.

    Args:
        beside: a folder whose studies are taken up, too.
    """
    from graphveil.study import machine
    from graphveil.study.machine import Machine

    here = Machine.here()
    listed = {each.folder for each in machine.known(here)}
    for folder in () if beside is None else _studies_in(beside):
        if folder not in listed:
            machine.remember(here, folder)
    folders = (e for e in machine.known(here) if e.is_there and not e.hidden)
    return tuple(_study(each.key, each.folder) for each in folders)


def opened(folder: Path) -> KnownStudy:
    """The study in a folder, which is remembered; refuses a folder that holds none."""
    from graphveil.study import StoredStudy, machine
    from graphveil.study.machine import Machine

    StoredStudy.at(folder)  # refuses
    known = machine.remember(Machine.here(), folder)
    return _study(known.key, known.folder)


def known_study(key: str) -> KnownStudy:
    """The study that has a key."""
    from graphveil.study import machine
    from graphveil.study.machine import Machine

    for each in machine.known(Machine.here()):
        if each.key == key and each.is_there:
            return _study(key, each.folder)
    raise StudyError("this study is not known here, or its folder is gone.")


def forget(key: str) -> None:
    """Leave a study out of the list; it stays as it is."""
    from graphveil.study import machine
    from graphveil.study.machine import Machine

    machine.forget(Machine.here(), key)


def keep_in_mind(folder: Path) -> None:
    """Note where a study is; does nothing where that cannot be written."""
    with suppress(GraphveilError):
        opened(folder)


def _studies_in(folder: Path) -> Iterator[Path]:
    from graphveil.study.storage.folder import Folder

    with suppress(OSError):
        for place, each in enumerate(sorted(folder.resolve().iterdir())):
            if place < MOST_BESIDE and not each.is_symlink() and Folder(each).study_file.is_file():
                yield each


def _study(key: str, folder: Path) -> KnownStudy:
    from graphveil.study.storage.folder import Folder

    place = Folder(folder)
    return KnownStudy(key, folder, _title(place.study_file), place.public_ledger.exists())


def _title(study_file: Path) -> str:
    import tomllib

    with suppress(OSError, ValueError, RecursionError):
        title = tomllib.loads(study_file.read_bytes().decode()).get("title")
        return title if isinstance(title, str) else ""
    return ""
