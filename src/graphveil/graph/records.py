"""Records: nodes and edges as a reader found them, each row with its place in the source."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphveil.errors import Place

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of one source, under our column names.

    Attributes:
        frame: the rows.
        source: what the user calls the source: a file name, or "the nodes frame".
        first_row: the number, as the user counts, of the first row.
        names: the user's name for each of our columns, where it differs.
    """

    frame: pl.DataFrame
    source: str
    first_row: int = 1
    names: dict[str, str] = field(default_factory=dict)

    def place(self, row: int, column: str) -> Place:
        """Where the user finds a row (counted from 0) and column of this table."""
        return Place(self.source, self.first_row + int(row), self.names.get(column, column))


@dataclass(frozen=True, eq=False)
class Records:
    """What a reader hands to the graph.

    Attributes:
        nodes: columns `node` and `time`.
        edges: columns `source` and `target`, and `time` where edges have their own.
    """

    nodes: Table
    edges: Table
