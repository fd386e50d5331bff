"""What was measured of Spark, as tables with targets: benchmarks/SPARK.md."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.graphs import Graph
    from benchmarks.spark import Bench
    from benchmarks.spark_large import Large
    from benchmarks.spark_study import Took

PLACE = Path(__file__).parent / "SPARK.md"
JOBS = {
    "degree reach": ("degree reach R[t, d]", 1 / 4),
    "triangles": ("triangles at every step", 1 / 6),
    "components": ("components at every step, against one round of one step in SQL", 1 / 10),
    "projection": ("first 20 links only", 1 / 6),
}
TITLES = ("Tallies", "Plain SQL", "Plain SQL, on a part", "GraphX", "A study", "A larger graph")
FLAT, HUB, DRIVER = 1.5, 2.0, 1.0


def write_tables(bench: Bench, study: list[Took] | None, graph: Graph, part: Graph) -> None:
    """Write what there is of tallies and of a study."""
    found, measured = {}, {who for _, who, *_ in bench.lines}
    if "late hub" in measured:
        found["Tallies"] = _tallies(bench, graph)
    if "Spark SQL" in measured:
        whole = part is graph
        found["Plain SQL" if whole else "Plain SQL, on a part"] = _sql(bench, part, whole)
    if "GraphX" in measured:
        found["GraphX"] = _graphx(bench, graph)
    if study is not None:
        found["A study"] = _study(study, graph)
    _write(found)


def write_large(bench: Bench, large: Large) -> None:
    """Write what a graph larger than B took."""
    _write({"A larger graph": _large(bench, large)})


def _write(found: dict[str, str]) -> None:
    """Write some parts of the page; what was not measured stays as it was."""
    known = (sections(PLACE.read_text()) if PLACE.exists() else {}) | found
    head = "# The Spark engine, measured\n\nWritten by `python benchmarks/spark.py`. "
    head += "Processor seconds of all processes together; the better of two runs.\n"
    ordered = [(name, known[name].rstrip() + "\n") for name in TITLES if name in known]
    text = "\n".join([head, *(f"## {name}\n\n{body}" for name, body in ordered)])
    PLACE.write_text(text)


def sections(text: str) -> dict[str, str]:
    """The parts of the page by their titles."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n\n")[0]: part.partition("\n\n")[2] for part in parts}


def _size(graph: Graph | Large) -> str:
    return f"{graph.nodes:,} people, {graph.edges:,} links, {graph.steps} steps.\n\n"


def _tallies(bench: Bench, graph: Graph) -> str:
    lines = [
        (
            "| | Spark engine | local engine | 8 times the steps (at most 1.5 ×) | a late hub of "
            "200,000 links (at most 2 ×) |"
        ),
        "|---|--:|--:|--:|--:|",
    ]
    for job, (said, _) in JOBS.items():
        own = bench.best(job, "B")
        local = bench.best(job, "B, local engine")
        many, hub = (bench.best(job, who) / own for who in ("8 times the steps", "late hub"))
        lines.append(
            f"| {said.partition(', against')[0]} | {own:.1f} s | {local:.1f} s "
            f"| {_met(many, FLAT)} | {_met(hub, HUB)} |"
        )
    worker = f"\nThe largest Python worker had {bench.peaks.worker:.2f} GB.\n"
    return _size(graph) + "\n".join(lines) + "\n" + worker


def _sql(bench: Bench, part: Graph, whole: bool) -> str:
    who, measured = "B" if whole else "part", {job for job, *_ in bench.lines}
    lines = ["| | Spark engine | plain SQL | | target |", "|---|--:|--:|--:|--:|"]
    for job, (said, target) in JOBS.items():
        if job not in measured:
            continue
        own, plain = bench.best(job, who), bench.best(job, "Spark SQL")
        lines.append(
            f"| {said} | {own:.1f} s | {plain:.1f} s | 1/{plain / own:.1f} | "
            f"1/{1 / target:.0f}, {'met' if own / plain <= target else 'missed'} |"
        )
    return _size(part) + "\n".join(lines) + "\n"


def _graphx(bench: Bench, graph: Graph) -> str:
    lines = [
        "| | Spark engine, every step | GraphX, the last step alone | |",
        "|---|--:|--:|--:|",
        f"| loading a list of edges | – | {bench.best('loading', 'GraphX'):.1f} s | – |",
    ]
    for job in ("components", "triangles"):
        own, other = bench.best(job, "B"), bench.best(job, "GraphX")
        lines.append(f"| {job} | {own:.1f} s | {other:.1f} s | 1/{other / own:.1f} |")
    return _size(graph) + "\n".join(lines) + "\n\nJava had 8 GB for both.\n"


def _large(bench: Bench, large: Large) -> str:
    lines = ["| | Spark engine | local engine |", "|---|--:|--:|"]
    for job in ("intake", *JOBS):
        said = JOBS[job][0].partition(", against")[0] if job in JOBS else "reading and intake"
        own, local = (bench.best(job, who) for who in ("large", "large, local engine"))
        lines.append(f"| {said} | {own:.0f} s | {local:.1f} s |")
    peaks = large.peaks
    memory = (
        f"\nEach was run once, in {large.colours} colours. The command had {peaks.driver:.2f} GB "
        f"at most (1 GB allowed: {'met' if peaks.driver <= DRIVER else 'missed'}), Java "
        f"{peaks.java:.2f} GB with a heap of 1 GB, the largest Python worker "
        f"{peaks.worker:.2f} GB. All integers agree.\n"
    )
    return _size(large) + "\n".join(lines) + "\n" + memory


def _met(found: float, most: float) -> str:
    if math.isnan(found):
        return "–"
    return f"{found:.2f} ×, {'met' if found <= most else 'missed'}"


def _study(took: list[Took], graph: Graph) -> str:
    lines = [
        (
            "| command | by the clock | processors | peak of the command (at most 1 GB) | Java | "
            "largest worker |"
        ),
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {each.command} | {each.wall:.0f} s | {each.cpu:.0f} s | {each.peaks.driver:.2f} GB, "
        f"{'met' if each.peaks.driver <= DRIVER else 'missed'} | {each.peaks.java:.2f} GB "
        f"| {each.peaks.worker:.2f} GB |"
        for each in took
    ]
    return _size(graph) + "\n".join(lines) + "\n"
