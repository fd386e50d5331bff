"""A file as the readers see it: its beginning, and all of it, decompressed, within a limit.

Whatever the limit is for is found out by looking at the file block by block, before any of it is
held in memory: a file that is refused costs no memory, however far it would unpack.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from graphveil.errors import InputError, Place
from graphveil.formats.options import DEFAULTS, ReadingOptions

HEAD = 1 << 16
MOST_LINE_BYTES = 1 << 20  # of a table; a thousand times the longest id
_BLOCK = 1 << 20
_GZIP = b"\x1f\x8b"
_ANY_GZIP = 31  # zlib's number for: gzip, any window


@dataclass(frozen=True)
class SourceFile:
    """A file that exists and can be read.

    Attributes:
        path: where it is.
        name: what messages call it.
        head: its first bytes, decompressed.
        packed: whether it is gzipped.
        named: columns that the steward named, by which a header below a title is known.
    """

    path: Path
    name: str
    head: bytes
    packed: bool
    named: tuple[str, ...] = ()

    @classmethod
    def found(cls, path: Path, name: str, options: ReadingOptions = DEFAULTS) -> SourceFile:
        """The file at a path, or a refusal."""
        if not path.is_file():
            raise InputError(
                "there is no such file", place=Place(str(path)), hint="Check the path."
            )
        try:
            with path.open("rb") as file:
                head = file.read(HEAD)
        except OSError as error:
            raise InputError(
                "the file cannot be opened", place=Place(name), hint="Check that you may read it."
            ) from error
        packed = head.startswith(_GZIP) or path.suffix.lower() == ".gz"
        head = _beginning(head, name) if packed else head
        return cls(path, name, head, packed, _named(options))

    def content(self, most: int) -> Path | bytes:
        """The file itself, or its decompressed bytes, as lines of a table.

        Refuses more than `most` bytes, and a line that is too long for any row.
        """
        self.refuse_above(most)
        self._refuse_long_lines(most)
        return self._unpacked(most) if self.packed else self.path

    def refuse_above(self, most: int) -> None:
        """Refuse a file that is larger on disk than `most` bytes."""
        if self.path.stat().st_size > most:
            raise too_large(self.name, most)

    def rows(self, most: int) -> bytes:
        """All bytes of a table, decompressed; refuses what `content` refuses."""
        content = self.content(most)
        return content if isinstance(content, bytes) else content.read_bytes()

    def whole(self, most: int) -> bytes:
        """All bytes of a document, decompressed; refuses more than `most`."""
        self.refuse_above(most)
        for _ in self._blocks(most):
            pass
        return self._unpacked(most) if self.packed else self.path.read_bytes()

    def text(self, most: int) -> str:
        """All of the file as text without a byte order mark."""
        return decoded(self.whole(most), self.name)

    def _blocks(self, most: int) -> Iterator[bytes]:
        """The decompressed bytes, one block after the other; refuses more than `most`."""
        left = most
        try:
            with gzip.open(self.path) if self.packed else self.path.open("rb") as file:
                while block := file.read(_BLOCK):
                    left -= len(block)
                    if left < 0:
                        raise too_large(self.name, most)
                    yield block
        except (OSError, EOFError, zlib.error) as error:
            raise _damaged(self.name) from error

    def _unpacked(self, most: int) -> bytes:
        """All blocks in one piece, without ever holding them twice."""
        buffer = io.BytesIO()
        for block in self._blocks(most):
            buffer.write(block)
        return buffer.getvalue()

    def _refuse_long_lines(self, most: int) -> None:
        lines, since = 1, 0  # bytes since the last line end
        for block in self._blocks(most):
            first, last = block.find(b"\n"), block.rfind(b"\n")
            since += len(block) if first < 0 else first
            if since > MOST_LINE_BYTES:
                raise InputError(
                    f"the line has more than {MOST_LINE_BYTES:,} bytes",
                    place=Place(self.name, lines),
                    hint="A row of a table is much shorter: check that this is the right file.",
                )
            if last >= 0:
                lines, since = lines + block.count(b"\n"), len(block) - last - 1


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
        hint="Save the file as UTF-8 text.",
    )


def _beginning(packed: bytes, name: str) -> bytes:
    try:
        return zlib.decompressobj(_ANY_GZIP).decompress(packed, HEAD)
    except zlib.error as error:
        raise _damaged(name) from error


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be decompressed; it is damaged or not gzip",
        place=Place(name),
        hint="Compress it again with gzip.",
    )


def too_large(name: str, most: int) -> InputError:
    """The refusal of a file that would need more than `most` bytes."""
    return InputError(
        f"the file holds more than {most:,} bytes, compressed or not",
        place=Place(name),
        hint="Split it, or raise the limit: --limit in the shell, most_bytes= in Python.",
    )


def _named(options: ReadingOptions) -> tuple[str, ...]:
    columns = (options.id, options.source, options.target)
    return tuple(column for column in columns if column is not None)


def found_files(
    paths: Sequence[str | Path], options: ReadingOptions = DEFAULTS
) -> list[SourceFile]:
    """Every file under a unique name: the file name, with folders where that is shared."""
    whole = [Path(path) for path in paths]
    places = [path.resolve() for path in whole]
    for place in places:
        if places.count(place) > 1:
            raise InputError(
                "the file is given twice", place=Place(place.name), hint="Name it once."
            )
    names = [path.name for path in whole]
    if len(set(names)) < len(names):
        above = Path(commonpath([str(place.parent) for place in places]))
        names = [str(place.relative_to(above)) for place in places]
    return [SourceFile.found(path, name, options) for path, name in zip(whole, names, strict=True)]
