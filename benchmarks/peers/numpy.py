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


def degree_statistics(graph: Ready, tau: int) -> DegreeAnswer:
    """All degree statistics after each step; degrees are carried from step to step.

    Counting the two ends apart saves a copy, and the newer ends come in order: this is
    about twice as fast as counting all ends of a step at once.
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
