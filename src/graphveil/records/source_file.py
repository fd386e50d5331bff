"""A file as the readers see it: its beginning, and all of it, as plain UTF-8, within a limit.

A file may be packed (gzip, or zip with one file in it), and its text may have another encoding:
that of a byte order mark, or the one that the steward says.

Whatever the limit is for is found out by looking at the file block by block, before any of it is
held in memory: a file that is refused costs no memory, however far it would unpack.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import mmap
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonpath
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, cast

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.columns import require_room_to_read
from graphveil.hints import Hint
from graphveil.records.options import DEFAULTS, ReadingOptions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEAD = 1 << 16
ZIP = b"PK\x03\x04"
MOST_LINE_BYTES = 1 << 20  # of a table; a thousand times the longest id
_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"
# What the libraries that unpack say of a file that is damaged, locked or packed in another way.
DAMAGED = (
    *(OSError, EOFError, RuntimeError, ValueError, zipfile.BadZipFile),
    *(zlib.error, lzma.LZMAError, struct.error),
)
_NOTHING: Mapping[bytes, int] = MappingProxyType({})
_ANY_GZIP = 31  # zlib's number for: gzip, any window


@dataclass(frozen=True, eq=False)
class Held:
    """A table that was read already.

    Attributes:
        frame: its rows, under the user's names.
        kind: what it is, in words.
        numbers: the user's number of each row.
        inexact: by column, the rows whose number is too large for its neighbours to differ from
            it, where there are such.
        header: the names of the columns as they stand there, also if two are alike.
    """

    frame: pl.DataFrame
    kind: str
    numbers: NDArray[np.int64]
    inexact: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    header: tuple[str, ...] = ()


@dataclass
class Ceiling:
    """How much memory may be taken by what files become, all files of one command together.

    Attributes:
        most: bytes in all.
        taken: bytes so far, by estimates that are rather high than low.
    """

    most: int
    taken: int = 0

    def take(self, size: int, name: str) -> None:
        """Take so many bytes more for a file, before they are held; refuses what is too much."""
        self.require(size, name)
        self.taken += size

    def require(self, size: int, name: str) -> None:
        """Refuse a file that would take so many bytes more, if that is too much."""
        if self.taken + size > self.most:
            raise InputError(
                f"what is read would take more than {self.most:,} bytes of memory",
                place=Place(name),
                hint=Hint("limit-memory"),
            )


@dataclass(frozen=True)
class SourceFile:
    """A file that exists and can be read.

    Attributes:
        path: where it is.
        name: what messages call it.
        head: its first bytes, decompressed.
        packed: "gzip" or "zip", or nothing.
        encoding: of its text, if that is not UTF-8.
        named: columns that the steward named, by which a header below a title is known.
        held: its only table, where somebody else has read it: a sheet, or rows of a database.
        ceiling: on the memory that it may take, with all others that are read with it.
    """

    path: Path
    name: str
    head: bytes
    packed: str = ""
    encoding: str = ""
    named: tuple[str, ...] = ()
    held: Held | None = field(default=None, repr=False, compare=False)
    ceiling: Ceiling = field(
        default_factory=lambda: Ceiling(DEFAULTS.object_bytes), repr=False, compare=False
    )

    @classmethod
    def found(
        cls,
        path: Path,
        name: str,
        options: ReadingOptions = DEFAULTS,
        ceiling: Ceiling | None = None,
    ) -> SourceFile:
        """The file at a path, or a refusal."""
        require_file(path)
        try:
            with path.open("rb") as file:
                head = file.read(HEAD)
                if b"\n" not in head:  # the header of a wide table, and its first row
                    head += file.readline(MOST_LINE_BYTES) + file.readline(MOST_LINE_BYTES)
        except OSError as error:
            raise InputError(
                "the file cannot be opened", place=Place(name), hint="Check that you may read it."
            ) from error
        packed = _packing(head, path)
        head = _unpacked_head(path, name, head, packed)
        encoding = _encoding(head, options.encoding)
        head = _as_utf8(head, encoding, name)
        return cls(
            path,
            name,
            head,
            packed,
            encoding,
            named_in(options),
            ceiling=ceiling or Ceiling(options.object_bytes),
        )

    def content(self, most: int) -> Path | bytes:
        """The file itself, or its decompressed bytes, as lines of a table.

        Refuses more than `most` bytes, and a line that is too long for any row.
        """
        self.refuse_above(most)
        self._refuse_long_lines(most)
        return self._unpacked(most) if self._is_translated else self.path

    @property
    def _is_translated(self) -> bool:
        return bool(self.packed or self.encoding)

    def refuse_above(self, most: int) -> None:
        """Refuse a file that is larger on disk than `most` bytes, or than memory is."""
        size = self.path.stat().st_size
        if size > most:
            raise too_large(self.name, most)
        require_room_to_read(size)

    def rows(self, most: int) -> bytes:
        """All bytes of a table, decompressed; refuses what `content` refuses."""
        content = self.content(most)
        return content if isinstance(content, bytes) else content.read_bytes()

    def whole(self, most: int, costs: Mapping[bytes, int] = _NOTHING) -> bytes:
        """All bytes of a document, decompressed; refuses more than `most`.

        Args:
            most: bytes of the document.
            costs: see `bytes_expected`.
        """
        self.ceiling.take(self.bytes_expected(most, costs), self.name)
        return self._unpacked(most) if self._is_translated else self.path.read_bytes()

    def bytes_expected(self, most: int, costs: Mapping[bytes, int]) -> int:
        """How much memory a document will take, itself included; refuses what is too much.

        Args:
            most: bytes of the document.
            costs: how much memory each occurrence of a mark takes once it is parsed.
        """
        size = 0
        for block in self.blocks(most):
            marks = sum(cost * block.count(mark) for mark, cost in costs.items())
            size += marks + len(block)
            self.ceiling.require(size, self.name)
        return size

    def text(self, most: int) -> str:
        """All of the file as text without a byte order mark."""
        return decoded(self.whole(most), self.name)

    def blocks(self, most: int) -> Iterator[bytes]:
        """The bytes as plain UTF-8, one block after the other; refuses more than `most`."""
        self.refuse_above(most)
        left = most
        decoder = codecs.getincrementaldecoder(self.encoding)() if self.encoding else None
        try:
            with _opened(self.path, self.packed) as file:
                while block := file.read(_BLOCK):
                    left -= len(block)
                    if left < 0:
                        raise too_large(self.name, most)
                    yield decoder.decode(block).encode() if decoder else block
                if decoder is not None:
                    yield decoder.decode(b"", final=True).encode()
        except UnicodeError as error:
            raise _not_in(self.encoding, self.name) from error
        except DAMAGED as error:
            raise _damaged(self.name) from error

    def _unpacked(self, most: int) -> bytes:
        """All blocks in one piece, without ever holding them twice."""
        buffer = io.BytesIO()
        for block in self.blocks(most):
            buffer.write(block)
        return buffer.getvalue()

    def _refuse_long_lines(self, most: int) -> None:
        if not self._is_translated:
            self._refuse_long_lines_on_disk()
            return
        size, lines, since = 0, 1, 0  # the last: bytes since the last line end
        for block in self.blocks(most):
            first, last = block.find(b"\n"), block.rfind(b"\n")
            size += len(block)
            since += len(block) if first < 0 else first
            if since > MOST_LINE_BYTES:
                raise _long_line(self.name, lines)
            if last >= 0:
                lines, since = lines + block.count(b"\n"), len(block) - last - 1
        require_room_to_read(size)

    def _refuse_long_lines_on_disk(self) -> None:
        """The last line end within each stretch is enough, and the rest need not be read."""
        if self.path.stat().st_size <= MOST_LINE_BYTES:
            return
        try:
            with (
                self.path.open("rb") as file,
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view,
            ):
                start = 0
                while len(view) - start > MOST_LINE_BYTES:
                    end = view.rfind(b"\n", start, start + MOST_LINE_BYTES + 1)
                    if end < 0:
                        raise _long_line(self.name, view[:start].count(b"\n") + 1)
                    start = end + 1
        except OSError as error:
            raise _damaged(self.name) from error


def _long_line(name: str, line: int) -> InputError:
    return InputError(
        f"the line has more than {MOST_LINE_BYTES:,} bytes",
        place=Place(name, line),
        hint="A row of a table is much shorter: check that this is the right file.",
    )


def decoded(raw: bytes, name: str) -> str:
    """UTF-8 text; refuses other encodings and NUL, with the line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_text(name, raw.count(b"\n", 0, error.start) + 1) from error
    if "\0" in text:
        raise _not_text(name, raw.count(b"\n", 0, raw.index(b"\0")) + 1)
    return text


