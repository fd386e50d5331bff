"""Arrivals: the new nodes of a batch, each with its step, in label order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, PastStepError
from graphveil.graph.identity import clean_ids, identity_order, is_narrow
from graphveil.graph.records import Table
from graphveil.graph.report import IntakeReport

if TYPE_CHECKING:
    import polars as pl

    from graphveil.calendar.calendar import Calendar, StepColumn
    from graphveil.graph.sequence import GraphSequence

Steps = NDArray[np.int32]
Mask = NDArray[np.bool_]
LONGEST_SHOWN = 40  # signs of a time that a message repeats


@dataclass(frozen=True)
class Rules:
    """What to do with records that life makes untidy.

    Attributes:
        undated: a node without a time is refused, or put into the first open step.
        late: a record of a closed step is refused, or joins the first open step.
    """

    undated: Literal["refuse", "first"] = "refuse"
    late: Literal["refuse", "join"] = "refuse"


@dataclass(frozen=True, eq=False)
class Arrivals:
    """New nodes in label order: by step, then by identity."""

    ids: pl.Series
    steps: Steps
    report: IntakeReport


def arrivals(sequence: GraphSequence, table: Table, rules: Rules) -> Arrivals:
    """Read the nodes of a batch: merge repetitions, leave out known ones, order the rest."""
    ids, trimmed = clean_ids(table, "node")
    steps, undated, folded = _dated(sequence, table, rules)
    rows, repeated, redated = _unknown_rows(sequence, table, ids, steps, undated, rules)
    fresh, fresh_steps = ids, steps
    if rows is not None:
        fresh, fresh_steps, undated = ids.gather(rows), steps[rows], undated[rows]
    past = _join_open_step(sequence, table, rows, fresh_steps, rules)
    ordered, ordered_steps = _in_order(table, rows, fresh, fresh_steps)
    report = IntakeReport(
        nodes_added=len(ordered),
        trimmed_ids=trimmed,
        repeated_nodes=repeated + len(fresh) - len(ordered),
        redated_nodes=redated,
        folded_nodes=folded if sequence.steps == 0 else 0,
        undated_nodes=_distinct(fresh, undated),
        late_nodes=_distinct(fresh, past),
    )
    return Arrivals(ordered, ordered_steps, report)


def steps_of_labels(node_offsets: NDArray[np.int64], labels: NDArray[np.int32]) -> Steps:
    """The step at which each label arrived."""
    found = np.searchsorted(node_offsets, labels, side="right") - 1
    return found.astype(np.int32)


def dated_column(calendar: Calendar, table: Table) -> StepColumn:
    """The steps of a table's times; refuses a time that cannot be placed."""
    dated = calendar.steps_of(table.frame["time"])
    if dated.trouble is not None:
        place = table.place(dated.trouble.row, "time")
        value = str(table.frame["time"][dated.trouble.row])[:LONGEST_SHOWN]
        what = f"{dated.trouble.what}: '{value}'"
        raise InputError(what, place=place, hint=dated.trouble.hint)
    return dated


def _dated(sequence: GraphSequence, table: Table, rules: Rules) -> tuple[Steps, Mask, int]:
    """The step of every row, which rows have no time, and how many were folded."""
    dated = dated_column(sequence.calendar, table)
    missing = dated.missing
    if missing.any() and rules.undated == "refuse":
        raise InputError(
            "the time is missing",
            place=table.place(int(missing.argmax()), "time"),
            hint="Fill it in, or choose the rule that undated nodes join the first open step.",
        )
    return np.where(missing, sequence.steps, dated.steps).astype(np.int32), missing, dated.folded


