"""Records: nodes and edges as a reader found them, each row with its place in the source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import Place, RecordError

# Faults: rows of a table that break a rule, found together, whatever becomes of them.
#
# Finding is separate from refusing. The strict way raises the fault, which names its first row;
# `sifting` leaves out all rows that the raised error carries, and tries again.


Rows = NDArray[np.int64]
AWAITED = "the links that wait"  # where rows come from that earlier batches left
LONGEST_SHOWN = 40  # characters of a value that a message repeats


@dataclass(frozen=True, eq=False)
class Violation:
    """Rows that break one rule.

    Attributes:
        rows: all of them, counted from 0, ascending; private.
        column: where the fault is seen.
        rule: what is wrong, without a word of any one row.
        hint: how to mend it.
        first: the row that a message names; None names the first of `rows`.
        shown: what that row says there, if it helps to repeat it.
    """

    rows: Rows = field(repr=False)
    column: str
    rule: str
    hint: str
    first: int | None = field(default=None, repr=False)
    shown: str | None = field(default=None, repr=False)

    @classmethod
    def where(cls, mask: pl.Series, column: str, rule: str, hint: str) -> Violation:
        """The fault of the rows that are marked; null is no mark."""
        rows = mask.fill_null(False).arg_true().to_numpy().astype(np.int64)
        return cls(rows, column, rule, hint)

    @property
    def named(self) -> int:
        """The row that a message names."""
        return int(self.rows[0]) if self.first is None else self.first

    def error(self, place: Place, kind: str) -> RecordError:
        """The refusal of these rows, named by a place."""
        text = self.rule if self.shown is None else f"{self.rule}: '{self.shown[:LONGEST_SHOWN]}'"
        return RecordError(
            text, place=place, hint=self.hint, rule=self.rule, kind=kind, rows=self.rows
        )

    def moved(self, by: int) -> Violation:
        """The same rows where so many others stand before them."""
        first = None if self.first is None else self.first + by
        return replace(self, rows=self.rows + by, first=first)

    def among(self, kept: NDArray[np.bool_]) -> Violation | None:
        """The same fault after a selection of rows; None if none of its rows is selected."""
        left = self.rows[kept[self.rows]]
        if not len(left):
            return None
        return replace(self, rows=np.cumsum(kept)[left] - 1, first=None)


Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one source, under our column names.

    Attributes:
        frame: the rows.
        source: what the user calls the source: a file name, or "the nodes frame".
        first_row: the number, as the user counts, of the first row.
        names: the user's name for each of our columns, where it differs.
        numbers: the user's number of each row, where rows of the source were left out.
        faults: the rows that the reader found to break a rule, if any; they are still here.
    """

    frame: pl.DataFrame = field(repr=False)
    source: str
    first_row: int = 1
    names: dict[str, str] = field(default_factory=dict)
    numbers: NDArray[np.int64] | None = field(default=None, repr=False)
    violations: tuple[Violation, ...] = field(default=(), repr=False)

    def place(self, row: int, column: str) -> Place:
        """Where the user finds a row (counted from 0) and column of this table."""
        number = self.first_row + row if self.numbers is None else self.numbers[row]
        return Place(self.source, int(number), self.names.get(column, column) or None)

    def row_numbers(self) -> NDArray[np.int64]:
        """The user's number of each row."""
        if self.numbers is not None:
            return self.numbers
        return np.arange(self.first_row, self.first_row + self.frame.height)

    def comes_from(self, source: str) -> Mask:
        """Which rows come from a source."""
        return np.full(self.frame.height, self.source == source)

    def refusal(self, violation: Violation) -> RecordError:
        """The error that refuses rows of this table."""
        kind = "nodes" if "node" in self.frame.columns else "edges"
        return violation.error(self.place(violation.named, violation.column), kind)

    def marked(self, *violations: Violation) -> Table:
        """The same rows, of which some are found to break a rule."""
        return replace(self, violations=(*self.violations, *violations)) if violations else self

    def without_faults(self) -> Table:
        """The rows that the reader found to break no rule."""
        sound = np.ones(self.frame.height, np.bool_)
        for violation in self.violations:
            sound[violation.rows] = False
        return self if sound.all() else self.kept(sound)

    def require_sound(self) -> None:
        """Refuse the rows that the reader found to break a rule."""
        for violation in self.violations:
            raise self.refusal(violation)

    def kept(self, rows: Mask) -> Table:
        """Some of the rows, each of which keeps its place."""
        return replace(
            self,
            frame=self.frame.filter(pl.Series(rows)),
            numbers=self.row_numbers()[rows],
            violations=_among(self.violations, rows),
        )

    @staticmethod
    def joined(tables: Sequence[Table]) -> Table:
        """One table of all rows, each of which keeps its place; the columns must be alike.

        Only ids may be numbers in one table and text in another: together they are text.
        """
        if len(tables) == 1:
            return tables[0]
        return JoinedTable(
            pl.concat([table.frame for table in tables], how="vertical_relaxed", rechunk=False),
            ", ".join(dict.fromkeys(table.source for table in tables)),
            violations=_moved(tables),
            pieces=tuple(tables),
            starts=_starts(tables),
        )


