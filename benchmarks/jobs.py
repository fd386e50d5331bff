"""The jobs: each one measures a row of the table, and checks that all answers agree."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import graphs, ours
from benchmarks.graphs import Graph
from benchmarks.peers import (
    duckdb,
    graphblas,
    igraph,
    networkit,
    networkx,
    numpy,
    polars,
    python,
)
from benchmarks.racing import Contestant, Lap, lap, race
from benchmarks.table import Row
from graphveil.graph.intake.records import Records
from graphveil.graph.sequence import GraphSequence

THREADS = 2
BOUND = 20
MANY_STEPS = 365
TREE_NODES, TREE_STEPS = 1_000_000, 12


@dataclass(frozen=True, eq=False)
class Field:
    """What the jobs run on; each graph is made when a job first asks for it."""

    shrink: int

    @cached_property
    def a(self) -> Graph:
        """Graph A, always in full."""
        return graphs.grow("A", graphs.RECIPES["A"])

    @cached_property
    def b(self) -> Graph:
        """Graph B."""
        name = "B" if self.shrink == 1 else f"B÷{self.shrink}"
        return graphs.grow(name, graphs.RECIPES["B"].shrunk(self.shrink))

    @cached_property
    def quarter(self) -> Graph:
        """A quarter of B, for ids that are text."""
        return graphs.grow("B÷4", graphs.RECIPES["B"].shrunk(4 * self.shrink))

    @cached_property
    def records(self) -> Records:
        """B's arrays as records."""
        return ours.records_of(self.b)

    @cached_property
    def sequence(self) -> GraphSequence:
        """B, built."""
        return ours.build(self.records)

    def sizes(self) -> str:
        """The graphs in words."""
        each = (
            f"{g.name}: {g.nodes:,} nodes, {g.edges:,} edges, {g.steps} steps"
            for g in (self.a, self.b)
        )
        return "; ".join(each)


def require(agreed: bool, what: str) -> None:
    """Stop the run if two answers differ: a fast wrong answer is worth nothing."""
    if not agreed:
        raise RuntimeError(f"answers differ: {what}")


def triangles(field: Field) -> list[Row]:
    """Triangles per step, building the adjacency included."""
    ready = graphblas.ready(field.b)
    laps = race(
        {
            "ours": Contestant(lambda: ours.triangles(ours.build(field.records), THREADS), 5),
            "GraphBLAS": Contestant(lambda: graphblas.triangles_per_step(ready, THREADS), 3),
            "one core": Contestant(lambda: _triangles_on_one_core(field), 3),
            "count": Contestant(lambda: ours.triangles(field.sequence, THREADS), 5),
            "count on one core": Contestant(lambda: ours.triangles(field.sequence, 1), 3),
        }
    )
    for name, found in laps.items():
        require(np.array_equal(found.answer, laps["ours"].answer), f"triangles, {name}")
    job = f"triangles per step on {field.b.name}, building included"
    best, alone = laps["ours"].seconds, laps["count"].seconds
    total = int(laps["ours"].answer.sum())
    return [
        Row(job, best, "GraphBLAS, the same attribution", laps["GraphBLAS"].seconds, 1 / 2),
        *_against_one_count(field, job, best, total),
        Row(job, best, "graphveil on one core", laps["one core"].seconds, 1 / 1.6),
        Row(
            "counting alone",
            alone,
            "graphveil with one thread",
            laps["count on one core"].seconds,
            1 / 1.5,
        ),
    ]


def _triangles_on_one_core(field: Field) -> Any:
    with ours.one_core():
        return ours.triangles(ours.build(field.records), 1)


def _against_one_count(field: Field, job: str, best: float, total: int) -> list[Row]:
    """Peers that count the final graph once, with and without the time to build it."""
    rows = []
    peers: dict[str, tuple[Callable[[], Any], Callable[[Any], int]]] = {
        "NetworKit": (lambda: networkit.build(field.b, THREADS), networkit.triangles),
        "igraph": (lambda: igraph.build(field.b), igraph.triangles),
    }
    for name, (build, count) in peers.items():
        built = lap(build)
        counted = lap(lambda built=built, count=count: count(built.answer))  # type: ignore[misc]
        require(counted.answer == total, f"triangles, {name}")
        whole = built.seconds + counted.seconds
        rows.append(Row(job, best, f"one final count by {name}", whole, 1 / 10))
        rows.append(Row(job, best, f"{name}, without its building", counted.seconds))
    return rows


