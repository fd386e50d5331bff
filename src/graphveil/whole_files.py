"""Files that are written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

from graphveil.errors import ParameterError


def write_whole(path: Path, write: Callable[[IO[bytes]], object], *, parameter: str) -> None:
    """Write beside the file and then put it in its place, so that no half file is ever seen.

    Args:
        path: the file; its folder must be there.
        write: is given the open file.
        parameter: whose fault it is where nothing can be written.
    """
    beside = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.resolve().parent, delete=False) as file:
            beside = Path(file.name)
            write(file)
        beside.chmod(0o644)
        beside.replace(path)
    except OSError as error:
        if beside is not None:
            beside.unlink(missing_ok=True)
        raise ParameterError(parameter, f"cannot be written: {error.strerror}") from error