def _starts(tables: Sequence[Table]) -> tuple[int, ...]:
    return tuple(accumulate((len(table.frame) for table in tables), initial=0))[:-1]


def _moved(tables: Sequence[Table]) -> tuple[Violation, ...]:
    """The faults of all tables, once these stand one after the other."""
    placed = zip(tables, _starts(tables), strict=True)
    return tuple(
        violation.moved(start) for table, start in placed for violation in table.violations
    )


def _among(violations: tuple[Violation, ...], rows: Mask) -> tuple[Violation, ...]:
    left = (violation.among(rows) for violation in violations)
    return tuple(violation for violation in left if violation is not None)


@dataclass(frozen=True, eq=False)
class JoinedTable(Table):
    """Rows of several sources, one after the other.

    Attributes:
        pieces: the tables that were joined; only their places are used.
        starts: the row (counted from 0) at which each piece begins.
    """

    pieces: tuple[Table, ...] = ()
    starts: tuple[int, ...] = ()

    def place(self, row: int, column: str) -> Place:
        """Where the user finds a row of this table: in the piece that holds it."""
        piece = bisect_right(self.starts, row) - 1
        return self.pieces[piece].place(int(row) - self.starts[piece], column)

    def comes_from(self, source: str) -> Mask:
        """Which rows come from a source."""
        return np.concatenate([piece.comes_from(source) for piece in self.pieces])

    def row_numbers(self) -> NDArray[np.int64]:
        """The user's number of each row, in its piece."""
        return np.concatenate([piece.row_numbers() for piece in self.pieces])

    def kept(self, rows: Mask) -> Table:
        """Some of the rows, each of which keeps its place in its piece."""
        bounds = pairwise((*self.starts, len(rows)))
        pieces = tuple(
            piece.kept(rows[a:b]) for piece, (a, b) in zip(self.pieces, bounds, strict=True)
        )
        return replace(
            self,
            frame=self.frame.filter(pl.Series(rows)),
            violations=_among(self.violations, rows),
            pieces=pieces,
            starts=_starts(pieces),
        )


@dataclass(frozen=True, eq=False)
class Records:
    """What a reader hands to the graph.

    Attributes:
        nodes: columns `node` and `time`.
        edges: columns `source` and `target`, and `time` where edges have their own.
        by_links: the sources in which people occur only because of their links, if no other
            lists people: removing a person would remove others too, so that a study refuses.
    """

    nodes: Table
    edges: Table
    by_links: tuple[str, ...] = ()


# The intake report: what happened to the records, counted, rule by rule.
#
# It holds true counts and belongs to the operator: it is private.


