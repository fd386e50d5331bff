"""Breakdowns under attack: graphs in which everybody has a label, drawn with the graph.

The label of a node is a bit of one number, counted from the last node on, so that it stays when
the search adds nodes in front. The definitions here are plain, and share nothing with counting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphveil.deferred import np
from graphveil.graph.groups import Axis, Groups
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
from graphveil.statistics.triangles import TriangleCount, Triangles

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


def _count_at_people(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: kind, parameter, whether links count where they end, bits of labels, error."""
    nodes = len(present)
    for u in range(nodes):
        if present[u] == 0:
            continue
        degree = 0
        for v in range(nodes):
            degree += links[v, u] if given[2] else links[u, v]
        label = (given[3] >> (nodes - 1 - u)) & 1
        if given[4] == 1:  # planted: who is linked to somebody with a label has it as well
            for v in range(nodes):
                if (links[u, v] or links[v, u]) and (given[3] >> (nodes - 1 - v)) & 1:
                    label = 1
        first = label * (nodes + 1)
        if given[0] == 0 or (given[0] == 1 and degree >= given[1]):
            out[first] += 1
        elif given[0] == 2:
            for threshold in range(degree + 1):
                out[first + threshold] += 1
        elif given[0] == 3:
            out[first + degree] += 1
        elif given[0] == 4:
            stars = 1
            for chosen in range(given[1]):
                stars = stars * (degree - chosen) // (chosen + 1)
            out[first] += stars
        elif given[0] == 5:
            reached = np.zeros(nodes, np.uint8)
            reached[u] = 1
            for _ in range(nodes):
                for v in range(nodes):
                    for w in range(nodes):
                        if reached[v] and (links[v, w] or links[w, v]):
                            reached[w] = 1
            if reached.sum() >= given[1]:
                out[first] += 1


def _count_links(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: directed, kind of cells (0 pairs, 1 alike, 2 ends), bits of labels, error."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(nodes):
            if not links[u, v] or (given[0] == 0 and v < u):
                continue
            one = (given[2] >> (nodes - 1 - u)) & 1
            other = (given[2] >> (nodes - 1 - v)) & 1
            if given[3] == 2:  # planted: both have the label of the end with more links
                degrees = [0, 0]
                for w in range(nodes):
                    degrees[0] += links[u, w]
                    degrees[1] += links[v, w]
                one = other = one if degrees[0] >= degrees[1] else other
            if given[1] == 1:
                out[0 if one == other else 1] += 1
            elif given[1] == 2:
                out[one] += 1
                out[other] += 1
            elif given[0]:
                out[2 * one + other] += 1
            else:
                out[one + other] += 1


def _count_triangles(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: bits of labels; undirected triangles, by whether all three are alike."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(u):
            for w in range(v):
                if links[u, v] and links[v, w] and links[u, w]:
                    labels = 0
                    for node in (u, v, w):
                        labels += (given[0] >> (nodes - 1 - node)) & 1
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
    def definition(self) -> Any:  # type: ignore[override]
        """That of its objects."""
        if isinstance(self.statistic, Edges):
            return _count_links
        return _count_triangles if isinstance(self.statistic, TriangleCount) else _count_at_people

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Parameters and labels, as the definition takes them."""
        if isinstance(self.statistic, Edges):
            kind = ("pairs", "alike", "ends").index(self.cells)
            return int(directed), kind, self.bits, self.error
        if isinstance(self.statistic, Triangles):
            return (self.bits,)
        kind = next(number for each, number in _KINDS if isinstance(self.statistic, each))
        inward = isinstance(self.statistic, DegreeStatistic) and self.statistic.direction == "in"
        parameter = getattr(self.statistic, "tau", getattr(self.statistic, "k", 0))
        return kind, int(parameter), int(inward), self.bits, self.error
