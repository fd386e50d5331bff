"""The Spark engine against the local one and against plain Spark SQL: `python benchmarks/spark.py`.

Everybody begins with labelled edges on disk. Seconds are those of the clock and, since machines
are seldom idle, of all processors together: of Java, of its Python workers and of this process.
Plain SQL runs on a part of B only (`--part`), and is compared with our engine on the same part.
A study is added to and published by commands of their own, whose memory is looked at meanwhile.
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
from typing import TYPE_CHECKING, Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere

if TYPE_CHECKING:
    from benchmarks.graphs import Graph

CAP = 20  # links that count, in the projection
SEEN: dict[str, float] = {}  # processor seconds by process
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Bench:
    """What is measured, line by line."""

    lines: list[tuple[str, str, float, float, object]] = field(default_factory=list)
    peak: float = 0

    @contextmanager
    def measuring(self, job: str, who: str) -> Iterator[list[Any]]:
        """Note what the block takes; it puts its answer into the list."""
        answer: list[Any] = []
        wall, cpu = perf_counter(), processors()
        yield answer
        took = perf_counter() - wall, processors() - cpu
        self.lines.append((job, who, *took, answer[0] if answer else None))
        self.peak = max(self.peak, largest_worker())
        told = f"{job} | {who} | {took[0]:.1f} s | {took[1]:.1f} s CPU | {self.lines[-1][4]}"
        print(f"{told} | largest Python worker so far {self.peak:.2f} GB", flush=True)

    def best(self, job: str, who: str) -> float:
        """The least processor seconds of a job; kernels are loaded in the first run."""
        return min((x[3] for x in self.lines if x[:2] == (job, who)), default=float("nan"))


def family() -> list[Path]:
    """This process and everything that it started, as folders of /proc."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    known = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in known} - known:
        known |= more
    return [Path("/proc") / str(each) for each in known]


def processors() -> float:
    """Processor seconds of the family so far; whoever has ended counts as when last seen."""
    for each in family():
        try:
            own = (each / "stat").read_text().rpartition(")")[2].split()[11:13]
        except OSError:
            continue
        SEEN[each.name] = sum(map(int, own)) / TICKS
    return sum(SEEN.values())


def largest_worker() -> float:
    """The peak of memory of a Python worker that is still there, in gigabytes."""
    return max((_memory(each) for each in family() if _is_worker(each)), default=0)


def _is_worker(process: Path) -> bool:
    try:
        return b"pyspark" in (process / "cmdline").read_bytes() and process.name != str(os.getpid())
    except OSError:
        return False


def _memory(process: Path) -> float:
    try:
        status = (process / "status").read_text()
        if "java" in status.splitlines()[0]:
            return 0
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e9
    except (OSError, IndexError, ValueError):
        return 0


SQL: dict[str, str] = {
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
    "components": """
        select sum(least) n from (
            select node, min(other) least from (
                select newer node, older other from edges union all
                select older node, newer other from edges) group by node)""",
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the Spark engine.")
    parser.add_argument("--shrink", type=int, default=1, help="B divided by this")
    parser.add_argument("--part", type=int, default=4, help="for plain SQL, divided by this again")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--only", choices=("tallies", "study"), help="half of the work")
    return parser.parse_args()


def main() -> None:
    from benchmarks.graphs import RECIPES, grow
    from benchmarks.spark_study import one_more_step
    from benchmarks.spark_tables import write_tables

    asked = arguments()
    graph = grow("B", RECIPES["B"].shrunk(asked.shrink))
    part = grow("B in part", RECIPES["B"].shrunk(asked.shrink * asked.part))
    print(f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.steps} steps", flush=True)
    bench, study = Bench(), None
    if asked.only != "tallies":
        study = one_more_step(graph, asked.cores)
    if asked.only != "study":
        tallies(bench, graph, part, asked.cores)
    write_tables(bench, study, graph, part)


def tallies(bench: Bench, graph: Graph, part: Graph, cores: int) -> None:
    """Every tally on all of B, with a late hub, in many steps; and beside plain SQL on a part."""
    from benchmarks.graphs import with_late_hub, with_steps
    from graphveil.engines.spark import opened

    with tempfile.TemporaryDirectory() as folder:
        settings = {"spark.driver.memory": "1g", "spark.graphveil.workspace": folder}
        session = opened(f"local[{cores}]", settings)
        ours(bench, session, graph, folder, "B")
        ours(bench, session, with_late_hub(graph), folder, "late hub", ("triangles",))
        ours(bench, session, with_steps(graph, 8 * graph.steps), folder, "8 times the steps")
        ours(bench, session, part, folder, "part")
        sql(bench, session, part, Path(folder))
        session.stop()


JOBS = ("degree reach", "triangles", "components", "projection")


def ours(
    bench: Bench, session: Any, graph: Graph, folder: str, name: str, jobs: tuple[str, ...] = JOBS
) -> None:
    """Every tally twice on Spark (kernels are loaded once), and once here; answers must agree."""
    from benchmarks.ours import build, records_of
    from graphveil.engines import LocalEngine
    from graphveil.engines.spark import SparkCluster, SparkEngine
    from graphveil.engines.spark.handing_over import handed_over
    from graphveil.engines.spark.sizes import colours_for
    from graphveil.engines.spark.workspace import Workspace
    from graphveil.graph.promises.bound import DegreeBound
    from graphveil.graph.promises.hub_bound import HubBound
    from graphveil.statistics.statistic import statistic

    sequence = build(records_of(graph))
    cluster, local = SparkCluster(session), LocalEngine(2)
    spark = SparkEngine(cluster)
    colours = colours_for(graph.edges, cluster.task_bytes)
    there = handed_over(sequence, Workspace.within(folder), colours)
    bound, edges = HubBound(DegreeBound(CAP), (1,)), statistic("edges")
    members = {
        "degree reach": statistic("high-degree", tau=5),
        "triangles": statistic("triangles"),
        "components": statistic("components"),
    }

    def on_spark(job: str) -> Any:
        if job == "projection":
            return spark.counted_part(there, bound).edges.cumsum()
        return spark.count(there, [members[job]]).totals(members[job])

    def here(job: str) -> Any:
        if job == "projection":
            return local.count(local.counted_part(sequence, bound), [edges]).totals(edges)
        return local.count(sequence, [members[job]]).totals(members[job])

    for job in jobs:
        answers = set()
        for who, count in ((name, on_spark), (name, on_spark), (f"{name}, local engine", here)):
            with bench.measuring(job, who) as answer:
                answer.append(int(count(job)[-1]))
            answers.add(answer[0])
        assert len(answers) == 1, job


def sql(bench: Bench, session: Any, graph: Graph, folder: Path) -> None:
    """The same by queries as one would write them, on a table of labelled edges."""
    import polars as pl

    steps = graph.node_step[graph.newer]
    table = pl.DataFrame({"newer": graph.newer, "older": graph.older, "step": steps})
    table.write_parquet(folder / "labelled.parquet", compression="uncompressed")
    session.read.parquet(str(folder / "labelled.parquet")).createOrReplaceTempView("edges")
    for job, query in SQL.items():
        with bench.measuring(job, "Spark SQL") as answer:
            answer.append(sum(row.n for row in session.sql(query).collect()))


if __name__ == "__main__":
    main()
