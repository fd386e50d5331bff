"""Resolving on the workers: batches of rows become people and steps, by `graph.resolving`.

What becomes of a row depends on that row alone, not on the batch that it is in. Rows that break a
rule are left out and noted; the driver refuses the first of them.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

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
from graphveil.errors import RecordError
from graphveil.graph.intake.rules import RecordRules

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


IDS = {"nodes": ("node",), "edges": ("source", "target")}
_STAGES = 100  # attempts at one stage


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
    """

    kind: str
    calendar: Calendar
    rules: RecordRules
    text: bool
    beyond: bool = False
    day_first: bool | None = None

    @property
    def schema(self) -> pa.Schema:
        """The schema of the result: ids, the step or null, and the place of the row."""
        import pyarrow as pa

        kind = pa.string() if self.text else pa.int64()
        ids = [(name, kind) for name in IDS[self.kind]]
        return pa.schema([*ids, ("step", pa.int32()), ("place", pa.int64())])

    @property
    def columns(self) -> str:
        """The same in Spark's words."""
        ids = ", ".join(f"{name} {'string' if self.text else 'long'}" for name in IDS[self.kind])
        return f"{ids}, step int, place long"


class RuleViolation(NamedTuple):
    """The message about a row that breaks a rule."""

    column: str
    what: str
    hint: str


class Note(NamedTuple):
    """Findings about rows, besides their content.

    Attributes:
        faults: the place of the first row that breaks each rule, by the rank of the rule.
        trimmed: how many ids had blanks around them.
        respelled: how many had characters that show nothing, or letters in parts.
        folded: how many times were in another zone.
        texts: which columns of ids are text, as the one intake would keep them: a bit for each.
        spans: the first place of each batch, and how many rows it has.
    """

    violations: dict[int, tuple[int, RuleViolation]]
    trimmed: int
    respelled: int
    folded: int
    texts: int
    spans: list[tuple[int, int]]


NOTHING = Note({}, 0, 0, 0, 0, [])


def together(notes: Iterable[Note]) -> Note:
    """Several notes as one."""
    all_notes = [NOTHING, *notes]
    violations: dict[int, tuple[int, RuleViolation]] = {}
    for note in all_notes:
        for rank, violation in note.violations.items():
            violations[rank] = min(violation, violations.get(rank, violation))
    return Note(
        violations,
        sum(note.trimmed for note in all_notes),
        sum(note.respelled for note in all_notes),
        sum(note.folded for note in all_notes),
        int(np.bitwise_or.reduce([note.texts for note in all_notes])),
        [span for note in all_notes for span in note.spans],
    )


def resolved(table: SparkTable, reading: Reading) -> DataFrame:
    """Every row that breaks no rule, with people for ids and a step for its time."""
    return mapped(table.frame, partial(_resolve, reading), reading.columns)


def _resolve(reading: Reading, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for frame in _frames(batches):
        yield from read_rows(frame, reading)[0].to_batches()


def asked(
    session: SparkSession,
    table: SparkTable | None,
    reading: Reading,
    address: Callable[[pa.Table], Parts],
    waiting: DataFrame | None,
) -> DataFrame:
    """The same rows in packets, with notes, and those that wait.

    Args:
        session: whose workers do it.
        table: the batch.
        reading: how its rows become people and steps.
        address: the part of each row.
        waiting: rows that were resolved before, in the columns of `reading`.
    """
    found = []
    if table is not None:
        found.append(mapped(table.frame, partial(_ask, reading, address), FRAME))
    if waiting is not None:
        names = waiting.select(*reading.schema.names)
        found.append(mapped(names, partial(_sort, reading.schema, address), FRAME))
    if not found:
        return session.createDataFrame([], FRAME)
    return found[0] if len(found) == 1 else found[0].unionByName(found[1])


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
    import os

    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # Spark has one process for each core
    import polars as pl

    for batch in batches:
        if batch.num_rows:
            frame = pl.from_arrow(batch)
            assert isinstance(frame, pl.DataFrame)
            yield frame


def read_rows(frame: pl.DataFrame, reading: Reading) -> tuple[pa.Table, Note]:
    """The rows of one batch that break no rule, and a note about the batch."""
    violations: dict[int, tuple[int, RuleViolation]] = {}
    spans = [(int(frame["place"][0]), len(frame))]
    attempt = 0
    while True:
        stage = [0]
        try:
            rows, note = _good(frame, reading, stage)
            return rows, note._replace(violations=violations, spans=spans)
        except RecordError as refused:
            bad = np.zeros(len(frame), np.bool_)
            bad[refused.rows] = True
            place = int(frame["place"].to_numpy()[bad].min())
            rank = stage[0] * _STAGES + min(attempt, _STAGES - 1)
            column = refused.place and refused.place.column
            violation = RuleViolation(column or "", refused.what, refused.hint)
            violations[rank] = min((place, violation), violations.get(rank, (place, violation)))
            frame, attempt = frame.filter(_mask(~bad)), attempt + 1


def _mask(rows: np.ndarray) -> Any:
    import polars as pl

    return pl.Series(rows)


def _good(frame: pl.DataFrame, reading: Reading, stage: list[int]) -> tuple[pa.Table, Note]:
    """All rows resolved, or a RecordError; `stage` records the progress until then."""
    import polars as pl

    from graphveil.graph.intake.records import Table
    from graphveil.graph.intake.resolving import dated, persons
    from graphveil.records.dates import tidied
    from graphveil.records.options import ReadingOptions

    ids = IDS[reading.kind]
    table = Table(frame, "", 0)
    if "time" in frame.columns and frame["time"].dtype == pl.String:
        table, _ = tidied(table, ReadingOptions(day_first=reading.day_first))
        table.require_sound()
    columns, trimmed, respelled = [], 0, 0
    for column in ids:
        stage[0] += 1
        found = persons(table, (column,), reading.rules)
        columns += found.columns
        trimmed, respelled = trimmed + found.trimmed, respelled + found.respelled
    stage[0] += 1
    steps, folded = dated(table, reading.calendar, reading.beyond)
    kind = pl.String if reading.text else pl.Int64
    rows = pl.DataFrame(
        [each.cast(kind).alias(name) for each, name in zip(columns, ids, strict=True)]
    ).with_columns(steps.cast(pl.Int32).alias("step"), frame["place"].cast(pl.Int64))
    return as_arrow(rows, reading.schema), Note({}, trimmed, respelled, folded, _texts(columns), [])


def _texts(columns: list[pl.Series]) -> int:
    """Which columns of ids are text, as the one intake would keep them: a bit for each."""
    import polars as pl

    return sum(
        1 << place for place, ids in enumerate(columns) if ids.dtype == pl.String and len(ids)
    )


def refuse_faults(table: SparkTable, note: Note) -> None:
    """Refuse the first row of the first rule that a table's rows break, if they do."""
    if note.violations:
        place, violation = note.violations[min(note.violations)]
        raise table.refusal(place, *violation)


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
    import polars as pl
    import pyarrow as pa

    from graphveil.graph.intake.records import Table
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
