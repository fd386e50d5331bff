"""DuckDB: degree statistics in SQL, and reading files into tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl

from benchmarks.graphs import Graph, Pair
from benchmarks.peers.answers import DegreeAnswer, answer_of_histogram

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


def read(pair: Pair, threads: int) -> tuple[int, int]:
    """Read a pair of files into two tables; returns their numbers of rows."""
    with connect(threads) as connection:
        for path in (pair.nodes, pair.edges):
            connection.execute(f"CREATE TABLE {path.stem} AS SELECT * FROM '{path}'")
        nodes = connection.execute("SELECT count(*) FROM nodes").fetchone()
        edges = connection.execute("SELECT count(*) FROM edges").fetchone()
    return (nodes or (0,))[0], (edges or (0,))[0]
