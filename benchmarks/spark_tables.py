"""What was measured of Spark, as tables with targets: benchmarks/SPARK.md."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.graphs import Graph
    from benchmarks.spark import Bench
    from benchmarks.spark_study import Took

PLACE = Path(__file__).parent / "SPARK.md"
JOBS = {
    "degree reach": ("degree reach R[t, d]", 1 / 4),
    "triangles": ("triangles at every step", 1 / 6),
    "components": ("components at every step, against one round of one step in SQL", 1 / 10),
    "projection": ("first 20 links only", 1 / 6),
}
FLAT, HUB, DRIVER = 1.5, 2.0, 1.0


def write_tables(bench: Bench, study: list[Took] | None, graph: Graph, part: Graph) -> None:
    """Write what there is; what was not measured stays as it was."""
    before = sections(PLACE.read_text()) if PLACE.exists() else {}
    if bench.lines:
        before |= {"Tallies": _tallies(bench, graph), "Plain SQL": _sql(bench, part)}
    if study is not None:
        before["A study"] = _study(study, graph)
    head = "# The Spark engine, measured\n\nWritten by `python benchmarks/spark.py`. "
    head += "Processor seconds of all processes together; the better of two runs.\n"
    text = "\n".join([head, *(f"## {name}\n\n{body}" for name, body in before.items())])
    PLACE.write_text(text)


def sections(text: str) -> dict[str, str]:
    """The parts of the page by their titles."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n\n")[0]: part.partition("\n\n")[2] for part in parts}


def _size(graph: Graph) -> str:
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
    worker = f"\nThe largest Python worker had {bench.peak:.2f} GB.\n"
    return _size(graph) + "\n".join(lines) + "\n" + worker


def _sql(bench: Bench, part: Graph) -> str:
    lines = ["| | Spark engine | plain SQL | | target |", "|---|--:|--:|--:|--:|"]
    for job, (said, target) in JOBS.items():
        own, plain = bench.best(job, "part"), bench.best(job, "Spark SQL")
        lines.append(
            f"| {said} | {own:.1f} s | {plain:.1f} s | 1/{plain / own:.1f} | "
            f"1/{1 / target:.0f}, {'met' if own / plain <= target else 'missed'} |"
        )
    return "On a part of B: " + _size(part) + "\n".join(lines) + "\n"


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
        f"| {each.command} | {each.wall:.0f} s | {each.cpu:.0f} s | {each.driver:.2f} GB, "
        f"{'met' if each.driver <= DRIVER else 'missed'} | {each.java:.2f} GB "
        f"| {each.worker:.2f} GB |"
        for each in took
    ]
    return _size(graph) + "\n".join(lines) + "\n"
