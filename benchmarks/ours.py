"""graphveil's side of every job, through the names that its users call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from benchmarks.graphs import Graph, Pair
from benchmarks.peers.answers import Counts, DegreeAnswer
from graphveil.backends import ExactCounts, LocalEngine
from graphveil.calendar.calendar import Calendar
from graphveil.graph.intake.records import Records
from graphveil.graph.projection import greedy_projection
from graphveil.graph.promises import DegreeBound, NoBound
from graphveil.graph.sequence import GraphSequence
from graphveil.graph.thresholds import FollowingBound, ForestBound
from graphveil.records import ReadingOptions, from_arrays, read_pair
from graphveil.series.planner import plan
from graphveil.series.release import Series
from graphveil.statistics.statistic import Statistic, statistic

TAU = 10
TRIANGLES = statistic("triangles")
COMPONENTS = statistic("components")
EDGES = statistic("edges")
DIRECTED_TRIANGLES = (statistic("cyclic-triangles"), statistic("transitive-triangles"))
DEGREE_STATISTICS = {
    "edges": EDGES,
    "high": statistic("high-degree", tau=TAU),
    "histogram": statistic("degree-histogram"),
    "ccdf": statistic("degree-ccdf"),
    "two_stars": statistic("stars", k=2),
}
EVERYTHING = (
    statistic("nodes"),
    *DEGREE_STATISTICS.values(),
    statistic("stars", k=3),
    TRIANGLES,
    COMPONENTS,
)
CALENDAR = Calendar.every(1, first=1)  # files and arrays count steps from 1
ANY_SIZE = ReadingOptions(most_bytes=2**40)

Totals = dict[Statistic, Counts]


def records_of(graph: Graph, first_node: int = 0, first_edge: int = 0) -> Records:
    """The graph's arrays from given positions on, as records."""
    return from_arrays(
        node=np.arange(first_node, graph.nodes),
        time=graph.node_step[first_node:].astype(np.int64) + 1,
        source=graph.newer[first_edge:].astype(np.int64),
        target=graph.older[first_edge:].astype(np.int64),
    )


def last_step_of(graph: Graph) -> Records:
    """The nodes and edges of the last step only."""
    return records_of(graph, int(graph.node_ends()[-2]), int(graph.edge_ends()[-2]))


def build(records: Records, *, directed: bool = False) -> GraphSequence:
    """Records in arrays to a graph that is ready for counting."""
    return GraphSequence.begin(CALENDAR, directed=directed).extend(records).sequence


def read(pair: Pair) -> GraphSequence:
    """A pair of files to a graph that is ready for counting."""
    return build(read_pair(pair.nodes, pair.edges, ANY_SIZE))


def count(
    sequence: GraphSequence,
    statistics: Iterable[Statistic],
    threads: int,
    after: ExactCounts | None = None,
) -> ExactCounts:
    """Tally the statistics, for all steps or for those that are new."""
    return LocalEngine(threads=threads).count(sequence, statistics, after=after)


def totals(sequence: GraphSequence, statistics: Iterable[Statistic], threads: int) -> Totals:
    """The statistics' totals after each step."""
    chosen = tuple(statistics)
    counts = count(sequence, chosen, threads)
    return {each: counts.totals(each) for each in chosen}


def triangles(sequence: GraphSequence, threads: int) -> Counts:
    """New triangles per step."""
    return count(sequence, [TRIANGLES], threads).differences(TRIANGLES)


def degree_statistics(sequence: GraphSequence, threads: int) -> DegreeAnswer:
    """Edges, high degree, histogram, CCDF and 2-stars after each step."""
    found = totals(sequence, DEGREE_STATISTICS.values(), threads)
    return DegreeAnswer(**{name: found[each] for name, each in DEGREE_STATISTICS.items()})


def projected(sequence: GraphSequence, bound: int) -> GraphSequence:
    """The greedy projection."""
    return greedy_projection(sequence, DegreeBound(bound))


def following(sequence: GraphSequence) -> list[int]:
    """The thresholds of a release per step, each chosen from what was published before."""
    bound = FollowingBound(len(sequence.entries))
    made = plan(EDGES, NoBound(), epsilon=1, horizon=sequence.steps, projection=bound.brief)
    _, after = Series.open(made, EDGES, bound).publish(sequence, through=sequence.steps - 1)
    return [answer.threshold for asked in after.answers for answer in asked]


def forests(sequence: GraphSequence, branches: int) -> Counts:
    """Components per step by forests in which nobody has more links than `branches`."""
    counts = LocalEngine().count(sequence, [COMPONENTS], bound=ForestBound(branches))
    return counts.totals(COMPONENTS)


def links_of(sequence: GraphSequence) -> tuple[Counts, Counts]:
    """Both ends of all edges, newer and older, in the order in which projection meets them."""
    newer = np.repeat(np.arange(sequence.nodes), np.diff(sequence.offsets))
    return newer, (sequence.entries >> 2).astype(np.int64)


@contextmanager
def one_core() -> Iterator[None]:
    """Confine this thread, and those that it starts, to one core."""
    affinity: Any = getattr(os, "sched_setaffinity", None)
    if affinity is None:
        raise RuntimeError("this system cannot confine a thread to one core")
    allowed = os.sched_getaffinity(0)
    affinity(0, {min(allowed)})
    try:
        yield
    finally:
        affinity(0, allowed)
