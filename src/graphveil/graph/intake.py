"""Intake: records become the next batch of a graph sequence, all of them or none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError
from graphveil.graph.arrivals import Arrivals, Rules, arrivals
from graphveil.graph.identity import IdIndex
from graphveil.graph.links import (
    LateRows,
    Lists,
    edge_steps,
    endpoints,
    late_rows,
    new_late_edges,
    prompt_lists,
)
from graphveil.graph.records import Records
from graphveil.graph.report import IntakeReport
from graphveil.graph.sequence import BOTH, MOST_NODES, GraphSequence, Growth, LateEdges

Int64s = NDArray[np.int64]


class Intake(NamedTuple):
    """A sequence with its newest batch, and what happened to the records (private)."""

    sequence: GraphSequence
    report: IntakeReport


@dataclass(frozen=True, eq=False)
class _Batch:
    arriving: Arrivals
    lists: Lists
    late: LateRows


def take_in(
    sequence: GraphSequence, records: Records, rules: Rules, upto: int | None = None
) -> Intake:
    """The sequence with one more batch; the given sequence stays as it was.

    Args:
        sequence: what has arrived so far.
        records: nodes and edges of one or more open steps, in any row order.
        rules: what to do with untidy records.
        upto: the last step to close; later records are refused. None closes all steps up
            to the last one that a record names.
    """
    arriving = arrivals(sequence, records.nodes, rules)
    _refuse_too_many(sequence.nodes + len(arriving.ids))
    index = sequence.index.extended(arriving.ids)
    ends = endpoints(records.edges, index)
    arrived = _node_offsets(sequence, arriving, _steps_needed(sequence, arriving.steps, None))
    steps, prompt, raised = edge_steps(sequence, records.edges, ends, arrived)
    lists = prompt_lists(sequence, records.edges, ends, prompt, len(index.ids))
    rows = late_rows(ends, steps, prompt, directed=sequence.directed)
    late, late_report = new_late_edges(sequence, records.edges, rows, lists, rules)
    count = _steps_needed(sequence, np.concatenate([arriving.steps, late.steps]), upto)
    grown = _grown(sequence, _Batch(arriving, lists, late), index, count)
    report = (
        arriving.report
        + late_report
        + IntakeReport(
            edges_added=_edges(sequence, lists) + len(late),
            trimmed_ids=ends.trimmed,
            repeated_edges=lists.repeated,
            self_links=lists.self_links,
            raised_edges=raised,
        )
    )
    return Intake(grown, report)


def _refuse_too_many(nodes: int) -> None:
    if nodes > MOST_NODES:
        raise InputError(f"a sequence holds at most {MOST_NODES:,} nodes")


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


def _edges(sequence: GraphSequence, lists: Lists) -> int:
    if not sequence.directed:
        return len(lists.entries)
    return len(lists.entries) + int(((lists.entries & BOTH) == BOTH).sum())


def _grown(sequence: GraphSequence, batch: _Batch, index: IdIndex, count: int) -> GraphSequence:
    """Append the batch's columns; costs as much as the batch."""
    held = sequence.growth or Growth.of(sequence)
    late = sequence.late
    added = np.bincount(batch.late.steps, minlength=count)[sequence.steps : count]
    growth = Growth(
        index=index,
        offsets=held.offsets.extended(batch.lists.offsets[1:] + len(sequence.entries)),
        entries=held.entries.extended(batch.lists.entries),
        late_newer=held.late_newer.extended(batch.late.newer),
        late_entries=held.late_entries.extended(batch.late.entries),
    )
    return replace(
        sequence,
        ids=index.ids,
        node_offsets=_node_offsets(sequence, batch.arriving, count),
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=LateEdges(
            offsets=np.concatenate([late.offsets, len(late) + np.cumsum(added)]),
            newer=growth.late_newer.values,
            entries=growth.late_entries.values,
        ),
        growth=growth,
    )
