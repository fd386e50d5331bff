"""Records: nodes and edges as a reader found them, each row with its place in the source."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from graphveil.errors import Place

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one source, under our column names.

    Attributes:
        frame: the rows.
        source: what the user calls the source: a file name, or "the nodes frame".
        first_row: the number, as the user counts, of the first row.
        names: the user's name for each of our columns, where it differs.
        numbers: the user's number of each row, where rows of the source were left out.
    """

    frame: pl.DataFrame = field(repr=False)
    source: str
    first_row: int = 1
    names: dict[str, str] = field(default_factory=dict)
    numbers: NDArray[np.int64] | None = field(default=None, repr=False)

    def place(self, row: int, column: str) -> Place:
        """Where the user finds a row (counted from 0) and column of this table."""
        number = self.first_row + row if self.numbers is None else self.numbers[row]
        return Place(self.source, int(number), self.names.get(column, column))

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
            pieces=tuple(tables),
            starts=tuple(accumulate((len(table.frame) for table in tables), initial=0))[:-1],
        )


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


@dataclass(frozen=True, eq=False)
class Records:
    """What a reader hands to the graph.

    Attributes:
        nodes: columns `node` and `time`.
        edges: columns `source` and `target`, and `time` where edges have their own.
    """

    nodes: Table
    edges: Table
