"""Known folders: where studies of this machine lie, so that nobody has to remember paths.

The list is a convenience: what may go on is decided by the witness alone. It is kept in the
state folder, for its owner only, since a path can be telling. A folder that is gone is left out
and comes back with it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from graphveil.study.place.machine import Machine, keeping
from graphveil.study.storage.folder import Folder, write_private

FILE = "known.json"
KEY = 5  # bytes of the random name that stands for a folder
MOST = 500  # folders that are kept in mind; of more, the newest


@dataclass(frozen=True)
class KnownFolder:
    """A folder with a study.

    Attributes:
        key: a random name that stands for it wherever its path must not be seen.
        folder: where it is.
        backup: the hash of the newest row when its keeper last said that they had made a copy.
        hidden: whether its keeper has taken it off the list.
    """

    key: str
    folder: Path
    backup: str = ""
    hidden: bool = False

    @property
    def is_there(self) -> bool:
        """Whether a study is found in it now."""
        found = Folder(self.folder)
        return found.study_file.is_file() and found.private.is_dir()


def known(machine: Machine) -> tuple[KnownFolder, ...]:
    """All that are kept in mind, the newest first; what cannot be read is nothing."""
    try:
        stored = json.loads((machine.folder / FILE).read_bytes())["studies"]
        return tuple(_folder(each) for each in stored)
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return ()


def _folder(stored: dict[str, Any]) -> KnownFolder:
    key, folder, backup = stored["key"], stored["folder"], stored.get("backup", "")
    if all(isinstance(each, str) for each in (key, folder, backup)):
        return KnownFolder(key, Path(folder), backup, bool(stored.get("hidden")))
    raise ValueError("no folder of a study")


def remember(machine: Machine, folder: Path, backup: str | None = None) -> KnownFolder:
    """Keep a folder in mind, as the newest; one that is known keeps its key."""
    place = folder.resolve()
    with keeping(machine.folder):
        before = known(machine)
        same = next((each for each in before if each.folder == place), None)
        found = same or KnownFolder(secrets.token_hex(KEY), place)
        told = found.backup if backup is None else backup
        found = replace(found, backup=told, hidden=False)
        _keep(machine, [found, *(each for each in before if each.folder != place)][:MOST])
    return found


def forget(machine: Machine, key: str) -> None:
    """Leave a folder out of the list until it is opened; the study in it stays as it is."""
    with keeping(machine.folder):
        before = known(machine)
        _keep(machine, [replace(e, hidden=True) if e.key == key else e for e in before])


def _keep(machine: Machine, folders: Sequence[KnownFolder]) -> None:
    stored = [{**asdict(each), "folder": str(each.folder)} for each in folders]
    content = json.dumps({"format": 1, "studies": stored}, indent=1)
    write_private(machine.folder / FILE, content.encode())
