"""Files that are written whole or not at all, and are on the disk before anyone goes on.

Whoever may write into a folder can put a link there. So a file is first written under a name
that nobody can guess and that must be new; no link is followed, neither there nor in its place.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from graphveil.errors import ParameterError, StorageError
from graphveil.posix import NEW_FILE, set_mode, sync_folder

# The second form is what earlier versions left when they were killed.
_LEFTOVER = re.compile(
    r"\.graphveil-[0-9a-f]{32}\.part|\..+\.(toml|jsonl|txt|csv|json|svg|png|html|parquet)\.part"
)


def write_whole(
    path: Path,
    write: Callable[[IO[bytes]], object],
    *,
    parameter: str | None = None,
    mode: int = 0o644,
) -> None:
    """Write beside the file and then put it in its place, so that no half file is ever seen.

    Args:
        path: the file; its folder must be there.
        write: is given the open file.
        parameter: which one named the file; its folder may then be reached by a link. None is
            a file of a study, where no folder is a link.
        mode: who may read it, whatever the umask says.
    """
    beside = path.with_name(f".graphveil-{uuid.uuid4().hex}.part")
    try:
        _require_no_link(path, folder_too=parameter is None)
        _write_and_replace(beside, path, write, mode)
    except OSError as error:
        if parameter is not None:
            raise ParameterError(parameter, f"cannot be written: {error.strerror}") from error
        raise StorageError(f"{path.name} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):  # on a disk that cannot be written, it stays
            beside.unlink(missing_ok=True)


def _write_and_replace(
    beside: Path, place: Path, write: Callable[[IO[bytes]], object], mode: int
) -> None:
    with os.fdopen(os.open(beside, NEW_FILE, 0o600), "wb") as file:
        set_mode(file.fileno(), mode)
        write(file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(place)
    sync_folder(place.parent)


def _require_no_link(path: Path, *, folder_too: bool) -> None:
    """Refuse a place that leads elsewhere, in the words of an error of the system."""
    if path.is_symlink():
        raise OSError(0, "it is a link to another place; remove the link")
    if folder_too and path.parent.is_symlink():
        raise OSError(0, f"its folder '{path.parent.name}' is a link; put a folder there")


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file of given content, whole or not at all."""
    write_whole(path, lambda file: file.write(content), mode=mode)


def clear_leftovers(folder: Path) -> None:
    """Remove what killed processes left half-written; only while nobody else writes there."""
    with suppress(OSError):
        for path in folder.iterdir():
            if is_leftover(path):
                path.unlink(missing_ok=True)


def is_leftover(path: Path) -> bool:
    """Whether a file is called as half-written ones are."""
    return _LEFTOVER.fullmatch(path.name) is not None
