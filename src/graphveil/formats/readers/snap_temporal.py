"""SNAP temporal networks: two ids and a Unix time per line.

Nobody is listed. Where no other file lists people, a node appears with the first line that names
it; that is good for looking at a network, and not for a study, since whoever is removed would take
others along, or move them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphveil.errors import RecordError
from graphveil.formats.columns.dates import from_seconds
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.headerless import (
    comment_notes,
    ids_look_like_ids,
    is_empty,
    refuse_naming,
    says_direction,
    unlikely_lines,
)
from graphveil.formats.tables.selection import conditions_on
from graphveil.formats.tables.spaced import Spaced, glance, read_spaced
from graphveil.graph.intake.identity import clean_ids, same_form
from graphveil.graph.intake.records import Table

if TYPE_CHECKING:
    import polars as pl

_WHOLE = re.compile(r"[0-9]{1,15}")
_LIKELY = 10**8  # seconds, in 1973: smaller numbers are probably weights


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    seen = glance(file)
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


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    for each in files:
        conditions_on([], "edges", options.filters, each.file.name)
    found = [read_spaced(each.file, 3, options.table_bytes) for each in files]
    edges = [_edges(each, rows) for each, rows in zip(files, found, strict=True)]
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
    said = Note("people are not listed: unless a file lists them, the first line dates a node")
    return [*comment_notes(rows), said]


def _edges(claimed: Claimed, rows: Spaced) -> Table:
    import polars as pl

    seconds = rows.columns[2].cast(pl.Int64, strict=False)
    faults = unlikely_lines(claimed, rows, 2, (seconds < _LIKELY).fill_null(False))
    return from_seconds(rows.table(("source", "target", "time"), claimed.file.name, *faults))


def _first_appearances(edges: Sequence[Table]) -> list[Table]:
    """For each file the nodes that appear in it first, each at its first line."""
    import polars as pl

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
    import polars as pl

    here = placed.filter(pl.col("file") == number)
    lines = table.row_numbers()[here["row"].to_numpy()]
    return Table(here.select("node", "time"), table.source, numbers=lines)


TEMPORAL = register(
    Format(
        name="snap-temporal",
        summary="SNAP temporal network",
        looks="text without a header row: two ids and a Unix time per line; blanks between values, "
        "# before comments",
        claims=_claims,
        read=_read,
    )
)
