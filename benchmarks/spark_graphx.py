"""GraphX, which comes with Spark: components and triangles of one graph, that of the last step.

It is called through Java's side of the session, since Python has no way of its own to it. It knows
no steps, so that it counts once what our engine counts at every step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from benchmarks.graphs import Graph
    from benchmarks.spark import Bench, Place

NAME = "GraphX"
MEMORY = "8g"  # of Java; with less it ran out of it
PARTS = 16


def measure(bench: Bench, place: Place, graph: Graph) -> None:
    """Both counts from a list of edges on disk; they must be those of our engine."""
    path = f"{place.folder}/edges.txt"
    _write(graph, path)
    jvm = place.session._jvm
    level = jvm.org.apache.spark.storage.StorageLevel.MEMORY_AND_DISK()
    context = place.session.sparkContext._jsc.sc()
    with bench.measuring("loading", NAME) as answer:
        loader = jvm.org.apache.spark.graphx.GraphLoader
        loaded = loader.edgeListFile(context, path, True, PARTS, level, level)
        answer.append(loaded.edges().count())
    number, library = jvm.scala.reflect.ClassTag.Int(), jvm.org.apache.spark.graphx.lib
    with bench.measuring("components", NAME) as answer:
        found = _frame(place, library.ConnectedComponents.run(loaded, number, number), "Long")
        linked = found.count()
        answer.append(found.select("_2").distinct().count() + graph.nodes - linked)
    with bench.measuring("triangles", NAME) as answer:
        found = _frame(place, library.TriangleCount.run(loaded, number, number), "Int")
        answer.append(int(found.agg({"_2": "sum"}).collect()[0][0]) // 3)
    for job in ("components", "triangles"):
        told = {line[4] for line in bench.lines if line[0] == job}
        assert len(told) == 1, (job, told)


def _write(graph: Graph, path: str) -> None:
    import polars as pl

    columns = {"newer": graph.newer.astype(np.int64), "older": graph.older.astype(np.int64)}
    pl.DataFrame(columns).write_csv(path, include_header=False, separator=" ")


def _frame(place: Place, found: Any, kind: str) -> Any:
    """What GraphX has found for each vertex, as a table: `_1` and `_2`."""
    from pyspark.sql import DataFrame

    encoders = place.session._jvm.org.apache.spark.sql.Encoders
    pair = encoders.tuple(encoders.scalaLong(), getattr(encoders, f"scala{kind}")())
    rows = place.session._jsparkSession.createDataset(found.vertices(), pair)
    return DataFrame(rows.toDF(), place.session)
