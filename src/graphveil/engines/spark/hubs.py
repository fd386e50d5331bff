"""Degrees and hubs against a promise: who has more links, and who is linked to too many hubs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphveil.engines.spark.graph import SparkGraph
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


def degrees(task: DegreeTask) -> Hubs:
    """The degrees of one colour at the end; runs on a worker."""
    import pyarrow as pa

    from graphveil.engines.local.degrees import lifts_of
    from graphveil.engines.spark.halves import halves, nodes_of

    found = {}
    for direction in ("out", "in") if task.graph.directed else ("total",):
        degree = np.zeros(nodes_of(task.graph, task.colour), np.int64)
        lifts = lifts_of(direction, directed=task.graph.directed)  # type: ignore[arg-type]
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
    from graphveil.engines.spark.halves import nodes_of
    from graphveil.engines.spark.reading import around, read_all

    graph = task.graph
    p, count = np.int32(graph.colours), nodes_of(graph, task.colour)
    to_hubs, from_hubs = np.zeros((2, count), np.int64)
    for edges in read_all(graph, around(graph, task.colour)):
        newer, older = edges.newer // p, (edges.entries >> np.int32(2)) // p
        ends = ((edges.part.newer, newer), (edges.part.older, older))
        for (mine, node), (theirs, other), out in (
            (*ends, BACKWARD),
            (*reversed(ends), FORWARD),
        ):
            if mine != task.colour:
                continue
            into = FORWARD + BACKWARD - out
            for counted, bit, hubs in (
                (to_hubs, out, task.hubs[theirs].in_hubs),
                (from_hubs, into, task.hubs[theirs].out_hubs),
            ):
                hub = np.zeros(nodes_of(graph, theirs), np.bool_)
                hub[graph.workspace.read(hubs)["node"].to_numpy()] = True
                linked = hub[other] & ((edges.entries & np.int32(bit)) != 0)
                counted += np.bincount(node[linked], minlength=count)
    both = zip((to_hubs, from_hubs), task.allowed, strict=False)
    beyond = np.any([hubs > allowed for hubs, allowed in both], axis=0)
    return Beside(int(to_hubs.max(initial=0)), int(from_hubs.max(initial=0)), int(beyond.sum()))
