"""Tables that were read already, from a sheet, a database or an object of R."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.errors import Place
from graphveil.formats.columns.dates import look_like_dates
from graphveil.formats.columns.names import refuse_repeated
from graphveil.formats.source_file import Held, SourceFile
from graphveil.graph.intake.faults import Fault
from graphveil.graph.intake.identity import NOT_WHOLE, STORE_AS
from graphveil.graph.intake.records import Table

_LOOKED_AT = 50
_IDS = ("node", "source", "target")


@dataclass(frozen=True)
class HeldTable:
    """A table whose rows are there."""

    file: SourceFile
    table: Held

    @property
    def kind(self) -> str:
        """By what such a file is recognised, in words."""
        return self.table.kind

    @property
    def names(self) -> list[str]:
        """The user's names of the columns."""
        return list(self.table.frame.columns)

    def date_columns(self) -> list[str]:
        """The columns whose first values look like dates."""
        head = self.table.frame.head(_LOOKED_AT)
        return [name for name in head.columns if look_like_dates(head[name].to_list())]

    def read(self, columns: dict[str, str], most_bytes: int) -> Table:
        """All rows of some columns; the limit was held when they were read."""
        refuse_repeated(self.names, columns.values(), Place(self.file.name))
        frame = self.table.frame
        chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in columns.items())
        table = Table(chosen, self.file.name, names=columns, numbers=self.table.numbers)
        return table.marked(*self._inexact_ids(columns))

    def _inexact_ids(self, columns: dict[str, str]) -> list[Fault]:
        """The ids that are numbers too large to tell people apart."""
        inexact = self.table.inexact
        return [
            Fault(np.flatnonzero(inexact[theirs]), ours, NOT_WHOLE, STORE_AS)
            for ours, theirs in columns.items()
            if ours in _IDS and theirs in inexact
        ]
