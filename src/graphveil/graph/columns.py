"""An append-only typed column: a value that is extended at a cost of the new part only.

A column is a length and a buffer that may be longer. Extending the newest column of a buffer
writes behind its end, where no older column looks; extending an older one copies. Both ways
every column keeps its contents forever.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
ROOM = 8  # one part in this many is left free for later values


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
