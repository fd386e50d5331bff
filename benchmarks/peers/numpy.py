"""NumPy: degree statistics by one `bincount` of endpoints and one of degrees per step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.graphs import Graph, Positions
from benchmarks.peers.answers import Counts, DegreeAnswer, answer_of_histogram


@dataclass(frozen=True, eq=False)
class Ready:
    """The graph as NumPy likes it: 64-bit endpoints in order of step, with cut points."""

    newer: Positions
    older: Positions
    node_ends: Positions
    edge_ends: Positions


def ready(graph: Graph) -> Ready:
    """Lay out the graph; this is not timed."""
    newer, older = graph.newer.astype(np.int64), graph.older.astype(np.int64)
    return Ready(newer, older, graph.node_ends(), graph.edge_ends())


def degree_statistics(graph: Graph, tau: int) -> DegreeAnswer:
    """All degree statistics after each step, as one would write it.

    One `bincount` of all ends of a step, as the columns come, and one of the degrees.
    """
    node_ends, edge_ends = graph.node_ends(), graph.edge_ends()
    degree = np.zeros(node_ends[-1], dtype=np.int64)
    histograms: list[Counts] = []
    first_edge = 0
    for nodes, edges in zip(node_ends, edge_ends, strict=True):
        ends = np.concatenate([graph.newer[first_edge:edges], graph.older[first_edge:edges]])
        degree += np.bincount(ends, minlength=len(degree))
        histograms.append(np.bincount(degree[:nodes]))
        first_edge = edges
    return answer_of_histogram(_stacked(histograms), tau)


def tuned_degree_statistics(graph: Ready, tau: int) -> DegreeAnswer:
    """The same, as fast as we could make it in NumPy.

    Counting the two ends apart saves a copy, the newer ends come in order, 64-bit columns
    spare a conversion, and nodes that are not there yet are left out.
    """
    degree = np.zeros(graph.node_ends[-1], dtype=np.int64)
    histograms: list[Counts] = []
    first_edge = 0
    for nodes, edges in zip(graph.node_ends, graph.edge_ends, strict=True):
        for ends in (graph.newer, graph.older):
            degree[:nodes] += np.bincount(ends[first_edge:edges], minlength=nodes)
        histograms.append(np.bincount(degree[:nodes]))
        first_edge = edges
    return answer_of_histogram(_stacked(histograms), tau)


def _stacked(histograms: list[Counts]) -> Counts:
    table = np.zeros((len(histograms), max(map(len, histograms))), dtype=np.int64)
    for row, histogram in zip(table, histograms, strict=True):
        row[: len(histogram)] = histogram
    return table
