"""The native pair: a table of nodes and one of edges, as CSV or Parquet."""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.records.columns import is_mapped, names_by_text
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.records.options import ReadingOptions
from graphveil.records.parquet import is_parquet
from graphveil.records.selection import read_table
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import claimed_table


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted or is_parquet(file))
    if table is None:
        return None
    theirs = names_by_text(table.names)
    linked = {"source", "target"} <= theirs.keys()
    if linked == ("node" in theirs) or is_mapped(table.names, options):
        return None
    columns = ("source", "target") if linked else ("node",)
    return Claim(
        "edges" if linked else "nodes",
        f"{table.kind} with {' and '.join(columns)}",
        tuple(theirs[name] for name in columns),
    )


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, PAIR.name, options) for each in files]


PAIR = register(
    Format(
        name="pair",
        summary="tables of nodes and edges",
        looks="CSV (also gzipped) or Parquet: nodes(node, time) and edges(source, target[, time])",
        claims=_claims,
        read=_read,
    )
)
