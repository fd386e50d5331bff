"""The cache of compiled kernels: it may be unreadable or have no place, and nothing breaks.

numba keeps machine code beside the source, or in the user's cache. It fails where neither can
be written, and where a cache of an earlier version names classes that are gone.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import FunctionCache

OWNER_ONLY = 0o700


class KernelCache(FunctionCache):  # type: ignore[misc]  # numba is not typed
    """numba's own cache of one function, which takes what it cannot read for empty."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature; None if there is none, or none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever unpickling another version's cache may raise
            with suppress(OSError):
                self.flush()
            return None


def cache_of(function: Callable[..., Any]) -> KernelCache | None:
    """Where the machine code of a function is kept; None if there is no safe place for it."""
    try:
        return KernelCache(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return _in_temporary_folder(function)


def _in_temporary_folder(function: Callable[..., Any]) -> KernelCache | None:
    folder = Path(tempfile.gettempdir()) / f"graphveil-kernels-{os.getuid()}"
    if not _is_ours(folder):
        return None
    before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        return KernelCache(function)
    except RuntimeError:
        return None
    finally:
        config.CACHE_DIR = before


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can have put code there, which would be run."""
    with suppress(OSError):
        folder.mkdir(mode=OWNER_ONLY)
    with suppress(OSError):
        found = folder.lstat()
        mine = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        return mine and stat.S_IMODE(found.st_mode) == OWNER_ONLY
    return False
