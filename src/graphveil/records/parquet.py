"""Parquet files: tables whose columns have types."""

from __future__ import annotations

import mmap
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.identity import require_id_type
from graphveil.graph.intake.records import Table
from graphveil.records.columns import refuse_repeated
from graphveil.records.source_file import SourceFile, too_large

# How much memory a Parquet file needs once it is read, estimated from its page headers alone.
#
# A few kilobytes can hold billions of rows, and what the footer says about them may be untrue.
# Each page says how large it is unpacked and how many values it has, and that is what a reader
# goes by. Headers are structures of Thrift's compact protocol; nothing of a page is unpacked
# here.


BYTES_A_VALUE = 16  # of text in memory, however often a value is repeated
_MOST_FOOTER = 1 << 24
_MOST_HEADER = 1 << 20
_MOST_NESTING = 16
_TRAILER = 8  # the length of the footer, and the magic word
_DOUBLE = 8

# Numbers of fields, as the format's own definition has them.
_ROW_GROUPS, _COLUMNS, _META_DATA = 4, 1, 3
_PATH, _COMPRESSED, _FIRST_DATA_PAGE, _DICTIONARY_PAGE = 3, 7, 9, 11
_PAGE_UNPACKED, _PAGE_PACKED, _PAGE_KINDS, _PAGE_VALUES = 2, 3, (5, 8), 1


def bytes_needed(path: Path, columns: Collection[str]) -> int:
    """What the chosen columns need in memory.

    Raises:
        ValueError: If the file is not laid out as Parquet.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        footer = int.from_bytes(view[-_TRAILER : -_TRAILER + 4], "little")
        if not 0 < footer <= min(_MOST_FOOTER, len(view) - _TRAILER):
            raise ValueError("the footer has no possible length")
        described = _Thrift(view, len(view) - _TRAILER - footer, footer).struct()
        return sum(
            max(BYTES_A_VALUE * values, unpacked)
            for chunk in _chunks(described, columns)
            for unpacked, values in _pages(view, chunk)
        )


def _chunks(described: dict[int, Any], columns: Collection[str]) -> Iterator[dict[int, Any]]:
    """What the footer says about each piece of a chosen column."""
    for group in _list(described.get(_ROW_GROUPS)):
        for column in _list(_struct(group).get(_COLUMNS)):
            chunk = _struct(_struct(column).get(_META_DATA))
            path = _list(chunk.get(_PATH))
            if path and path[0] in {name.encode() for name in columns}:
                yield chunk


def _pages(view: mmap.mmap, chunk: dict[int, Any]) -> Iterator[tuple[int, int]]:
    """The unpacked size of each page, and how many values it has."""
    at = _number(chunk.get(_DICTIONARY_PAGE, 0)) or _number(chunk.get(_FIRST_DATA_PAGE))
    end = min(at + _number(chunk.get(_COMPRESSED)), len(view))
    while at < end:
        thrift = _Thrift(view, at, _MOST_HEADER)
        header = thrift.struct()
        values = [_struct(header[kind]).get(_PAGE_VALUES) for kind in _PAGE_KINDS if kind in header]
        yield _number(header.get(_PAGE_UNPACKED)), sum(map(_number, values))
        at = thrift.at + _number(header.get(_PAGE_PACKED))


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a size is expected here")
    return value


def _struct(value: Any) -> dict[int, Any]:
    if not isinstance(value, dict):
        raise ValueError("a structure is expected here")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is expected here")
    return value


class _Thrift:
    """Reads values of the compact protocol, one after the other, where they lie.

    From a place on, and no further than so many bytes: what a file says may be untrue.
    """

    def __init__(self, content: mmap.mmap, at: int, most: int) -> None:
        self.content, self.at, self.depth = content, at, 0
        self.end = min(at + most, len(content))

    def struct(self) -> dict[int, Any]:
        """The fields of a structure, by number."""
        self.depth += 1
        if self.depth > _MOST_NESTING:
            raise ValueError("structures are nested too deep")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            fields[number] = self._value(head & 15)
        self.depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2):  # the kind of a field is its truth
            return kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(_DOUBLE)
        if kind == 8:
            return self._bytes(self._unsigned())
        if kind in (9, 10):
            return self._elements()
        if kind == 12:
            return self.struct()
        raise ValueError("a kind of value that Parquet does not use")

    def _elements(self) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        kind = head & 15
        if kind in (1, 2):
            return list(self._bytes(count))
        if kind == 12 or count <= self.end - self.at:
            return [self._value(kind) for _ in range(count)]
        raise ValueError("a list is longer than the file")

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        begin, self.at = self.at, self.at + count
        if self.at > self.end:
            raise ValueError("the structure is cut off")
        return self.content[begin : self.at]

    def _unsigned(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number is too long")

    def _signed(self) -> int:
        value = self._unsigned()
        return value >> 1 ^ -(value & 1)


_MAGIC = b"PAR1"
_FIRST_ROW = 1
_SHOWN = 60  # characters of a type that a message repeats


def is_parquet(file: SourceFile) -> bool:
    """Whether a file says that it is Parquet."""
    return file.head.startswith(_MAGIC)


@dataclass(frozen=True)
class ParquetTable:
    """A Parquet file: its columns, and all rows on demand; rows are counted from 1.

    Attributes:
        file: where it comes from.
        types: its columns, each with its type.
    """

    kind: ClassVar[str] = "Parquet"
    file: SourceFile
    types: dict[str, pl.DataType]

    @classmethod
    def of(cls, file: SourceFile) -> ParquetTable:
        """The table in a file, or a refusal."""
        try:
            return cls(file, dict(pl.read_parquet_schema(file.path)))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            raise _damaged(file.name) from error

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return list(self.types)

    def date_columns(self) -> list[str]:
        """None: the beginning of a Parquet file holds no rows to look at."""
        return []

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns.

        Args:
            columns: the user's name for each of the columns, by ours.
            most_bytes: the largest table to hold in memory; a small file can hold many rows.
        """
        refuse_repeated(self.names, columns.values(), Place(self.file.name))
        chosen = list(dict.fromkeys(columns.values()))
        self._require_types(columns)
        try:
            if bytes_needed(self.file.path, chosen) > most_bytes:
                raise too_large(self.file.name, most_bytes)
            frame = pl.read_parquet(self.file.path, columns=chosen, glob=False)
        except (
            ValueError,
            pl.exceptions.PolarsError,
            pl.exceptions.PanicException,
            OSError,
        ) as error:
            raise _damaged(self.file.name) from error
        renamed = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        return Table(renamed, self.file.name, _FIRST_ROW, columns)

    def _require_types(self, columns: dict[str, str]) -> None:
        """Refuse columns whose type can hold no ids or no times."""
        for ours, theirs in columns.items():
            kind, place = self.types[theirs], Place(self.file.name, column=theirs)
            if ours in ("node", "source", "target", "case", "infector"):
                require_id_type(kind, place)
            elif ours.startswith("time") and not _holds_times(kind):
                raise InputError(
                    f"the column has the type {str(kind)[:_SHOWN]}, which holds no times",
                    place=place,
                    hint="Store times as dates, timestamps, whole numbers or text.",
                )


def _holds_times(kind: pl.DataType) -> bool:
    texts = (pl.String, pl.Categorical, pl.Enum, pl.Null)
    return kind.is_numeric() or isinstance(kind, (*texts, pl.Date, pl.Datetime))


def _damaged(name: str) -> InputError:
    return InputError(
        "the file cannot be read as Parquet; it is damaged or of another kind",
        place=Place(name),
        hint="Export it again, or use CSV.",
    )
