"""Half-edges: the links of the nodes of one colour, each as seen from the node that it lifts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.local.degrees import Lifts
from graphveil.engines.spark.graph import SparkGraph
from graphveil.engines.spark.reading import Edges, around, read_all

Int64s = NDArray[np.int64]


class Half(NamedTuple):
    """The links of one file that lift nodes of a colour, at one of their ends.

    Attributes:
        node: the places of the nodes among those of their colour.
        kept: which edges of the file they are; all, if it is None.
        edges: the file's edges.
        at_newer: whether the nodes are the newer ends.
    """

    node: NDArray[np.int32]
    kept: NDArray[np.bool_] | None
    edges: Edges
    at_newer: bool

    @property
    def cuts(self) -> Int64s:
        """Where the half-edges of each step begin."""
        if self.kept is None:
            return self.edges.cuts
        ends = np.concatenate([[0], np.cumsum(self.kept)])
        found: Int64s = ends[self.edges.cuts]
        return found


def halves(graph: SparkGraph, colour: int, lifts: Lifts, since: int = 0) -> Iterator[Half]:
    """All half-edges of the nodes of a colour from a step on, file by file."""
    p = np.int32(graph.colours)
    for edges in read_all(graph, around(graph, colour), since):
        if edges.part.newer == colour:
            yield _half(edges, edges.newer // p, lifts.newer, at_newer=True)
        if edges.part.older == colour:
            yield _half(edges, (edges.entries >> np.int32(2)) // p, lifts.older, at_newer=False)


def _half(edges: Edges, node: NDArray[np.int32], bits: int, *, at_newer: bool) -> Half:
    kept = (edges.entries & np.int32(bits)) != 0
    if kept.all():
        return Half(node, None, edges, at_newer)
    return Half(node[kept], kept, edges, at_newer)
