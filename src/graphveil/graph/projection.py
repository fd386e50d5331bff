"""Projection: keep a part of the edges so that no node exceeds a degree bound.

Edges are taken step by step; of a step first the prompt ones, which appear with their newer
endpoint, then the late ones; each of these by newer endpoint and older endpoint (of a pair
linked both ways at one step, older → newer first). Labels follow step and identity, and
whether an edge is prompt depends on nobody but its two ends, so two sequences that differ in
one node take their common edges in the same order, whatever the order of rows in their files.
Whether an edge is retained depends on earlier edges only: the projection of the graph at step t
is what the projected sequence holds at step t.

What one person can change in a greedily projected graph is proved in
docs/sensitivities.md#after-projection, from this order and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.columns import Column
from graphveil.graph.degrees import require_fit
from graphveil.graph.promises import Bound
from graphveil.graph.sequence import BOTH, GraphSequence, LateEdges
from graphveil.graph.thresholds import TotalBound

Int32s = NDArray[np.int32]
_MOST_OF_A_BYTE = 255  # the largest bound for one-byte counters, which fit better into the cache
_Edges: TypeAlias = tuple[NDArray[np.int64], Int32s, Int32s, Int32s]  # see `EdgeLists`


class Counted(Enum):
    """Which edges use up a node's bound."""

    KEPT = "kept"
    ORIGINAL = "original"


class EdgeLists(NamedTuple):
    """The columns of a sequence that hold its edges, in a form that grows."""

    offsets: Column[np.int64]
    entries: Column[np.int32]
    late_newer: Column[np.int32]
    late_entries: Column[np.int32]

    @classmethod
    def of(cls, edges: _Edges) -> EdgeLists:
        """Columns of arrays, which they take over."""
        offsets, entries, newer, late = edges
        return cls(Column.of(offsets), Column.of(entries), Column.of(newer), Column.of(late))

    def extended(self, edges: _Edges) -> EdgeLists:
        """The columns with more values appended to each; these stay as they are."""
        offsets, entries, newer, late = edges
        return EdgeLists(
            self.offsets.extended(offsets[1:] + len(self.entries)),
            self.entries.extended(entries),
            self.late_newer.extended(newer),
            self.late_entries.extended(late),
        )


@dataclass(frozen=True, eq=False)
class Projected(GraphSequence):
    """A part of a sequence, and what is needed to continue when that grows.

    Attributes:
        used: how much of its bound each node has used: outward and inward, or in total.
        lists: the edges that are retained; None as long as these are all.
        taken: how many edges were looked at.
    """

    used: tuple[Int32s, ...] = field(default=(), repr=False)
    lists: EdgeLists | None = field(default=None, repr=False)
    taken: int = field(default=0, repr=False)

    def until(self, steps: int) -> GraphSequence:
        """As of any sequence; the result cannot be continued as a projection."""
        shorter = super().until(steps)
        return GraphSequence(**_values(shorter))


def greedy_projection(
    sequence: GraphSequence, bound: Bound, after: Projected | None = None
) -> Projected:
    """Retain an edge if both endpoints have retained fewer edges than the bound so far.

    The projection of Day, Li and Lyu (2016), with its own threshold; used by the paper's
    baselines. Its difference sequence has a sensitivity that grows with the number of
    steps, so it must not be combined with SensDiff.

    Examples:
        >>> records = from_rows([("a", 1), ("b", 1), ("c", 1)], [("a", "b"), ("a", "c")])
        >>> sequence, _ = GraphSequence.begin(Calendar.every(1, 1)).extend(records)
        >>> sequence.edges, greedy_projection(sequence, DegreeBound(1)).edges
        (2, 1)

    Args:
        sequence: the growing graph.
        bound: how many edges of a node are retained.
        after: the same projection of an earlier state of the sequence, which then costs nothing.
    """
    return _project(sequence, bound, Counted.KEPT, after)


def time_aware_projection(
    sequence: GraphSequence, bound: Bound, after: Projected | None = None
) -> Projected:
    """Retain an edge if it is among the first of both endpoints, retained or not.

    The variant of Blocki et al. as used along streams by Jain, Smith and Wagaman (2024):
    counters run over the original edges, so that one person's influence does not cascade.
    Changes nothing on a sequence that keeps the bound.

    Examples:
        >>> records = from_rows([("a", 1), ("b", 1), ("c", 1)], [("a", "b"), ("a", "c")])
        >>> sequence, _ = GraphSequence.begin(Calendar.every(1, 1)).extend(records)
        >>> time_aware_projection(sequence, DegreeBound(1)).edges
        1

    Args:
        sequence: the growing graph.
        bound: how many edges of a node are retained.
        after: the same projection of an earlier state of the sequence, which then costs nothing.
    """
    return _project(sequence, bound, Counted.ORIGINAL, after)


