"""What POSIX systems have and others have not, each with what is done there instead.

On Windows a file in a user's profile is closed to other users by the access list that it inherits,
folders cannot be synced, and nobody removes a file that is open. So permissions, syncs of folders
and advisory locks are left out there, and nothing warns of permissions that mean nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_FOLLOW


def has_modes() -> bool:
    """Whether the mode of a file says who may read it."""
    return hasattr(os, "fchmod") and sys.platform != "win32"


def set_mode(descriptor: int, mode: int) -> None:
    """Say who may read an open file, whatever the umask says."""
    if has_modes():
        os.fchmod(descriptor, mode)


def user_id() -> int | None:
    """The number of the user; None where users have none."""
    return os.getuid() if hasattr(os, "getuid") else None


def sync_folder(folder: Path) -> None:
    """See to it that a renamed file stays renamed after a power failure."""
    if sys.platform == "win32":  # where the file system logs the rename itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock(descriptor: int, *, wait: bool) -> bool:
    """Take the advisory lock of an open file; whether it was free, or nobody locks here."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
