"""A calendar from the earliest time of a table on: for private, exact counting only."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.units import Unit
from graphveil.engines.spark.intake.tables import SparkTable
from graphveil.engines.spark.jobs import failing_as_ours, mapped

if TYPE_CHECKING:
    import pyarrow as pa

_WHOLE = ("byte", "short", "integer", "long")


def spanning(table: SparkTable, every: str | None, day_first: bool | None = None) -> Calendar:
    """As `Calendar.spanning`, over the times of a table of nodes.

    Args:
        table: of nodes.
        every: the length of a step; None takes one unit of numbers, or a year.
        day_first: whether 7/8/2021 is the 7th of August, if anybody said so.
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

    from graphveil.formats.columns.dates import tidied
    from graphveil.formats.options import ReadingOptions
    from graphveil.graph.intake.records import Table

    for batch in batches:
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame)
        table, _ = tidied(Table(frame, ""), ReadingOptions(day_first=day_first))
        calendar = Calendar.spanning(table.frame["time"], every)
        if (calendar.steps_of(table.frame["time"]).steps >= 0).any():
            unit, start = pa.array([int(calendar.unit)], pa.int32()), pa.array(calendar.starts)
            yield pa.RecordBatch.from_arrays([unit, start], names=["unit", "start"])