_RULES = {
    "nodes_added": "nodes added",
    "edges_added": "edges added",
    "known_nodes": "nodes already known",
    "known_edges": "edges already known",
    "trimmed_ids": "ids with surrounding blanks: blanks removed",
    "respelled_ids": "ids with invisible characters or letters in parts: spelled alike",
    "repeated_nodes": "nodes listed more than once with the same step: merged",
    "awaited_edges": "edges that waited for somebody who is now known: among those added or known",
    "redated_nodes": "known nodes with another step: kept as they were",
    "relabelled_nodes": "known nodes with other labels of a group: kept as they were",
    "two_labels": "nodes with two labels of one group: the first in the public list counts",
    "folded_nodes": "nodes from before the first step: counted in the first step",
    "nodes_after_end": "rows of nodes from after the last step: ignored",
    "undated_nodes": "nodes without a time: put into the first open step",
    "late_nodes": "nodes of a closed step: joined the first open step",
    "repeated_edges": "edges listed more than once: merged, the earliest time counts",
    "self_links": "edges from a node to itself: left out",
    "raised_edges": "edge times before an endpoint arrives: moved to that step",
    "late_edges": "edges of a closed step: joined the first open step",
    "edges_after_end": "rows of edges from after the last step, or of such nodes: ignored",
    "nodes_undated": "rows of nodes without a time: left out",
    "edges_undated": "rows of edges of nodes without a time: left out",
}
_PLURAL = r"\b(node|edge|link|line|id|time|date|row|step|release)s\b"
_TOTALS = ("nodes_added", "edges_added")
_KNOWN = ("known_nodes", "known_edges")


def counted(number: int, things: str) -> str:
    """A number of things; one is in the singular."""
    if number == 1:
        things = re.sub(_PLURAL, r"\1", things, count=1)
    return f"{number:,} {things}"


@dataclass(frozen=True)
class IntakeReport:
    """How many records met each rule; `lines` says it in words.

    Every row is the first of something new, the first of something known (in the sequence, or
    waiting), a repetition within its batch, an edge from a node to itself, or ignored.

    Examples:
        >>> IntakeReport(nodes_added=2, edges_added=1, self_links=1).lines()
        ['2 nodes added', '1 edge added', '1 edge from a node to itself: left out']
    """

    nodes_added: int = 0
    edges_added: int = 0
    trimmed_ids: int = 0
    respelled_ids: int = 0
    repeated_nodes: int = 0
    redated_nodes: int = 0
    folded_nodes: int = 0
    undated_nodes: int = 0
    late_nodes: int = 0
    repeated_edges: int = 0
    self_links: int = 0
    raised_edges: int = 0
    late_edges: int = 0
    known_nodes: int = 0
    known_edges: int = 0
    nodes_after_end: int = 0
    edges_after_end: int = 0
    nodes_undated: int = 0
    edges_undated: int = 0
    awaited_edges: int = 0
    relabelled_nodes: int = 0
    two_labels: int = 0

    def lines(self, about_known: Sequence[str] = ()) -> list[str]:
        """One sentence per rule that was met, the two totals first.

        Args:
            about_known: what else there is to say about known nodes and edges; follows them.
        """
        counts = asdict(self)
        met = [name for name in _RULES if name in _TOTALS or counts[name]]
        lines = [counted(counts[name], _RULES[name]) for name in met]
        place = sum(name in (*_TOTALS, *_KNOWN) for name in met)
        return [*lines[:place], *about_known, *lines[place:]]

    def said(self, name: str) -> str:
        """How many records met a rule, in words; nothing if none did."""
        number = getattr(self, name)
        return counted(number, _RULES[name]) if number else ""

    def __add__(self, other: IntakeReport) -> IntakeReport:
        """Both reports as one, for several batches."""
        return IntakeReport(
            *(getattr(self, field.name) + getattr(other, field.name) for field in fields(self))
        )
