"""Breakdowns under attack: graphs in which everybody has one of three labels.

The enumeration takes people for interchangeable; so it is done once for each way to give labels to
the people of a small graph. Ways that differ by the names of labels alone are one: they put cells
into another order. Labels of more people, whom the search adds in front, are drawn. The definitions
here are plain, and share nothing with counting.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphveil.graph.groups import Axis, Groups
from graphveil.graph.promises import Bound
from graphveil.kernels import inlined
from graphveil.lab.attacks.attack import QUICK, Attack, Effort, attack_all
from graphveil.lab.pairs import Relation
from graphveil.statistics.breakdown import Breakdown, CellKind
from graphveil.statistics.clusters import Clustered
from graphveil.statistics.degree_ccdf import CcdfOfDegrees
from graphveil.statistics.degree_histogram import HistogramOfDegrees
from graphveil.statistics.degrees import DegreeStatistic, HighDegreeCount
from graphveil.statistics.edges import Edges, Nodes
from graphveil.statistics.patterns import (
    CyclicTriangles,
    StarCount,
    TransitiveTriangles,
    Triangles,
)
from graphveil.statistics.statistic import Statistic

LABELS = 3
MOST_PEOPLE = 14  # of a graph whose labels are drawn
THREE = (Axis("kind_of", ("A", "B", "C")),)
# What is counted at a person; the first number that a definition is given.
_KINDS: tuple[tuple[type[Statistic], int], ...] = (
    (Nodes, 0),
    (HighDegreeCount, 1),
    (CcdfOfDegrees, 2),
    (HistogramOfDegrees, 3),
    (StarCount, 4),
    (Clustered, 5),
)
_TRIANGLES = (Triangles, CyclicTriangles, TransitiveTriangles)
_ORDINARY, _FOLLOWING, _BY_DEGREE = 0, 1, 2  # how labels are found; the others are errors
ERRORS = {"a label that follows a neighbour": _FOLLOWING, "a cell by the larger end": _BY_DEGREE}


@inlined
def _own(labels: int, node: int, nodes: int) -> int:
    """The label of a node: a digit, the last node's the last."""
    for _ in range(nodes - 1 - node):
        labels //= 3
    return labels % 3


@inlined
def _label(links: Any, given: Any, node: int) -> int:
    """The label as a definition takes it; given: …, labels, error. See `ERRORS`."""
    nodes = len(links)
    label = _own(given[3], node, nodes)
    if given[4] == 1:  # planted: the label of somebody to whom the node is linked
        for other in range(nodes):
            if links[node, other] or links[other, node]:
                label = _own(given[3], other, nodes)
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
    """given: kind, parameter, whether links count where they end, labels, error."""
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
        out[3 * one + other if given[0] else 3 * min(one, other) + max(one, other)] += 1


