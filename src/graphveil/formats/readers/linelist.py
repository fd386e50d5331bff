"""Outbreak line lists: a row for each case, with a column that names who infected it.

Each row is a node, and an edge from every infector in it to the case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import MISSING_WORDS, tidied, undated
from graphveil.formats.columns.names import plain
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.dating import edge_time_column, node_time_column
from graphveil.formats.tables.delimited import DelimitedTable
from graphveil.formats.tables.quoted_rows import unquoted
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

# Without blanks and marks, and of several the first: a person is what privacy protects, and a
# bare id may be the number of the row.
_IDS = (
    "patientid", "personid", "individualid", "subjectid", "participantid", "caseid", "id",
    "nodeid", "node", "patient", "person", "case",
)  # fmt: skip
_INFECTORS = tuple(
    name + end
    for name in (
        "infectedby", "infector", "sourcecase", "sourcepatient", "transmittedby", "transmitter",
    )
    for end in ("", "id")
)  # fmt: skip
_MARKS = re.compile(r"[\W_]")
_BETWEEN = ",;"


def _bare(name: str) -> str:
    """A name as it is compared here: without case, blanks and marks."""
    return _MARKS.sub("", plain(name))


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    try:
        names = DelimitedTable.of(file).names
    except InputError:
        if insisted:
            raise
        return None
    theirs = {_bare(name): name for name in reversed(names)}
    case, infector = (
        next((theirs[name] for name in known if name in theirs), None)
        for known in (_IDS, _INFECTORS)
    )
    if case is None or infector is None:
        return None
    return Claim("network", f"a header row with {case} and {infector}", (case, infector))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_part(each, options) for each in files]


def _part(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    source = DelimitedTable.of(claimed.file)
    time, no_time = node_time_column(source, options.time)
    edge_time, no_edge_time = edge_time_column(source, options.edge_time)
    cases, repaired = _cases(claimed, source, (time, edge_time), options)
    nodes, dating = _nodes(cases, time, day_first=options.day_first)
    edges, linking = _edges(cases, edge_time, day_first=options.day_first)
    notes = [*repaired, *dating, *linking]
    return ParsedFile(
        file_report(claimed, LINELIST.name, nodes=[nodes], edges=[edges], notes=notes),
        nodes=(nodes,),
        edges=(edges,),
        without_time=no_time,
        without_edge_time=no_edge_time,
    )


def _cases(
    claimed: Claimed,
    source: DelimitedTable,
    times: tuple[str | None, str | None],
    options: ReadingOptions,
) -> tuple[Table, list[Note]]:
    """The columns that count, as text: case, infector, and the dates that there are."""
    import polars as pl

    ours = ("case", "infector", "node_time", "edge_time")
    _refuse_two_of(claimed.claim.columns, source)
    named = zip(ours, (*claimed.claim.columns, *times), strict=True)
    names = {name: column for name, column in named if column is not None}
    most = options.table_bytes
    table = source.read({**names, "first": source.names[0]}, most)
    frame = table.frame.cast(pl.String)
    wanted = replace(table, frame=frame.select(names.keys()), names=names)
    return unquoted(wanted, frame["first"], source, most)


def _refuse_two_of(used: Sequence[str], source: DelimitedTable) -> None:
    """Refuse a list with two columns that could be the id, or the infector."""
    bare = [_bare(name) for name in source.names]
    for name in used:
        if bare.count(_bare(name)) > 1:
            raise InputError(
                "two columns have this name; case, blanks and marks do not count",
                place=Place(source.file.name, 1, name),
                hint="Rename or remove one of them.",
            )


def _nodes(cases: Table, time: str | None, *, day_first: bool) -> tuple[Table, list[Note]]:
    names = {"node": cases.names["case"]}
    if time is None:
        return undated(replace(cases, frame=cases.frame.select(node="case"), names=names)), []
    frame = cases.frame.select(node="case", time="node_time")
    table = replace(cases, frame=frame, names={**names, "time": time})
    table, changed = tidied(table, day_first=day_first)
    return table, [Note(f"dated by the column '{time}'"), *changed]


def _edges(cases: Table, edge_time: str | None, *, day_first: bool) -> tuple[Table, list[Note]]:
    """One edge for each infector of a row, in the row's place."""
    import polars as pl

    rows = cases.frame.select(
        pl.Series("row", cases.row_numbers()),
        _infectors(cases.frame).alias("source"),
        pl.col("case").alias("target"),
        *([] if edge_time is None else [pl.col("edge_time").alias("time")]),
    )
    notes = _several(rows)
    rows = rows.explode("source").drop_nulls("source")
    names = {"source": cases.names["infector"], "target": cases.names["case"]}
    table = Table(rows.drop("row"), cases.source, names=names, numbers=rows["row"].to_numpy())
    if edge_time is None:
        return table, notes
    table, changed = tidied(replace(table, names={**names, "time": edge_time}), day_first=day_first)
    return table, [*notes, *changed]


def _infectors(frame: pl.DataFrame) -> pl.Series:
    """The ids in each cell; blanks do not separate them, since ids may hold blanks."""
    import polars as pl

    one = rf"[^{_BETWEEN}]+"
    each = pl.element().str.strip_chars()
    named = ~each.str.to_lowercase().is_in(MISSING_WORDS)
    return frame["infector"].str.extract_all(one).list.eval(each.filter(named))


def _several(rows: pl.DataFrame) -> list[Note]:
    import polars as pl

    found = rows.filter(pl.col("source").list.len() > 1)["row"]
    rule = "rows with several infectors: an edge from each"
    return [Note.of_rows(rule, len(found), found)] if len(found) else []


LINELIST = register(
    Format(
        name="linelist",
        summary="outbreak line list",
        looks="CSV: a row for each case, with an id such as case_id, a column such as infected_by "
        "and a date column that you name",
        claims=_claims,
        read=_read,
    )
)
