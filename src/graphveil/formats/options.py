"""What a steward may tell the readers besides the files themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphveil.errors import ParameterError

GIB = 1 << 30
_SIZE = re.compile(r"([0-9]{1,12})\s*([KMGT]?)(i?)B?", re.IGNORECASE)
MOST_TABLE_BYTES = 4 * GIB
MOST_DOCUMENT_BYTES = GIB // 4  # held as objects, of ten times its size, or twenty at worst
MOST_NESTING = 64


@dataclass(frozen=True)
class ReadingOptions:
    """How to read files.

    Attributes:
        time: the column, field or attribute that holds a node's date; None takes the one
            that the format itself has.
        edge_time: the same for the date of an edge.
        day_first: whether 7/8/2021 is the 7th of August; else it is July 8th.
        all_listed: whether HIV-TRACE results that have no list of `Singletons` list everybody
            all the same, also people without a link.
        most_bytes: the largest file to read, compressed or not; None takes 4 GiB for tables
            and 256 MiB for JSON and GraphML.
        most_nesting: how deep JSON and XML may be nested.
        mark_bad: whether rows that break a rule are handed on, marked as such, for whoever
            leaves them out; else the first of them refuses the files.
    """

    time: str | None = None
    edge_time: str | None = None
    day_first: bool = False
    all_listed: bool = False
    most_bytes: int | None = None
    most_nesting: int = MOST_NESTING
    mark_bad: bool = False

    def __post_init__(self) -> None:
        for name in ("time", "edge_time"):
            if getattr(self, name) is not None and not getattr(self, name).strip():
                raise ParameterError(name, "must name a column, or be left out")
        if self.most_bytes is not None and self.most_bytes < 1:
            raise ParameterError("most_bytes", "must be at least 1")
        if not 1 <= self.most_nesting <= 500:
            raise ParameterError("most_nesting", "must be from 1 to 500")

    @property
    def table_bytes(self) -> int:
        """The largest table to read."""
        return MOST_TABLE_BYTES if self.most_bytes is None else self.most_bytes

    @property
    def document_bytes(self) -> int:
        """The largest JSON or GraphML document to read."""
        return MOST_DOCUMENT_BYTES if self.most_bytes is None else self.most_bytes


def size_of(text: str) -> int:
    """A number of bytes as people write it: 500MB, 2GB, 2GiB or plain digits."""
    found = _SIZE.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise ParameterError("limit", "must be a size such as 500MB or 2GB")
    thousand = 1024 if found[3] else 1000
    return int(int(found[1]) * thousand ** " KMGT".index(found[2].upper() or " "))


DEFAULTS = ReadingOptions()
