"""A graph of several times B, from its tables to every tally; none of it is in the driver.

A process of its own grows the graph and writes its tables; the driver begins without it. The
local engine counts the same tables when Spark has ended, also in a process of its own: there
would be no room for both.
"""

from __future__ import annotations

import multiprocessing
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.spark_tallies import JOBS, here, on_spark

if TYPE_CHECKING:
    from benchmarks.processes import Peaks
    from benchmarks.spark import Bench

INTAKE = "intake"
NAME = "large"
LOCAL = "large, local engine"


@dataclass(frozen=True)
class Large:
    """What was measured, and of what.

    Attributes:
        nodes: of the graph.
        edges: likewise.
        steps: likewise.
        colours: into which the engine divided them.
        peaks: of memory, of the command, of Java and of a worker.
    """

    nodes: int
    edges: int
    steps: int
    colours: int
    peaks: Peaks


def measure(bench: Bench, times: int, cores: int) -> Large:
    """Take the tables in, and count every tally once; the local engine must agree."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        nodes, edges, steps = _apart(_write, home, times)
        print(f"{nodes:,} nodes, {edges:,} edges, {steps} steps", flush=True)
        colours = _on_spark(bench, home, cores)
        found = {line[0]: line[4] for line in bench.lines}
        took: dict[str, tuple[float, int]] = _apart(_here, home)
        for job, (seconds, answer) in took.items():
            bench.lines.append((job, LOCAL, seconds, seconds, answer))
            print(*bench.lines[-1], flush=True)
            assert found[job] == answer, job
        return Large(nodes, edges, steps, colours, bench.peaks)


def _apart(function: Callable[..., Any], *given: Any) -> Any:
    """What a function finds in a process of its own, whose memory ends with it."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, given)


def _write(home: Path, times: int) -> tuple[int, int, int]:
    from benchmarks.graphs import RECIPES, Pair, grow, write_in_pieces

    graph = grow("B", RECIPES["B"].multiplied(times))
    write_in_pieces(graph, Pair(home / "nodes.parquet", home / "edges.parquet"))
    return graph.nodes, graph.edges, graph.steps


def _on_spark(bench: Bench, home: Path, cores: int) -> int:
    """Take the tables in and count; how many colours there were."""
    from benchmarks.ours import CALENDAR
    from graphveil.backends.spark import SparkCluster, SparkEngine, opened
    from graphveil.backends.spark.intake import begin, extend
    from graphveil.backends.spark.intake.tables import table_at

    settings = {
        "spark.driver.memory": "1g",
        "spark.graphveil.workspace": str(home / "workspace"),
        "spark.graphveil.taskMemory": "3g",  # one task of components holds all nodes
        "spark.local.dir": str(home / "shuffles"),
    }
    session = opened(f"local[{cores}]", settings)
    tables = [table_at(session, str(home / f"{kind}.parquet"), kind) for kind in ("nodes", "edges")]
    with bench.measuring(INTAKE, NAME) as answer:
        empty = begin(session, CALENDAR, expected_edges=tables[1].rows, text_ids=False)
        graph = extend(session, empty, *tables).graph
        answer.append(int(graph.edges.sum()))
    engine = SparkEngine(SparkCluster(session))
    for job in JOBS:
        with bench.measuring(job, NAME) as answer:
            answer.append(int(on_spark(engine, graph, job)[-1]))
    session.stop()
    return graph.colours


def _here(home: Path) -> dict[str, tuple[float, int]]:
    """Processor seconds and answer of every job by the local engine, on the same tables."""
    from time import process_time

    from benchmarks.graphs import Pair
    from benchmarks.ours import read
    from graphveil.backends import LocalEngine

    began, found = process_time(), {}
    sequence = read(Pair(home / "nodes.parquet", home / "edges.parquet"))
    found[INTAKE] = process_time() - began, len(sequence.entries)
    for job in JOBS:
        began = process_time()
        answer = int(here(LocalEngine(2), sequence, job)[-1])
        found[job] = process_time() - began, answer
    return found
