"""Tables of people and tables of links, whatever their columns are called."""

from __future__ import annotations

from dataclasses import replace

from graphveil.formats.columns.dates import undated
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claimed, ParsedFile
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.tables.dating import (
    OWN_TIME,
    edge_time_columns,
    node_time_columns,
    own_time_column,
)
from graphveil.formats.tables.selection import Selection
from graphveil.formats.tables.table_file import table_file


def read_table(
    claimed: Claimed, format_name: str, options: ReadingOptions, *, directed: bool | None = None
) -> ParsedFile:
    """The people or links of a claimed file; its claim names the columns of ids.

    Args:
        claimed: the file.
        format_name: what reports call its format.
        options: what the steward says.
        directed: whether links have a direction; None if the format does not say.
    """
    if claimed.claim.role == "nodes":
        return _people(claimed, format_name, options)
    return replace(_links(claimed, format_name, options), directed=directed)


def _people(claimed: Claimed, format_name: str, options: ReadingOptions) -> ParsedFile:
    source = table_file(claimed.file)
    times, refusal = node_time_columns(source, options.time)
    times = times or own_time_column(source)
    chosen = Selection.of(source.names, "nodes", options, claimed.file.name, times)
    columns = {"node": claimed.claim.columns[0], **chosen.columns}
    found = chosen.applied(source.read(columns, options.table_bytes), options)
    table = found.table if times else undated(found.table)
    dated = [Note(f"dated by the column '{', '.join(times)}'")] if options.time and times else []
    report = file_report(claimed, format_name, nodes=[table], notes=[*dated, *found.notes])
    return ParsedFile(
        report,
        nodes=(table,),
        without_time=refusal,
        left_out=() if found.left_out is None else (found.left_out,),
        conditions=chosen.used,
    )


def _links(claimed: Claimed, format_name: str, options: ReadingOptions) -> ParsedFile:
    source = table_file(claimed.file)
    times, refusal = edge_time_columns(source, options.edge_time, OWN_TIME)
    times = times or own_time_column(source)
    chosen = Selection.of(source.names, "edges", options, claimed.file.name, times)
    ends = dict(zip(("source", "target"), claimed.claim.columns, strict=True))
    table = source.read({**ends, **chosen.columns}, options.table_bytes)
    found = chosen.applied(table, options)
    report = file_report(claimed, format_name, edges=[found.table], notes=found.notes)
    return ParsedFile(
        report,
        edges=(found.table,),
        without_edge_time=refusal,
        conditions=chosen.used,
        threshold=chosen.threshold,
    )