def _not_text(name: str, line: int) -> InputError:
    return InputError(
        "the line cannot be read as UTF-8 text",
        place=Place(name, line),
        hint=Hint("encoding"),
    )


def _packing(head: bytes, path: Path) -> str:
    if head.startswith(_GZIP) or path.suffix.lower() == ".gz":
        return "gzip"
    return "zip" if head.startswith(ZIP) else ""


def _opened(path: Path, packed: str) -> IO[bytes]:
    """The file, decompressed."""
    if packed == "gzip":
        return cast(IO[bytes], gzip.open(path))
    if packed == "zip":
        archive = zipfile.ZipFile(path)
        return archive.open(_only_member(archive, path.name))
    return path.open("rb")


def _only_member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """The one file of an archive, not counting what macOS adds; refuses several, and secrets."""
    files = [
        each
        for each in archive.infolist()
        if not each.is_dir() and not each.filename.startswith("__MACOSX/")
    ]
    if len(files) != 1 or files[0].flag_bits & 1:
        locked = len(files) == 1
        raise InputError(
            "the archive needs a password" if locked else f"the archive has {len(files)} files",
            place=Place(name),
            hint="Unpack it, and name the files to be read.",
        )
    return files[0]


def _unpacked_head(path: Path, name: str, head: bytes, packed: str) -> bytes:
    try:
        if packed == "gzip":
            return zlib.decompressobj(_ANY_GZIP).decompress(head, HEAD)
        if packed == "zip":
            with _opened(path, packed) as file:
                return file.read(HEAD)
    except DAMAGED as error:
        raise _damaged(name) from error
    return head


