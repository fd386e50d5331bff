"""One more step of a study, large or small: ``python benchmarks/study_step.py``.

Sixteen million edges are sealed, or one million of them; then the same half a million more are
added and published by the commands that a steward types, each in a process of its own. Writes
`STUDY.md`.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere

STEPS = 33  # of graph B, so that a step has half a million edges
SERIES = ("nodes", "edges", "components", "triangles", "high-degree:tau=20")
SMALL = 1_000_000  # edges of the small past
MOST_SECONDS, MOST_GIGABYTES, MOST_TIMES = 3.5, 0.4, 1.3
RUNS = 4
RUN = "from graphveil.cli import main; main()"


TEXT = """\
# One more step of a study, large or small

{large:,} edges are sealed, or {small:,} of them; the same {last:,} more come as CSV, and the next
step of {series} series is published. Each command is a process of its own, so about a second of
each is starting Python and its libraries. Seconds of processor time of all threads, the best of
{runs} runs, and on the clock in brackets; memory is a process's own at its peak, without files
that it maps. Written by `python benchmarks/study_step.py`.

| | {large:,} edges sealed | memory | {small:,} edges sealed | memory | times |
|---|---|---|---|---|---|
{rows}

Targets: adding and publishing on the large one within {seconds} s, {gigabytes} GB and {times} times
the small one. {date}; {cores} cores; {system}; load before the run {load:.1f}.
"""


@dataclass(frozen=True)
class Lap:
    """What one command took: on the clock, of processors, and at most of memory of its own."""

    command: str
    seconds: float
    work: float
    gigabytes: float


def graphveil(*arguments: str) -> Lap:
    """Run a command in a fresh process."""
    start, before = perf_counter(), _work()
    with tempfile.TemporaryFile() as said:
        command = [sys.executable, "-c", RUN, *arguments]
        running = subprocess.Popen(command, stdout=said, stderr=said)
        most = 0.0
        while running.poll() is None:
            most = max(most, _own_memory(running.pid))
            sleep(0.005)
        if running.returncode:
            said.seek(0)
            sys.exit(said.read().decode())
    return Lap(arguments[0], perf_counter() - start, _work() - before, most)


def _work() -> float:
    """Seconds of processors that children have used so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _own_memory(process: int) -> float:
    """Gigabytes that a process has for itself, without the files that it maps."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it is gone
        return 0.0
    own = [line.split()[1] for line in lines if line.startswith("RssAnon")]
    return int(own[0]) * 1024 / 1e9 if own else 0.0


@dataclass(frozen=True)
class Tables:
    """Nodes and edges in files."""

    paths: tuple[str, str]
    edges: int


def written(folder: Path) -> dict[str, Tables]:
    """The first steps of graph B, a part of them, and the last step, in files."""
    import polars as pl

    from benchmarks import graphs

    graph = graphs.with_steps(graphs.grow("B", graphs.RECIPES["B"]), STEPS)
    nodes = pl.DataFrame({"node": graph.ids, "time": graph.node_step + 1})
    ends = {"source": graph.ids[graph.newer], "target": graph.ids[graph.older]}
    edges = pl.DataFrame(ends).with_columns(pl.Series("step", graph.node_step[graph.newer] + 1))
    past, newest = edges.filter(pl.col("step") < STEPS), edges.filter(pl.col("step") == STEPS)
    older = nodes.filter(pl.col("time") < STEPS)
    met = newest.select(node="target").unique()
    among = past.join(met, left_on="source", right_on="node", how="semi").head(SMALL)
    there = pl.concat([met, among.select(node="source"), among.select(node="target")])
    parts = {
        "large": (older, past),
        "small": (older.join(there, on="node", how="semi"), among),
        "last": (nodes.filter(pl.col("time") == STEPS), newest),
    }
    return {name: _written(folder, name, *tables) for name, tables in parts.items()}


def _written(folder: Path, name: str, nodes: pl.DataFrame, edges: pl.DataFrame) -> Tables:
    paths = str(folder / f"{name}-nodes.csv"), str(folder / f"{name}-edges.csv")
    nodes.write_csv(paths[0])
    edges.drop("step").write_csv(paths[1])
    return Tables(paths, len(edges))


def sealed(study: Path, past: Tables) -> None:
    """A study in which the past is sealed."""
    reasons = ["--bound-reason", "a benchmark", "--epsilon-reason", "a benchmark"]
    about = ["--title", "Graph B", "--population", "nobody", "--publisher", "a benchmark"]
    series = [word for each in SERIES for word in ("--series", each)]
    steps = ["--every", "1", "--first", "1", "--last", "40"]
    promise = [*about, *reasons, *steps, "--bound", "3000", "--epsilon", "1", *series]
    os.environ["GRAPHVEIL_STATE"] = str(_memory(study))
    graphveil("new", str(study), *promise)
    print(graphveil("add", str(study), *past.paths), flush=True)
    print(graphveil("publish", str(study), "--through", str(STEPS - 1)), flush=True)


def one_more(study: Path, last: Tables) -> list[Lap]:
    """Add and publish the last step, in a copy of the study."""
    again = study.with_name("again")
    shutil.copytree(study, again)
    # So that the machine knows no later step; links, since it knows a copied memory for a copy.
    shutil.copytree(_memory(study), _memory(again), copy_function=os.link)
    os.environ["GRAPHVEIL_STATE"] = str(_memory(again))
    add = graphveil("add", str(again), *last.paths)
    publish = graphveil("publish", str(again), "--no-report")
    report = graphveil("report", str(again))
    shutil.rmtree(again)
    shutil.rmtree(_memory(again))
    return [add, publish, report]


def _memory(study: Path) -> Path:
    """What the machine remembers of a study, beside it."""
    return study.with_name(f"{study.name}-machine")


def measured(folder: Path) -> tuple[dict[str, list[list[Lap]]], dict[str, Tables]]:
    """The last step on both pasts in turn, several times from the same state."""
    files = written(folder)
    pasts = {name: folder / name for name in ("large", "small")}
    for name, study in pasts.items():
        sealed(study, files[name])
    runs: dict[str, list[list[Lap]]] = {name: [] for name in pasts}
    for _ in range(RUNS):
        for name, study in pasts.items():
            runs[name].append(one_more(study, files["last"]))
            print(name, runs[name][-1], flush=True)
    return runs, files


def markdown(runs: dict[str, list[list[Lap]]], files: dict[str, Tables], load: float) -> str:
    """The table for people."""
    rows = {
        "`graphveil add`": (0,),
        "`graphveil publish --no-report`": (1,),
        "`graphveil report`: page, charts, card": (2,),
        "adding and publishing": (0, 1),
    }
    return TEXT.format(
        large=files["large"].edges,
        small=files["small"].edges,
        last=files["last"].edges,
        series=len(SERIES),
        runs=RUNS,
        rows="\n".join(_line(name, runs, places) for name, places in rows.items()),
        seconds=MOST_SECONDS,
        gigabytes=MOST_GIGABYTES,
        times=MOST_TIMES,
        cores=os.cpu_count(),
        system=f"{platform.system()}, Python {platform.python_version()}",
        load=load,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _line(name: str, runs: dict[str, list[list[Lap]]], places: Sequence[int]) -> str:
    cells, best = [], {}
    for past in ("large", "small"):
        laps = [[run[place] for place in places] for run in runs[past]]
        best[past] = min(sum(lap.work for lap in run) for run in laps)
        clock = min(sum(lap.seconds for lap in run) for run in laps)
        most = max(lap.gigabytes for run in laps for lap in run)
        cells.append(f"{best[past]:.1f} s ({clock:.1f}) | {most:.2f} GB")
    return f"| {name} | {' | '.join(cells)} | {best['large'] / best['small']:.2f} |"


def main() -> None:
    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="graphveil-study-"))
    try:
        runs, files = measured(folder)
    finally:
        shutil.rmtree(folder)
    from benchmarks import study_steps

    text = markdown(runs, files, load)
    kept = study_steps.section()  # of the same page, which the other benchmark writes
    study_steps.PAGE.write_text(f"{text}\n{kept}" if kept else text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
