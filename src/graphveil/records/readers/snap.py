"""SNAP: edge lists with dates of nodes beside them, and temporal networks."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graphveil.deferred import pl
from graphveil.errors import RecordError
from graphveil.graph.intake.identity import clean_ids, same_form
from graphveil.graph.intake.records import Table
from graphveil.records.dates import from_seconds, tidied
from graphveil.records.format import Claim, Claimed, Format, Note, ParsedFile, file_report, register
from graphveil.records.options import ReadingOptions
from graphveil.records.selection import conditions_on
from graphveil.records.source_file import SourceFile
from graphveil.records.spaced import (
    Spaced,
    comment_notes,
    first_lines,
    ids_look_like_ids,
    is_empty,
    mixed_dates,
    read_spaced,
    refuse_naming,
    says_direction,
    unlikely_lines,
)

_ISO_DATE = r"^[0-9]{4}-[0-9]{2}(-[0-9]{2}(T\S+)?)?$"
_AS_SAID = "an id and a time per line, as the comment above says"
_AS_DIRECTED = "two ids per line, as the comment above says"
_HEADING = re.compile(r"#\w+\s+(date|dates|time|year)\s*", re.IGNORECASE)
_SAYS_DATES = re.compile(r"\b(date|dates|time|year)\b", re.IGNORECASE)


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    seen = first_lines(file)
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
    violations = [] if claimed.claim.why == _AS_SAID else mixed_dates(~_are_dates(found))
    rows = found.table(("node", "time"), claimed.file.name, *violations)
    table, notes = tidied(rows, options)
    report = file_report(claimed, SNAP.name, nodes=[table], notes=[*comment_notes(found), *notes])
    return ParsedFile(
        report, nodes=(table,), without_time=refuse_naming(claimed.file, options.time)
    )


def _edges(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    conditions_on([], "edges", options.filters, claimed.file.name)
    found = read_spaced(claimed.file, 2, options.table_bytes)
    violations = unlikely_lines(claimed, found, 2)
    if claimed.claim.why != _AS_DIRECTED:  # then an id may look like a date
        violations += mixed_dates(_are_dates(found))
    table = found.table(("source", "target"), claimed.file.name, *violations)
    report = file_report(claimed, SNAP.name, edges=[table], notes=comment_notes(found))
    return ParsedFile(
        report,
        edges=(table,),
        directed=says_direction(claimed.file),
        without_edge_time=refuse_naming(claimed.file, options.edge_time),
    )


def _are_dates(rows: Spaced) -> pl.Series:
    return rows.columns[1].cast(pl.String).str.contains(_ISO_DATE)


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


# SNAP temporal networks: two ids and a Unix time per line.
#
# Nobody is listed. Where no other file lists people, a node appears with the first line that
# names it. That is good for looking at a network, but not for a study: removing a person
# would remove others as well, or move them.


_WHOLE = re.compile(r"[0-9]{1,15}")
_LIKELY = 10**8  # seconds, in 1973: smaller numbers are probably weights


def _claims_timed(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    seen = first_lines(file)
    if seen is not None and insisted:
        seen = seen.insisted_on(3)
    if seen is None or (seen.width != 3 and not is_empty(seen, insisted)):
        return None
    if not seen.first:
        return Claim("network", "no lines", insisted=insisted)
    *ends, time = seen.first
    if not _WHOLE.fullmatch(time):
        return None
    if not insisted and (not ids_look_like_ids(ends) or int(time) < _LIKELY):
        return None
    why = "two ids and a Unix time per line, no header row"
    return Claim("network", why, insisted=insisted)


def _read_timed(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    for each in files:
        conditions_on([], "edges", options.filters, each.file.name)
    found = [read_spaced(each.file, 3, options.table_bytes) for each in files]
    edges = [_timed_edges(each, rows) for each, rows in zip(files, found, strict=True)]
    nodes = _first_appearances(edges)
    return [
        ParsedFile(
            file_report(each, TEMPORAL.name, nodes=[new], edges=[own], notes=_notes(rows)),
            derived=(new,),
            edges=(own,),
            directed=says_direction(each.file),
            without_time=refuse_naming(each.file, options.time),
            without_edge_time=refuse_naming(each.file, options.edge_time),
        )
        for each, rows, new, own in zip(files, found, nodes, edges, strict=True)
    ]


def _notes(rows: Spaced) -> list[Note]:
    unlisted = Note("people are not listed: unless a file lists them, the first line dates a node")
    return [*comment_notes(rows), unlisted]


def _timed_edges(claimed: Claimed, rows: Spaced) -> Table:
    seconds = rows.columns[2].cast(pl.Int64, strict=False)
    violations = unlikely_lines(claimed, rows, 2, (seconds < _LIKELY).fill_null(False))
    return from_seconds(rows.table(("source", "target", "time"), claimed.file.name, *violations))


def _first_appearances(edges: Sequence[Table]) -> list[Table]:
    """For each file the nodes that appear in it first, each at its first line."""
    edges = [_sound(table) for table in edges]
    ends = [clean_ids(table, end).column for table in edges for end in ("source", "target")]
    ids = same_form(*ends)
    named = [
        pl.DataFrame({"node": ids[2 * number + end], "time": table.frame["time"]})
        .with_row_index("row")
        .with_columns(pl.lit(number, pl.Int32).alias("file"))
        for number, table in enumerate(edges)
        for end in (0, 1)
    ]
    dated = pl.concat(named).drop_nulls("time")  # a row that breaks a rule introduces nobody
    ordered = dated.sort("time", "file", "row")
    placed = ordered.unique("node", keep="first").sort("file", "row", "node")
    return [_nodes(placed, table, number) for number, table in enumerate(edges)]


def _sound(table: Table) -> Table:
    """The lines that break no rule, neither of the reader nor about ids: others date nobody."""
    sound = table.without_faults()
    for end in ("source", "target"):
        try:
            clean_ids(sound, end)
        except RecordError as refused:
            proper = np.ones(sound.frame.height, np.bool_)
            proper[refused.rows] = False
            return _sound(sound.kept(proper))
    return sound


def _nodes(placed: pl.DataFrame, table: Table, number: int) -> Table:
    here = placed.filter(pl.col("file") == number)
    lines = table.row_numbers()[here["row"].to_numpy()]
    return Table(here.select("node", "time"), table.source, numbers=lines)


TEMPORAL = register(
    Format(
        name="snap-temporal",
        summary="SNAP temporal network",
        looks="text without a header row: two ids and a Unix time per line; blanks between values, "
        "# before comments",
        claims=_claims_timed,
        read=_read_timed,
    )
)
