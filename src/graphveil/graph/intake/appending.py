"""Intake: resolved records become the next batch of a graph sequence, all of them or none."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError
from graphveil.graph.columns import Column, require_room_to_build
from graphveil.graph.intake.arrivals import Arrivals, Present, arrivals
from graphveil.graph.intake.id_table import Index
from graphveil.graph.intake.links import EdgeRows, Links, links
from graphveil.graph.intake.records import IntakeReport
from graphveil.graph.intake.resolving import Resolved, nothing
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import MOST_NODES, GraphSequence, Growth, LateEdges

Int64s = NDArray[np.int64]


class Intake(NamedTuple):
    """A sequence with its newest batch, and what happened to the records (private).

    Examples:
        >>> begun = GraphSequence.begin(Calendar.yearly(2021))
        >>> sequence, report = begun.extend(from_rows([("ann", 2021)]))
        >>> sequence.nodes, report.nodes_added
        (1, 1)
    """

    sequence: GraphSequence
    report: IntakeReport


def append(
    sequence: GraphSequence,
    resolved: Resolved,
    *,
    late: Late,
    upto: int | None = None,
    waiting: Resolved | None = None,
    only_earlier: bool = False,
) -> Intake:
    """The sequence with one more batch; the given sequence stays as it was.

    A node that is in the sequence, or waits, keeps the step that it stated first. The report
    covers `resolved` alone: what waits was reported when it came.

    Args:
        sequence: what has arrived so far.
        resolved: nodes and edges of one or more open steps, in any row order.
        late: records of closed steps are refused, or join the first open one.
        upto: the last step to close; later records are refused. None closes all steps up
            to the last one that a record names.
        waiting: what came before and is not in the sequence yet, each node once.
        only_earlier: whether a known node may state a later step without being re-dated, as a
            person does whose later sequence comes without the first.
    """
    before = waiting or nothing()
    require_room_to_build(len(resolved.nodes.frame), len(resolved.edges.frame))
    with resolved.as_read():
        present = Present.of(sequence)
        arriving = arrivals(present, resolved.nodes, before.nodes, late, only_earlier=only_earlier)
        refuse_too_many(sequence.nodes + len(arriving.ids))
        index = sequence.index.extended(arriving.ids) if sequence.nodes else arriving.index
        arrived = _node_offsets(sequence, arriving, _steps_needed(sequence, arriving.steps, None))
        edges = EdgeRows.of(before.edges, resolved.edges)
        linked = links(sequence, edges, index, arrived, late)
    count = _steps_needed(sequence, np.concatenate([arriving.steps, linked.late.steps]), upto)
    report = replace(
        arriving.report + linked.report,
        trimmed_ids=resolved.trimmed_ids,
        respelled_ids=resolved.respelled_ids,
        folded_nodes=resolved.folded_nodes,
        nodes_after_end=resolved.nodes_after_end,
        edges_after_end=resolved.edges_after_end,
        nodes_undated=resolved.nodes_undated,
        edges_undated=resolved.edges_undated,
        two_labels=resolved.relabelled,
    )
    return Intake(_grown(sequence, arriving, linked, index, count), report)


def refuse_too_many(nodes: int) -> None:
    """Refuse more nodes than labels have room for."""
    if nodes > MOST_NODES:
        raise InputError(
            f"a sequence holds at most {MOST_NODES:,} nodes",
            hint="Divide the population into several studies, each with a budget of its own.",
        )


def _steps_needed(sequence: GraphSequence, steps: NDArray[np.int32], upto: int | None) -> int:
    seen = int(steps.max()) + 1 if len(steps) else 0
    if upto is None:
        return max(sequence.steps, seen)
    if seen > upto + 1:
        raise InputError(
            f"a record belongs to a step after {sequence.calendar.label(upto)}, "
            "the last one to close",
            hint="Leave it for a later batch, or close more steps.",
        )
    return max(sequence.steps, upto + 1)


def _node_offsets(sequence: GraphSequence, arriving: Arrivals, count: int) -> Int64s:
    added = np.bincount(arriving.steps, minlength=count)[sequence.steps : count]
    return np.concatenate([sequence.node_offsets, sequence.nodes + np.cumsum(added)])


def _grown(
    sequence: GraphSequence, arriving: Arrivals, linked: Links, index: Index, count: int
) -> GraphSequence:
    """Append the batch's columns; costs as much as the batch."""
    held = sequence.growth or Growth.of(sequence)
    late = sequence.late
    added = np.bincount(linked.late.steps, minlength=count)[sequence.steps : count]
    growth = Growth(
        index=index,
        stated=held.stated.extended(arriving.stated),
        offsets=held.offsets.extended(linked.lists.offsets[1:] + len(sequence.entries)),
        entries=held.entries.extended(linked.lists.entries),
        late_newer=held.late_newer.extended(linked.late.newer),
        late_entries=held.late_entries.extended(linked.late.entries),
        strata=_labelled(held.strata, arriving),
    )
    return replace(
        sequence,
        names=index.ids,
        stated=growth.stated.values,
        node_offsets=_node_offsets(sequence, arriving, count),
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=LateEdges(
            offsets=np.concatenate([late.offsets, len(late) + np.cumsum(added)]),
            newer=growth.late_newer.values,
            entries=growth.late_entries.values,
        ),
        growth=growth,
        strata=None if growth.strata is None else growth.strata.values,
    )


def _labelled(held: Column[np.int32] | None, arriving: Arrivals) -> Column[np.int32] | None:
    """The labels of everybody, where the study has groups."""
    if held is None or arriving.strata is None:
        return held
    return held.extended(arriving.strata)