def degrees(field: Field) -> list[Row]:
    """Edges, high degree, histogram, CCDF and 2-stars, all steps."""
    many = graphs.with_steps(field.b, MANY_STEPS)
    many_built, many_ready = ours.build(ours.records_of(many)), numpy.ready(many)
    ready, tables = numpy.ready(field.b), duckdb.with_edges(field.b, THREADS)
    laps = race(
        {
            "ours": Contestant(lambda: ours.degree_statistics(field.sequence, THREADS), 7),
            "many": Contestant(lambda: ours.degree_statistics(many_built, THREADS), 7),
            "NumPy": Contestant(lambda: numpy.degree_statistics(field.b, ours.TAU), 3),
            "tuned": Contestant(lambda: numpy.tuned_degree_statistics(ready, ours.TAU), 3),
            "DuckDB": Contestant(lambda: duckdb.degree_statistics(tables, field.b, ours.TAU), 2),
            "NumPy, many": Contestant(
                lambda: numpy.tuned_degree_statistics(many_ready, ours.TAU), 1
            ),
        }
    )
    pairs = ("ours", "NumPy"), ("ours", "tuned"), ("ours", "DuckDB"), ("many", "NumPy, many")
    for name, rival in pairs:
        differing = laps[name].answer.differs_from(laps[rival].answer)
        require(not differing, f"{differing}, {rival}")
    job = f"edges, high degree, histogram, CCDF, 2-stars on {field.b.name}"
    best, with_many = laps["ours"].seconds, laps["many"].seconds
    return [
        Row(job, best, "NumPy, bincount per step", laps["NumPy"].seconds, 1 / 7),
        Row(job, best, "the same NumPy, tuned", laps["tuned"].seconds),
        Row(job, best, "DuckDB, one query", laps["DuckDB"].seconds, 1 / 15),
        Row(f"the same with {MANY_STEPS} steps", with_many, "with 37 steps", best, 1.3),
        Row(
            f"the same with {MANY_STEPS} steps",
            with_many,
            "NumPy, tuned",
            laps["NumPy, many"].seconds,
        ),
    ]


def directed(field: Field) -> list[Row]:
    """Cyclic and transitive triangles, against undirected ones."""
    citing = ours.build(field.records, directed=True)
    mixed = ours.build(ours.records_of(graphs.with_turned_edges(field.b)), directed=True)
    laps = race(
        {
            "undirected": Contestant(lambda: ours.triangles(field.sequence, THREADS), 5),
            "citing": Contestant(lambda: _directed_triangles(citing), 5),
            "mixed": Contestant(lambda: _directed_triangles(mixed), 5),
        }
    )
    undirected = laps["undirected"].answer.cumsum()
    for name in ("citing", "mixed"):  # without reciprocal edges every triangle is one of two
        require(np.array_equal(sum(laps[name].answer), undirected), f"directed triangles, {name}")
    cyclic = laps["citing"].answer[0]
    require(not cyclic.any(), "cyclic triangles among citations")
    job = f"cyclic and transitive triangles per step on {field.b.name}"
    rival, theirs = "undirected triangles", laps["undirected"].seconds
    return [
        Row(job, laps["citing"].seconds, rival, theirs, 1.5),
        Row(f"{job}, edges turned at random", laps["mixed"].seconds, rival, theirs, 1.5),
    ]


def _directed_triangles(sequence: GraphSequence) -> list[Any]:
    return list(ours.totals(sequence, ours.DIRECTED_TRIANGLES, THREADS).values())


def projection(field: Field) -> list[Row]:
    """Greedy projection, against a plain Python loop on edges in the same order."""
    newer, older = (ends.tolist() for ends in ours.links_of(field.sequence))
    nodes = field.sequence.nodes
    laps = race(
        {
            "ours": Contestant(lambda: ours.projected(field.sequence, BOUND), 5),
            "Python": Contestant(
                lambda: python.project(nodes, zip(newer, older, strict=True), BOUND), 2
            ),
        }
    )
    kept = np.array(laps["Python"].answer)
    for mine, theirs in zip(ours.links_of(laps["ours"].answer), (newer, older), strict=True):
        require(np.array_equal(mine, np.array(theirs)[kept]), "projection")
    job = f"greedy projection of {field.b.name}, D = {BOUND}"
    return [Row(job, laps["ours"].seconds, "a Python loop", laps["Python"].seconds, 1 / 50)]


def following(field: Field) -> list[Row]:
    """A release of links per step at thresholds that follow, against one plain projection."""
    laps = race(
        {
            "ours": Contestant(lambda: ours.following(field.sequence), 4),
            "plain": Contestant(lambda: ours.projected(field.sequence, BOUND), 4),
        }
    )
    require(len(laps["ours"].answer) >= field.b.steps, "thresholds that follow")
    job = f"links of {field.b.name} at thresholds that follow, a release per step"
    return [Row(job, laps["ours"].seconds, "a plain projection", laps["plain"].seconds, 2)]