def _count_links(links: Any, present: Any, given: Any, out: Any) -> None:
    """given: directed, kind of cells, unused, labels, error."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(nodes):
            if links[u, v] and (given[0] or u < v):
                one, other = _own(given[3], u, nodes), _own(given[3], v, nodes)
                if given[4] == 2:  # planted: the cell is that of the end with more links
                    larger = _degree(links, u, 0) >= _degree(links, v, 0)
                    one = other = one if larger else other
                _sort(one, other, given, out)


@inlined
def _closes(links: Any, kind: int, u: int, v: int, w: int) -> bool:
    """Whether three nodes, in this order, are a triangle; see `_TRIANGLES`."""
    if kind == 2:
        return bool(links[u, v] and links[v, w] and links[u, w])
    largest_first = u > v and u > w and (kind == 1 or v > w)  # each is met once
    return bool(largest_first and links[u, v] and links[v, w] and links[w, u])


def _count_triangles(links: Any, present: Any, given: Any, out: Any) -> None:
    """By whether all three are alike; given: kind, unused, unused, labels, error."""
    nodes = len(present)
    for u in range(nodes):
        for v in range(nodes):
            for w in range(nodes):
                if _closes(links, given[0], u, v, w):
                    one, other = _own(given[3], u, nodes), _own(given[3], v, nodes)
                    alike = one == other and one == _own(given[3], w, nodes)
                    out[0 if alike else 1] += 1


@dataclass(frozen=True)
class Labelled(Breakdown):
    """A breakdown on small graphs with three labels.

    Attributes:
        labels: a digit for each person, the last person's the last; of others it is 0.
        error: an error in how labels are found; 0 is none.
    """

    labels: str = ""
    error: int = _ORDINARY

    tables = LABELS

    @classmethod
    def by(
        cls, statistic: Statistic, labels: str, *, cells: CellKind | None = None, error: int = 0
    ) -> Labelled:
        """The breakdown of a statistic by some labels."""
        usual = Breakdown.of(statistic, "kind_of", Groups.of(["kind_of=A|B|C"]), cells)
        return cls(statistic, THREE, usual.cells, labels, error)

    @property
    def definition(self) -> Any:
        """That of its objects."""
        if isinstance(self.statistic, Edges):
            return _count_links
        if isinstance(self.statistic, _TRIANGLES):
            return _count_triangles
        return _count_degrees if self.statistic.vector else _count_at_people

    def written(self) -> dict[str, Any]:
        """With the labels, if there are any."""
        return super().written() | ({"labels": self.labels} if self.labels else {})

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """Parameters and labels, as the definition takes them."""
        labels = int(self.labels or "0", LABELS), self.error
        if isinstance(self.statistic, Edges):
            return int(directed), ("pairs", "alike", "ends").index(self.cells), 0, *labels
        if isinstance(self.statistic, _TRIANGLES):
            return _TRIANGLES.index(type(self.statistic)), 0, 0, *labels
        kind = next((number for each, number in _KINDS if isinstance(self.statistic, each)), 0)
        inward = isinstance(self.statistic, DegreeStatistic) and self.statistic.direction == "in"
        parameter = getattr(self.statistic, "tau", getattr(self.statistic, "k", 0))
        return kind, int(parameter), int(inward), *labels


def labellings(people: int) -> Iterator[str]:
    """Every way to give labels to so many people, but for the names of labels; the last come first.

    In front of them stand labels of more people, which are drawn, each time others.
    """
    draw = random.Random(people)
    ways = [""]
    for _ in range(people):
        ways = [f"{label}{way}" for way in ways for label in range(min(len(set(way)) + 1, LABELS))]
    for way in ways:
        yield "".join(draw.choices("012", k=MOST_PEOPLE - people)) + way


def every_labelling(members: Iterable[Statistic]) -> list[Labelled]:
    """Breakdowns of those that can be divided, by whatever their objects can be sorted by."""
    return [
        Labelled.by(each, "", cells=cells)
        for each in members
        if each.by_groups
        for cells in (("pairs", "alike", "ends") if isinstance(each, Edges) else (None,))
    ]


def attack_labels(
    table: Labelled, bounds: Sequence[Bound], *, relation: Relation, effort: Effort = QUICK
) -> Iterator[Attack]:
    """Attack a breakdown under every labelling of the graphs that are enumerated.

    Args:
        table: the breakdown; its own labels do not matter.
        bounds: ascending, of one kind of graphs.
        relation: what neighbours differ in.
        effort: how hard each labelling is tried.
    """
    people = max(each.nodes for each in effort.sizes(directed=bounds[0].directed))
    tried = [
        attack_all(replace(table, labels=labels), bounds, relation=relation, effort=effort)
        for labels in labellings(people)
    ]
    for attacks in zip(*tried, strict=True):
        yield _together(table, attacks)


def _together(table: Labelled, attacks: Sequence[Attack]) -> Attack:
    """The farthest pairs of several labellings, and how many were tried; a broken one as it is."""
    for each in attacks:
        if each.broken:
            return each
    farthest = (
        max(same, key=lambda finding: finding.found)
        for same in zip(*(each.findings for each in attacks), strict=True)
    )
    return replace(
        attacks[0],
        statistic=replace(table, labels=""),
        findings=tuple(farthest),
        enumerated=sum(each.enumerated for each in attacks),
        searched=sum(each.searched for each in attacks),
    )
