"""Rows of tables that break a rule: noted by tasks, read again by the driver to be listed.

A task knows rows by their places. What is noted of a rule is how many rows break it and where the
first of them are, so that the driver holds no more of them than a list may have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import Workspace
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.jobs import failing_as_ours
from graphveil.deferred import pl
from graphveil.errors import Place, RecordError
from graphveil.graph.intake.appending import LeftOut
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Places = NDArray[np.int64]
MOST_LISTED = 100_000  # rows that are listed one by one


class Broken(NamedTuple):
    """Rows that break one rule.

    Attributes:
        rank: when the one intake asks for the rule: the stage, and what was refused before in it.
        kind: "nodes" or "edges".
        column: ours, where it is seen.
        rule: what is wrong with them.
        what: the same of the row that a message names.
        hint: how to mend it.
        named: the place of that row.
        rows: how many there are.
        places: of the first of them, ascending.
        awaited: whether they come from an earlier batch, and waited for somebody.
    """

    rank: tuple[int, int]
    kind: str
    column: str
    rule: str
    what: str
    hint: str
    named: int
    rows: int
    places: Places
    awaited: bool = False

    @classmethod
    def of(
        cls, rank: tuple[int, int], refused: RecordError, places: Places, beyond: int
    ) -> list[Broken]:
        """What a rule refused, at these places: rows of a batch, and those that waited, beyond."""
        column = (refused.place and refused.place.column) or ""
        said = refused.kind, column, refused.rule, refused.what, refused.hint
        ordered = np.sort(places)
        cut = int(np.searchsorted(ordered, beyond))
        return [
            cls(rank, *said, int(own[0]), len(own), own[:MOST_LISTED], awaited)
            for own, awaited in ((ordered[:cut], False), (ordered[cut:], True))
            if len(own)
        ]

    def joined(self, other: Broken) -> Broken:
        """The same rule, of more rows."""
        first = self if self.named <= other.named else other
        places = np.sort(np.concatenate([self.places, other.places]))[:MOST_LISTED]
        rank = max(self.rank, other.rank)
        return first._replace(rank=rank, rows=self.rows + other.rows, places=places)

    def error(self, table: SparkTable) -> RecordError:
        """The refusal of all these rows."""
        place = table.place(self.named, self.column)
        return RecordError(
            self.what, place=place, hint=self.hint, rule=self.rule, kind=self.kind,
            rows=np.zeros(self.rows, np.int64),
        )  # fmt: skip


def together(found: Iterable[Broken]) -> tuple[Broken, ...]:
    """Rule by rule, in the order in which the one intake asks for them."""
    rules: dict[tuple[int, str, str, bool], Broken] = {}
    for each in found:
        key = each.rank[0], each.column, each.rule, each.awaited
        rules[key] = each.joined(rules[key]) if key in rules else each
    return tuple(sorted(rules.values(), key=lambda each: (each.rank, each.named)))


@dataclass(frozen=True, eq=False)
class PlacedRows(Table):
    """Rows of a table that Spark reads, whose numbers are places.

    Attributes:
        whole: the table.
    """

    whole: SparkTable | None = field(default=None, repr=False)

    def place(self, row: int, column: str) -> Place:
        """Where the user finds a row."""
        assert self.whole is not None, "rows come from a table"
        return self.whole.place(int(self.row_numbers()[row]), column)


def rows_at(
    session: SparkSession, workspace: Workspace, table: SparkTable, places: Places
) -> PlacedRows:
    """The rows at some places, in their order, as they were read."""
    import pyarrow as pa

    wanted = np.unique(places)
    if not len(wanted):
        rows = pl.DataFrame(schema=dict.fromkeys(table.names, pl.String))
        return PlacedRows(rows, "", numbers=wanted, whole=table)
    name = workspace.for_spark(workspace.write("places", pa.table({"place": wanted})))
    with failing_as_ours():
        those = session.read.schema("place long").parquet(name)
        found = table.frame.join(those.hint("broadcast"), "place", "left_semi").toArrow()
    frame = pl.DataFrame(found).sort("place")
    own = frame["place"].to_numpy()
    return PlacedRows(frame.drop("place"), "", numbers=own, whole=table)


def left_out(broken: Broken, rows: PlacedRows) -> LeftOut:
    """What was set aside by a rule, of a table whose rows at those places are there."""
    assert rows.whole is not None, "rows come from a table"
    own = rows.kept(np.isin(rows.row_numbers(), broken.places))
    column = rows.whole.names.get(broken.column, broken.column)
    unlisted = broken.rows - len(own.frame)
    return LeftOut(broken.rule, broken.kind, column, broken.hint, own, unlisted)