def _unknown_rows(
    sequence: GraphSequence,
    table: Table,
    ids: pl.Series,
    steps: Steps,
    undated: Mask,
    rules: Rules,
) -> tuple[NDArray[np.int64] | None, int, int]:
    """Rows of nodes that the sequence does not have (None: all), repeated, re-dated."""
    if sequence.nodes == 0:
        return None, 0, 0
    labels = sequence.index.labels(ids)
    known = labels >= 0
    if not known.any():
        return None, 0, 0
    recorded = steps_of_labels(sequence.node_offsets, labels)
    redated = known & ~undated & (recorded != steps)
    if redated.any() and rules.late == "refuse":
        raise InputError(
            "a node that is already in the sequence comes with another step",
            place=table.place(int(redated.argmax()), "time"),
            hint="What has arrived stays as it was: remove the row or restore its time.",
        )
    return np.flatnonzero(~known), int(known.sum() - redated.sum()), int(redated.sum())


def _join_open_step(
    sequence: GraphSequence,
    table: Table,
    rows: NDArray[np.int64] | None,
    steps: Steps,
    rules: Rules,
) -> Mask:
    """Move rows of closed steps into the first open one, in place, or refuse them."""
    past = steps < sequence.steps
    if past.any() and rules.late == "refuse":
        row = int(past.argmax())
        raise PastStepError(
            f"the node belongs to a closed step; the first open one is "
            f"{sequence.calendar.label(sequence.steps)}",
            place=table.place(row if rows is None else int(rows[row]), "time"),
            hint="Correct the time, or choose the rule that late records join the open step.",
        )
    steps[past] = sequence.steps
    return past


def _distinct(ids: pl.Series, rows: Mask) -> int:
    """How many different nodes stand in these rows."""
    import polars as pl

    return ids.filter(pl.Series(rows)).n_unique() if rows.any() else 0


def _in_order(
    table: Table, rows: NDArray[np.int64] | None, ids: pl.Series, steps: Steps
) -> tuple[pl.Series, Steps]:
    """Distinct new nodes in label order, with their steps."""
    arranged = _numbers_in_order(ids, steps)
    if arranged is not None:
        return arranged
    keep = np.arange(len(ids))
    if ids.n_unique() < len(ids):
        keep = _first_of_each(table, rows, ids, steps)
    order = keep[identity_order(ids.gather(keep), steps[keep])]
    return ids.gather(order), steps[order]


def _numbers_in_order(ids: pl.Series, steps: Steps) -> tuple[pl.Series, Steps] | None:
    """The same without sorting, for whole numbers in a narrow range that do not conflict."""
    import polars as pl

    if ids.dtype != pl.Int64 or not len(ids):
        return None
    low, high = int(ids.min()), int(ids.max())  # type: ignore[arg-type]
    if not is_narrow(low, high, len(ids)):
        return None
    from graphveil.graph.intake_kernels import arrange_numbers

    first, last = int(steps.min()), int(steps.max())
    step_of = np.full(high - low + 1, -1, np.int32)
    arranged, counts = np.empty(len(ids), np.int64), np.zeros(last - first + 1, np.int64)
    since = steps - np.int32(first)
    if arrange_numbers(ids.to_numpy(), since, low, step_of, arranged, counts) >= 0:
        return None
    in_order = np.repeat(np.arange(first, last + 1, dtype=np.int32), counts)
    return pl.Series(arranged[: len(in_order)]), in_order


def _first_of_each(
    table: Table, rows: NDArray[np.int64] | None, ids: pl.Series, steps: Steps
) -> NDArray[np.int64]:
    """The first row of every node; refuses a node whose rows name different steps."""
    import polars as pl

    frame = pl.DataFrame({"id": ids, "step": steps}).with_row_index("row")
    first = frame.unique("id", keep="first", maintain_order=True)
    differing = frame.join(first, on="id", maintain_order="left").filter(
        pl.col("step") != pl.col("step_right")
    )
    if len(differing):
        row = int(differing["row"][0])
        raise InputError(
            "a node that stands in an earlier row comes again with another time",
            place=table.place(row if rows is None else int(rows[row]), "time"),
            hint="Give each node one arrival time.",
        )
    return first["row"].to_numpy().astype(np.int64)
