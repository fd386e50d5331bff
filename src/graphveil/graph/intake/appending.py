"""Intake: resolved records become the next batch of a graph sequence, all of them or none.

Or they are filtered: what can be taken is taken, and every row that breaks a rule is left out.
Each rule finds its rows from themselves and from what else is said about the persons that they
name, and the rules are asked in a fixed order. So whether a row is left out depends on records
of the persons in it alone: deleting one person's records leaves out, and keeps, everybody
else's as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphveil.calendar.times import values_of
from graphveil.deferred import pl
from graphveil.errors import InputError, RecordError
from graphveil.graph.columns import Column, require_room_to_build
from graphveil.graph.intake.arrivals import Arrivals, Present, arrivals
from graphveil.graph.intake.id_table import Index
from graphveil.graph.intake.links import EdgeRows, Links, links
from graphveil.graph.intake.records import IntakeReport, Records, Table, Violation
from graphveil.graph.intake.resolving import Resolved, nothing
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import MOST_NODES, GraphSequence, Growth, LateEdges

Int64s = NDArray[np.int64]
Taken = TypeVar("Taken")
_CELLS = ("node", "source", "target", "time")


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


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows that break one rule, as they were read; a secret.

    Attributes:
        rule: what is wrong with them.
        kind: "nodes" or "edges".
        column: the user's name of the column where it is seen.
        hint: how to mend it.
        table: the rows alone, each with its place.
        unlisted: how many more there are that are only counted.
    """

    rule: str
    kind: str
    column: str
    hint: str
    table: Table = field(repr=False)
    unlisted: int = field(default=0, repr=False)

    def __len__(self) -> int:
        return len(self.table.frame) + self.unlisted

    def refusal(self) -> RecordError:
        """The error that would have refused them."""
        rows = np.arange(len(self.table.frame))
        return self.table.refusal(Violation(rows, self.column, self.rule, self.hint))

    def frame(self) -> pl.DataFrame:
        """One row each: its place, what is wrong, and what it says, all as text."""
        rows = range(len(self.table.frame))
        places = [self.table.place(row, self.column) for row in rows]
        columns = {
            "file": [place.source for place in places],
            "row": ["" if place.row is None else str(place.row) for place in places],
            "column": [self.column] * len(rows),
            "reason": [self.rule] * len(rows),
            **{cell: _texts(self.table, cell) for cell in _CELLS},
        }
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


@dataclass(frozen=True, eq=False)
class Filtered(Generic[Taken]):
    """What became of records.

    Attributes:
        taken: what was made of those that break no rule.
        left_out: the others, rule by rule.
    """

    taken: Taken
    left_out: tuple[LeftOut, ...] = ()


def filtered(
    records: Records, take: Callable[[Records], Taken], only: str | None = None
) -> Filtered[Taken]:
    """What `take` makes of the records, without those for which it raises a RecordError.

    Args:
        records: all of them.
        take: what makes something of records without faults.
        only: the source whose rows alone may be left out; others are refused. None names no one.
    """
    left_out: list[LeftOut] = []
    while True:
        try:
            return Filtered(take(records), tuple(left_out))
        except RecordError as refused:
            if not len(refused.rows):  # nothing of these records is to blame
                raise
            records, without = _divided(records, refused)
            if only is not None and not without.table.comes_from(only).all():
                raise
            left_out.append(without)


def listed(left_out: Sequence[LeftOut]) -> pl.DataFrame:
    """All rows that were left out, in the order of rules and then of rows."""
    return pl.concat([each.frame() for each in left_out])


def _divided(records: Records, refused: RecordError) -> tuple[Records, LeftOut]:
    table: Table = getattr(records, refused.kind)
    bad = np.zeros(len(table.frame), np.bool_)
    bad[refused.rows] = True
    column = refused.place.column if refused.place is not None else None
    without = LeftOut(refused.rule, refused.kind, column or "", refused.hint, table.kept(bad))
    left = table.kept(~bad)
    if refused.kind == "nodes":
        return replace(records, nodes=left), without
    return replace(records, edges=left), without


def _texts(table: Table, column: str) -> list[str | None]:
    """What rows say in a column, as text; nothing where the table has no such column."""
    if column not in table.frame.columns:
        return [None] * len(table.frame)
    return [None if value is None else str(value) for value in values_of(table.frame[column])]
