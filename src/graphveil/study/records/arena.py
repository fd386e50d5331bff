"""Arena: one private file that holds several columns, each followed by room to grow.

The file is mapped, and what is written to the mapping stays in this process. A writer puts new
entries behind those that the ledger knows of, where no reader looks. As two writers could do that
at the same place (one was killed, or lost its connection and does not know it yet), each place is
claimed first, by a file that must be new; where that fails, all columns go into another file.
Smaller things are packed: plain data and arrays in one file, whose checksum is verified on reading.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import IntegrityError, StorageError
from graphveil.posix import NO_FOLLOW, set_mode, sync_folder
from graphveil.study.folder import OWNER_ONLY_FILE
from graphveil.study.ledger import StoredFile
from graphveil.study.records.segments import checked
from graphveil.threads import in_threads
from graphveil.whole_files import write_whole

Values: TypeAlias = NDArray[Any]
Pieces: TypeAlias = Sequence[tuple[int, int]]  # of bytes: from where up to where

PAGE = 1 << 16  # columns begin at multiples of this, which is one of every system's pages
CHUNK = 1 << 20  # bytes that have one checksum
AT_ONCE = 64  # chunks that a command checks; of more, others next time
ROOM = 2  # one part in this many is left free; the file system allocates no blocks for it
LEAST_ROOM = 1 << 10  # entries
MOST_CLAIMS = 256  # of one file; then there is another one
_OLD = os.O_RDWR | NO_FOLLOW | getattr(os, "O_BINARY", 0)
_NEW = _OLD | os.O_CREAT | os.O_EXCL


class UnusableError(Exception):
    """A cached file is missing, damaged or of another form; it can be made again."""


@dataclass(frozen=True)
class Region:
    """Where a column lies in its file.

    Attributes:
        kind: the type of its entries, little-endian.
        start: its first byte.
        room: how many entries fit.
        length: how many there are.
        sums: the checksums of its bytes, chunk by chunk.
    """

    kind: str
    start: int
    room: int
    length: int
    sums: tuple[str, ...] = ()

    @property
    def bytes_used(self) -> int:
        """How long it is."""
        return self.length * np.dtype(self.kind).itemsize

    @property
    def chunks(self) -> int:
        """How many pieces it has that have one checksum each."""
        return -(-self.bytes_used // CHUNK)

    def chunk(self, place: int) -> tuple[int, int]:
        """The bytes of such a piece, counted from the first of its own."""
        return place * CHUNK, min((place + 1) * CHUNK, self.bytes_used)

    def view(self, memory: mmap.mmap, count: int) -> Values:
        """Its first entries, in a file that is mapped."""
        return np.frombuffer(memory, self.kind, count, self.start)


@dataclass(frozen=True)
class Layout:
    """A file, and where in it each column lies; what is private about it are the lengths.

    Attributes:
        name: of the file.
        regions: the columns by name.
        size: of the file.
    """

    name: str
    regions: Mapping[str, Region]
    size: int

    def to_data(self) -> dict[str, Any]:
        """Plain data to store."""
        regions = {name: vars(each) | {"sums": list(each.sums)} for name, each in self.items()}
        return {"name": self.name, "size": self.size, "regions": regions}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Layout:
        """What `to_data` gave."""
        regions = {
            name: Region(**{**each, "sums": tuple(each["sums"])})
            for name, each in data["regions"].items()
        }
        return cls(data["name"], regions, data["size"])

    def items(self) -> Iterator[tuple[str, Region]]:
        """The columns by name."""
        return iter(self.regions.items())


@dataclass(frozen=True, eq=False)
class Arena:
    """A file that is mapped, as one row of the ledger describes it.

    Attributes:
        folder: where the file lies.
        layout: what is where.
        memory: the file; writing to it changes nothing but this process.
    """

    folder: Path
    layout: Layout
    memory: mmap.mmap

    @classmethod
    def opened(cls, folder: Path, layout: Layout, turn: int | None) -> Arena:
        """The file, mapped, after its size and the checksums of some chunks were verified.

        Args:
            folder: where it lies.
            layout: what has to be where.
            turn: which chunks to check, where there are many; None for all.
        """
        path = folder / layout.name
        try:
            if path.is_symlink() or path.stat().st_size != layout.size:
                raise UnusableError
            with path.open("rb") as file:
                memory = mmap.mmap(file.fileno(), layout.size, access=mmap.ACCESS_COPY)
        except OSError as error:
            raise UnusableError from error
        arena = cls(folder, layout, memory)
        arena._require_sound(turn)
        return arena

    def whole(self, name: str) -> Values:
        """A column with its room."""
        region = self.layout.regions[name]
        return region.view(self.memory, region.room)

    def length(self, name: str) -> int:
        """How many entries a column has."""
        return self.layout.regions[name].length

    def _require_sound(self, turn: int | None) -> None:
        every = [
            (self.memory, region, place)
            for _, region in self.layout.items()
            for place in range(len(region.sums))
        ]
        if turn is not None and len(every) > AT_ONCE:
            every = [every[(turn * AT_ONCE + place) % len(every)] for place in range(AT_ONCE)]
        if not all(in_threads(_is_sound, every)):
            raise UnusableError

    def grown(
        self, columns: Mapping[str, Values], places: Mapping[str, Values], state: int
    ) -> Layout:
        """Append what is new to the file, or write everything to a new file.

        Args:
            columns: by name, each begins with what is there.
            places: where else entries were changed, by column; nobody has looked there so far.
            state: which one of the file is gone on from; it grows from each of them once.
        """
        fits = columns.keys() == self.layout.regions.keys() and all(
            region.length <= len(columns[name]) <= region.room
            and columns[name].dtype == region.kind
            for name, region in self.layout.items()
        )
        if not fits or not self._claimed(state):
            return written(self.folder, columns)
        regions = {}
        with _descriptor(self.folder / self.layout.name, _OLD) as file:
            for name, region in self.layout.items():
                changed = _changed(region, columns[name], places.get(name))
                for first, last in changed:
                    _put(file, region.start + first, _raw(columns[name])[first:last])
                regions[name] = _summed(region, columns[name], changed)
            os.fsync(file)
        return replace(self.layout, regions=regions)

    def _claimed(self, state: int) -> bool:
        """Whether the room behind this state is ours, which it is once.

        Claims stay as long as the file: who was in here before may still believe to be.
        """
        claims = list(self.folder.glob(f"{self.layout.name}.*"))
        try:
            with _descriptor(self.folder / f"{self.layout.name}.{state}", _NEW):
                return len(claims) < MOST_CLAIMS
        except StorageError:
            return False


def written(folder: Path, columns: Mapping[str, Values]) -> Layout:
    """A new file of the columns, each followed by room to grow."""
    regions, start = {}, 0
    for name, values in columns.items():
        room = len(values) + max(len(values) // ROOM, LEAST_ROOM)
        regions[name] = Region(values.dtype.str, start, room, len(values))
        start += -(-room * values.dtype.itemsize // PAGE) * PAGE
    name = f"{uuid.uuid4().hex[:16]}.columns"
    with _descriptor(folder / name, _NEW) as file:
        os.ftruncate(file, start)
        for each, region in regions.items():
            _put(file, region.start, _raw(columns[each]))
            regions[each] = _summed(region, columns[each], [(0, region.bytes_used)])
        os.fsync(file)
        sync_folder(folder)
    return Layout(name, regions, start)


def clear(folder: Path, named: set[str]) -> None:
    """Remove what the ledger does not name (any more); here is the one writer.

    Who has mapped a file still has it; who comes too late to map one goes without.
    """
    with suppress(OSError):
        for path in folder.iterdir():
            claimed = path.with_suffix("").name  # by a claim
            if path.is_file() and path.name not in named and claimed not in named:
                path.unlink(missing_ok=True)


@contextmanager
def _descriptor(path: Path, flags: int) -> Iterator[int]:
    try:
        file = os.open(path, flags, OWNER_ONLY_FILE)
        try:
            if flags & os.O_CREAT:
                set_mode(file, OWNER_ONLY_FILE)  # whatever the umask says
            yield file
        finally:
            os.close(file)
    except OSError as error:
        raise StorageError(f"{path.name} cannot be written: {error.strerror}.") from error


def _put(file: int, start: int, content: memoryview) -> None:
    while len(content):
        os.lseek(file, start, os.SEEK_SET)
        done = os.write(file, content)
        start, content = start + done, content[done:]


def _raw(values: Values) -> memoryview:
    return np.ascontiguousarray(values).data.cast("B") if len(values) else memoryview(b"")


def _changed(region: Region, values: Values, places: Values | None) -> list[tuple[int, int]]:
    """The bytes after those in the file, and the pages in which earlier bytes were changed."""
    width = values.dtype.itemsize
    pieces = [(region.bytes_used, len(values) * width)]
    if places is not None and len(places):
        pages = np.unique(places[places < region.length] * width // mmap.PAGESIZE)
        for run in np.split(pages, np.flatnonzero(np.diff(pages) > 1) + 1):
            if len(run):
                last = (int(run[-1]) + 1) * mmap.PAGESIZE
                pieces.append((int(run[0]) * mmap.PAGESIZE, min(last, region.bytes_used)))
    return [(first, last) for first, last in pieces if first < last]


def _summed(region: Region, values: Values, changed: Pieces) -> Region:
    """The region with the checksums of what it holds now."""
    grown, raw = replace(region, length=len(values)), _raw(values)
    touched = {
        place for first, last in changed for place in range(first // CHUNK, -(-last // CHUNK))
    }
    fresh = [(raw, *grown.chunk(place)) for place in sorted(touched)]
    sums = [*region.sums, *[""] * (grown.chunks - len(region.sums))]
    for place, checksum in zip(sorted(touched), in_threads(_sum, fresh), strict=True):
        sums[place] = checksum
    return replace(grown, sums=tuple(sums))


def _sum(raw: memoryview, first: int, last: int) -> str:
    return hashlib.sha256(raw[first:last]).hexdigest()


def _is_sound(memory: mmap.mmap, region: Region, place: int) -> bool:
    first, last = region.chunk(place)
    return _sum(memoryview(memory), region.start + first, region.start + last) == region.sums[place]


# Packing: plain data and arrays in one private file, whose checksum is verified on reading.


_ARRAY = "array"  # the key of the placeholder for an array in the data
_ALIGNED = 64
_LARGE = 1 << 20  # bytes that are written at once, at least


def write_packed(folder: Path, stem: str, data: Any) -> StoredFile:
    """Write data, which may contain arrays anywhere, to a file with a new name."""
    arrays: list[NDArray[Any]] = []
    head = json.dumps(_without(data, arrays)).encode()
    path, sum_of_all = folder / f"{stem}-{uuid.uuid4().hex[:16]}.kept", hashlib.sha256()

    def put(file: IO[bytes]) -> None:
        for part in _together(chain([len(head).to_bytes(8, "little"), head], map(_padded, arrays))):
            sum_of_all.update(part)
            file.write(part)

    write_whole(path, put, mode=OWNER_ONLY_FILE)
    return StoredFile(path.name, sum_of_all.hexdigest())


def read_packed(folder: Path, stored: StoredFile) -> Any:
    """The data; its arrays must not be written to."""
    try:
        content = checked(folder, stored)
    except (IntegrityError, OSError) as error:
        raise UnusableError from error
    begin = 8 + int.from_bytes(content[:8], "little")
    return _with(json.loads(content[8:begin]), memoryview(content)[begin:])


def _padded(values: NDArray[Any]) -> bytes:
    raw = np.ascontiguousarray(values).tobytes()
    return raw + bytes(-len(raw) % _ALIGNED)


def _together(parts: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in fewer parts; large parts are not copied."""
    held: list[bytes] = []
    for part in parts:
        held.append(part)
        if sum(map(len, held)) >= _LARGE:
            yield b"".join(held)
            held = []
    yield b"".join(held)


def _without(data: Any, arrays: list[NDArray[Any]]) -> Any:
    """The data with descriptions in place of arrays, which are collected."""
    if isinstance(data, np.ndarray):
        start = sum(each.nbytes + -each.nbytes % _ALIGNED for each in arrays)
        arrays.append(data)
        return {_ARRAY: [data.dtype.str, list(data.shape), start]}
    if isinstance(data, dict):
        return {key: _without(each, arrays) for key, each in data.items()}
    return [_without(each, arrays) for each in data] if isinstance(data, list | tuple) else data


def _with(data: Any, raw: memoryview) -> Any:
    """The data with its arrays."""
    if isinstance(data, list):
        return [_with(each, raw) for each in data]
    if not isinstance(data, dict):
        return data
    if data.keys() == {_ARRAY}:
        kind, shape, start = data[_ARRAY]
        return np.frombuffer(raw, kind, int(np.prod(shape)), start).reshape(shape)
    return {key: _with(each, raw) for key, each in data.items()}