def counted_part(
    sequence: GraphSequence, bound: Bound, after: Projected | None = None
) -> GraphSequence:
    """What is counted under a promise: everything or, if there may be hubs, first links only.

    Guarantees:
        It keeps `bound.counted`, whatever the sequence. What one person can change in it is
        proved in docs/sensitivities.md#hubs.
    """
    require_fit(sequence, bound)
    if bound.counted == bound:
        return sequence
    return time_aware_projection(sequence, bound.counted, after)


def _project(
    sequence: GraphSequence, bound: Bound, counted: Counted, after: Projected | None
) -> Projected:
    """The retained edges of the steps that `after` lacks, appended to those that it has."""
    from graphveil.graph.degrees import project_directed, project_undirected

    require_fit(sequence, bound)
    late, step, first = sequence.late, after.steps if after else 0, after.nodes if after else 0
    if after is not None:
        _require_earlier(after, sequence)
    columns = (
        step, sequence.node_offsets, sequence.offsets, sequence.entries,
        late.offsets, late.newer, late.entries,
    )  # fmt: skip
    begin, late_begin = int(sequence.offsets[first]), int(late.offsets[step])
    offsets = np.empty(sequence.nodes - first + 1, np.int64)
    entries = np.empty(len(sequence.entries) - begin, np.int32)
    late_offsets = np.empty(sequence.steps - step + 1, np.int64)
    late_directions = np.empty(len(late) - late_begin, np.int32)
    room, by_retained = (offsets, entries, late_offsets, late_directions), counted is Counted.KEPT
    most = [bound.limit(each) for each in (("out", "in") if bound.directed else ("total",))]
    together = isinstance(bound, TotalBound)  # arcs in and out use up one limit
    small = by_retained and after is None and max(most) <= _MOST_OF_A_BYTE
    used = _used(sequence, after, np.dtype(np.uint8 if small else np.int32))
    if bound.directed:
        inward = used[0] if together else used[1]
        count = project_directed(*columns, most[0], most[1], by_retained, used[0], inward, *room)
    else:
        count = project_undirected(*columns, most[0], by_retained, used[0], *room)
    chosen = late_directions != 0
    late_entries = (late.entries[late_begin:] & ~BOTH | late_directions)[chosen]
    lists = offsets, entries[:count], late.newer[late_begin:][chosen], late_entries
    spent = tuple(counter.astype(np.int32, copy=False) for counter in used)
    return _joined(sequence, after, lists, late_offsets, spent)


def _require_earlier(after: Projected, sequence: GraphSequence) -> None:
    """Refuse a projection of another sequence, or of more steps than this one has."""
    steps = after.steps
    if steps <= sequence.steps and after.nodes == sequence.node_offsets[steps]:
        taken = sequence.offsets[after.nodes] + sequence.late.offsets[steps]
        if after.taken == taken and len(after.used[0]) == after.nodes:
            return
    raise ParameterError(
        "after",
        "was not made from an earlier state of this sequence",
        hint="Project from the start instead.",
    )


def _used(
    sequence: GraphSequence, after: Projected | None, kind: np.dtype[Any]
) -> tuple[NDArray[Any], ...]:
    """The counters as they were, in a copy with zeros for new nodes."""
    counters = np.zeros((2 if sequence.directed else 1, sequence.nodes), kind)
    for counter, before in zip(counters, after.used if after else (), strict=False):
        counter[: len(before)] = before
    return tuple(counters)


def _joined(
    sequence: GraphSequence,
    after: Projected | None,
    new: _Edges,
    late_offsets: NDArray[np.int64],
    used: tuple[Int32s, ...],
) -> Projected:
    """The edges retained before, followed by the new ones."""
    taken = len(sequence.entries) + len(sequence.late)
    values = _values(sequence) | {"used": used, "taken": taken, "growth": None}
    if (after is None or after.lists is None) and _are_all(sequence, after, new[1], new[3]):
        return Projected(**values)
    if after is None:
        lists, ends = EdgeLists.of(new), late_offsets
    else:
        before = after.lists or _all_of(after)
        lists = before.extended(new)
        ends = np.append(after.late.offsets, late_offsets[1:] + len(before.late_newer))
    late = LateEdges(ends, lists.late_newer.values, lists.late_entries.values)
    projected = {"offsets": lists.offsets.values, "entries": lists.entries.values, "late": late}
    return Projected(**values | projected, lists=lists)


def _values(sequence: GraphSequence) -> dict[str, Any]:
    return {each.name: getattr(sequence, each.name) for each in fields(GraphSequence)}


def _are_all(
    sequence: GraphSequence, after: Projected | None, entries: Int32s, late_entries: Int32s
) -> bool:
    """Whether none of the new edges was left out."""
    begin = len(after.entries) if after else 0
    late_begin = len(after.late) if after else 0
    return np.array_equal(entries, sequence.entries[begin:]) and np.array_equal(
        late_entries, sequence.late.entries[late_begin:]
    )


def _all_of(whole: Projected) -> EdgeLists:
    """The edges of a projection that has left none out so far; they are copied when they grow."""
    late = whole.late
    return EdgeLists.of((whole.offsets, whole.entries, late.newer, late.entries))
