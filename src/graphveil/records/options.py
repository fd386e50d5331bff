"""What a steward may tell the readers besides the files themselves."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from graphveil.errors import ParameterError
from graphveil.records.filters import Filter, Threshold

Undated: TypeAlias = Literal["refuse", "first", "drop"]
UNDATED: tuple[str, ...] = get_args(Undated)

GIB = 1 << 30
_SIZE = re.compile(r"([0-9]{1,12})\s*([KMGT]?)(i?)B?", re.IGNORECASE)
MOST_TABLE_BYTES = 4 * GIB
MOST_DOCUMENT_BYTES = GIB // 4
MOST_OBJECT_BYTES = 2 * GIB
NO_LABELS = "none"  # instead of the column of a group: nobody is labelled
_SAMPLE = "node,time\n"
_ID_FIELD = re.compile(r"(\D+?)(-?[1-9][0-9]?)")
_NO_ENCODINGS = ("idna", "punycode")
OBJECTS_A_BYTE = 8  # of memory, for each byte of a limit that the user sets
MOST_NESTING = 64


@dataclass(frozen=True)
class IdField:
    """Where ids have their date: in the field of this number, between marks such as `|`.

    Fields are counted from 1; from the end, the last is -1.
    """

    mark: str
    number: int

    @classmethod
    def of(cls, text: str) -> IdField:
        """The field that a text such as `|2` says, or a refusal."""
        match = _ID_FIELD.fullmatch(text.strip())
        if match is None:
            raise ParameterError(
                "time_from_id",
                f"cannot be understood: '{text[:20]}'",
                hint="Write the mark between fields, then the number of the field with the date: "
                "|2 for A17|2014-03-02|x, or |-1 for the last.",
            )
        return cls(match[1], int(match[2]))


@dataclass(frozen=True)
class ReadingOptions:
    """How to read files.

    Attributes:
        time: the column, field or attribute that holds a node's date; None takes the one
            that the format itself has. Of several, with commas between them, the first that
            says something counts, record by record.
        edge_time: the same as `time` for the date of an edge.
        id: the column that names a person, where it is not called as a format calls it.
        source: the column that names one end of a link.
        target: the column that names the other end.
        distance: the column that says how far two people are apart, or "none" if every row is
            a link, whatever the columns are called.
        max_distance: up to which distance two people are linked, such as "0.015" or "12 snps".
        group: which column has the label of a person in a group, such as "region=County"; or
            "region=none" if these files have no labels.
        where: conditions such as "Node type=Person" that records have to meet.
        day_first: whether 7/8/2021 is the 7th of August; False if it is July 8th; None if
            nobody said, and then such dates are refused.
        excel_dates: whether plain numbers are days as Excel counts them.
        undated: what becomes of nodes without a date: "refuse", "first" or "drop"; None leaves
            it to the study.
        encoding: of text that is neither UTF-8 nor says what it is.
        all_listed: whether HIV-TRACE results that have no list of `Singletons` list everybody
            all the same, also people without a link.
        most_bytes: the largest file to read, compressed or not; None takes 4 GiB for tables
            and 256 MiB for JSON and GraphML.
        most_nesting: how deep JSON and XML may be nested.
        mark_bad: whether rows that break a rule are passed on, marked as such, so that the
            caller can leave them out; else the first of them refuses the files.
        time_from_id: where ids have the date of a node, such as "|2": the mark between the fields
            of an id, and the number of the one with the date; "|-1" is the last.

    Examples:
        >>> ReadingOptions(time="diagnosed", day_first=True).time
        'diagnosed'
    """

    time: str | None = None
    edge_time: str | None = None
    id: str | None = None
    source: str | None = None
    target: str | None = None
    distance: str | None = None
    max_distance: str | None = None
    where: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    day_first: bool | None = None
    excel_dates: bool = False
    undated: Undated | None = None
    encoding: str | None = None
    all_listed: bool = False
    most_bytes: int | None = None
    most_nesting: int = MOST_NESTING
    mark_bad: bool = False
    time_from_id: str | None = None

    def __post_init__(self) -> None:
        for name in ("id", "source", "target", "time", "edge_time", "distance"):
            if getattr(self, name) is not None and not getattr(self, name).strip():
                raise ParameterError(name, "must name a column, or be left out")
        if self.time_from_id is not None and self.time is not None:
            raise ParameterError("time_from_id", "cannot be said together with a column")
        if self.undated not in (None, *UNDATED):
            raise ParameterError("undated", f"must be {', '.join(UNDATED)}")
        _ = (
            self.filters,
            self.threshold,
            self.id_field,
            self.group_columns,
        )  # which refuse what cannot be understood
        if self.encoding is not None:
            _require_encoding(self.encoding)
        if self.most_bytes is not None and self.most_bytes < 1:
            raise ParameterError("most_bytes", "must be at least 1")
        if not 1 <= self.most_nesting <= 500:
            raise ParameterError("most_nesting", "must be from 1 to 500")

    @cached_property
    def filters(self) -> tuple[Filter, ...]:
        """The conditions, as far as anybody said some."""
        return tuple(Filter.of(each) for each in self.where)

    @cached_property
    def group_columns(self) -> dict[str, str]:
        """The column of each group, by the name of the group."""
        pairs = [[part.strip() for part in each.split("=", 1)] for each in self.group]
        if any(len(pair) < 2 or not all(pair) for pair in pairs):
            raise ParameterError(
                "group", "cannot be understood", hint='Write "region=County": a group, its column.'
            )
        if len({name for name, _ in pairs}) < len(pairs):
            raise ParameterError("group", "names the column of a group twice")
        return dict(pairs)

    @property
    def named_groups(self) -> tuple[tuple[str, str], ...]:
        """The groups that have a column, each with it."""
        columns = self.group_columns
        return tuple((name, column) for name, column in columns.items() if column != NO_LABELS)

    @cached_property
    def id_field(self) -> IdField | None:
        """Where ids have their date, if anybody said so."""
        return None if self.time_from_id is None else IdField.of(self.time_from_id)

    @cached_property
    def threshold(self) -> Threshold | None:
        """Up to which distance people are linked, if anybody said so."""
        return None if self.max_distance is None else Threshold.of(self.max_distance)

    @property
    def table_bytes(self) -> int:
        """The largest table to read."""
        return MOST_TABLE_BYTES if self.most_bytes is None else self.most_bytes

    @property
    def document_bytes(self) -> int:
        """The largest JSON or GraphML document to read."""
        return MOST_DOCUMENT_BYTES if self.most_bytes is None else self.most_bytes

    @property
    def object_bytes(self) -> int:
        """The most memory that documents and tables held by others may take as objects."""
        return max(MOST_OBJECT_BYTES, OBJECTS_A_BYTE * (self.most_bytes or 0))


def _require_encoding(name: str) -> None:
    """Refuse what turns no bytes into text, or not block by block, as some of Python's codecs."""
    try:
        codec = codecs.lookup(name)
        text = codec.incrementaldecoder(errors="strict").decode(_SAMPLE.encode(name), final=True)
    except (LookupError, TypeError, AttributeError, ValueError, AssertionError) as error:
        raise _no_encoding(name) from error
    if text != _SAMPLE or codec.name in _NO_ENCODINGS:
        raise _no_encoding(name)


def _no_encoding(name: str) -> ParameterError:
    shown = name[:30].encode(errors="replace").decode()
    hint = "Such as windows-1252, utf-16 or latin-1."
    return ParameterError("encoding", f"'{shown}' is not known", hint=hint)


def size_of(text: str) -> int:
    """A number of bytes as people write it: 500MB, 2GB, 2GiB or plain digits."""
    match = _SIZE.fullmatch(text.strip())
    if match is None or not int(match[1]):
        raise ParameterError("limit", "must be a size such as 500MB or 2GB")
    thousand = 1024 if match[3] else 1000
    return int(int(match[1]) * thousand ** " KMGT".index(match[2].upper() or " "))


DEFAULTS = ReadingOptions()
