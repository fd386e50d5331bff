"""What is read of a table besides ids: dates, and the columns that say whether a row counts.

The columns come along under names of their own; `Selection.applied` judges every row by them, one
at a time, and leaves ids and one time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graphveil.errors import Place
from graphveil.formats.columns.dates import first_said, tidied
from graphveil.formats.columns.distances import SHAPE, Threshold, distance_column
from graphveil.formats.columns.filters import Filter, Kind
from graphveil.formats.columns.names import names_by_text, no_such, plain
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.graph.intake.faults import Fault
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import polars as pl

_DISTANCE, _CONDITION, _TIME = "distance", "condition", "time"


@dataclass(frozen=True)
class Selection:
    """What is read of one table besides ids, under the user's names.

    Attributes:
        kind: what the table lists.
        times: the columns that date its rows, the first that says something counts.
        conditions: what its rows have to meet, each with its column.
        distance: the column that makes a pair a link, or none.
        threshold: up to which distance it does.
    """

    kind: Kind
    times: tuple[str, ...] = ()
    conditions: tuple[tuple[Filter, str], ...] = ()
    distance: str | None = None
    threshold: Threshold | None = None

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kind: Kind,
        options: ReadingOptions,
        source: str,
        times: Sequence[str] = (),
    ) -> Selection:
        """What the steward's options ask of a table with these columns."""
        conditions = conditions_on(names, kind, options.filters, source)
        if kind == "nodes":
            return cls(kind, tuple(times), conditions)
        column = distance_column(names, options.distance, options.threshold, source)
        threshold = options.threshold if column is not None else None
        if column is not None and threshold is not None:
            threshold = threshold.in_unit_of(column, Place(source, column=column))
        return cls(kind, tuple(times), conditions, column, threshold)

    @property
    def used(self) -> frozenset[Filter]:
        """The conditions as they were understood, each for its kind of table."""
        return frozenset(replace(each, kind=self.kind) for each, _ in self.conditions)

    @property
    def columns(self) -> dict[str, str]:
        """The user's names, by those under which `applied` expects the columns."""
        times = {_numbered(_TIME, n): column for n, column in enumerate(self.times)}
        conditions = {
            _numbered(_CONDITION, n): column for n, (_, column) in enumerate(self.conditions)
        }
        distance = {} if self.distance is None else {_DISTANCE: self.distance}
        return times | conditions | distance

    def applied(self, table: Table, options: ReadingOptions) -> Selected:
        """The rows that count, with one time each; the others, and what there is to say."""
        kept, faults, notes = self._judged(table)
        counting = table.marked(*faults)
        left_out = None
        if not kept.all():
            mask = kept.to_numpy()
            left_out, counting = _bare(table.kept(~mask)), counting.kept(mask)
        if not self.times:
            return Selected(_bare(counting), left_out, notes)
        times = [counting.frame[_numbered(_TIME, n)] for n in range(len(self.times))]
        ids = _bare(counting)
        frame = ids.frame.with_columns(first_said(times))
        names = {**ids.names, _TIME: ", ".join(self.times)}
        dated, changed = tidied(replace(ids, frame=frame, names=names), options)
        return Selected(dated, left_out, [*notes, *changed])

    def _judged(self, table: Table) -> tuple[pl.Series, list[Fault], list[Note]]:
        """Which rows count, those of which nobody can tell, and how many do not."""
        import polars as pl

        kept = pl.repeat(True, table.frame.height, dtype=pl.Boolean, eager=True)
        faults: list[Fault] = []
        notes: list[Note] = []
        for n, (condition, _) in enumerate(self.conditions):
            name = _numbered(_CONDITION, n)
            meets, unclear = condition.kept(table.frame[name], name)
            notes += _note(f"rows left out: not {condition.text}", table, kept & ~meets)
            kept, faults = kept & meets, [*faults, *unclear]
        if self.threshold is not None:
            near, unclear = _near(table.frame[_DISTANCE], self.threshold)
            notes += _note(f"pairs further apart than {self.threshold}", table, kept & ~near)
            kept, faults = kept & near, [*faults, *unclear]
        return kept, faults, notes


@dataclass(frozen=True, eq=False)
class Selected:
    """Rows that count, those that were left out by a condition, and notes on both."""

    table: Table
    left_out: Table | None
    notes: list[Note]


def conditions_on(
    names: Sequence[str], kind: Kind, filters: Sequence[Filter], source: str
) -> tuple[tuple[Filter, str], ...]:
    """The conditions that a table of a kind is held to, each with the user's column."""
    theirs, found = names_by_text(names), []
    for each in filters:
        column = theirs.get(plain(each.column))
        if each.kind not in (None, kind) or (column is None and each.kind is None):
            continue
        if column is None:
            raise no_such("column", Place(source, column=each.column), names, [])
        found.append((each, column))
    return tuple(found)


def _numbered(name: str, number: int) -> str:
    return f"{name} {number}"


def _bare(table: Table) -> Table:
    """The ids alone."""
    ids = [name for name in ("node", "source", "target") if name in table.frame.columns]
    return replace(table, frame=table.frame.select(ids))


def _near(distances: pl.Series, threshold: Threshold) -> tuple[pl.Series, list[Fault]]:
    """Which pairs are near enough, and those whose distance is none."""
    import polars as pl

    texts = distances.cast(pl.String).fill_null("").str.strip_chars()
    numbers = texts.cast(pl.Float64, strict=False)
    unclear = ~texts.str.contains(SHAPE) | (numbers < 0).fill_null(True)
    near = (numbers <= float(threshold.most)).fill_null(False) | unclear
    if not unclear.any():
        return near, []
    rule, hint = "the distance is missing or is no number", "Correct it, or remove the row."
    return near, [Fault.where(unclear, _DISTANCE, rule, hint)]


def _note(rule: str, table: Table, met: pl.Series) -> list[Note]:
    count = int(met.sum())
    if not count:
        return []
    numbers = (table.place(row, _DISTANCE).row or 0 for row in met.arg_true().head(8).to_list())
    return [Note.of_rows(rule, count, numbers)]
