"""SNAP edge lists: two ids per line, with the dates of nodes in a file of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.formats.columns.dates import tidied
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.headerless import (
    comment_notes,
    ids_look_like_ids,
    is_empty,
    mixed_dates,
    refuse_naming,
    says_direction,
    unlikely_lines,
)
from graphveil.formats.tables.selection import conditions_on
from graphveil.formats.tables.spaced import Spaced, glance, read_spaced

if TYPE_CHECKING:
    import polars as pl

_ISO_DATE = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}(T\S+)?)?$"
_AS_SAID = "an id and a time per line, as the comment above says"
_AS_DIRECTED = "two ids per line, as the comment above says"
_HEADING = re.compile(r"#\w+\s+(date|dates|time|year)\s*", re.IGNORECASE)
_SAYS_DATES = re.compile(r"\b(date|dates|time|year)\b", re.IGNORECASE)


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    seen = glance(file)
    if seen is not None and insisted:
        seen = seen.insisted_on(2)
    if seen is None or (seen.width != 2 and not is_empty(seen, insisted)):
        return None
    if _declares_dates(seen.comments):
        return Claim("nodes", _AS_SAID, insisted=insisted)
    if says_direction(file) is not None:
        return Claim("edges", _AS_DIRECTED, insisted=insisted)
    if not seen.first:
        return Claim("edges", "no lines", insisted=insisted)
    if re.fullmatch(_ISO_DATE, seen.first[1]):
        return Claim("nodes", "an id and a date per line, no header row", insisted=insisted)
    if not insisted and not ids_look_like_ids(seen.first):
        return None
    return Claim("edges", "two ids per line, no header row", insisted=insisted)


def _declares_dates(comments: Sequence[str]) -> bool:
    """Whether the last comment, or a heading of two words, says that the second value is a date.

    A line such as `#8 2001` may be meant as somebody's record: it decides nothing about others.
    """
    headings = [each for each in comments if each[1:2].isspace() or _HEADING.fullmatch(each)]
    return bool(headings) and bool(_SAYS_DATES.search(headings[-1]))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        _dates(each, options) if each.claim.role == "nodes" else _edges(each, options)
        for each in files
    ]


def _dates(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    conditions_on([], "nodes", options.filters, claimed.file.name)
    found = read_spaced(claimed.file, 2, options.table_bytes)
    faults = [] if claimed.claim.why == _AS_SAID else mixed_dates(~_are_dates(found))
    rows = found.table(("node", "time"), claimed.file.name, *faults)
    table, notes = tidied(rows, options)
    report = file_report(claimed, SNAP.name, nodes=[table], notes=[*comment_notes(found), *notes])
    return ParsedFile(
        report, nodes=(table,), without_time=refuse_naming(claimed.file, options.time)
    )


def _edges(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    conditions_on([], "edges", options.filters, claimed.file.name)
    found = read_spaced(claimed.file, 2, options.table_bytes)
    faults = unlikely_lines(claimed, found, 2)
    if claimed.claim.why != _AS_DIRECTED:  # then an id may look like a date
        faults += mixed_dates(_are_dates(found))
    table = found.table(("source", "target"), claimed.file.name, *faults)
    report = file_report(claimed, SNAP.name, edges=[table], notes=comment_notes(found))
    return ParsedFile(
        report,
        edges=(table,),
        directed=says_direction(claimed.file),
        without_edge_time=refuse_naming(claimed.file, options.edge_time),
    )


def _are_dates(found: Spaced) -> pl.Series:
    import polars as pl

    return found.columns[1].cast(pl.String).str.contains(_ISO_DATE)


SNAP = register(
    Format(
        name="snap",
        summary="SNAP edge list, and dates of nodes",
        looks="text without a header row: two ids per line, and in another file an id and a date "
        "per line; blanks between values, # before comments",
        claims=_claims,
        read=_read,
    )
)
