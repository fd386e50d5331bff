"""One more step of a large study: ``python benchmarks/study_step.py``.

Sixteen million edges are sealed; then half a million more are added and published by the
commands that a steward types, each in a process of its own. Writes `STUDY.md`.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere

STEPS = 33  # of graph B, so that a step has half a million edges
SERIES = ("nodes", "edges", "components", "triangles", "high-degree:tau=20")
MOST_SECONDS, MOST_GIGABYTES = 10, 4
RUNS = 4
# The child tells its own peak: that of `getrusage` would include this process before the exec.
RUN = """
import sys
from pathlib import Path
from graphveil.cli import main
try:
    main()
finally:
    status = Path("/proc/self/status").read_text()
    print(next(line for line in status.splitlines() if line.startswith("VmHWM")), file=sys.stderr)
"""


TEXT = """\
# One more step of a large study

{past:,} edges are sealed; {last:,} more come as CSV, and the next step of {series} series is
published. Each command is a process of its own, so about a second of each is starting Python and
its libraries. The best of {runs} runs, the worst in brackets. Written by
`python benchmarks/study_step.py`.

| | time | peak memory |
|---|---|---|
{rows}

{date}; {cores} cores; {system}; load before the run {load:.1f}.
"""


@dataclass(frozen=True)
class Lap:
    """What one command took."""

    command: str
    seconds: float
    gigabytes: float


def graphveil(*arguments: str) -> Lap:
    """Run a command in a fresh process."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *arguments], capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - start
    if done.returncode:
        sys.exit(done.stderr)
    peak = next(line for line in done.stderr.splitlines() if line.startswith("VmHWM"))
    return Lap(arguments[0], seconds, int(peak.split()[1]) * 1024 / 1e9)


def written(folder: Path) -> dict[str, tuple[int, list[str]]]:
    """The first steps and the last one of graph B, as pairs of files; and their edges."""
    import polars as pl

    from benchmarks import graphs

    graph = graphs.with_steps(graphs.grow("B", graphs.RECIPES["B"]), STEPS)
    nodes = pl.DataFrame({"node": graph.ids, "time": graph.node_step + 1})
    ends = {"source": graph.ids[graph.newer], "target": graph.ids[graph.older]}
    edges = pl.DataFrame(ends).with_columns(pl.Series("step", graph.node_step[graph.newer] + 1))
    last = {"past": False, "last": True}
    found = {}
    for name, wanted in last.items():
        tables = {
            "nodes": nodes.filter((pl.col("time") == STEPS) == wanted),
            "edges": edges.filter((pl.col("step") == STEPS) == wanted).drop("step"),
        }
        for kind, table in tables.items():
            table.write_csv(folder / f"{name}-{kind}.csv")
        paths = [str(folder / f"{name}-{kind}.csv") for kind in tables]
        found[name] = len(tables["edges"]), paths
    return found


def measured(folder: Path) -> tuple[list[list[Lap]], int, int]:
    """Seal the past, then measure the last step, several times from the same state."""
    files = written(folder)
    study, again = folder / "study", folder / "again"
    reasons = ["--bound-reason", "a benchmark", "--epsilon-reason", "a benchmark"]
    about = ["--title", "Graph B", "--population", "nobody", "--publisher", "a benchmark"]
    series = [word for each in SERIES for word in ("--series", each)]
    steps = ["--every", "1", "--first", "1", "--last", "40"]
    promise = [*about, *reasons, *steps, "--bound", "3000", "--epsilon", "1", *series]
    # What the machine remembers lies in the study, so that it goes back with it, too.
    os.environ["GRAPHVEIL_STATE"] = str(study / "machine")
    graphveil("new", str(study), *promise)
    print(graphveil("add", str(study), *files["past"][1]), flush=True)
    print(graphveil("publish", str(study), "--through", str(STEPS - 1)), flush=True)
    runs = []
    for _ in range(RUNS):
        shutil.copytree(study, again)
        os.environ["GRAPHVEIL_STATE"] = str(again / "machine")
        add = graphveil("add", str(again), *files["last"][1])
        publish = graphveil("publish", str(again), "--no-report")
        runs.append([add, publish, graphveil("report", str(again))])
        shutil.rmtree(again)
    return runs, files["past"][0], files["last"][0]


def markdown(runs: Sequence[Sequence[Lap]], past: int, last: int, load: float) -> str:
    """The table for people: the best run of each, and the worst in brackets."""
    add, publish, report = zip(*runs, strict=True)
    rows = {
        "`graphveil add`": [add],
        "`graphveil publish --no-report`": [publish],
        "`graphveil report`: page, charts, card": [report],
        f"adding and publishing (target: {MOST_SECONDS} s, {MOST_GIGABYTES} GB)": [add, publish],
    }
    lines = [_line(name, laps) for name, laps in rows.items()]
    return TEXT.format(
        past=past,
        last=last,
        series=len(SERIES),
        runs=RUNS,
        rows="\n".join(lines),
        cores=os.cpu_count(),
        system=f"{platform.system()}, Python {platform.python_version()}",
        load=load,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
    )


def _line(name: str, laps: Sequence[Sequence[Lap]]) -> str:
    times = [sum(lap.seconds for lap in run) for run in zip(*laps, strict=True)]
    most = max(lap.gigabytes for command in laps for lap in command)
    return f"| {name} | {min(times):.1f} s ({max(times):.1f}) | {most:.2f} GB |"


def main() -> None:
    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="graphveil-study-"))
    try:
        runs, past, last = measured(folder)
    finally:
        shutil.rmtree(folder)
    from benchmarks import study_steps

    text = markdown(runs, past, last, load)
    kept = study_steps.section()  # of the same page, which the other benchmark writes
    study_steps.PAGE.write_text(f"{text}\n{kept}" if kept else text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
