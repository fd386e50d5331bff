"""Go.Data, WHO's software for outbreaks: its exports of cases, contacts and relationships.

People are named by the program's own id, which a contact keeps when it becomes a case; the id
that is shown, such as CASE-0007, changes then. Records that were deleted are exported as well,
marked as such, and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphveil.records.columns import bare, is_mapped, names_by_text
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.options import ReadingOptions
from graphveil.records.selection import read_table
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import claimed_table, table_file

# Columns as exports call them, without blanks and marks, and as WHO's scripts for R do.
_ENDS = (("sourceuid", "targetuid"), ("sourceuuid", "targetuuid"))
_OWN_ID, _SHOWN_ID, _ALWAYS = ("id", "uuid"), ("caseid", "contactid", "visualid"), "dateofreporting"
_DELETED = "deleted"
_NOT_DELETED = "!=true|yes|1"


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted)
    if table is None:
        return None
    theirs = {bare(name): name for name in reversed(table.names)}
    if is_mapped(table.names, options):
        return None
    others = tuple(theirs[name] for name in (*_OWN_ID, *_SHOWN_ID) if name in theirs)
    for ends in _ENDS:
        if set(ends) <= theirs.keys():
            columns = tuple(theirs[end] for end in ends)
            return Claim("edges", f"{table.kind} with {' and '.join(columns)}", columns + others)
    own = [theirs[name] for name in _OWN_ID if name in theirs]
    if not own or own[0] == others[-1] or _ALWAYS not in theirs:
        return None
    return Claim("nodes", f"{table.kind} with {' and '.join(others)}", others)


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_part(each, options) for each in files]


def _part(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    """The people or links of a file that were not deleted."""
    deleted = names_by_text(table_file(claimed.file).names).get(_DELETED)
    if deleted is None:
        return read_table(claimed, GODATA.name, options)
    living = replace(options, where=(*options.where, f"{deleted}{_NOT_DELETED}"))
    found = read_table(claimed, GODATA.name, living)
    said = (each for each in found.conditions if each.column != deleted)
    return replace(found, conditions=frozenset(said))


GODATA = register(
    Format(
        name="godata",
        summary="Go.Data exports",
        looks="tables that Go.Data exported: cases and contacts with ID and Case ID, "
        "relationships with Source.UID and Target.UID",
        claims=_claims,
        read=_read,
    )
)
