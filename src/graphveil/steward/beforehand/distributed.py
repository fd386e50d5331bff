"""Networks to look at that no machine holds: tables that Spark reads, counted on its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphveil.steward.records.spark_tables import require_understood, told_apart

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from graphveil.engines import ExactCounts
    from graphveil.engines.spark.intake import Taken
    from graphveil.engines.spark.intake.tables import SparkTable
    from graphveil.formats import ReadingOptions
    from graphveil.graph.intake.report import IntakeReport
    from graphveil.statistics.statistic import Statistic


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
    require_understood(options)
    session = opened(master, settings)
    nodes, edges = told_apart(session, tables, options)
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

    text = not (nodes.whole_ids and (edges is None or edges.whole_ids))
    empty = begin(
        session,
        spanning(nodes, every, options.day_first),
        directed=directed,
        oriented=oriented,
        expected_edges=0 if edges is None else edges.rows,
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
