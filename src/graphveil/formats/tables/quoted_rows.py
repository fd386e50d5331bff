"""Rows that were put in quotes as a whole, as happens when a spreadsheet saves a row as text.

Such a row has one value, which holds all others: read as it stands it would be a node with a
strange id, and its date and links would be lost without a word.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

from graphveil.formats.parse_report import Note
from graphveil.formats.tables.delimited import DelimitedTable
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import polars as pl


def unquoted(
    table: Table, first: pl.Series, origin: DelimitedTable, most_bytes: int
) -> tuple[Table, list[Note]]:
    """The table with such rows as they were meant, and a note on them.

    Args:
        table: columns of the file, as text.
        first: the first column of the file, which holds the whole of such a row.
        origin: the file.
        most_bytes: the largest file to read.
    """
    import polars as pl

    suspects = first.str.contains(origin.separator, literal=True).fill_null(False).arg_true()
    if not len(suspects):
        return table, []
    numbers = {row: table.place(row, "case").row or 0 for row in suspects.to_list()}
    lines = origin.lines(numbers.values(), most_bytes)
    meant = {
        row: values
        for row, number in numbers.items()
        if _as_written(first[row]) == lines[number] and (values := _values(first[row], origin))
    }
    columns = [
        table.frame[ours].scatter(
            list(meant), [values[theirs] or None for values in meant.values()]
        )
        for ours, theirs in table.names.items()
    ]
    rows = (numbers[row] for row in meant)
    note = Note.of_rows("rows quoted as a whole: read without the quotes", len(meant), rows)
    return replace(table, frame=pl.DataFrame(columns)), [note] if meant else []


def _as_written(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _values(text: str, origin: DelimitedTable) -> dict[str, str] | None:
    """The values of a row by the header, or None if there are more or fewer."""
    try:
        values = next(csv.reader([text], delimiter=origin.separator))
    except csv.Error:  # one of them is longer than any value of a table should be
        return None
    if len(values) != len(origin.names):
        return None
    return dict(zip(reversed(origin.names), reversed(values), strict=True))  # first of equal names