def _encoding(head: bytes, given: str | None) -> str:
    """The encoding that a mark at the beginning says, or the steward; XML says it itself."""
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if head.startswith(mark):
            return "" if b"<" in head[2:4] else "utf-16"
    if given is None or head.startswith(codecs.BOM_UTF8):
        return ""
    name = codecs.lookup(given).name
    return "" if name in ("utf-8", "utf-8-sig") else name


def _as_utf8(head: bytes, encoding: str, name: str) -> bytes:
    if not encoding:
        return head
    try:
        return codecs.getincrementaldecoder(encoding)(errors="replace").decode(head).encode()
    except UnicodeError as error:
        raise _not_in(encoding, name) from error


def _not_in(encoding: str, name: str) -> InputError:
    return InputError(
        f"the text is not {encoding}",
        place=Place(name),
        hint=Hint("other-encoding"),
    )


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be decompressed; it is damaged or not gzip",
        place=Place(name),
        hint="Compress it again with gzip, or unpack it.",
    )


def too_large(name: str, most: int) -> InputError:
    """The refusal of a file that would need more than `most` bytes."""
    return InputError(
        f"the file holds more than {most:,} bytes, compressed or not",
        place=Place(name),
        hint=Hint("limit"),
    )


def named_in(options: ReadingOptions) -> tuple[str, ...]:
    """The columns of ids that the steward named."""
    columns = (options.id, options.source, options.target)
    return tuple(column for column in columns if column is not None)


def require_file(path: Path) -> None:
    """Refuse what is no plain file: a pipe or a device may have no end, and no beginning."""
    name = str(path).encode(errors="replace").decode()
    if name != str(path) or "\0" in name:
        what, hint = "the name of the file is no UTF-8 text", "Rename the file."
    elif path.is_file():
        return
    elif path.is_dir():
        what = "this is a folder, not a file"
        hint = "Name its files: one command takes several, such as FOLDER/*.csv."
    elif path.exists():
        what, hint = "this is a pipe, a socket or a device", "Write its content to a file first."
    else:
        what, hint = "there is no such file", "Check the path."
    raise InputError(what, place=Place(name.replace("\0", "?")), hint=hint)


def unique_names(paths: Sequence[Path]) -> list[str]:
    """What messages call files: the file name, with folders where that is shared."""
    places = [path.resolve() for path in paths]
    for place in places:
        if places.count(place) > 1:
            raise InputError(
                "the file is given twice", place=Place(place.name), hint="Name it once."
            )
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        above = Path(commonpath([str(place.parent) for place in places]))
        return [str(place.relative_to(above)) for place in places]
    return names
