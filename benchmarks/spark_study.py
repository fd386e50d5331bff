"""One more step of a study whose records stay with Spark, by commands of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

import polars as pl

from benchmarks.processes import Peaks, family

if TYPE_CHECKING:
    from benchmarks.graphs import Graph

PROGRAM = "from graphveil.cli import main; main()"


@dataclass(frozen=True)
class Took:
    """What a command took: seconds, processor seconds of all its processes, and memory.

    Attributes:
        command: in words.
        wall: by the clock.
        cpu: of the command, of Java and of all workers.
        peaks: of the command itself, of Java (driver and executor in one here), of a worker.
    """

    command: str
    wall: float
    cpu: float
    peaks: Peaks


def one_more_step(graph: Graph, cores: int) -> list[Took]:
    """All steps but the last at once, and then the last, each by one `add` and one `publish`."""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        create(home / "study", graph)
        found, steps = [], graph.steps
        for first, last in ((0, steps - 1), (steps - 1, steps)):
            tables = written(graph, home, first, last)
            said = f"steps {first + 1} to {last}" if last - first > 1 else f"step {last}"
            found.append(run(f"add, {said}", home, ["add", "study", *tables], cores))
            found.append(run(f"publish, {said}", home, published(last), cores))
        return found


def published(last: int) -> list[str]:
    return ["publish", "study", "--through", str(last), "--early", "--no-report"]


def create(root: Path, graph: Graph) -> None:
    """A study of one step for every step of the graph."""
    from graphveil.study import Promise, StoredStudy

    names = ("edges", "high-degree", "triangles", "components")
    parameters: dict[str, dict[str, Any]] = {"high-degree": {"tau": 5}}
    promise = Promise.from_data(
        {
            "title": "B", "population": "nodes that a recipe has grown", "publisher": "nobody",
            "bound": {"degree": 20_000, "justification": "more than the recipe makes"},
            "calendar": {"every": 1, "unit": "number", "first": 1, "last": graph.steps},
            "budget": {"epsilon": "1", "justification": "a benchmark"},
            "series": [
                {"name": name, "statistic": name, "epsilon": "1/4",
                 "parameters": parameters.get(name, {})}
                for name in names
            ],
        }
    )  # fmt: skip
    StoredStudy.create(root, promise)


def written(graph: Graph, home: Path, first: int, last: int) -> list[str]:
    """The tables of some steps, from which Spark reads them."""
    nodes = (graph.node_step >= first) & (graph.node_step < last)
    steps = graph.node_step[graph.newer]
    edges = (steps >= first) & (steps < last)
    names = [home / f"people-{last}.parquet", home / f"links-{last}.parquet"]
    people = {"node": graph.ids[nodes], "time": graph.node_step[nodes] + 1}
    links = {"source": graph.ids[graph.newer[edges]], "target": graph.ids[graph.older[edges]]}
    for path, columns in zip(names, (people, links), strict=True):
        pl.DataFrame(columns).cast(pl.Int64).write_parquet(path)
    return [str(path) for path in names]


def run(said: str, home: Path, command: list[str], cores: int) -> Took:
    """Run a command on Spark, and look at its processes until it ends."""
    spark = ["--engine", "spark", "--master", f"local[{cores}]"]
    began, ended = perf_counter(), Event()
    environment = {**os.environ, "GRAPHVEIL_STATE": str(home / "machine")}
    started = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *command, *spark],
        cwd=home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    cpu: dict[int, float] = {}
    seen = [Peaks()]

    def look() -> None:
        while not ended.wait(0.5):
            found = family(started.pid)
            cpu.update((each.pid, each.seconds) for each in found)
            seen[0] = seen[0].seen(found, started.pid)

    watching = Thread(target=look)
    watching.start()
    output = started.communicate()[0].decode()
    ended.set()
    watching.join()
    if started.returncode:
        raise SystemExit(output)
    took = Took(said, perf_counter() - began, sum(cpu.values()), seen[0])
    print(took, flush=True)
    return took
