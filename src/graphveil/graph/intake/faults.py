"""Faults: rows of a table that break a rule, found together, whatever becomes of them.

Finding is separate from refusing. The strict way raises the fault, which names its first row;
`sifting` leaves out all rows that the raised error carries, and tries again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import Place, RecordError

if TYPE_CHECKING:
    import polars as pl

Rows = NDArray[np.int64]
LONGEST_SHOWN = 40  # characters of a value that a message repeats


@dataclass(frozen=True, eq=False)
class Fault:
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
    def where(cls, mask: pl.Series, column: str, rule: str, hint: str) -> Fault:
        """The fault of the rows that are marked; null is no mark."""
        rows = mask.fill_null(False).arg_true().to_numpy().astype(np.int64)
        return cls(rows, column, rule, hint)

    @property
    def named(self) -> int:
        """The row that a message names."""
        return int(self.rows[0]) if self.first is None else self.first

    def error(self, place: Place, kind: str) -> RecordError:
        """The refusal of these rows, named by a place."""
        said = self.rule if self.shown is None else f"{self.rule}: '{self.shown[:LONGEST_SHOWN]}'"
        return RecordError(
            said, place=place, hint=self.hint, rule=self.rule, kind=kind, rows=self.rows
        )

    def moved(self, by: int) -> Fault:
        """The same rows where so many others stand before them."""
        first = None if self.first is None else self.first + by
        return replace(self, rows=self.rows + by, first=first)

    def among(self, kept: NDArray[np.bool_]) -> Fault | None:
        """The same fault once only some rows are kept; None if none of its rows is."""
        left = self.rows[kept[self.rows]]
        if not len(left):
            return None
        return replace(self, rows=np.cumsum(kept)[left] - 1, first=None)
