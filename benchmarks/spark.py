"""The Spark engine against the local one and against plain Spark SQL: `python benchmarks/spark.py`.

Everybody begins with labelled edges on disk. Seconds are those of the clock and, since machines
are seldom idle, of all processors together: of Java, of its Python workers and of this process.
Plain SQL runs on the same graph, or (`--part`) on a part of it, as our engine then does, too.
A study is added to and published by commands of their own, whose memory is looked at meanwhile.
`--only graphx` counts with GraphX, too, which comes with Spark but needs eight times the memory.
`--times 10` measures a graph of ten times B instead, from its tables on.
Tables go to benchmarks/SPARK.md.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere

from benchmarks.processes import Peaks, family  # noqa: E402
from benchmarks.spark_tallies import JOBS, SQL, here, on_spark  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.graphs import Graph

SEEN: dict[int, float] = {}  # processor seconds by process


@dataclass
class Bench:
    """What is measured, line by line."""

    lines: list[tuple[str, str, float, float, object]] = field(default_factory=list)
    peaks: Peaks = field(default_factory=Peaks)

    @contextmanager
    def measuring(self, job: str, who: str) -> Iterator[list[Any]]:
        """Note what the block takes; it puts its answer into the list."""
        answer: list[Any] = []
        wall, cpu = perf_counter(), processors()
        yield answer
        took = perf_counter() - wall, processors() - cpu
        self.lines.append((job, who, *took, answer[0] if answer else None))
        self.peaks = self.peaks.seen(family(os.getpid()), os.getpid())
        told = f"{job} | {who} | {took[0]:.1f} s | {took[1]:.1f} s CPU | {self.lines[-1][4]}"
        print(f"{told} | largest Python worker so far {self.peaks.worker:.2f} GB", flush=True)

    def best(self, job: str, who: str) -> float:
        """The least processor seconds of a job; kernels are loaded in the first run."""
        return min((x[3] for x in self.lines if x[:2] == (job, who)), default=float("nan"))


def processors() -> float:
    """Processor seconds of the family so far; whoever has ended counts as when last seen."""
    SEEN.update((each.pid, each.seconds) for each in family(os.getpid()))
    return sum(SEEN.values())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the Spark engine.")
    parser.add_argument("--shrink", type=int, default=1, help="B divided by this")
    parser.add_argument("--part", type=int, default=1, help="for plain SQL, divided by this again")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--only", choices=("tallies", "sql", "graphx", "study"), help="a part")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=JOBS, help="for plain SQL")
    parser.add_argument("--times", type=int, help="only a graph of this many times B, once")
    return parser.parse_args()


def main() -> None:
    from benchmarks import spark_graphx
    from benchmarks.graphs import RECIPES, grow
    from benchmarks.spark_large import measure
    from benchmarks.spark_study import one_more_step
    from benchmarks.spark_tables import write_large, write_tables

    asked = arguments()
    bench, study = Bench(), None
    if asked.times:
        write_large(bench, measure(bench, asked.times, asked.cores))
        return
    graph = grow("B", RECIPES["B"].shrunk(asked.shrink))
    part = graph
    if asked.part > 1:
        part = grow("B in part", RECIPES["B"].shrunk(asked.shrink * asked.part))
    print(f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.steps} steps", flush=True)
    if asked.only in (None, "study"):
        study = one_more_step(graph, asked.cores)
    if asked.only == "graphx":  # which needs so much memory that it has a session of its own
        with here_on_spark(asked.cores, spark_graphx.MEMORY) as place:
            ours(bench, place, graph, "B", ("components", "triangles"))
            spark_graphx.measure(bench, place, graph)
    elif asked.only != "study":
        with here_on_spark(asked.cores) as place:
            if asked.only != "sql":
                measure_tallies(bench, place, graph)
            if asked.only != "tallies":
                measure_sql(bench, place, graph, part, tuple(asked.jobs))
    write_tables(bench, study, graph, part)


class Place(NamedTuple):
    """A session, and a folder that its workers reach."""

    session: Any
    folder: str


@contextmanager
def here_on_spark(cores: int, memory: str = "1g") -> Iterator[Place]:
    """A session on this machine, as long as it is needed."""
    from graphveil.backends.spark import opened

    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "spark.driver.memory": memory,
            "spark.graphveil.workspace": folder,
            "spark.sql.autoBroadcastJoinThreshold": "10MB",  # plain SQL has Spark's own default
        }
        session = opened(f"local[{cores}]", settings)
        yield Place(session, folder)
        session.stop()


def measure_tallies(bench: Bench, place: Place, graph: Graph) -> None:
    """Every tally on B, with a late hub, and in many steps."""
    from benchmarks.graphs import with_late_hub, with_steps

    ours(bench, place, graph, "B")
    ours(bench, place, with_late_hub(graph), "late hub", ("triangles",))
    ours(bench, place, with_steps(graph, 8 * graph.steps), "8 times the steps")


def measure_sql(
    bench: Bench, place: Place, graph: Graph, part: Graph, jobs: tuple[str, ...]
) -> None:
    """Plain SQL on B, or on a part of it, beside our engine on the same."""
    who = "B" if part is graph else "part"
    if not any(line[1] == who for line in bench.lines):
        ours(bench, place, part, who, jobs)
    sql(bench, place, part, jobs)


def ours(bench: Bench, place: Place, graph: Graph, name: str, jobs: tuple[str, ...] = JOBS) -> None:
    """Every tally twice on Spark (kernels are loaded once), and once here; answers must agree."""
    from benchmarks.ours import build, records_of
    from graphveil.backends import LocalEngine
    from graphveil.backends.spark import SparkCluster, SparkEngine
    from graphveil.backends.spark.graph import Workspace, handed_over
    from graphveil.backends.spark.session import colours_for

    sequence = build(records_of(graph))
    cluster, local = SparkCluster(place.session), LocalEngine(2)
    spark = SparkEngine(cluster)
    colours = colours_for(graph.edges, cluster.task_bytes)
    there = handed_over(sequence, Workspace.within(place.folder), colours)
    for job in jobs:
        answers = set()
        for who in (name, name, f"{name}, local engine"):
            with bench.measuring(job, who) as answer:
                found = on_spark(spark, there, job) if who == name else here(local, sequence, job)
                answer.append(int(found[-1]))
            answers.add(answer[0])
        assert len(answers) == 1, job


def sql(bench: Bench, place: Place, graph: Graph, jobs: tuple[str, ...]) -> None:
    """The same by queries as one would write them, on a table of labelled edges."""
    import polars as pl

    steps = graph.node_step[graph.newer]
    table = pl.DataFrame({"newer": graph.newer, "older": graph.older, "step": steps})
    path = f"{place.folder}/labelled.parquet"
    table.write_parquet(path, compression="uncompressed")
    place.session.read.parquet(path).createOrReplaceTempView("edges")
    for job in jobs:
        with bench.measuring(job, "Spark SQL") as answer:
            answer.append(sum(row.n for row in place.session.sql(SQL[job]).collect()))


if __name__ == "__main__":
    main()
