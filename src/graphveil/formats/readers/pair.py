"""The native pair: a table of nodes and one of edges, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import (
    EDGES,
    NODES,
    Wanted,
    match_columns,
    names_by_text,
    no_such,
    plain,
)
from graphveil.formats.delimited import beginning, read_columns
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, Part, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parquet import MAGIC, column_names, read_parquet_columns
from graphveil.formats.source_file import SourceFile
from graphveil.formats.time_fields import date_columns, undated
from graphveil.graph.records import Table


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    kind = "Parquet" if _is_parquet(file) else "a header row"
    try:
        theirs = names_by_text(_names(file))
    except InputError:
        if insisted or _is_parquet(file):
            raise
        return None
    linked = {"source", "target"} <= theirs.keys()
    if linked == ("node" in theirs):
        return None
    columns = ("source", "target") if linked else ("node",)
    return Claim(
        "edges" if linked else "nodes",
        f"{kind} with {' and '.join(columns)}",
        tuple(theirs[name] for name in columns),
    )


def _is_parquet(file: SourceFile) -> bool:
    return file.head.startswith(MAGIC)


def _names(file: SourceFile) -> list[str]:
    if _is_parquet(file):
        return column_names(file.path, file.name)
    return beginning(file).names


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[Part]:
    return [
        _nodes(each, options) if each.claim.role == "nodes" else _edges(each, options)
        for each in files
    ]


def _nodes(claimed: Claimed, options: ReadingOptions) -> Part:
    table, refusal = _table(claimed.file, NODES, options.time, options)
    if "time" not in table.frame.columns:
        table = undated(table)
    report = file_report(claimed, PAIR.name, nodes=[table])
    return Part(report, nodes=(table,), without_time=refusal)


def _edges(claimed: Claimed, options: ReadingOptions) -> Part:
    table, refusal = _table(claimed.file, EDGES, options.edge_time, options)
    report = file_report(claimed, PAIR.name, edges=[table])
    return Part(report, edges=(table,), without_edge_time=refusal)


def _table(
    file: SourceFile, wanted: Wanted, named: str | None, options: ReadingOptions
) -> tuple[Table, InputError | None]:
    """The wanted columns, and a refusal if the user named a time column that is not there."""
    found, refusal, called = _names(file), None, {}
    if named is not None and plain(named) in names_by_text(found):
        called = {"time": named}
    elif named is not None:
        likely = [] if _is_parquet(file) else date_columns(beginning(file))
        refusal = no_such("column", Place(file.name, column=named), found, likely)
        wanted = Wanted(tuple(name for name in wanted.required if name != "time"), ("time",))
    names = match_columns(found, wanted, file.name, called)
    if not _is_parquet(file):
        return read_columns(file, names, options.table_bytes), refusal
    file.refuse_above(options.table_bytes)
    return read_parquet_columns(file.path, file.name, names), refusal


PAIR = register(
    Format(
        name="pair",
        summary="tables of nodes and edges",
        looks="CSV (also gzipped) or Parquet: nodes(node, time) and edges(source, target[, time])",
        claims=_claims,
        read=_read,
    )
)
