"""The public chain: what was announced, row by row, each bound to all rows before it.

Anyone who holds the public part can check it. A row carries a *seal*: a salted commitment to
the private ledger. The salt is secret, so that a published hash reveals nothing about the data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphveil.errors import IntegrityError
from graphveil.study.facts import Announcement

GENESIS = "0" * 64
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(data: object) -> str:
    """The one text of plain data: sorted keys, no blanks."""
    return _ENCODER.encode(data)


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    """The canonical form of a text that many rows have."""
    return canonical(text)


def digest(text: str) -> str:
    """The SHA-256 of a text, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class PublicRow:
    """One announcement.

    Attributes:
        number: from 0 on, without a gap.
        at: when the command that entered it began, in UTC.
        event: what kind of thing happened.
        fact: what happened.
        seal: the commitment to the private ledger.
        previous: the hash of the row before.
        hash: of everything above.
    """

    number: int
    at: str
    event: str
    fact: dict[str, Any]
    seal: str
    previous: str
    hash: str

    @classmethod
    def after(
        cls, last: PublicRow | None, *, at: str, event: str, fact: dict[str, Any], seal: str
    ) -> PublicRow:
        """The row that follows the last one."""
        number, previous = (0, GENESIS) if last is None else (last.number + 1, last.hash)
        open_row = cls(number, at, event, fact, seal, previous, hash="")
        return cls(number, at, event, fact, seal, previous, open_row.computed_hash())

    @property
    def has_right_types(self) -> bool:
        """Whether each part has its declared type, in a row that anybody may have written."""
        texts = (self.at, self.event, self.seal, self.previous, self.hash)
        plain = all(isinstance(text, str) for text in texts)
        return plain and type(self.number) is int and isinstance(self.fact, dict)

    def computed_hash(self) -> str:
        """What the hash of this row has to be."""
        return digest(canonical({key: getattr(self, key) for key in _HASHED}))

    def announcement(self, source: str) -> Announcement:
        """The fact of the row, with its place in the file `source`."""
        place = f"{source}, row {self.number} ({self.event})"
        return Announcement(place, self.event, self.fact, self.at)

    def line(self) -> str:
        """The row as it is written in `ledger.jsonl`."""
        return canonical({key: getattr(self, key) for key in (*_HASHED, "hash")}) + "\n"


_HASHED = ("number", "at", "event", "fact", "seal", "previous")


@dataclass(frozen=True)
class Line:
    """A row as it is written in `ledger.jsonl`, made from the text of its fact without parsing it.

    Attributes:
        number: of the row.
        text: the line.
        hash: of the row.
    """

    number: int
    text: str
    hash: str

    @classmethod
    def after(cls, last: Line | None, *, at: str, event: str, fact: str, seal: str) -> Line:
        """The line that follows the last one: the same as `PublicRow.after(…).line()`.

        Args:
            last: the line before.
            at: when it happened.
            event: what kind of thing happened.
            fact: what happened, in its canonical text.
            seal: the commitment to the private ledger.
        """
        number, previous = (0, GENESIS) if last is None else (last.number + 1, last.hash)
        begin = f'{{"at":{_quoted(at)},"event":{_quoted(event)},"fact":{fact},'
        end = f'"number":{number},"previous":"{previous}","seal":"{seal}"}}'
        found = digest(begin + end)
        return cls(number, f'{begin}"hash":"{found}",{end}\n', found)


def as_text(rows: Iterable[PublicRow]) -> str:
    """The content of `ledger.jsonl`."""
    return "".join(row.line() for row in rows)


def read_rows(text: str, source: str = "ledger.jsonl") -> tuple[PublicRow, ...]:
    """The rows of a public chain; names the first row that is wrong."""
    rows: list[PublicRow] = []
    # Not splitlines: it also breaks at U+2028 and the like, which a title may contain.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else []):
        rows.append(_row(line, f"{source}, row {number}"))
    require_chain(rows, source)
    return tuple(rows)


def _row(line: str, place: str) -> PublicRow:
    try:
        row = PublicRow(**json.loads(line))
        row.line().encode()  # refuses what no text can hold
        if row.has_right_types:
            return row
    except (ValueError, TypeError, RecursionError) as error:
        raise IntegrityError(f"{place}: cannot be read as a row of the public ledger.") from error
    raise IntegrityError(f"{place}: has a part that is not what it should be.")


def require_chain(rows: Sequence[PublicRow], source: str) -> None:
    """Refuse rows that are not chained, naming the first."""
    previous = GENESIS
    for number, row in enumerate(rows):
        if (row.number, row.previous, row.hash) != (number, previous, row.computed_hash()):
            raise IntegrityError(
                f"{source}, row {number} ({row.event}): the hash does not match; this row, or one "
                "before it, was changed."
            )
        previous = row.hash


def require_form(rows: Sequence[PublicRow], text: str, source: str) -> None:
    """Refuse rows that are written otherwise than graphveil writes them; line ends do not matter.

    Equal rows in other words (a key twice, say) might be read otherwise by others.
    """
    lines = text.removesuffix("\n").split("\n")
    for number, (row, line) in enumerate(zip(rows, lines, strict=False)):
        if row.line() != line.removesuffix("\r") + "\n":
            raise IntegrityError(
                f"{source}, row {number} ({row.event}): is not written as graphveil writes it."
            )
