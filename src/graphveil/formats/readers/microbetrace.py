"""MicrobeTrace: a node list with an ID column and a link list, as CSV.

Links have no direction, although their columns are called source and target. The program
has no date column of its own: the steward names the one that counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError
from graphveil.formats.columns.dates import tidied, undated
from graphveil.formats.columns.names import names_by_text
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.dating import OWN_TIME, edge_time_column, node_time_column
from graphveil.formats.tables.delimited import DelimitedTable

_ID = "id"
_ENDS = (("source", "target"), ("id1", "id2"))


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    try:
        theirs = names_by_text(DelimitedTable.of(file).names)
    except InputError:
        if insisted:
            raise
        return None
    for ends in _ENDS:
        if set(ends) <= theirs.keys() and "node" not in theirs:
            columns = tuple(theirs[end] for end in ends)
            return Claim("edges", f"a header row with {' and '.join(columns)}", columns)
    if _ID not in theirs:
        return None
    return Claim("nodes", f"a header row with {theirs[_ID]}", (theirs[_ID],))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        _nodes(each, options) if each.claim.role == "nodes" else _links(each, options)
        for each in files
    ]


def _nodes(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    source = DelimitedTable.of(claimed.file)
    column, refusal = node_time_column(source, options.time)
    names, notes = {"node": claimed.claim.columns[0]}, []
    if column is None:
        table = undated(source.read(names, options.table_bytes))
    else:
        table = source.read({**names, "time": column}, options.table_bytes)
        table, changed = tidied(table, day_first=options.day_first)
        notes = [Note(f"dated by the column '{column}'"), *changed]
    report = file_report(claimed, MICROBETRACE.name, nodes=[table], notes=notes)
    return ParsedFile(report, nodes=(table,), without_time=refusal)


def _links(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    source = DelimitedTable.of(claimed.file)
    names = dict(zip(("source", "target"), claimed.claim.columns, strict=True))
    column, refusal = edge_time_column(source, options.edge_time, OWN_TIME)
    if column is not None:
        names["time"] = column
    table = source.read(names, options.table_bytes)
    notes: list[Note] = []
    if column is not None:
        table, notes = tidied(table, day_first=options.day_first)
    report = file_report(claimed, MICROBETRACE.name, edges=[table], notes=notes)
    return ParsedFile(report, edges=(table,), directed=False, without_edge_time=refusal)


MICROBETRACE = register(
    Format(
        name="microbetrace",
        summary="MicrobeTrace node list and link list",
        looks="CSV: nodes with a column ID and a date column that you name; links with source "
        "and target, or ID1 and ID2",
        claims=_claims,
        read=_read,
    )
)
