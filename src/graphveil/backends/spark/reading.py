"""Tables that Spark reads: which of them lists people, which links, and which options they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, cast

from graphveil.backends.spark.intake.tables import TableRecords, holds, named, read, table_of
from graphveil.errors import ParameterError
from graphveil.records import ReadFiles, ReadingOptions
from graphveil.records.format import ParseReport
from graphveil.records.options import DEFAULTS
from graphveil.records.reading import unlabelled
from graphveil.records.selection import labels_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from graphveil.backends.spark.intake.tables import SparkTable
    from graphveil.graph.intake.records import Records

PAIR = "pair"  # what tables of people and links are called, whichever reader reads them
_UNDERSTOOD = (
    "time", "edge_time", "id", "source", "target", "day_first", "undated", "most_bytes", "mark_bad",
    "group",
)  # fmt: skip


def require_understood(options: ReadingOptions) -> None:
    """Refuse options that readers of files understand, and Spark's tables do not."""
    for name in (each.name for each in fields(DEFAULTS)):
        if name not in _UNDERSTOOD and getattr(options, name) != getattr(DEFAULTS, name):
            raise _for_files(name.replace("_", "-"))


def _for_files(name: str) -> ParameterError:
    return ParameterError(
        name,
        "is for files that the local engine reads",
        hint="Prepare a table, a view or Parquet files with the rows that count, and name those.",
    )


def told_apart(
    session: SparkSession, tables: Sequence[str], options: ReadingOptions
) -> tuple[SparkTable, SparkTable | None]:
    """The table of nodes and that of edges, by their columns."""
    asked = {"node": options.id, "source": options.source, "target": options.target}
    called = {ours: theirs for ours, theirs in asked.items() if theirs is not None}
    times = {"nodes": options.time, "edges": options.edge_time}
    found: dict[str, SparkTable] = {}
    for where in tables:
        frame = read(session, where)
        kind = holds(frame, called)
        if kind in found:
            raise ParameterError(
                "files", f"two of them hold {kind}", hint="Put the files into one folder."
            )
        dated = times[kind]
        time = {} if dated is None else {"time": dated}
        groups = _labels_in(frame, where, options) if kind == "nodes" else {}
        found[kind] = table_of(frame, where, kind, {**called, **time}, groups)
    if "nodes" not in found:
        raise ParameterError("files", "none of them lists nodes", hint="Name a table of nodes.")
    return found["nodes"], found.get("edges")


def _labels_in(frame: DataFrame, where: str, options: ReadingOptions) -> dict[str, str | None]:
    """The column of each group, None of one that the table is said not to have.

    Refuses a column that was named and is not there.
    """
    groups = dict(labels_in(frame.columns, options))
    for group, column in options.named_groups:
        if group not in groups:
            raise unlabelled(group, column, [named(where)])
    return {group: groups.get(group) for group in options.group_columns}


def require_possible(
    format: str | None,  # noqa: A002
    options: ReadingOptions,
) -> None:
    """Refuse what only readers of files can do, before a session is started."""
    if format:
        raise _for_files("format")
    require_understood(options)


def tables_of(session: SparkSession, files: Sequence[str], options: ReadingOptions) -> ReadFiles:
    """The records in tables that Spark reads; they are not read yet."""
    require_understood(options)  # also what was given for files before
    nodes, edges = told_apart(session, files, options)
    records = cast("Records", TableRecords(nodes, edges, options.day_first))
    return ReadFiles(records, ParseReport((), ()), (PAIR,), (PAIR,), {PAIR: {}}, None)
