"""A file as the readers see it: its beginning, and all of it, decompressed, within a limit."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonpath
from pathlib import Path

from graphveil.errors import InputError, Place

HEAD = 1 << 16
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
    """

    path: Path
    name: str
    head: bytes
    packed: bool

    @classmethod
    def found(cls, path: Path, name: str) -> SourceFile:
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
        return cls(path, name, _beginning(head, name) if packed else head, packed)

    def content(self, most: int) -> Path | bytes:
        """The file itself, or its decompressed bytes; refuses more than `most` bytes."""
        self.refuse_above(most)
        return _unpacked(self.path.read_bytes(), self.name, most) if self.packed else self.path

    def refuse_above(self, most: int) -> None:
        """Refuse a file that is larger on disk than `most` bytes."""
        if self.path.stat().st_size > most:
            raise _too_large(self.name, most)

    def whole(self, most: int) -> bytes:
        """All bytes of the file, decompressed; refuses more than `most`."""
        content = self.content(most)
        return content if isinstance(content, bytes) else content.read_bytes()

    def text(self, most: int) -> str:
        """All of the file as text without a byte order mark."""
        return decoded(self.whole(most), self.name)


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


def _unpacked(packed: bytes, name: str, most: int) -> bytes:
    """All members of a gzip file, one after the other."""
    parts: list[bytes] = []
    room = most
    while packed:
        member = zlib.decompressobj(_ANY_GZIP)
        try:
            parts.append(member.decompress(packed, room + 1))
        except zlib.error as error:
            raise _damaged(name) from error
        room -= len(parts[-1])
        if room < 0:
            raise _too_large(name, most)
        if not member.eof:
            raise _damaged(name)
        packed = member.unused_data.lstrip(b"\0")  # some programs fill up the last block
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be decompressed; it is damaged or not gzip",
        place=Place(name),
        hint="Compress it again with gzip.",
    )


def _too_large(name: str, most: int) -> InputError:
    return InputError(
        f"the file holds more than {most:,} bytes, compressed or not",
        place=Place(name),
        hint="Split it, or raise the limit with the option most_bytes.",
    )


def found_files(paths: Sequence[str | Path]) -> list[SourceFile]:
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
    return [SourceFile.found(path, name) for path, name in zip(whole, names, strict=True)]
