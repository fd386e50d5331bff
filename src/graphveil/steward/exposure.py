"""Exposure: whether others than its owner can read the private part of a study."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Exposure:
    """What others can open, and what closes it.

    Attributes:
        private: the private folder.
        paths: of the files and folders in it that are open to others; itself perhaps included.
    """

    private: Path
    paths: tuple[Path, ...]

    @property
    def remedy(self) -> str:
        """The command that mends it."""
        return f"chmod -R go-rwx {shlex.quote(str(self.private))}"

    def __str__(self) -> str:
        what = "the private folder" if self.private in self.paths else "a file in private/"
        return (
            f"{what} is open to other users of this machine; whoever reads it can undo the privacy "
            f"of every release. Close it: {self.remedy}"
        )


def exposure(folder: Path) -> Exposure | None:
    """What others can read of the study in a folder; None if nothing, or if there is no study."""
    from graphveil.study.storage.folder import Folder

    found = Folder(folder.resolve())
    if not found.private.is_dir() or found.private.is_symlink():
        return None
    paths = found.exposed()
    return Exposure(found.private, paths) if paths else None
