"""Rows that were put in quotes as a whole, as happens when a spreadsheet saves a row as text.

Such a row has one value, which holds all others: read as it stands it would be a node with a
strange id, and its date and links would be lost without a word.
"""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import TYPE_CHECKING

from graphveil.formats.delimited import Beginning
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl


def unquoted(
    table: Table, first: pl.Series, file: SourceFile, start: Beginning, most_bytes: int
) -> tuple[Table, list[Note]]:
    """The table with such rows as they were meant, and a note on them.

    Args:
        table: columns of the file, as text.
        first: the first column of the file, which holds the whole of such a row.
        file: the file.
        start: its beginning.
        most_bytes: the largest file to read.
    """
    import polars as pl

    suspects = first.str.contains(start.separator, literal=True).fill_null(False).arg_true()
    if not len(suspects):
        return table, []
    lines = set(file.text(most_bytes).splitlines())
    meant = {
        row: values
        for row in suspects.to_list()
        if _as_written(first[row]) in lines and (values := _values(first[row], start))
    }
    columns = [
        table.frame[ours].scatter(
            list(meant), [values[theirs] or None for values in meant.values()]
        )
        for ours, theirs in table.names.items()
    ]
    rows = (table.first_row + row for row in meant)
    note = Note.of_rows("rows in quotes as a whole: read without these", len(meant), rows)
    return replace(table, frame=pl.DataFrame(columns)), [note] if meant else []


def _as_written(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _values(text: str, start: Beginning) -> dict[str, str] | None:
    """The values of a row by the header, or None if they are not as many."""
    try:
        values = next(csv.reader([text], delimiter=start.separator))
    except csv.Error:  # one of them is longer than any value of a table should be
        return None
    if len(values) != len(start.names):
        return None
    return dict(zip(reversed(start.names), reversed(values), strict=True))  # first of equal names
