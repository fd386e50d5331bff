"""Projection: keep a part of the edges so that no node exceeds a degree bound.

Edges are taken step by step; of a step first the prompt ones, which appear with their newer
endpoint, then the late ones; each of these by newer endpoint and older endpoint (of a pair
linked both ways at one step, older → newer first). Labels follow step and identity, and
whether an edge is prompt depends on nobody but its two ends, so two sequences that differ in
one node take their common edges in the same order, whatever the order of rows in their files.
Whether an edge is kept depends on earlier edges only: the projection of the graph at step t
is what the projected sequence holds at step t.

What one person can change in a greedily projected graph is proved in
docs/sensitivities.md#after-projection, from this order and from nothing else.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import numpy as np

from graphveil.graph.degrees import require_fit
from graphveil.graph.promises.bound import Bound
from graphveil.graph.sequence import BOTH, GraphSequence, LateEdges


class Counted(Enum):
    """Which edges use up a node's bound."""

    KEPT = "kept"
    ORIGINAL = "original"


def greedy_projection(sequence: GraphSequence, bound: Bound) -> GraphSequence:
    """Keep an edge if both endpoints have kept fewer edges than the bound so far.

    The projection of Day, Li and Lyu (2016), with its own threshold; used by the paper's
    baselines. Its difference sequence has a sensitivity that grows with the number of
    steps, so it must not be combined with SensDiff.

    Examples:
        >>> records = from_rows([("a", 1), ("b", 1), ("c", 1)], [("a", "b"), ("a", "c")])
        >>> sequence, _ = GraphSequence.begin(Calendar.every(1, 1)).extend(records)
        >>> sequence.edges, greedy_projection(sequence, DegreeBound(1)).edges
        (2, 1)
    """
    return _project(sequence, bound, Counted.KEPT)


def time_aware_projection(sequence: GraphSequence, bound: Bound) -> GraphSequence:
    """Keep an edge if it is among the first of both endpoints, kept or not.

    The variant of Blocki et al. as used along streams by Jain, Smith and Wagaman (2024):
    counters run over the original edges, so that one person's influence does not cascade.
    Changes nothing on a sequence that keeps the bound.

    Examples:
        >>> records = from_rows([("a", 1), ("b", 1), ("c", 1)], [("a", "b"), ("a", "c")])
        >>> sequence, _ = GraphSequence.begin(Calendar.every(1, 1)).extend(records)
        >>> time_aware_projection(sequence, DegreeBound(1)).edges
        1
    """
    return _project(sequence, bound, Counted.ORIGINAL)


def counted_part(sequence: GraphSequence, bound: Bound) -> GraphSequence:
    """What is counted under a promise: everything or, if there may be hubs, first links only.

    Guarantees:
        It keeps `bound.counted`, whatever the sequence. What one person can change in it is
        proved in docs/sensitivities.md#hubs.
    """
    require_fit(sequence, bound)
    return time_aware_projection(sequence, bound.counted) if bound.counted != bound else sequence


def _project(sequence: GraphSequence, bound: Bound, counted: Counted) -> GraphSequence:
    from graphveil.graph.degree_kernels import project_directed, project_undirected

    require_fit(sequence, bound)
    late = sequence.late
    columns = (
        sequence.node_offsets, sequence.offsets, sequence.entries,
        late.offsets, late.newer, late.entries,
    )  # fmt: skip
    by_kept = counted is Counted.KEPT
    offsets, entries = np.empty_like(sequence.offsets), np.empty_like(sequence.entries)
    late_offsets, late_kept = np.empty_like(late.offsets), np.empty_like(late.newer)
    room = offsets, entries, late_offsets, late_kept
    used = np.zeros(sequence.nodes, np.int32)
    if bound.directed:
        most = bound.limit("out"), bound.limit("in")
        count = project_directed(*columns, *most, by_kept, used, used.copy(), *room)
    else:
        count = project_undirected(*columns, bound.limit("total"), by_kept, used, *room)
    chosen = late_kept != 0
    return replace(
        sequence,
        offsets=offsets,
        entries=entries[:count],
        late=LateEdges(
            late_offsets, late.newer[chosen], (late.entries & ~BOTH | late_kept)[chosen]
        ),
        growth=None,
    )
