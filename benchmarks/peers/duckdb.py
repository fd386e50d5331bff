"""DuckDB in SQL: degree statistics, and files to links between persons by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl

from benchmarks.graphs import Graph, Pair
from benchmarks.peers.answers import DegreeAnswer, Links, answer_of_histogram

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A node moves between bars of the histogram only at steps at which it gains links, so
# counting those moves is far less work than counting every node again at every step.
_MOVES = """
    WITH ends AS (SELECT step, newer AS node FROM edges
                  UNION ALL SELECT step, older FROM edges),
         gains AS (SELECT node, step, count(*) AS gain FROM ends GROUP BY node, step),
         reached AS (SELECT step, gain,
                            sum(gain) OVER (PARTITION BY node ORDER BY step) AS degree
                     FROM gains),
         moves AS (SELECT step, degree, count(*) AS nodes FROM reached GROUP BY ALL
                   UNION ALL
                   SELECT step, degree - gain, -count(*) FROM reached GROUP BY ALL)
    SELECT step, degree::BIGINT AS degree, sum(nodes)::BIGINT AS nodes
    FROM moves GROUP BY step, degree
"""


def connect(threads: int) -> DuckDBPyConnection:
    """A database in memory."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    return connection


def with_edges(graph: Graph, threads: int) -> DuckDBPyConnection:
    """A database that holds the graph's edges, each with its step; this is not timed."""
    connection = connect(threads)
    frame = pl.DataFrame(
        {"step": graph.node_step[graph.newer], "newer": graph.newer, "older": graph.older}
    )
    connection.register("frame", frame.to_arrow())
    connection.execute("CREATE TABLE edges AS SELECT * FROM frame")
    connection.unregister("frame")
    return connection


def degree_statistics(connection: DuckDBPyConnection, graph: Graph, tau: int) -> DegreeAnswer:
    """All degree statistics after each step."""
    moves: dict[str, Any] = connection.execute(_MOVES).fetchnumpy()
    table = np.zeros((graph.steps, int(moves["degree"].max()) + 1), dtype=np.int64)
    table[moves["step"], moves["degree"]] = moves["nodes"]
    table = table.cumsum(axis=0)
    table[:, 0] += graph.node_ends()  # everyone arrives without links
    return answer_of_histogram(table, tau)


# Persons in the order of their step and, within it, of their id; each link once, newer end first.
_PERSONS = """
    CREATE TABLE persons AS
    SELECT node, row_number() OVER (ORDER BY time, node) - 1 AS label
    FROM (SELECT node, min(time) AS time FROM '{nodes}' GROUP BY node)
"""
_LINKS = """
    SELECT DISTINCT greatest(a.label, b.label) AS newer, least(a.label, b.label) AS older
    FROM '{edges}' AS edge
    JOIN persons AS a ON edge.source = a.node
    JOIN persons AS b ON edge.target = b.node
    WHERE a.label <> b.label
    ORDER BY newer, older
"""


def read(pair: Pair, threads: int) -> Links:
    """A pair of files to sorted links between persons by number: what a ready graph holds."""
    with connect(threads) as connection:
        connection.execute(_PERSONS.format(nodes=pair.nodes))
        links: dict[str, Any] = connection.execute(_LINKS.format(edges=pair.edges)).fetchnumpy()
    return links["newer"], links["older"]
