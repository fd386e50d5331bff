"""Beginnings: where the times of a column begin; a fact about the data, for exact counting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.calendar.periods import with_days
from graphveil.calendar.times import read_blocks, refined
from graphveil.calendar.units import Flaw, Unit

if TYPE_CHECKING:
    import polars as pl


def first_days(column: pl.Series) -> pl.Series:
    """Times, with the first day of each period in its place."""
    periods = with_days(column)
    return column if periods is None else periods[0]


def earliest_count(column: pl.Series, unit: Unit) -> int | None:
    """The earliest time that can be read, in units; None if none can."""
    lowest = (
        int(reading.counts[reading.flaws == Flaw.NONE].min())
        for _, reading in read_blocks(column, unit)
        if not reading.flaws.all()
    )
    return min(lowest, default=None)


def earliest_number_or_day(column: pl.Series) -> tuple[Unit, int | None]:
    """The same, in the unit that the column is written in."""
    number = earliest_count(column, Unit.NUMBER)
    day = earliest_count(column, Unit.DAY) if number is None else None
    return (Unit.NUMBER, number) if day is None else (Unit.DAY, day)


def default_start(unit: Unit) -> int:
    """Where steps begin if no time can be read."""
    return 0 if unit == Unit.NUMBER else refined(1970, Unit.YEAR, unit)
