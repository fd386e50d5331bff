"""Every tally by the Spark engine and by the local one, and by plain Spark SQL as one writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphveil.graph.promises import DegreeBound, HubBound
from graphveil.statistics.statistic import statistic

if TYPE_CHECKING:
    from benchmarks.peers.answers import Counts
    from graphveil.backends import LocalEngine
    from graphveil.backends.spark import SparkEngine
    from graphveil.backends.spark.graph import SparkGraph
    from graphveil.graph.sequence import GraphSequence

CAP = 20  # links that count, in the projection
BOUND = HubBound(DegreeBound(CAP), (1,))
EDGES = statistic("edges")
COUNTED = {
    "degree reach": statistic("high-degree", tau=5),
    "triangles": statistic("triangles"),
    "components": statistic("components"),
}
JOBS = (*COUNTED, "projection")
SQL: dict[str, str] = {
    "components": """
        select sum(least) n from (
            select node, min(other) least from (
                select newer node, older other from edges union all
                select older node, newer other from edges) group by node)""",
    "degree reach": """
        select step, nth, count(*) n from (
            select step, row_number() over (partition by node order by step) nth from (
                select newer node, step from edges union all select older node, step from edges))
        group by step, nth""",
    "triangles": """
        select a.step, count(*) n from edges a join edges b on a.older = b.newer
        join edges c on c.newer = a.newer and c.older = b.older group by a.step""",
    "projection": f"""
        select step, count(*) n from (
            select newer, older, step, count(*) ends from (
                select newer, older, step, row_number() over (
                    partition by node order by step, newer, older) nth
                from (select newer node, * from edges union all select older node, * from edges))
            where nth <= {CAP} group by newer, older, step having ends = 2)
        group by step""",
}


def on_spark(engine: SparkEngine, graph: SparkGraph, job: str) -> Counts:
    """The totals of a job after each step, by workers."""
    if job == "projection":
        return engine.counted_part(graph, BOUND).edges.cumsum()
    return engine.count(graph, [COUNTED[job]]).totals(COUNTED[job])


def here(engine: LocalEngine, sequence: GraphSequence, job: str) -> Counts:
    """The same in memory."""
    if job == "projection":
        return engine.count(engine.counted_part(sequence, BOUND), [EDGES]).totals(EDGES)
    return engine.count(sequence, [COUNTED[job]]).totals(COUNTED[job])
