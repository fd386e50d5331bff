"""SNAP edge lists: two ids a line, with the dates of nodes in a file of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphveil.errors import InputError, Place
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, Part, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.spaced import Glance, Spaced, glance, read_spaced
from graphveil.formats.time_fields import tidied
from graphveil.graph.records import Table

_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")
_SAYS_DATES = re.compile(r"\b(date|dates|time|year)\b", re.IGNORECASE)
_SAYS_DIRECTION = re.compile(r"^#\s*(un)?directed\b", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    seen = glance(file)
    if seen is None or seen.width != 2:
        return None
    if all(_ISO_DATE.fullmatch(when) for _, when in seen.rows):
        return Claim("nodes", "an id and a date a line, no header row")
    if seen.remarks and _SAYS_DATES.search(seen.remarks[-1]):
        return Claim("nodes", "an id and a time a line, as the remark above says")
    if not insisted and not ids_have_digits(seen):
        return None
    return Claim("edges", "two ids a line, no header row")


def ids_have_digits(seen: Glance) -> bool:
    """Whether no line can be a header: names have no digits, or are ID1 and ID2."""
    if {value.lower() for value in seen.rows[0]} >= {"id1", "id2"}:
        return False
    return all(_DIGIT.search(row[0]) and _DIGIT.search(row[1]) for row in seen.rows)


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[Part]:
    return [
        _dates(each, options) if each.claim.role == "nodes" else _edges(each, options)
        for each in files
    ]


def _dates(claimed: Claimed, options: ReadingOptions) -> Part:
    found = read_spaced(claimed.file, 2, options.table_bytes)
    table, notes = tidied(_table(claimed, found, ("node", "time")), day_first=options.day_first)
    report = file_report(claimed, SNAP.name, nodes=[table], notes=[*remark_notes(found), *notes])
    return Part(report, nodes=(table,), without_time=refuse_naming(claimed.file, options.time))


def _edges(claimed: Claimed, options: ReadingOptions) -> Part:
    found = read_spaced(claimed.file, 2, options.table_bytes)
    table = _table(claimed, found, ("source", "target"))
    report = file_report(claimed, SNAP.name, edges=[table], notes=remark_notes(found))
    return Part(
        report,
        edges=(table,),
        directed=says_direction(claimed.file),
        without_edge_time=refuse_naming(claimed.file, options.edge_time),
    )


def _table(claimed: Claimed, found: Spaced, names: tuple[str, str]) -> Table:
    import polars as pl

    frame = pl.DataFrame(dict(zip(names, found.columns, strict=True)))
    return Table(frame, claimed.file.name, numbers=found.numbers)


def remark_notes(found: Spaced) -> list[Note]:
    """How many lines were remarks."""
    count, first = found.remarks
    return [Note.of_rows("lines that begin with #: skipped", count, first)] if count else []


def says_direction(file: SourceFile) -> bool | None:
    """What the remarks at the beginning say about the direction of edges."""
    seen = glance(file)
    for remark in seen.remarks if seen else []:
        said = _SAYS_DIRECTION.match(remark)
        if said:
            return said[1] is None
    return None


def refuse_naming(file: SourceFile, named: str | None) -> InputError | None:
    """The refusal of a date column by name: these files have no names."""
    if named is None:
        return None
    return InputError(
        "the columns of this file have no names",
        place=Place(file.name, column=named),
        hint="Leave the name out: the last column is the time.",
    )


SNAP = register(
    Format(
        name="snap",
        summary="SNAP edge list, and dates of nodes",
        looks="text without a header: FromNodeId ToNodeId a line, and in another file an id and "
        "a date a line; blanks between values, # before remarks",
        claims=_claims,
        read=_read,
    )
)
