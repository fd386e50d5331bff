"""The memory of a graph: columns that grow at the cost of what is new, and whether it has room.

A column is a length and a buffer that may be longer. Extending the newest column of a buffer
writes behind its end, where no older column looks; extending an older one copies. Both ways
every column keeps its contents forever.

Whether a graph will fit is asked before any memory is taken. Estimates are low: what they refuse
would not have fitted. `benchmarks/growth.py` measures them.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError
from graphveil.hints import Hint

Scalar = TypeVar("Scalar", bound=np.generic)
ROOM = 8  # one part in this many is left free for later values
HELD_BYTES = 1.0  # in memory, for each byte of a table on disk, as the least
BYTES_A_NODE, BYTES_AN_EDGE = 24, 16  # while records become a graph, beside the records
GIGABYTE = 10**9
_SYSTEM = Path("/proc/meminfo")
_GROUP = Path("/sys/fs/cgroup")


@dataclass(eq=False)
class _Buffer(Generic[Scalar]):
    """Memory that columns share; `claimed` entries belong to some column already."""

    memory: NDArray[Scalar]
    claimed: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def claim(self, start: int, end: int) -> bool:
        """Take memory[start:end], once and for one caller; False if that cannot be."""
        with self.lock:
            free = start == self.claimed and end <= len(self.memory)
            if free:
                self.claimed = end
            return free


@dataclass(frozen=True, eq=False)
class Column(Generic[Scalar]):
    """The first `length` entries of a buffer; made by `Column.of`."""

    _buffer: _Buffer[Scalar]
    length: int

    @classmethod
    def of(cls, values: NDArray[Scalar]) -> Column[Scalar]:
        """A column of the given array, which it takes over: do not write to it any more.

        No room is reserved for later values: most columns are loaded once and never extended.
        """
        return cls(_Buffer(values, len(values)), len(values))

    @classmethod
    def joined(cls, parts: Sequence[NDArray[Scalar]]) -> Column[Scalar]:
        """A column of all parts, one after the other, with room for an eighth more."""
        length = sum(map(len, parts))
        memory = np.empty(length + length // ROOM, parts[0].dtype)
        np.concatenate(parts, out=memory[:length])
        return cls(_Buffer(memory, length), length)

    @classmethod
    def within(cls, memory: NDArray[Scalar], length: int) -> Column[Scalar]:
        """A column of the first entries of an array, which it takes over with the room behind."""
        return cls(_Buffer(memory, length), length)

    def __len__(self) -> int:
        return self.length

    @property
    def values(self) -> NDArray[Scalar]:
        """The entries, as a view that nobody writes to.

        It is not marked read-only, as numba would compile every kernel a second time for that.
        """
        return self._buffer.memory[: self.length]

    def first(self, length: int) -> Column[Scalar]:
        """A column of the first entries of this one."""
        return Column(self._buffer, length)

    def extended(self, extra: NDArray[Scalar]) -> Column[Scalar]:
        """A column with `extra` behind the entries of this one, which stays as it is."""
        if not len(extra):
            return self
        end = self.length + len(extra)
        buffer = self._buffer
        if not buffer.claim(self.length, end):
            buffer = self._copied(end)
        buffer.memory[self.length : end] = extra
        return Column(buffer, end)

    def _copied(self, end: int) -> _Buffer[Scalar]:
        """A buffer of its own: room for `end` entries, and for an eighth more.

        Room that nobody has written to yet takes addresses, but no memory.
        """
        memory = np.empty(end + end // ROOM, self._buffer.memory.dtype)
        memory[: self.length] = self._buffer.memory[: self.length]
        return _Buffer(memory, end)


def require_room_to_read(size: int) -> None:
    """Refuse a table that is this large on disk, where memory cannot hold it."""
    _require(HELD_BYTES * size, "reading")


def require_room_to_build(nodes: int, edges: int) -> None:
    """Refuse so many rows of nodes and edges, where memory cannot hold their graph."""
    _require(BYTES_A_NODE * nodes + BYTES_AN_EDGE * edges, "building the graph")


def _require(needed: float, what: str) -> None:
    free = free_bytes()
    if free is not None and needed > free:
        raise InputError(
            f"{what} takes at least {needed / GIGABYTE:.1f} GB of memory, and "
            f"{free / GIGABYTE:.1f} GB are free",
            hint=Hint("room"),
        )


def free_bytes() -> int | None:
    """What this process may still take; None where the system does not tell."""
    sizes = [each for each in (_free_in_system(), _free_in_group()) if each is not None]
    return min(sizes, default=None)


def _free_in_system() -> int | None:
    """What the system could give, its caches included."""
    for line in _text(_SYSTEM).splitlines():
        name, _, amount = line.partition(":")
        if name == "MemAvailable":
            return int(amount.split()[0]) * 1024
    return None


def _free_in_group() -> int | None:
    """What a container is allowed; files in its cache are given back when memory is needed."""
    most, taken = _text(_GROUP / "memory.max").strip(), _text(_GROUP / "memory.current").strip()
    if not (most.isdecimal() and taken.isdecimal()):
        return None
    cached = dict(line.split() for line in _text(_GROUP / "memory.stat").splitlines())
    return max(int(most) - int(taken) + int(cached.get("file", 0)), 0)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeError):
        return ""
