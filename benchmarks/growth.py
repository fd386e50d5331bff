"""How time and memory grow with the graph: ``python benchmarks/growth.py``.

Graphs of 1, 4, 16 and 64 million edges, grown as graph B is, are read from CSV, counted tally by
tally, and extended by their last step, each in a process of its own. Seconds of the processor and
of the clock, per edge. Writes `GROWTH.md`, `growth.json` and the picture of docs/growth.md.
`--most 160` goes on to 160 million edges, which wants 12 GB.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchmarks.graphs import Graph

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT))  # so that `benchmarks` can be imported from anywhere

MILLION = 10**6
SIZES = (1, 4, 16, 64, 160)  # million edges
THREADS = 2
MOST_GROWTH, MOST_BYTES = 1.3, 30.0  # per edge, from the first size to the one of 64 million
MEASURED = "reading CSV", "degrees", "triangles", "components", "clusters", "one more step"
PER_BYTE, FLOOR = "reading CSV, per byte", "floor: one visit per edge"
INFORMING = PER_BYTE, FLOOR  # without a target of their own
TALLIES = {"degrees": "degree-histogram", "triangles": "triangles"}
TALLIES |= {"components": "components", "clusters": "clusters"}
TEXT = """\
# How time and memory grow

Graphs grown as graph B is, read from CSV and counted on two threads; nanoseconds of the processor
per edge (one more step: per new edge), and bytes per edge, each size in a process of its own, the
best of {laps}. Written by `python benchmarks/growth.py`. The picture is in
[docs/growth.md](../docs/growth.md).

| | {heads} | growth from {first} to {last} million | at most | met |
|---|{rules}--:|--:|---|
{rows}

