"""Checking what the workers keep: byte by byte, and against counting everything from scratch."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphveil.engines.local.keeping import same_tally
from graphveil.engines.spark.graph import SparkGraph
from graphveil.engines.spark.jobs import Cluster
from graphveil.series.counting import SeriesCounts, ViewCounts
from graphveil.statistics.tallies import DegreeTally
from graphveil.study.records.holding import Kept, Stored
from graphveil.study.records.spark import keeping
from graphveil.study.records.spark.keeping import KeptState, same_graph

if TYPE_CHECKING:
    from graphveil.series.terms import SeriesTerms


def compared(
    cluster: Cluster,
    stored: Stored,
    kept: KeptState | None,
    graph: SparkGraph,
    counts: SeriesCounts,
    series: Collection[SeriesTerms],
) -> Kept:
    """Compare what is kept with the sealed graph, in as many colours, and its counts."""
    entry = keeping.newest(stored.ledger)
    if entry is None:
        return Kept.NOTHING
    home = keeping.home_of(stored.folder)
    if not (home / entry.listed.name).exists():
        return Kept.OTHERWISE
    if kept is None:
        return Kept.CHANGED
    if kept.graph.steps < graph.steps:  # another engine has sealed steps since
        return Kept.SAME if same_graph(kept.graph, graph.until(kept.graph.steps)) else Kept.ANOTHER
    before = kept.counts(home, series)
    agree = all(_agree(cluster, each, counts.views[view]) for view, each in before.views.items())
    return Kept.SAME if agree and _same_edges(cluster, kept.graph, graph) else Kept.ANOTHER


def _agree(cluster: Cluster, one: ViewCounts, other: ViewCounts) -> bool:
    """Whether all answers are the same, and all degrees that they go on from."""
    found = one.counts.answers.items()
    pairs = [(tally, answer, other.counts.answers[tally]) for tally, answer in found]
    degrees = [
        FileTask(one.seen, *names)  # type: ignore[arg-type]
        for tally, a, b in pairs
        if isinstance(tally, DegreeTally)
        for names in zip(a.state[1], b.state[1], strict=True)
    ]
    tallied = all(same_tally(a.tallied, b.tallied) for _, a, b in pairs)
    return tallied and all(cluster.run(same_degrees, degrees))


class FileTask(NamedTuple):
    """Two files of degrees."""

    graph: SparkGraph
    one: str
    other: str


def same_degrees(task: FileTask) -> bool:
    """Whether two files hold the same degrees; runs on a worker."""
    read = task.graph.workspace.read
    return bool(read(task.one)["degree"].equals(read(task.other)["degree"]))


class EdgesTask(NamedTuple):
    """The files of one class in two graphs."""

    one: SparkGraph
    other: SparkGraph


def _same_edges(cluster: Cluster, one: SparkGraph, other: SparkGraph) -> bool:
    if not same_graph(one, other) or one.colours != other.colours:
        return False
    colours = range(one.colours)
    tasks = [EdgesTask(one.only([(a, b)]), other.only([(a, b)])) for a in colours for b in colours]
    return all(cluster.run(same_edges, tasks))


def same_edges(task: EdgesTask) -> bool:
    """Whether a class has the same edges in both graphs; runs on a worker."""
    from graphveil.engines.spark.reading import read_edges

    found = []
    for graph in (task.one, task.other):
        edges = [read_edges(graph, part) for part in graph.parts]
        columns = [
            np.concatenate([np.empty(0, np.int32), *each])
            for each in (
                [e.newer for e in edges],
                [e.entries for e in edges],
                [e.steps() for e in edges],
            )
        ]
        order = np.lexsort(columns[::-1])
        found.append([column[order] for column in columns])
    return all(np.array_equal(a, b) for a, b in zip(*found, strict=True))
