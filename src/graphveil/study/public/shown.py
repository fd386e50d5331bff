"""What the files beside the public ledger show: enough to notice that the ledger is older.

Page, card and tables are made from the chain. Whoever restores an old ledger, private and public,
may leave one of them: it then shows more than the ledger knows.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

_HEADS = {
    "card.json": re.compile(rb'^    "head": "([0-9a-f]{64})",?$', re.MULTILINE),
    "report.html": re.compile(rb'<code class="hash">([0-9a-f]{64})</code>'),
}
_TABLES = ("releases.csv", "changes.csv", "revised.csv")
DIGITS = 10  # of a step; longer ones are none


@dataclass(frozen=True)
class Shown:
    """What page, card and tables show.

    Attributes:
        heads: the hash of the newest row that a file was made from, by the name of the file.
        steps: how many steps a table has, by the name of the table.
    """

    heads: tuple[tuple[str, str], ...] = ()
    steps: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, public: Path) -> Shown:
        """In a public folder; a file that is not there, or not ours, shows nothing."""
        return cls(tuple(_heads(public)), tuple((name, _steps(public / name)) for name in _TABLES))

    def newer_than(self, hashes: set[str], steps: int) -> str | None:
        """The first file that shows a row or a step which a ledger lacks; None if none does."""
        unknown = (name for name, head in self.heads if head not in hashes)
        longer = (name for name, shown in self.steps if shown > steps)
        return next(chain(unknown, longer), None)


def _heads(public: Path) -> Iterator[tuple[str, str]]:
    for name, pattern in _HEADS.items():
        path = public / name
        found = pattern.findall(path.read_bytes()) if path.is_file() else []
        if found:
            yield name, found[-1].decode()


def _steps(table: Path) -> int:
    if not table.is_file():
        return 0
    with (
        suppress(csv.Error),  # then the table is not ours
        table.open(newline="", encoding="utf-8", errors="replace") as file,
    ):
        shown = (row.get("step") or "" for row in csv.DictReader(file))
        numbers = (int(step) for step in shown if step.isdecimal() and len(step) < DIGITS)
        return max((number + 1 for number in numbers), default=0)
    return 0
