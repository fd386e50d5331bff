"""Sifting: what can be taken is taken, and every row that breaks a rule is left out.

Each rule finds its rows from themselves and from what else is said about the persons that they
name, and the rules are asked in a fixed order. So whether a row is left out depends on records
of the persons in it alone: deleting one person's records leaves out, and keeps, everybody
else's as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from graphveil.calendar.times import values_of
from graphveil.errors import RecordError
from graphveil.graph.intake.records import Records, Table, Violation

if TYPE_CHECKING:
    import polars as pl

Taken = TypeVar("Taken")
_CELLS = ("node", "source", "target", "time")


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that break one rule, as they were read; a secret.

    Attributes:
        rule: what is wrong with them.
        kind: "nodes" or "edges".
        column: the user's name of the column where it is seen.
        hint: how to mend it.
        table: the rows alone, each with its place.
        unlisted: how many more there are that are only counted.
    """

    rule: str
    kind: str
    column: str
    hint: str
    table: Table = field(repr=False)
    unlisted: int = field(default=0, repr=False)

    def __len__(self) -> int:
        return len(self.table.frame) + self.unlisted

    def refusal(self) -> RecordError:
        """The error that would have refused them."""
        rows = np.arange(len(self.table.frame))
        return self.table.refusal(Violation(rows, self.column, self.rule, self.hint))

    def frame(self) -> pl.DataFrame:
        """One row each: its place, what is wrong, and what it says, all as text."""
        import polars as pl

        rows = range(len(self.table.frame))
        places = [self.table.place(row, self.column) for row in rows]
        columns = {
            "file": [place.source for place in places],
            "row": ["" if place.row is None else str(place.row) for place in places],
            "column": [self.column] * len(rows),
            "reason": [self.rule] * len(rows),
            **{cell: _texts(self.table, cell) for cell in _CELLS},
        }
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


@dataclass(frozen=True, eq=False)
class Filtered(Generic[Taken]):
    """What became of records.

    Attributes:
        taken: what was made of those that break no rule.
        left_out: the others, rule by rule.
    """

    taken: Taken
    left_out: tuple[LeftOut, ...] = ()


def filtered(
    records: Records, take: Callable[[Records], Taken], only: str | None = None
) -> Filtered[Taken]:
    """What `take` makes of the records, without those for which it raises a RecordError.

    Args:
        records: all of them.
        take: what makes something of records without faults.
        only: the source whose rows alone may be left out; others are refused. None names no one.
    """
    left_out: list[LeftOut] = []
    while True:
        try:
            return Filtered(take(records), tuple(left_out))
        except RecordError as refused:
            if not len(refused.rows):  # nothing of these records is to blame
                raise
            records, without = _divided(records, refused)
            if only is not None and not without.table.comes_from(only).all():
                raise
            left_out.append(without)


def listed(left_out: Sequence[LeftOut]) -> pl.DataFrame:
    """All rows that were left out, in the order of rules and then of rows."""
    import polars as pl

    return pl.concat([each.frame() for each in left_out])


def _divided(records: Records, refused: RecordError) -> tuple[Records, LeftOut]:
    table: Table = getattr(records, refused.kind)
    bad = np.zeros(len(table.frame), np.bool_)
    bad[refused.rows] = True
    column = refused.place.column if refused.place is not None else None
    without = LeftOut(refused.rule, refused.kind, column or "", refused.hint, table.kept(bad))
    left = table.kept(~bad)
    if refused.kind == "nodes":
        return replace(records, nodes=left), without
    return replace(records, edges=left), without


def _texts(table: Table, column: str) -> list[str | None]:
    """What rows say in a column, as text; nothing where the table has no such column."""
    if column not in table.frame.columns:
        return [None] * len(table.frame)
    return [None if value is None else str(value) for value in values_of(table.frame[column])]
