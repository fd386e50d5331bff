"""Networks to look at that no machine holds: tables that Spark reads, counted on its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from graphveil.engines import ExactCounts
    from graphveil.engines.spark.intake import Taken
    from graphveil.engines.spark.intake.tables import SparkTable
    from graphveil.formats import ReadingOptions
    from graphveil.graph.intake.report import IntakeReport
    from graphveil.statistics.statistic import Statistic

_UNDERSTOOD = ("time", "edge_time", "id", "source", "target", "day_first", "undated", "most_bytes")


@dataclass(frozen=True, eq=False)
class CountedTables:
    """What was counted; a secret.

    Attributes:
        labels: the names of the steps.
        counts: of every step.
        report: what became of the records.
    """

    labels: list[str]
    counts: ExactCounts = field(repr=False)
    report: IntakeReport = field(repr=False)


def count_tables(
    tables: Sequence[str],
    statistic: Statistic,
    every: str | None,
    *,
    directed: bool,
    oriented: bool,
    options: ReadingOptions,
    master: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> CountedTables:
    """Count a statistic on Spark, from the earliest time in the tables on.

    Args:
        tables: Parquet files or folders, or names of tables, of nodes and of edges.
        statistic: what to count.
        every: the length of a step; None takes one unit of numbers, or a year.
        directed: whether edges go from source to target.
        oriented: whether reciprocal edges are refused.
        options: how columns are called, and what becomes of nodes without a time.
        master: of Spark; None takes every core of this machine.
        settings: of Spark.
    """
    from graphveil.engines.spark import SparkCluster, SparkEngine, opened
    from graphveil.engines.spark.counters import require_counted

    require_counted([statistic.tally()], statistic.name)
    _require_understood(options)
    session = opened(master, settings)
    nodes, edges = _told_apart(session, tables, options)
    graph, report = _taken(session, nodes, edges, every, directed, oriented, options)
    try:
        counts = SparkEngine(SparkCluster(session)).count(graph, [statistic])
    finally:
        graph.workspace.remove()
    return CountedTables(graph.labels, counts, report)


def _taken(
    session: SparkSession,
    nodes: SparkTable,
    edges: SparkTable | None,
    every: str | None,
    directed: bool,
    oriented: bool,
    options: ReadingOptions,
) -> Taken:
    from graphveil.engines.spark.intake import begin, extend
    from graphveil.engines.spark.intake.spanning import spanning
    from graphveil.engines.spark.intake.taking import rows_in

    text = not (nodes.whole_ids and (edges is None or edges.whole_ids))
    empty = begin(
        session,
        spanning(nodes, every, options.day_first),
        directed=directed,
        oriented=oriented,
        expected_edges=0 if edges is None else rows_in(edges),
        text_ids=text,
    )
    try:
        return extend(
            session,
            empty,
            nodes,
            edges,
            undated=options.undated or "refuse",
            day_first=options.day_first,
        )
    except BaseException:
        empty.workspace.remove()
        raise


def _require_understood(options: ReadingOptions) -> None:
    """Refuse what the readers of files do, and Spark's tables do not."""
    from graphveil.formats.options import DEFAULTS

    for name, default in vars(DEFAULTS).items():
        if name not in _UNDERSTOOD and getattr(options, name) != default:
            raise ParameterError(
                name.replace("_", "-"),
                "is for files that the local engine reads",
                hint="Prepare a table or view with the rows that count, and name that.",
            )


def _told_apart(
    session: SparkSession, tables: Sequence[str], options: ReadingOptions
) -> tuple[SparkTable, SparkTable | None]:
    """The table of nodes and that of edges, by their columns."""
    from graphveil.engines.spark.intake.tables import holds, read, table_at

    asked = {"node": options.id, "source": options.source, "target": options.target}
    called = {ours: theirs for ours, theirs in asked.items() if theirs is not None}
    times = {"nodes": options.time, "edges": options.edge_time}
    found: dict[str, SparkTable] = {}
    for where in tables:
        kind = holds(read(session, where), called)
        if kind in found:
            raise ParameterError(
                "files", f"two of them hold {kind}", hint="Put the files into one folder."
            )
        named = times[kind]
        time = {} if named is None else {"time": named}
        found[kind] = table_at(session, where, kind, {**called, **time})
    if "nodes" not in found:
        raise ParameterError("files", "none of them lists nodes", hint="Name a table of nodes.")
    return found["nodes"], found.get("edges")
