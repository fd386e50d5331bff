"""MicrobeTrace: a node list with an ID column and a link list, as CSV.

Links have no direction, although their columns are called source and target. The programme
has no date column of its own: the steward names the one that counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import names_by_text, no_such, plain
from graphveil.formats.delimited import beginning, read_columns
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, Part, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.time_fields import date_columns, node_time_column, tidied, undated

_ID = "id"
_ENDS = (("source", "target"), ("id1", "id2"))
_OWN_TIME = "time"


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    try:
        theirs = names_by_text(beginning(file).names)
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


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[Part]:
    return [
        _nodes(each, options) if each.claim.role == "nodes" else _links(each, options)
        for each in files
    ]


def _nodes(claimed: Claimed, options: ReadingOptions) -> Part:
    start = beginning(claimed.file)
    column, refusal = node_time_column(claimed.file.name, start, options.time)
    names, notes = {"node": claimed.claim.columns[0]}, []
    if column is None:
        table = undated(read_columns(claimed.file, names, options.table_bytes))
    else:
        table = read_columns(claimed.file, {**names, "time": column}, options.table_bytes)
        table, changed = tidied(table, day_first=options.day_first)
        notes = [Note(f"dated by the column '{column}'"), *changed]
    report = file_report(claimed, MICROBETRACE.name, nodes=[table], notes=notes)
    return Part(report, nodes=(table,), without_time=refusal)


def _links(claimed: Claimed, options: ReadingOptions) -> Part:
    names = dict(zip(("source", "target"), claimed.claim.columns, strict=True))
    start = beginning(claimed.file)
    column = names_by_text(start.names).get(plain(options.edge_time or _OWN_TIME))
    refusal: InputError | None = None
    notes: list[Note] = []
    if column is not None:
        names["time"] = column
    elif options.edge_time is not None:
        place = Place(claimed.file.name, column=options.edge_time)
        refusal = no_such("column", place, start.names, date_columns(start))
    table = read_columns(claimed.file, names, options.table_bytes)
    if column is not None:
        table, notes = tidied(table, day_first=options.day_first)
    report = file_report(claimed, MICROBETRACE.name, edges=[table], notes=notes)
    return Part(report, edges=(table,), directed=False, without_edge_time=refusal)


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
