"""Resolving on the workers: batches of rows become people and steps, by `graph.intake.resolving`.

What becomes of a row depends on that row alone, not on the batch that it is in. Rows that break a
rule are left out and noted; the driver reads them again, if they are to be listed.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import Workspace
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.jobs import (
    FRAME,
    Packet,
    Parts,
    Sorter,
    as_arrow,
    failing_as_ours,
    mapped,
    sent,
)
from graphveil.calendar.calendar import Calendar
from graphveil.calendar.times import Unit
from graphveil.deferred import pl
from graphveil.errors import Place, RecordError
from graphveil.graph.groups import NO_GROUPS, Groups, Unlisted
from graphveil.graph.intake.appending import LeftOut
from graphveil.graph.intake.records import Table
from graphveil.graph.intake.rules import RecordRules

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

Places = NDArray[np.int64]

IDS = {"nodes": ("node",), "edges": ("source", "target")}
# The stages of the one intake: what a rule of a later one refuses has passed the earlier ones.
READ = {"nodes": 0, "edges": 1}  # what a reader finds faulty
ID = {"nodes": 2, "edges": 5}
TIME = {"nodes": 3, "edges": 6}
UNDATED, ARRIVING, SOURCE, TARGET, REVERSED = PASSED = 4, 7, 8, 9, 10

NOBODY = 1 << 62  # a place beyond all
MOST_LISTED = 100_000  # rows that are listed one by one


@dataclass(frozen=True)
class Reading:
    """How rows of one table become people and steps.

    Attributes:
        kind: "nodes" or "edges".
        calendar: where steps begin.
        rules: for ids.
        text: whether ids are text; else whole numbers.
        beyond: whether a time after the end has the step after the last; else it is refused.
        day_first: whether 7/8/2021 is the 7th of August; None if nobody stated it.
        awaited: the place from which on edges waited since an earlier batch.
        groups: the public lists of labels that people have.
    """

    kind: str
    calendar: Calendar
    rules: RecordRules
    text: bool
    beyond: bool = False
    day_first: bool | None = None
    awaited: int = NOBODY
    groups: Groups = NO_GROUPS

    @property
    def grouped(self) -> bool:
        """Whether rows say labels of people."""
        return self.kind == "nodes" and bool(self.groups)

    @property
    def schema(self) -> pa.Schema:
        """The schema of the result: ids, the step or null, the place of the row, and labels."""
        import pyarrow as pa

        kind = pa.string() if self.text else pa.int64()
        ids = [(name, kind) for name in IDS[self.kind]]
        strata = [("stratum", pa.int32())] if self.grouped else []
        return pa.schema([*ids, ("step", pa.int32()), ("place", pa.int64()), *strata])

    def require_labels(self, nodes: SparkTable) -> None:
        """Refuse people without a column of a group; see `graph.intake.resolving`."""
        from graphveil.graph.intake.resolving import require_labels

        require_labels(nodes.names, self.groups, nodes.sources[0], rows=nodes.rows)


class Note(NamedTuple):
    """Findings about rows, besides their content.

    Attributes:
        broken: the rules that rows break, and which these are.
        trimmed: how many ids had blanks around them.
        respelled: how many had characters that show nothing, or letters in parts.
        folded: how many times were before the first step.
        texts: which columns of ids are text, as the one intake would keep them: a bit for each.
        spans: the first place of each batch, and how many rows it has.
        unlisted: what rows of people say that is not on the list of a group.
    """

    broken: tuple[Broken, ...] = ()
    trimmed: int = 0
    respelled: int = 0
    folded: int = 0
    texts: int = 0
    spans: tuple[tuple[int, int], ...] = ()
    unlisted: tuple[Unlisted, ...] = ()


NOTHING = Note()


def together(notes: Iterable[Note]) -> Note:
    """Several notes as one."""
    all_notes = [NOTHING, *notes]
    return Note(
        by_rule(each for note in all_notes for each in note.broken),
        sum(note.trimmed for note in all_notes),
        sum(note.respelled for note in all_notes),
        sum(note.folded for note in all_notes),
        int(np.bitwise_or.reduce([note.texts for note in all_notes])),
        tuple(span for note in all_notes for span in note.spans),
        Unlisted.together(each for note in all_notes for each in note.unlisted),
    )


def asked(
    session: SparkSession,
    tables: Sequence[SparkTable],
    reading: Reading,
    address: Callable[[pa.Table], Parts],
    waiting: DataFrame | None,
) -> DataFrame:
    """The same rows in packets, with notes, and those that wait.

    Args:
        session: whose workers do it.
        tables: the batch.
        reading: how its rows become people and steps.
        address: the part of each row.
        waiting: rows that were resolved before, in the columns of `reading`.
    """
    found = [mapped(each.frame, partial(_ask, reading, address), FRAME) for each in tables]
    if waiting is not None:
        names = waiting.select(*reading.schema.names)
        found.append(mapped(names, partial(_sort, reading.schema, address), FRAME))
    if not found:
        return session.createDataFrame([], FRAME)
    return reduce(lambda one, other: one.unionByName(other), found)


def _ask(
    reading: Reading, address: Callable[[pa.Table], Parts], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    sorter, notes = Sorter(reading.schema, address), []
    for frame in _frames(batches):
        rows, note = read_rows(frame, reading)
        notes.append(note)
        for batch in rows.to_batches():
            yield from sent(sorter.add(batch))
    yield from sent(sorter.send())
    yield from sent([Packet(0, pickle.dumps(together(notes)), note=True)])


def _sort(
    schema: pa.Schema, address: Callable[[pa.Table], Parts], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    sorter = Sorter(schema, address)
    for batch in batches:
        yield from sent(sorter.add(batch.cast(schema)))
    yield from sent(sorter.send())


def _frames(batches: Iterator[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
    for batch in batches:
        if batch.num_rows:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame


def read_rows(frame: pl.DataFrame, reading: Reading) -> tuple[pa.Table, Note]:
    """The rows of one batch that break no rule, and a note about the batch."""
    from graphveil.graph.intake.resolving import dated, persons, strata_said, unlisted_in

    spans = ((int(frame["place"][0]), len(frame)),)
    ids, kind = IDS[reading.kind], reading.kind
    beyond = reading.awaited if kind == "edges" else NOBODY
    broken: list[Broken] = []
    while True:
        stage = READ[kind]
        try:
            table = as_dates(frame, reading)
            table.require_sound()
            stage = ID[kind]
            found = persons(table, ids, reading.rules)
            stage = TIME[kind]
            steps, folded = dated(table, reading.calendar, reading.beyond)
            break
        except RecordError as refused:
            bad = np.zeros(len(frame), np.bool_)
            bad[refused.rows] = True
            places = frame["place"].to_numpy()[bad]
            broken += Broken.of((stage, len(broken)), refused, places, beyond)
            frame = frame.filter(pl.Series(~bad))
    form = pl.String if reading.text else pl.Int64
    rows = pl.DataFrame(
        [each.cast(form).alias(name) for each, name in zip(found.columns, ids, strict=True)]
    ).with_columns(steps.cast(pl.Int32).alias("step"), frame["place"].cast(pl.Int64))
    texts = _texts(found.columns)
    note = Note(tuple(broken), found.trimmed, found.respelled, folded, texts, spans)
    if reading.grouped:
        said = strata_said(frame, reading.groups)
        rows = rows.with_columns(stratum=pl.Series(said))
        note = note._replace(unlisted=unlisted_in(frame, said, reading.groups))
    return as_arrow(rows, reading.schema), note


def as_dates(frame: pl.DataFrame, reading: Reading) -> Table:
    """Rows with times that a calendar reads; those with others are marked."""
    from graphveil.records.dates import tidied
    from graphveil.records.options import ReadingOptions

    table = Table(frame, "", 0)
    if "time" in frame.columns and frame["time"].dtype == pl.String:
        table, _ = tidied(table, ReadingOptions(day_first=reading.day_first))
    return table


def _texts(columns: list[pl.Series]) -> int:
    """Which columns of ids are text, as the one intake would keep them: a bit for each."""
    return sum(
        1 << place for place, ids in enumerate(columns) if ids.dtype == pl.String and len(ids)
    )


# A calendar from the earliest time of a table on: for private, exact counting only.


_WHOLE = ("byte", "short", "integer", "long")


def spanning(table: SparkTable, every: str | None, day_first: bool | None = None) -> Calendar:
    """As `Calendar.spanning`, over the times of a table of nodes.

    Args:
        table: of nodes.
        every: the length of a step; None takes one unit of numbers, or a year.
        day_first: whether 7/8/2021 is the 7th of August; None if nobody stated it.
    """
    whole = table.frame.schema["time"].dataType.typeName() in _WHOLE
    rhythm = every or ("1" if whole else "year")
    length = int(rhythm) if rhythm.isdigit() else rhythm
    times = table.frame.select("time")
    with failing_as_ours():
        found = mapped(times, partial(_earliest, length, day_first), "unit int, start long")
        rows = found.distinct().orderBy("unit", "start").limit(1).collect()
    calendar = Calendar.spanning([], length)
    if not rows:
        return calendar
    return Calendar(Unit(rows[0].unit), (rows[0].start,), calendar.width)


def _earliest(
    every: str | int, day_first: bool | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Where the calendar of each batch would begin, if it has a time at all."""
    import pyarrow as pa

    from graphveil.records.dates import tidied
    from graphveil.records.options import ReadingOptions

    for batch in batches:
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)
        table, _ = tidied(Table(frame, ""), ReadingOptions(day_first=day_first))
        calendar = Calendar.spanning(table.frame["time"], every)
        if (calendar.steps_of(table.frame["time"]).steps >= 0).any():
            unit, start = pa.array([int(calendar.unit)], pa.int32()), pa.array(calendar.starts)
            yield pa.RecordBatch.from_arrays([unit, start], names=["unit", "start"])


# Rows that break a rule: noted by tasks, read again by the driver to be listed.
#
# A task knows rows by their places. What is noted of a rule is how many rows break it and where the
# first of them are, so that the driver holds no more of them than a list may have.


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


def by_rule(found: Iterable[Broken]) -> tuple[Broken, ...]:
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
