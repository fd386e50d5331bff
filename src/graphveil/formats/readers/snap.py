"""SNAP edge lists: two ids per line, with the dates of nodes in a file of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphveil.formats.columns.dates import tidied
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.headerless import (
    comment_notes,
    ids_have_digits,
    refuse_naming,
    says_direction,
)
from graphveil.formats.tables.spaced import Spaced, glance, read_spaced
from graphveil.graph.records import Table

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_SAYS_DATES = re.compile(r"\b(date|dates|time|year)\b", re.IGNORECASE)


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    seen = glance(file)
    if seen is None or seen.width != 2:
        return None
    if all(_ISO_DATE.fullmatch(when) for _, when in seen.rows):
        return Claim("nodes", "an id and a date per line, no header row")
    if seen.comments and _SAYS_DATES.search(seen.comments[-1]):
        return Claim("nodes", "an id and a time per line, as the comment above says")
    if not insisted and not ids_have_digits(seen):
        return None
    return Claim("edges", "two ids per line, no header row")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        _dates(each, options) if each.claim.role == "nodes" else _edges(each, options)
        for each in files
    ]


def _dates(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    found = read_spaced(claimed.file, 2, options.table_bytes)
    table, notes = tidied(_table(claimed, found, ("node", "time")), day_first=options.day_first)
    report = file_report(claimed, SNAP.name, nodes=[table], notes=[*comment_notes(found), *notes])
    return ParsedFile(
        report, nodes=(table,), without_time=refuse_naming(claimed.file, options.time)
    )


def _edges(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    found = read_spaced(claimed.file, 2, options.table_bytes)
    table = _table(claimed, found, ("source", "target"))
    report = file_report(claimed, SNAP.name, edges=[table], notes=comment_notes(found))
    return ParsedFile(
        report,
        edges=(table,),
        directed=says_direction(claimed.file),
        without_edge_time=refuse_naming(claimed.file, options.edge_time),
    )


def _table(claimed: Claimed, found: Spaced, names: tuple[str, str]) -> Table:
    import polars as pl

    frame = pl.DataFrame(dict(zip(names, found.columns, strict=True)))
    return Table(frame, claimed.file.name, numbers=found.numbers)


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
