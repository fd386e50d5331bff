"""Binding: what ties a file to the place where it was written, so that a copy of it is noticed.

What a machine remembers of a study is a file, and a backup of the home directory has it like any
other. So the file says when its own place on the disk was made (its *birth*), and on which machine.
A copied or restored file has another birth: on Linux nobody can set it. A reboot, another kernel,
another mount and changed permissions leave it as it is. What the system does not tell is not
compared. A snapshot of a file system or of a virtual machine brings back both, unnoticed
(`docs/durability.md#a-restored-home-directory`).
"""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

MACHINE_ID = Path("/etc/machine-id")
# With the first the id is of this boot only, with the others of this container.
PASSING = (Path("/run/machine-id"), Path("/.dockerenv"), Path("/run/.containerenv"))
MOUNTS = Path("/proc/self/mountinfo")
OF_ONE_MACHINE = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs")
)  # file systems: others may be mounted by several machines at once, as home directories are
_EMPTY_PATH, _BIRTH = 0x1000, 0x800  # of statx(2)
_STATX, _BIRTH_AT = 256, 80  # bytes of its answer, and the offset of the birth time


class Binding(NamedTuple):
    """Where a file was written; None for what the system does not report.

    Attributes:
        born: when the file came to be, in nanoseconds.
        machine: on which machine, as a hash that names it nowhere else.
    """

    born: int | None = None
    machine: str | None = None

    @classmethod
    def of(cls, descriptor: int, folder: Path) -> Binding:
        """That of an open file in a folder."""
        return cls(_birth(descriptor), _machine(folder))

    @classmethod
    def at(cls, path: Path) -> Binding:
        """That of a file; of none that cannot be opened."""
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            return cls()
        try:
            return cls.of(descriptor, path.parent)
        finally:
            os.close(descriptor)

    @classmethod
    def read(cls, stored: Any) -> Binding:
        """The binding that is stored in a file; empty if an earlier version wrote the file."""
        fields = stored if isinstance(stored, dict) else {}
        born, machine = fields.get("born"), fields.get("machine")
        return cls(
            born if isinstance(born, int) else None, machine if isinstance(machine, str) else None
        )

    def is_left(self, now: Binding) -> bool:
        """Whether the file with this binding is elsewhere now."""
        pairs = zip(self, now, strict=True)
        return any(None not in (then, found) and then != found for then, found in pairs)


def _birth(descriptor: int) -> int | None:
    """When an open file was made."""
    if sys.platform == "linux":
        return _linux_birth(descriptor)
    status = os.fstat(descriptor)
    born = getattr(status, "st_birthtime", None)
    return None if born is None else round(born * 10**9)


def _linux_birth(descriptor: int) -> int | None:
    """The same by statx(2), which Python does not offer yet."""
    answer = ctypes.create_string_buffer(_STATX)
    try:
        failed = ctypes.CDLL(None).statx(descriptor, b"", _EMPTY_PATH, _BIRTH, answer)
    except (AttributeError, OSError):  # an old or another C library
        return None
    (mask,) = struct.unpack_from("=I", answer)
    if failed or not mask & _BIRTH:
        return None
    seconds, rest = struct.unpack_from("=qI", answer, _BIRTH_AT)
    return int(seconds) * 10**9 + int(rest)


def _machine(folder: Path) -> str | None:
    """The machine, where it has an id that lasts and the folder is on a disk of its own."""
    if any(path.exists() for path in PASSING) or _file_system(folder) not in OF_ONE_MACHINE:
        return None
    try:
        identity = MACHINE_ID.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return sha256(f"graphveil {identity}".encode()).hexdigest()[:32] if _is_id(identity) else None


def _is_id(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{32}", text) is not None


def _file_system(folder: Path) -> str:
    """The kind of file system that a folder is on; empty if the system does not report it."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    mounted = [(*line.split(" ")[4:5], line.partition(" - ")[2].split(" ")[0]) for line in lines]
    above = [each for each in mounted if folder.resolve().is_relative_to(each[0])]
    # Of several in one place the last is seen.
    return max(reversed(above), key=lambda each: len(each[0]), default=("", ""))[1]
