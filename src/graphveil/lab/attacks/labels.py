"""Breakdowns under attack: graphs in which everybody has a label, drawn with the graph.

The label of a node is a bit of one number, counted from the last node on, so that it stays when
the search adds nodes in front. The definitions here are plain, and share nothing with counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphveil.graph.groups import Axis, Groups
from graphveil.kernels import inlined
from graphveil.statistics.breakdown import Breakdown, CellKind
from graphveil.statistics.clusters import Clustered
from graphveil.statistics.degree_ccdf import CcdfOfDegrees
from graphveil.statistics.degree_histogram import HistogramOfDegrees
from graphveil.statistics.degrees import DegreeStatistic
from graphveil.statistics.edges import Edges
from graphveil.statistics.high_degree import HighDegreeCount
from graphveil.statistics.nodes import Nodes
from graphveil.statistics.stars import StarCount
from graphveil.statistics.statistic import Statistic
from graphveil.statistics.triangles import CyclicTriangles, TransitiveTriangles, Triangles

BITS = (0b1, 0b10101, 0b110010)  # the person alone has a label; every other one; some
DIRECTED_ONLY = (CyclicTriangles, TransitiveTriangles)  # of triangles, undirected ones are tried
TWO = (Axis("kind_of", ("A", "B")),)
# What is counted at a person; the first number that a definition is given.
_KINDS: tuple[tuple[type[Statistic], int], ...] = (
    (Nodes, 0),
    (HighDegreeCount, 1),
    (CcdfOfDegrees, 2),
    (HistogramOfDegrees, 3),
    (StarCount, 4),
    (Clustered, 5),
)
_ORDINARY, _FOLLOWING, _BY_DEGREE = 0, 1, 2  # how labels are found; the others are errors
ERRORS = {"a label that follows a neighbour": _FOLLOWING, "a cell by the larger end": _BY_DEGREE}


@inlined
def _bit(bits: int, node: int, nodes: int) -> int:
    """The label of a node."""
    return (bits >> (nodes - 1 - node)) & 1


@inlined
def _label(links: Any, given: Any, node: int) -> int:
    """The label as a definition takes it; given: …, bits, error. See `ERRORS`."""
    nodes = len(links)
    label = _bit(given[3], node, nodes)
    if given[4] == 1:  # planted: who is linked to somebody with a label has it as well
        for other in range(nodes):
            if links[node, other] or links[other, node]:
                label = max(label, _bit(given[3], other, nodes))
    return label


@inlined
def _degree(links: Any, node: int, inward: int) -> int:
    degree = 0
    for other in range(len(links)):
        degree += links[other, node] if inward else links[node, other]
    return degree


@inlined
def _worth(links: Any, given: Any, node: int) -> int:
    """What a person adds to the one number of a cell: given[0] is the kind, given[1] τ or k."""
    degree = _degree(links, node, given[2])
    if given[0] == 1:
        return int(degree >= given[1])
    if given[0] == 4:
        stars = 1
        for chosen in range(given[1]):
            stars = stars * (degree - chosen) // (chosen + 1)
        return stars
    return int(_component(links, node) >= given[1]) if given[0] == 5 else 1


@inlined
def _component(links: Any, node: int) -> int:
    """How many nodes a node's component has."""
    reached = np.zeros(len(links), np.uint8)
    reached[node] = 1
    for _ in range(len(links)):
        for one in range(len(links)):
            for other in range(len(links)):
                if reached[one] and (links[one, other] or links[other, one]):
                    reached[other] = 1
    return int(reached.sum())


def _count_at_people(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: kind, parameter, whether links count where they end, bits of labels, error."""
    for u in range(len(present)):
        if present[u]:
            out[_label(links, given, u) * (len(present) + 1)] += _worth(links, given, u)


def _count_degrees(links: Any, present: Any, given: Any, out: Any) -> None:
    """The same for vectors: at every threshold up to the degree (kind 2), or at the degree."""
    for u in range(len(present)):
        if present[u]:
            first = _label(links, given, u) * (len(present) + 1)
            degree = _degree(links, u, given[2])
            for threshold in range(0 if given[0] == 2 else degree, degree + 1):
                out[first + threshold] += 1


@inlined
def _sort(one: int, other: int, given: Any, out: Any) -> None:
    """Count a link in its cell; given: directed, kind of cells (0 pairs, 1 alike, 2 ends)."""
    if given[1] == 1:
        out[0 if one == other else 1] += 1
    elif given[1] == 2:
        out[one] += 1
        out[other] += 1
    else:
        out[2 * one + other if given[0] else one + other] += 1


def _count_links(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: directed, kind of cells, unused, bits of labels, error."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(nodes):
            if links[u, v] and (given[0] or u < v):
                one, other = _bit(given[3], u, nodes), _bit(given[3], v, nodes)
                if given[4] == 2:  # planted: the cell is that of the end with more links
                    larger = _degree(links, u, 0) >= _degree(links, v, 0)
                    one = other = one if larger else other
                _sort(one, other, given, out)


def _count_triangles(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: …, bits of labels; undirected triangles, by whether all three are alike."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(u):
            for w in range(v):
                if links[u, v] and links[v, w] and links[u, w]:
                    labels = 0
                    for node in (u, v, w):
                        labels += _bit(given[3], node, nodes)
                    out[0 if labels in (0, 3) else 1] += 1


@dataclass(frozen=True)
class Labelled(Breakdown):
    """A breakdown on small graphs with two labels.

    Attributes:
        bits: who has which label.
        error: an error in how labels are found; 0 is none.
    """

    bits: int = 0
    error: int = _ORDINARY

    tables = 2

    @classmethod
    def of_bits(
        cls, statistic: Statistic, bits: int, *, cells: CellKind | None = None, error: int = 0
    ) -> Labelled:
        """The breakdown of a statistic by the labels that some bits give."""
        usual = Breakdown.of(statistic, "kind_of", Groups.of(["kind_of=A|B"]), cells)
        return cls(statistic, TWO, usual.cells, bits, error)

    @property
    def definition(self) -> Any:
        """That of its objects."""
        if isinstance(self.statistic, Edges):
            return _count_links
        if isinstance(self.statistic, Triangles):
            return _count_triangles
        return _count_degrees if self.statistic.vector else _count_at_people

    def written(self) -> dict[str, Any]:
        """With the labels, as bits."""
        return super().written() | {"labels": f"{self.bits:b}"}

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Parameters and labels, as the definition takes them."""
        if isinstance(self.statistic, Edges):
            kind = ("pairs", "alike", "ends").index(self.cells)
            return int(directed), kind, 0, self.bits, self.error
        kind = next((number for each, number in _KINDS if isinstance(self.statistic, each)), 0)
        inward = isinstance(self.statistic, DegreeStatistic) and self.statistic.direction == "in"
        parameter = getattr(self.statistic, "tau", getattr(self.statistic, "k", 0))
        return kind, int(parameter), int(inward), self.bits, self.error