Load before the run: {load:.1f}. The first graph lies in the processor's cache, and the last does
not: a loop that does nothing but visit a counter per edge grows as the floor says, and no algorithm
that visits one older end per edge grows less. Ids of larger graphs have more digits, so that
reading grows less per byte than per edge.
"""


def grown(millions: int) -> Graph:
    """A graph of so many million edges, of the same kind as B."""
    from dataclasses import replace

    from benchmarks import graphs

    whole = graphs.RECIPES["B"]
    edges = millions * MILLION
    recipe = replace(whole, edges=edges, nodes=whole.nodes * edges // whole.edges)
    return graphs.grow(f"{millions} million", recipe)


def resident(field: str = "VmRSS") -> float:
    """Bytes of this process."""
    from benchmarks.fresh_process import gigabytes

    return gigabytes(field) * 1e9


def timed(job: Callable[[], Any], laps: int) -> dict[str, float]:
    """Seconds of the processor and of the clock, of the best lap."""
    found = []
    for _ in range(laps):
        start, clock = process_time(), perf_counter()
        job()
        found.append((process_time() - start, perf_counter() - clock))
    return {"processor": min(each[0] for each in found), "clock": min(each[1] for each in found)}


def prepare(millions: int) -> None:
    """Write the files of one graph, in a process whose memory is not measured."""
    from benchmarks import graphs

    graph = grown(millions)
    pair = graphs.files(graph, "csv")
    about = {"nodes": str(pair.nodes), "edges": str(pair.edges)}
    print(json.dumps(about | {"count": graph.edges, "last": _last_step(graph, pair.nodes.parent)}))


def _last_step(graph: Graph, folder: Path) -> dict[str, Any]:
    """The graph without its last step, and the last step, as two more pairs of files."""
    import polars as pl

    nodes, edges = int(graph.node_ends()[-2]), int(graph.edge_ends()[-2])
    parts: dict[str, Any] = {"edges": graph.edges - edges}
    for name, people, links in (
        ("head", slice(None, nodes), slice(None, edges)),
        ("tail", slice(nodes, None), slice(edges, None)),
    ):
        paths = [folder / f"{name}-{kind}.parquet" for kind in ("nodes", "edges")]
        pl.DataFrame({"node": graph.ids[people], "time": graph.node_step[people] + 1}).cast(
            pl.Int64
        ).write_parquet(paths[0])
        newer, older = graph.ids[graph.newer[links]], graph.ids[graph.older[links]]
        pl.DataFrame({"source": newer, "target": older}).cast(pl.Int64).write_parquet(paths[1])
        parts[name] = [str(path) for path in paths]
    return parts


def measure(about: dict[str, Any], laps: int) -> dict[str, Any]:
    """Everything about one graph, in a process of its own."""
    import numpy as np

    from benchmarks import ours
    from benchmarks.graphs import Pair
    from benchmarks.parts import visit_once
    from graphveil import statistic

    pair = Pair(Path(about["nodes"]), Path(about["edges"]))
    _warm()
    gc.collect()
    empty = resident()
    found: dict[str, Any] = {"edges": about["count"]}
    held: list[Any] = []

    def read() -> None:
        held.clear()
        held.append(ours.read(pair))

    found["reading CSV"] = timed(read, laps)
    size = pair.nodes.stat().st_size + pair.edges.stat().st_size
    found[PER_BYTE] = found["reading CSV"] | {"edges": size}
    found["peak"] = (resident("VmHWM") - empty) / about["count"]
    gc.collect()
    found["rest"] = (resident() - empty) / about["count"]
    for name, each in TALLIES.items():
        counted = statistic(each)
        found[name] = timed(lambda counted=counted: ours.count(held[0], [counted], THREADS), laps)  # type: ignore[misc]
    counters = np.zeros(held[0].nodes, np.int32)
    found[FLOOR] = timed(lambda: visit_once(held[0].entries, counters), laps)
    held.clear()
    gc.collect()
    found["one more step"] = _one_more(about["last"])
    return found


def _one_more(last: dict[str, Any]) -> dict[str, float]:
    from benchmarks import ours
    from benchmarks.graphs import Pair
    from graphveil import read_pair

    before = ours.read(Pair(*map(Path, last["head"])))
    counted = ours.count(before, ours.EVERYTHING, THREADS)
    nodes, edges = map(Path, last["tail"])
    batch = read_pair(nodes, edges)

    def step() -> None:
        ours.count(before.extend(batch).sequence, ours.EVERYTHING, THREADS, after=counted)

    return timed(step, 1) | {"edges": last["edges"]}


def _warm() -> None:
    """Load the kernels, so that no lap does."""
    import tempfile

    import numpy as np

    from benchmarks import graphs, ours
    from benchmarks.graphs import Pair
    from benchmarks.parts import visit_once
    from graphveil import statistic

    small = graphs.grow("A", graphs.RECIPES["A"].shrunk(2))
    with tempfile.TemporaryDirectory() as folder:
        pair = Pair(Path(folder) / "nodes.csv", Path(folder) / "edges.csv")
        graphs._write(graphs._frames(small), (pair.nodes, pair.edges))
        sequence = ours.read(pair)
    ours.count(sequence, [*ours.EVERYTHING, *map(statistic, TALLIES.values())], THREADS)
    visit_once(sequence.entries, np.zeros(sequence.nodes, np.int32))


def child(*arguments: str) -> Any:
    """What this program says in a process of its own."""
    asked = [sys.executable, __file__, *arguments]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def per_edge(found: dict[str, Any], name: str) -> float:
    """Nanoseconds of the processor per edge, or bytes."""
    if name in ("rest", "peak"):
        return float(found[name])
    taken = found[name]
    return float(taken["processor"] / taken.get("edges", found["edges"]) * 1e9)


def table(measured: dict[int, dict[str, Any]], load: float, laps: int) -> str:
    """The page."""
    sizes = list(measured)
    last = max(size for size in sizes if size <= 64)
    rows = []
    for name in (*MEASURED, *INFORMING, "rest", "peak"):
        values = [per_edge(measured[size], name) for size in sizes]
        if name in ("rest", "peak"):
            growth, most = values[sizes.index(last)], MOST_BYTES if name == "rest" else None
            label = {"rest": "bytes at rest", "peak": "bytes at the peak of reading"}[name]
            shown, unit = f"{growth:.0f} bytes", " bytes"
        else:
            growth = values[sizes.index(last)] / values[0]
            most = None if name in INFORMING else MOST_GROWTH
            label, shown, unit = f"{name}, ns", f"{growth:.2f} ×", " ×"
        met = "–" if most is None else "yes" if growth <= most else "**no**"
        said = "–" if most is None else f"{most:g}{unit}"
        cells = [label, *(f"{value:.1f}" for value in values), shown, said, met]
        rows.append(f"| {' | '.join(cells)} |")
    return TEXT.format(
        laps=f"{laps} laps" if laps > 1 else "one lap",
        heads=" | ".join(f"{size} million" for size in sizes),
        rules="--:|" * len(sizes),
        first=sizes[0],
        last=last,
        rows="\n".join(rows),
        load=load,
    )


def picture(measured: dict[int, dict[str, Any]]) -> bytes:
    """Time and memory per edge, against the number of edges."""
    from graphveil.drawing.plots import Axis, Figure, Panel, even_ticks, round_ticks, with_air

    sizes = tuple(float(size) for size in measured)
    edges = Axis(sizes[0], sizes[-1], sizes, "million edges")
    times = _curves(measured, {name: name for name in MEASURED})
    memory = _curves(measured, {"rest": "at rest", "peak": "at the peak of reading"})
    low, high = with_air([value for curve in times for _, value in curve.points])
    spent = Axis(low, high, round_ticks(low, high), "nanoseconds", lines=True)
    most = even_ticks(max(value for curve in memory for _, value in curve.points))
    room = Axis(0, most[-1], most, "bytes", linear=True, lines=True)
    panels = (
        Panel(270, 220, edges, spent, times, "Processor time per edge", named=True),
        Panel(270, 220, edges, room, memory, "Memory per edge", named=True),
    )
    head = ("Time and memory per edge",)
    return Figure(head, (panels,)).drawing("Time and memory per edge").content(".svg")


def _curves(measured: dict[int, dict[str, Any]], names: dict[str, str]) -> tuple[Any, ...]:
    from graphveil.drawing.plots import COLOURS, Curve

    return tuple(
        Curve(
            said,
            tuple((float(size), per_edge(found, name)) for size, found in measured.items()),
            COLOURS[place % len(COLOURS)],
            mark="circle",
        )
        for place, (name, said) in enumerate(names.items())
    )


def arguments() -> argparse.Namespace:
    """What the user asked for."""
    parser = argparse.ArgumentParser(description="Measure how time and memory grow.")
    parser.add_argument("--most", type=int, default=64, help="million edges (default: 64)")
    parser.add_argument("--laps", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the files of the graphs")
    parser.add_argument("--prepare", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parser.parse_args()


def run(sizes: Sequence[int], laps: int, *, keep: bool) -> dict[int, dict[str, Any]]:
    """Measure each size in turn, one at a time."""
    measured = {}
    for size in sizes:
        start = perf_counter()
        about = child("--prepare", str(size))
        again = laps if size < 64 else 1
        measured[size] = child("--measure", json.dumps(about), "--laps", str(again))
        if not keep:
            shutil.rmtree(Path(about["nodes"]).parent)
        shown = "  ".join(f"{name} {per_edge(measured[size], name):.1f}" for name in MEASURED)
        print(f"{perf_counter() - start:4.0f} s  {size} million: {shown}", flush=True)
    return measured


def main() -> None:
    asked = arguments()
    if asked.prepare:
        prepare(asked.prepare)
    elif asked.measure:
        print(json.dumps(measure(json.loads(asked.measure), asked.laps)))
    else:
        load = os.getloadavg()[0]
        sizes = [size for size in SIZES if size <= asked.most]
        measured = run(sizes, asked.laps, keep=asked.keep)
        page = table(measured, load, asked.laps)
        print(page)
        if asked.most < 64:
            return  # a quick check leaves the page as it was
        (HERE / "GROWTH.md").write_text(page, encoding="utf-8")
        text = json.dumps(measured, indent=2)
        (HERE / "growth.json").write_text(text + "\n", encoding="utf-8")
        (ROOT / "docs/images/growth.svg").write_bytes(picture(measured))


if __name__ == "__main__":
    main()
