"""Tables of several files as one, in which every row keeps its own place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphveil.calendar.time_columns import texts_of
from graphveil.calendar.times import values_of
from graphveil.errors import RecordError
from graphveil.graph.intake.faults import Fault
from graphveil.graph.intake.identity import integers_or_text
from graphveil.graph.intake.records import Table


def joined(tables: Sequence[Table], columns: tuple[str, ...]) -> Table:
    """All rows of the tables, with these columns; a column that a table lacks stays empty."""
    import polars as pl

    if not tables:
        return Table(pl.DataFrame(schema=dict.fromkeys(columns, pl.String)), "no file")
    if len(tables) == 1:
        return tables[0]
    alike = [_with_columns(table, columns) for table in tables]
    for column in columns:
        kinds = {table.frame.schema[column] for table in alike}
        if len(kinds) > 1:
            alike = [_with_text(table, column) for table in alike]
    return Table.joined(alike)


def _with_columns(table: Table, columns: tuple[str, ...]) -> Table:
    import polars as pl

    empty = [
        pl.lit(None, dtype=pl.String).alias(name)
        for name in columns
        if name not in table.frame.columns
    ]
    return replace(table, frame=table.frame.with_columns(empty).select(columns))


def _with_text(table: Table, column: str) -> Table:
    """The table with one column as text that says the same."""
    import polars as pl

    values = table.frame[column]
    if values.dtype == pl.String:
        return table
    if values.dtype == pl.Int64:
        text = values.cast(pl.String)
    elif column == "time":
        text = texts_of(values_of(values))
    else:
        return _with_text_of_ids(table, column)
    return replace(table, frame=table.frame.with_columns(text.alias(column)))


def _with_text_of_ids(table: Table, column: str) -> Table:
    """The same for ids of other types; a row whose id is none is marked, and left empty."""
    import polars as pl

    try:
        text = integers_or_text(table, column).cast(pl.String)
    except RecordError as refused:
        fault = Fault(refused.rows, column, refused.rule, refused.hint)
        emptied = table.frame[column].scatter(refused.rows, None)
        frame = table.frame.with_columns(emptied.alias(column))
        return _with_text_of_ids(replace(table.marked(fault), frame=frame), column)
    return replace(table, frame=table.frame.with_columns(text.alias(column)))
