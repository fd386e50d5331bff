"""The report on one file, with the notes that every format has in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.formats.format import Claimed
from graphveil.formats.parse_report import FileReport, Note
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import polars as pl

_SAMPLE = 8


def file_report(
    claimed: Claimed,
    format_name: str,
    *,
    nodes: Sequence[Table] | None = None,
    edges: Sequence[Table] | None = None,
    notes: Sequence[Note] = (),
) -> FileReport:
    """What happened to a file that gave these tables; None means that it lists none."""
    common = [note for table in nodes or () for note in _node_notes(table)]
    common += [note for table in edges or () for note in _edge_notes(table)]
    return FileReport(
        name=claimed.file.name,
        format=format_name,
        why=claimed.claim.why,
        nodes=None if nodes is None else sum(len(table.frame) for table in nodes),
        edges=None if edges is None else sum(len(table.frame) for table in edges),
        notes=(*notes, *common),
    )


def _node_notes(table: Table) -> list[Note]:
    import polars as pl

    time = table.frame["time"]
    missing = time.is_null()
    if time.dtype == pl.String:
        missing |= (time.str.strip_chars() == "").fill_null(False)
    return _note("nodes without a date: left to the study's rule", table, missing, "time")


def _edge_notes(table: Table) -> list[Note]:
    source, target = table.frame["source"], table.frame["target"]
    if source.dtype != target.dtype:
        return []
    same = (source == target).fill_null(False)
    return _note("edges from a node to itself: left to the intake", table, same, "source")


def _note(rule: str, table: Table, met: pl.Series, column: str) -> list[Note]:
    count = int(met.sum())
    if not count:
        return []
    first = met.arg_true().head(_SAMPLE).to_list()
    numbers = (table.place(row, column).row for row in first)
    return [Note.of_rows(rule, count, (number for number in numbers if number is not None))]
