"""The parse report: what each file was taken for, and what its rows met on the way.

It holds true counts and row numbers and belongs to the operator: it is private.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from graphveil.graph.intake.report import counted

_SHOWN = 5  # row numbers that a note tells


@dataclass(frozen=True)
class Note:
    """A rule, how many rows met it, and the numbers of the first few.

    Attributes:
        rule: what the rows have in common and what was done, in words.
        count: how many there are; None for a note on the file as a whole.
        rows: the first of them, as the user counts.
    """

    rule: str
    count: int | None = None
    rows: tuple[int, ...] = ()

    @classmethod
    def of_rows(cls, rule: str, count: int, rows: Iterable[int] = ()) -> Note:
        """A note that keeps the first few row numbers only."""
        return cls(rule, count, tuple(int(row) for row in islice(rows, _SHOWN)))

    def __str__(self) -> str:
        if self.count is None:
            return self.rule
        if not self.rows:
            return f"{self.count:,} {self.rule}"
        more = ", …" if self.count > len(self.rows) else ""
        word = "row" if self.count == 1 else "rows"
        return f"{self.count:,} {self.rule} ({word} {', '.join(map(str, self.rows))}{more})"


@dataclass(frozen=True)
class FileReport:
    """What happened to one file.

    Attributes:
        name: the file.
        format: the format it was read in.
        why: by what it was recognised.
        nodes: rows of nodes handed on; None if the file lists none.
        edges: rows of edges handed on; None if the file lists none.
        notes: the rules that some of its rows met.
    """

    name: str
    format: str
    why: str
    nodes: int | None
    edges: int | None
    notes: tuple[Note, ...] = ()

    def lines(self) -> list[str]:
        """The file in words: a headline, then one line per note."""
        rows = [
            counted(count, f"rows of {kind}")
            for count, kind in ((self.nodes, "nodes"), (self.edges, "edges"))
            if count is not None
        ]
        headline = f"{self.name}: read as {self.format} ({self.why}); {', '.join(rows)}"
        return [headline, *(f"  {note}" for note in self.notes)]


@dataclass(frozen=True)
class ParseReport:
    """What happened to all files that were read together; private."""

    files: tuple[FileReport, ...]
    notes: tuple[Note, ...] = ()

    def lines(self) -> list[str]:
        """All files in words, one after the other."""
        said = [line for file in self.files for line in file.lines()]
        return [*said, *map(str, self.notes)]
