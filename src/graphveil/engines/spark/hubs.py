"""Degrees and hubs against a promise: who has more links, and who is linked to too many hubs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.engines.spark.graph import SparkGraph, nodes_of
from graphveil.graph.sequence import BACKWARD, FORWARD


class DegreeTask(NamedTuple):
    """The nodes of one colour, and what makes a hub of them."""

    graph: SparkGraph
    colour: int
    in_limit: int
    out_limit: int


class Hubs(NamedTuple):
    """The highest degrees of one colour, and the files of its in- and out-hubs."""

    outward: int
    inward: int
    in_hubs: str
    out_hubs: str


class BesideTask(NamedTuple):
    """The nodes of one colour, the hubs of all, and how many somebody may be linked to."""

    graph: SparkGraph
    colour: int
    hubs: tuple[Hubs, ...]
    allowed: tuple[int, ...]


class Beside(NamedTuple):
    """The most hubs beside a node, to which it links and from which, and how many have too many."""

    to_hubs: int
    from_hubs: int
    beyond: int


class _Links(NamedTuple):
    """Links of one file, from places among one colour to places among another."""

    graph: SparkGraph
    entries: NDArray[np.int32]
    node: NDArray[np.int32]
    colour: int
    other: NDArray[np.int32]

    def to(self, hubs: str, bit: int, count: int) -> NDArray[np.int64]:
        """How many lead each node to hubs of a file, in one direction."""
        hub = np.zeros(nodes_of(self.graph, self.colour), np.bool_)
        hub[self.graph.workspace.read(hubs)["node"].to_numpy()] = True
        linked = hub[self.other] & ((self.entries & np.int32(bit)) != 0)
        return np.bincount(self.node[linked], minlength=count)


def degrees(task: DegreeTask) -> Hubs:
    """The degrees of one colour at the end; runs on a worker."""
    import pyarrow as pa

    from graphveil.engines.local.degrees import lifts_of
    from graphveil.engines.spark.halves import halves

    found = {}
    for direction in ("out", "in") if task.graph.directed else ("total",):
        degree = np.zeros(nodes_of(task.graph, task.colour), np.int64)
        lifts = lifts_of(direction, directed=task.graph.directed)
        for half in halves(task.graph, task.colour, lifts):
            degree += np.bincount(half.node, minlength=len(degree))
        found[direction] = degree
    outward = found["out" if task.graph.directed else "total"]
    inward = found["in" if task.graph.directed else "total"]
    names = (
        task.graph.workspace.write("hubs", pa.table({"node": np.flatnonzero(over)}))
        for over in (inward > task.in_limit, outward > task.out_limit)
    )
    return Hubs(int(outward.max(initial=0)), int(inward.max(initial=0)), *names)


def beside(task: BesideTask) -> Beside:
    """The hubs beside the nodes of one colour; runs on a worker."""
    from graphveil.engines.spark.reading import around, read_all

    graph = task.graph
    p, count = np.int32(graph.colours), nodes_of(graph, task.colour)
    to_hubs, from_hubs = np.zeros((2, count), np.int64)
    for edges in read_all(graph, around(graph, task.colour)):
        newer, older = edges.newer // p, (edges.entries >> np.int32(2)) // p
        ends = ((edges.part.newer, newer), (edges.part.older, older))
        for (mine, node), (theirs, other), out in ((*ends, BACKWARD), (*ends[::-1], FORWARD)):
            if mine != task.colour:
                continue
            hubs, into = task.hubs[theirs], FORWARD + BACKWARD - out
            links = _Links(graph, edges.entries, node, theirs, other)
            to_hubs += links.to(hubs.in_hubs, out, count)
            from_hubs += links.to(hubs.out_hubs, into, count)
    both = zip((to_hubs, from_hubs), task.allowed, strict=False)
    beyond = np.any([hubs > allowed for hubs, allowed in both], axis=0)
    return Beside(int(to_hubs.max(initial=0)), int(from_hubs.max(initial=0)), int(beyond.sum()))
