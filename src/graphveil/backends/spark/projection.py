"""Projection and hubs on the workers: which links count, and who breaks a promise.

Edges have one order: by step, prompt before late, by newer and by older end. Only nodes with more
links than the bound matter. A task for each colour finds the place of their last counted link, of
which there are at most 2E/(D + 1); a task for each class keeps the edges that lie before both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.local.degrees import increments_of
from graphveil.backends.spark.blocks import Edges, around, halves, read_all, read_edges
from graphveil.backends.spark.graph import Part, SparkGraph, nodes_of
from graphveil.graph.promises import Bound
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD
from graphveil.statistics.tallies import Counts

Int64s = NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max
_BITS = 29  # of a label, as a sequence holds at most 2²⁹ nodes


class Place(NamedTuple):
    """The position of edges in their one order: by step and kind, then by both ends."""

    time: Int64s
    ends: Int64s


class CutTask(NamedTuple):
    """The nodes of one colour, and the most links of theirs that count, by direction."""

    graph: SparkGraph
    colour: int
    limits: dict[str, int]


class KeepTask(NamedTuple):
    """The files of one class, and the cut-offs of both its colours by direction."""

    graph: SparkGraph
    newer_cuts: dict[str, str]
    older_cuts: dict[str, str]


class ProjectedClass(NamedTuple):
    """What is left of a class: files, and per step prompt pairs, late ones, and all edges."""

    parts: tuple[Part, ...]
    prompt: Counts
    late: Counts
    edges: Counts


def limits_of(bound: Bound) -> dict[str, int]:
    """How many links count of a node, by direction."""
    if bound.directed:
        return {"out": bound.limit("out"), "in": bound.limit("in")}
    return {"total": bound.limit("total")}


def cut(task: CutTask) -> dict[str, str]:
    """The file of cut-offs of one colour, by direction; runs on a worker."""
    return {name: _cut(task, name, most) for name, most in task.limits.items()}


def _cut(task: CutTask, direction: str, most: int) -> str:
    import pyarrow as pa

    increments = increments_of(direction, directed=task.graph.directed)  # type: ignore[arg-type]
    found = list(halves(task.graph, task.colour, increments))
    degree = np.zeros(nodes_of(task.graph, task.colour), np.int64)
    for half in found:
        degree += np.bincount(half.node, minlength=len(degree))
    over = degree > most
    nodes, times, ends = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for half in found:
        chosen = over[half.node]
        if chosen.any():
            rows = np.flatnonzero(half.kept)[chosen] if half.kept is not None else chosen
            place = _places(half.edges, rows)
            nodes.append(half.node[chosen])
            times.append(place.time)
            ends.append(place.ends)
    node, time, end = (np.concatenate(each) for each in (nodes, times, ends))
    order = np.lexsort((end, time, node))
    last = np.searchsorted(node[order], np.flatnonzero(over)) + most - 1
    at = order[last]
    return task.graph.workspace.write(
        "cuts", pa.table({"node": node[at], "time": time[at], "ends": end[at]})
    )


def _places(edges: Edges, rows: NDArray[np.generic] | slice) -> Place:
    time = edges.steps()[rows].astype(np.int64) << 1 | np.int64(edges.part.late)
    older = edges.entries[rows] >> np.int32(2)
    return Place(time, edges.newer[rows].astype(np.int64) << _BITS | older)


def keep(task: KeepTask) -> ProjectedClass:
    """The edges of a class that are among the first of both their ends; runs on a worker."""
    graph, parts = task.graph, []
    prompt, late, edges = np.zeros((3, graph.steps), np.int64)
    for part in graph.parts:
        file_edges = read_edges(graph, part)
        bits = _kept_bits(task, file_edges)
        chosen = bits != 0
        left = file_edges.entries[chosen] & ~np.int32(BOTH) | bits[chosen]
        steps = file_edges.steps()[chosen]
        pairs = np.bincount(steps, minlength=graph.steps)
        both = np.bincount(steps[left & BOTH == BOTH], minlength=graph.steps)
        (late if part.late else prompt)[:] += pairs
        edges += pairs + (both if graph.directed else 0)
        if chosen.any():
            parts.append(_written(graph, part, file_edges.newer[chosen], left, steps))
    return ProjectedClass(tuple(parts), prompt, late, edges)


def _written(
    graph: SparkGraph,
    part: Part,
    newer: NDArray[np.int32],
    entries: NDArray[np.int32],
    steps: NDArray[np.int32],
) -> Part:
    import pyarrow as pa

    columns = {"newer": newer, "entry": entries, **({"step": steps} if part.late else {})}
    name = graph.workspace.write("kept", pa.table(columns))
    return replace(part, name=name, rows=len(newer))


def _kept_bits(task: KeepTask, edges: Edges) -> NDArray[np.int32]:
    """The directions of each edge that count, or 0."""
    p = np.int32(task.graph.colours)
    place = _places(edges, slice(None))
    newer, older = edges.newer // p, (edges.entries >> np.int32(2)) // p
    first = {
        **{("newer", d): _first(task, f, newer, place) for d, f in task.newer_cuts.items()},
        **{("older", d): _first(task, f, older, place) for d, f in task.older_cuts.items()},
    }
    if not task.graph.directed:
        both = first["newer", "total"] & first["older", "total"]
        return np.where(both, np.int32(BOTH), np.int32(0))
    forward = first["older", "out"] & first["newer", "in"]
    backward = first["newer", "out"] & first["older", "in"]
    bits = np.where(forward, FORWARD, 0) | np.where(backward, BACKWARD, 0)
    return (edges.entries & bits.astype(np.int32)).astype(np.int32)


def _first(task: KeepTask, file: str, node: NDArray[np.int32], place: Place) -> NDArray[np.bool_]:
    """Which edges do not come after the last one that counts at that end."""
    cuts = task.graph.workspace.read(file)
    size = int(node.max(initial=-1)) + 1
    time, ends = np.full((2, size), _NEVER)
    at = cuts["node"].to_numpy()
    here = at < size
    time[at[here]] = cuts["time"].to_numpy()[here]
    ends[at[here]] = cuts["ends"].to_numpy()[here]
    earlier: NDArray[np.bool_] = (place.time < time[node]) | (
        (place.time == time[node]) & (place.ends <= ends[node])
    )
    return earlier


# Degrees and hubs against a promise: who has more links, and who is linked to too many hubs.


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


class HubAdjacencyTask(NamedTuple):
    """The nodes of one colour, the hubs of all, and how many somebody may be linked to."""

    graph: SparkGraph
    colour: int
    hubs: tuple[Hubs, ...]
    allowed: tuple[int, ...]


class HubAdjacency(NamedTuple):
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

    found = {}
    for direction in ("out", "in") if task.graph.directed else ("total",):
        degree = np.zeros(nodes_of(task.graph, task.colour), np.int64)
        increments = increments_of(direction, directed=task.graph.directed)
        for half in halves(task.graph, task.colour, increments):
            degree += np.bincount(half.node, minlength=len(degree))
        found[direction] = degree
    outward = found["out" if task.graph.directed else "total"]
    inward = found["in" if task.graph.directed else "total"]
    names = (
        task.graph.workspace.write("hubs", pa.table({"node": np.flatnonzero(over)}))
        for over in (inward > task.in_limit, outward > task.out_limit)
    )
    return Hubs(int(outward.max(initial=0)), int(inward.max(initial=0)), *names)


def hub_adjacency(task: HubAdjacencyTask) -> HubAdjacency:
    """The hubs beside the nodes of one colour; runs on a worker."""
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
    return HubAdjacency(
        int(to_hubs.max(initial=0)), int(from_hubs.max(initial=0)), int(beyond.sum())
    )
