"""Records: nodes and edges as a reader found them, each row with its place in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import Place, RecordError
from graphveil.graph.intake.faults import Fault

if TYPE_CHECKING:
    import polars as pl

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
    faults: tuple[Fault, ...] = field(default=(), repr=False)

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

    def refusal(self, fault: Fault) -> RecordError:
        """The error that refuses rows of this table."""
        kind = "nodes" if "node" in self.frame.columns else "edges"
        return fault.error(self.place(fault.named, fault.column), kind)

    def marked(self, *faults: Fault) -> Table:
        """The same rows, of which some are found to break a rule."""
        return replace(self, faults=(*self.faults, *faults)) if faults else self

    def without_faults(self) -> Table:
        """The rows that the reader found to break no rule."""
        sound = np.ones(self.frame.height, np.bool_)
        for fault in self.faults:
            sound[fault.rows] = False
        return self if sound.all() else self.kept(sound)

    def require_sound(self) -> None:
        """Refuse the rows that the reader found to break a rule."""
        for fault in self.faults:
            raise self.refusal(fault)

    def kept(self, rows: Mask) -> Table:
        """Some of the rows, each of which keeps its place."""
        import polars as pl

        return replace(
            self,
            frame=self.frame.filter(pl.Series(rows)),
            numbers=self.row_numbers()[rows],
            faults=_among(self.faults, rows),
        )

    @staticmethod
    def joined(tables: Sequence[Table]) -> Table:
        """One table of all rows, each of which keeps its place; the columns must be alike.

        Only ids may be numbers in one table and text in another: together they are text.
        """
        import polars as pl

        if len(tables) == 1:
            return tables[0]
        return JoinedTable(
            pl.concat([table.frame for table in tables], how="vertical_relaxed", rechunk=False),
            ", ".join(dict.fromkeys(table.source for table in tables)),
            faults=_moved(tables),
            pieces=tuple(tables),
            starts=_starts(tables),
        )


def _starts(tables: Sequence[Table]) -> tuple[int, ...]:
    return tuple(accumulate((len(table.frame) for table in tables), initial=0))[:-1]


def _moved(tables: Sequence[Table]) -> tuple[Fault, ...]:
    """The faults of all tables, once these stand one after the other."""
    placed = zip(tables, _starts(tables), strict=True)
    return tuple(fault.moved(start) for table, start in placed for fault in table.faults)


def _among(faults: tuple[Fault, ...], rows: Mask) -> tuple[Fault, ...]:
    left = (fault.among(rows) for fault in faults)
    return tuple(fault for fault in left if fault is not None)


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
        import polars as pl

        bounds = pairwise((*self.starts, len(rows)))
        pieces = tuple(
            piece.kept(rows[a:b]) for piece, (a, b) in zip(self.pieces, bounds, strict=True)
        )
        return replace(
            self,
            frame=self.frame.filter(pl.Series(rows)),
            faults=_among(self.faults, rows),
            pieces=pieces,
            starts=_starts(pieces),
        )


@dataclass(frozen=True, eq=False)
class Records:
    """What a reader hands to the graph.

    Attributes:
        nodes: columns `node` and `time`.
        edges: columns `source` and `target`, and `time` where edges have their own.
        by_links: the sources in which people stand only because of their links, if no other
            lists people: whoever is removed would take others along, so that a study refuses.
    """

    nodes: Table
    edges: Table
    by_links: tuple[str, ...] = ()