def forests(field: Field) -> list[Row]:
    """Components by forests in a network like a tree, against plain components."""
    graph = graphs.like_a_tree(TREE_NODES // field.shrink, TREE_STEPS)
    sequence = ours.build(ours.records_of(graph))
    laps = race(
        {
            "forests": Contestant(lambda: ours.forests(sequence, 2), 2),
            "plain": Contestant(lambda: ours.totals(sequence, [ours.COMPONENTS], THREADS), 3),
        }
    )
    plain = laps["plain"].answer[ours.COMPONENTS]
    require(bool((laps["forests"].answer >= plain).all()), "forests have no fewer components")
    job = (
        f"components by forests, {graph.nodes:,} people, {graph.edges:,} links, {TREE_STEPS} steps"
    )
    return [Row(job, laps["forests"].seconds, "plain components", laps["plain"].seconds)]


def components(field: Field) -> list[Row]:
    """Connected components per step, against NetworkX on A and against linear growth."""
    small = ours.build(ours.records_of(field.a))
    laps = race(
        {
            "A": Contestant(lambda: ours.totals(small, [ours.COMPONENTS], THREADS), 9),
            "B": Contestant(lambda: ours.totals(field.sequence, [ours.COMPONENTS], THREADS), 5),
            "NetworkX": Contestant(lambda: networkx.components_per_step(field.a), 1),
        }
    )
    mine = laps["A"].answer[ours.COMPONENTS]
    require(np.array_equal(mine, laps["NetworkX"].answer), "components")
    growth = (field.b.nodes + field.b.edges) / (field.a.nodes + field.a.edges)
    return [
        Row(
            "components per step on A",
            laps["A"].seconds,
            "NetworkX",
            laps["NetworkX"].seconds,
            1 / 50,
        ),
        Row(
            f"components per step on {field.b.name}",
            laps["B"].seconds,
            f"A's time × {growth:.1f}, linear growth",
            laps["A"].seconds * growth,
            LINEAR,
        ),
    ]


# A lies in the processor's cache and B does not, so "linear" leaves room for that.
LINEAR = 2.0


def reading(field: Field) -> list[Row]:
    """Files to a graph that is ready for counting, with numbers as ids."""
    return _reading(field.b, texts=False, most=1 / 8)


def reading_texts(field: Field) -> list[Row]:
    """The same with ids of twenty characters, on a quarter of B."""
    return _reading(field.quarter, texts=True, most=0.35)


def _reading(graph: Graph, *, texts: bool, most: float) -> list[Row]:
    """Against peers that go as far: persons by the same numbers, each link once, sorted."""
    rows = []
    job = f"reading {graph.name} to a ready graph"
    if texts:
        job += f", ids of {graphs.TEXT_ID} characters"
    for form in ("CSV", "Parquet"):
        pair = graphs.files(graph, form.lower(), texts=texts)
        laps = race(
            {
                "ours": Contestant(lambda pair=pair: ours.read(pair), 4),  # type: ignore[misc]
                "DuckDB": Contestant(lambda pair=pair: duckdb.read(pair, THREADS), 2),  # type: ignore[misc]
                "polars": Contestant(lambda pair=pair: polars.read(pair), 2),  # type: ignore[misc]
            }
        )
        for peer in ("DuckDB", "polars"):
            mine, theirs = ours.links_of(laps["ours"].answer), laps[peer].answer
            agreed = all(map(np.array_equal, mine, theirs))
            require(agreed, f"links from {form}, {peer}")
            rows.append(Row(f"{job}, {form}", laps["ours"].seconds, peer, laps[peer].seconds, most))
    return rows


def one_more_step(field: Field) -> list[Row]:
    """Adding the last step and counting all its statistics, against counting everything."""
    head, batch = ours.records_of(field.b.head(field.b.steps - 1)), ours.last_step_of(field.b)
    laps = race(
        {
            "step": Contestant(lambda: _add_step(head, batch), 3),
            "all": Contestant(lambda: ours.totals(field.sequence, ours.EVERYTHING, THREADS), 4),
            "built": Contestant(lambda: ours.build(field.records), 2),
        }
    )
    for each, mine in laps["step"].answer.items():
        require(np.array_equal(mine, laps["all"].answer[each]), f"{each} of the new step")
    everything = laps["all"].seconds
    job = f"adding {len(batch.edges.frame):,} edges as one step and counting all its statistics"
    whole = everything + laps["built"].seconds
    return [
        Row(job, laps["step"].seconds, "counting everything", everything, 1 / 10),
        Row(job, laps["step"].seconds, "building and counting everything", whole, 1 / 10),
    ]


def _add_step(head: Records, batch: Records) -> Lap:
    """One lap from a state in which nothing of the last step is known."""
    before = ours.build(head)
    counted = ours.count(before, ours.EVERYTHING, THREADS)
    start = perf_counter()
    after = before.extend(batch).sequence
    counts = ours.count(after, ours.EVERYTHING, THREADS, after=counted)
    totals = {each: counts.totals(each) for each in ours.EVERYTHING}
    return Lap(totals, perf_counter() - start)


def late_hub(field: Field) -> list[Row]:
    """A node that links to very many others at the last step, against none."""
    with_hub = graphs.with_late_hub(field.b)
    hub_records = ours.records_of(with_hub)
    hub_built = ours.build(hub_records)
    laps = race(
        {
            "hub": Contestant(lambda: ours.triangles(hub_built, THREADS), 4),
            "none": Contestant(lambda: ours.triangles(field.sequence, THREADS), 4),
            "hub, all": Contestant(
                lambda: ours.totals(ours.build(hub_records), ours.EVERYTHING, THREADS), 2
            ),
            "none, all": Contestant(
                lambda: ours.totals(ours.build(field.records), ours.EVERYTHING, THREADS), 2
            ),
        }
    )
    check = graphblas.triangles_per_step(graphblas.ready(with_hub), THREADS)
    require(np.array_equal(check, laps["hub"].answer), "triangles with a hub")
    links = with_hub.edges - field.b.edges
    job = f"{field.b.name} with a late hub of {links:,} links"
    return [
        Row(f"{job}, triangles", laps["hub"].seconds, "without it", laps["none"].seconds, 2),
        Row(
            f"{job}, building and all statistics",
            laps["hub, all"].seconds,
            "without it",
            laps["none, all"].seconds,
            2,
        ),
    ]


def memory(field: Field) -> list[Row]:
    """The memory of a fresh process that reads B from CSV and counts."""
    pair = graphs.files(field.b, "csv")
    script = Path(__file__).with_name("fresh_process.py")
    command = [sys.executable, str(script), str(pair.nodes), str(pair.edges), str(THREADS)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    mine = int(ours.triangles(field.sequence, THREADS).sum())
    require(found["triangles"] == mine, "triangles in a fresh process")
    name = field.b.name
    return [
        Row(f"peak memory, reading {name} from CSV", found["reading"], most=1.2, unit="GB"),
        Row(f"memory after reading {name}", found["after"], most=0.6, unit="GB"),
        Row(f"peak memory, reading and counting {name}", found["all"], most=1.2, unit="GB"),
    ]


def command_line(field: Field) -> list[Row]:
    """A second process on A, from CSV to printed counts; its kernels are on disk."""
    pair = graphs.files(field.a, "csv")
    files = ["--nodes", str(pair.nodes), "--edges", str(pair.edges), "--json"]
    command = [sys.executable, "-m", "graphveil", "count", "triangles", *files]

    def run() -> list[int]:
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found: list[int] = json.loads(done.stdout)["totals"]
        return found

    run()  # the first process compiles, or finds the kernels that this one has compiled
    laps = race({"command": Contestant(run, 4)})
    ready = graphblas.ready(field.a)
    check = graphblas.triangles_per_step(ready, THREADS).cumsum()
    require(laps["command"].answer == check.tolist(), "triangles from the command line")
    return [Row("`graphveil count triangles` on A from CSV", laps["command"].seconds, most=1.0)]


def page(field: Field) -> list[Row]:
    """The page, charts and tables of the demo study of six series, kernels and libraries loaded."""
    from graphveil.steward.reporting import write_report

    with tempfile.TemporaryDirectory() as folder:
        demo = [sys.executable, "-m", "graphveil", "demo", folder + "/demo"]
        state = os.environ | {"GRAPHVEIL_STATE": folder + "/state"}
        subprocess.run(demo, check=True, capture_output=True, env=state)
        public = Path(folder) / "demo/public"
        laps = race({"page": Contestant(lambda: write_report(public), 4)})
    return [Row("page, charts and tables of six series", laps["page"].seconds, most=1.2)]


Job = Callable[[Field], list[Row]]
JOBS: dict[str, Job] = {
    "memory": memory,
    "command-line": command_line,
    "triangles": triangles,
    "degrees": degrees,
    "directed": directed,
    "projection": projection,
    "following": following,
    "forests": forests,
    "components": components,
    "reading": reading,
    "reading-texts": reading_texts,
    "page": page,
    "one-more-step": one_more_step,
    "late-hub": late_hub,
}
