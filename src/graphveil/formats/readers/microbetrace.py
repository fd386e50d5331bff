"""MicrobeTrace: a node list with an ID column and a link list, as CSV.

Links have no direction, although their columns are called source and target. The program
has no date column of its own: the steward names the one that counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError
from graphveil.formats.columns.known_names import are_links, is_mapped
from graphveil.formats.columns.names import names_by_text
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.people_and_links import read_table
from graphveil.formats.tables.table_file import table_file

_ID = "id"
_ENDS = (("source", "target"), ("id1", "id2"))


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    try:
        table = table_file(file)
    except InputError:
        if insisted:
            raise
        return None
    theirs = names_by_text(table.names)
    if is_mapped(table.names, options):
        return None
    for ends in _ENDS:
        if set(ends) <= theirs.keys() and "node" not in theirs:
            columns = tuple(theirs[end] for end in ends)
            return Claim("edges", f"{table.kind} with {' and '.join(columns)}", columns)
    if _ID not in theirs or (are_links(table.names) and not insisted):
        return None
    return Claim("nodes", f"{table.kind} with {theirs[_ID]}", (theirs[_ID],))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, MICROBETRACE.name, options, directed=False) for each in files]


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
