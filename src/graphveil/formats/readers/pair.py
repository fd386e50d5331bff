"""The native pair: a table of nodes and one of edges, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError
from graphveil.formats.columns.dates import undated
from graphveil.formats.columns.names import (
    EDGES,
    NODES,
    Wanted,
    match_columns,
    names_by_text,
    plain,
)
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.dating import no_such_column
from graphveil.formats.tables.parquet import is_parquet
from graphveil.formats.tables.table_file import table_file
from graphveil.graph.records import Table


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    try:
        table = table_file(file)
    except InputError:
        if insisted or is_parquet(file):
            raise
        return None
    theirs = names_by_text(table.names)
    linked = {"source", "target"} <= theirs.keys()
    if linked == ("node" in theirs):
        return None
    columns = ("source", "target") if linked else ("node",)
    return Claim(
        "edges" if linked else "nodes",
        f"{table.kind} with {' and '.join(columns)}",
        tuple(theirs[name] for name in columns),
    )


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [
        _nodes(each, options) if each.claim.role == "nodes" else _edges(each, options)
        for each in files
    ]


def _nodes(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    table, refusal = _table(claimed.file, NODES, options.time, options)
    if "time" not in table.frame.columns:
        table = undated(table)
    report = file_report(claimed, PAIR.name, nodes=[table])
    return ParsedFile(report, nodes=(table,), without_time=refusal)


def _edges(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    table, refusal = _table(claimed.file, EDGES, options.edge_time, options)
    report = file_report(claimed, PAIR.name, edges=[table])
    return ParsedFile(report, edges=(table,), without_edge_time=refusal)


def _table(
    file: SourceFile, wanted: Wanted, named: str | None, options: ReadingOptions
) -> tuple[Table, InputError | None]:
    """The wanted columns, and a refusal if the user named a time column that is not there."""
    table, refusal, called = table_file(file), None, {}
    if named is not None and plain(named) in names_by_text(table.names):
        called = {"time": named}
    elif named is not None:
        refusal = no_such_column(table, named)
        wanted = Wanted(tuple(name for name in wanted.required if name != "time"), ("time",))
    names = match_columns(table.names, wanted, file.name, called)
    file.refuse_above(options.table_bytes)
    return table.read(names, options.table_bytes), refusal


PAIR = register(
    Format(
        name="pair",
        summary="tables of nodes and edges",
        looks="CSV (also gzipped) or Parquet: nodes(node, time) and edges(source, target[, time])",
        claims=_claims,
        read=_read,
    )
)
