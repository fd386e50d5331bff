"""Files that are written whole or not at all, and are on the disk before anyone goes on."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from graphveil.errors import ParameterError, StorageError


def write_whole(
    path: Path,
    write: Callable[[IO[bytes]], object],
    *,
    parameter: str | None = None,
    mode: int = 0o644,
) -> None:
    """Write beside the file and then put it in its place, so that no half file is ever seen.

    The file beside has a fixed name: what a killed process left is overwritten by the next.

    Args:
        path: the file; its folder must be there.
        write: is given the open file.
        parameter: whose fault it is where nothing can be written; None blames the disk.
        mode: who may read it.
    """
    place = path.resolve()
    beside = place.with_name(f".{place.name}.part")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
        sync_folder(place.parent)
    except OSError as error:
        with suppress(OSError):  # on a disk that cannot be written, it stays
            beside.unlink(missing_ok=True)
        if parameter is not None:
            raise ParameterError(parameter, f"cannot be written: {error.strerror}") from error
        raise StorageError(f"{path.name} cannot be written: {error.strerror}.") from error


def write_bytes(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write a file of given content, whole or not at all."""
    write_whole(path, lambda file: file.write(content), mode=mode)


def sync_folder(folder: Path) -> None:
    """See to it that a renamed file stays renamed after a power failure."""
    if os.name == "nt":  # folders cannot be opened there; the rename itself is logged
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
