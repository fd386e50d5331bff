"""Arrivals: the nodes that a batch adds, each with its step, in label order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import PastStepError
from graphveil.graph.intake.identity import IdIndex, LookUp, identity_order, same_form
from graphveil.graph.intake.records import IntakeReport, Table, Violation
from graphveil.graph.intake.resolving import stated_steps, strata_of
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import UNSTATED

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.graph.groups import Groups
    from graphveil.graph.intake.id_table import Index
    from graphveil.graph.sequence import GraphSequence

OTHER_STEP = "a node that is already in the sequence appears with a different step"
OTHER_STEP_HINT = "What has arrived stays as it was: remove the row or restore its time."
CLOSED = "the node belongs to a closed step; the first open one is {}"
CLOSED_HINT = "Correct the time, or choose the rule that late records join the open step."
TWO_TIMES = "the node has an earlier time in another row, and arrives then"
TWO_TIMES_HINT = "Give each node one arrival time."

Steps = NDArray[np.int32]
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Present:
    """Who is there before a batch: a sequence, or those of its people whom one task looks after.

    Attributes:
        calendar: how times become steps.
        index: where ids find their places.
        stated: the step that the record at each place stated, or UNSTATED.
        node_offsets: where the labels of each closed step begin.
        labels: the label at each place; None if the place is the label.
        strata: the labels of groups at each place, if there are groups.
    """

    calendar: Calendar
    index: Index
    stated: Steps
    node_offsets: NDArray[np.int64]
    labels: Steps | None = None
    strata: Steps | None = None

    @classmethod
    def of(cls, sequence: GraphSequence) -> Present:
        """All the people of a sequence."""
        held = sequence.index, sequence.stated, sequence.node_offsets
        return cls(sequence.calendar, *held, strata=sequence.strata)

    @property
    def steps(self) -> int:
        """How many are closed."""
        return len(self.node_offsets) - 1

    def arrived(self, places: Steps) -> Steps:
        """The step at which those at some places arrived."""
        labels = places if self.labels is None else self.labels[places]
        return steps_of_labels(self.node_offsets, labels)


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Nodes that arrive, in label order: by step, then by identity.

    Attributes:
        index: who they are, and which place each has among them.
        steps: when they arrive.
        stated: which step their records stated, or UNSTATED.
        report: what became of the rows.
        strata: their labels, if there are groups.
    """

    index: IdIndex
    steps: Steps
    stated: Steps
    report: IntakeReport
    strata: Steps | None = None

    @property
    def ids(self) -> pl.Series:
        """Who they are."""
        return self.index.ids


@dataclass(frozen=True, eq=False)
class Known:
    """What is known already about the nodes of a batch, row by row.

    Attributes:
        rows: whether the node is in the sequence, or waits.
        stated: the step that it stated first; UNSTATED also where it is new.
        steps: when it arrived or will, as far as that is known.
        strata: the labels that it had first, if there are groups.
    """

    rows: Mask
    stated: Steps
    steps: Steps
    strata: Steps | None = None

    def redated(self, now: Steps, *, only_earlier: bool) -> Mask:
        """The rows that state another step than their node did before."""
        if not self.rows.any():
            return self.rows
        differs = now < self.stated if only_earlier else now != self.stated
        redated_rows: Mask = self.rows & differs & (now != UNSTATED)
        return redated_rows


def arrivals(
    present: Present, given: Table, waiting: Table, late: Late, *, only_earlier: bool
) -> Arrivals:
    """Everybody who waits, and the new nodes of a batch, once each.

    Args:
        present: who is there.
        given: the resolved rows of the batch.
        waiting: nodes that are resolved but not there yet, once each.
        late: what to do with rows of closed steps.
        only_earlier: whether a known node may state a later step and is not re-dated by it.
    """
    ids, stated = given.frame["node"], stated_steps(given)
    known = known_nodes(present, waiting, ids)
    redated = known.redated(stated, only_earlier=only_earlier)
    if late == "refuse":
        _refuse_other_step(given, redated & (stated != known.steps))
    fresh = _NewRows.new(ids, stated, ~known.rows)
    past = (fresh.stated != UNSTATED) & (fresh.stated < present.steps)
    if past.any():
        _require_welcome(present, given, fresh, past, late)
    new_rows = fresh.behind(waiting)
    ordered, steps, first_stated = _in_order(new_rows, given, present.steps)
    added, met = len(steps) - len(waiting.frame), _distinct(ids, known.rows)
    report = IntakeReport(
        nodes_added=added,
        known_nodes=met,
        repeated_nodes=len(ids) - added - met,
        redated_nodes=_distinct(ids, redated),
        undated_nodes=_distinct(fresh.ids, fresh.stated == UNSTATED),
        late_nodes=_distinct(fresh.ids, past),
    )
    strata = None
    if present.strata is not None:
        own = _strata_of(given, fresh.rows, waiting)
        strata = np.empty(len(ordered.ids), np.int32)
        strata[ordered.labels(new_rows.ids)] = own
    return Arrivals(ordered, steps, first_stated, report, strata)


def _strata_of(given: Table, rows: Rows, waiting: Table) -> Steps:
    """The labels of those who wait, and then of the new rows; all rows of one person agree."""
    before, new = strata_of(waiting), strata_of(given)
    assert new is not None or not len(rows), "records of a study with groups have labels"
    parts = [each for each in (before, None if new is None else new[rows]) if each is not None]
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


def known_nodes(present: Present, waiting: Table, ids: pl.Series) -> Known:
    """What is known of the nodes with these ids from those who are there, or wait."""
    if not len(present.stated) and not len(waiting.frame):
        nothing = np.full(len(ids), UNSTATED, np.int32)
        return Known(np.zeros(len(ids), np.bool_), nothing, nothing)
    places = present.index.labels(ids)
    known, stated = places >= 0, np.full(len(ids), UNSTATED, np.int32)
    steps = stated.copy()
    stated[known] = present.stated[places[known]]
    steps[known] = present.arrived(places[known])
    strata = None
    if present.strata is not None:
        strata = np.zeros(len(ids), np.int32)
        strata[known] = present.strata[places[known]]
    if len(waiting.frame):
        places = IdIndex.of(waiting.frame["node"]).labels(ids)
        waits = places >= 0
        stated[waits] = stated_steps(waiting)[places[waits]]
        steps[waits] = np.maximum(stated[waits], present.steps)
        if strata is not None and (theirs := strata_of(waiting)) is not None:
            strata[waits] = theirs[places[waits]]
        known |= waits
    return Known(known, stated, steps, strata)


def redated_nodes(
    known: Known, ids: pl.Series, now: Steps, calendar: Calendar, *, only_earlier: bool
) -> pl.DataFrame:
    """Known nodes that come with another step: `node`, and what it `was` and is `now`.

    Of several other steps, the earliest.
    """

    def label(step: int) -> str:
        return "" if step == UNSTATED else calendar.label(step)

    frame = pl.DataFrame({"node": ids.cast(pl.String), "was": known.stated, "now": now})
    other = frame.filter(pl.Series(known.redated(now, only_earlier=only_earlier)))
    earliest = other.sort("now").unique("node", keep="first", maintain_order=True)
    steps = {name: map(label, earliest[name].to_list()) for name in ("was", "now")}
    return earliest.with_columns(
        pl.Series(name, list(each), dtype=pl.String) for name, each in steps.items()
    )


def relabelled_nodes(known: Known, ids: pl.Series, now: Steps, groups: Groups) -> pl.DataFrame:
    """Known nodes that come with other labels: `node`, and what it `was` and is `now`.

    The new ones are ignored; `unknown` says nothing.
    """
    import polars as pl

    kinds = dict.fromkeys(("node", "was", "now"), pl.String)
    if known.strata is None:
        return pl.DataFrame(schema=kinds)
    rows = np.flatnonzero(known.rows & groups.differ(known.strata, now))
    was, is_now = (
        [", ".join(groups.labels_of(int(each))) for each in strata[rows]]
        for strata in (known.strata, now)
    )
    nodes = ids.cast(pl.String).gather(rows)
    found = pl.DataFrame({"node": nodes, "was": was, "now": is_now}, schema=kinds)
    return found.unique(maintain_order=True)


def steps_of_labels(node_offsets: NDArray[np.int64], labels: NDArray[np.int32]) -> Steps:
    """The step at which each label arrived."""
    found = np.searchsorted(node_offsets, labels, side="right") - 1
    return found.astype(np.int32)


@dataclass(frozen=True, eq=False)
class _NewRows:
    """Rows of nodes that are not there yet.

    Attributes:
        ids: who; more than once where rows repeat a node.
        stated: the step that each row states, or UNSTATED.
        rows: the place of each in the batch; meaningless for those who wait.
    """

    ids: pl.Series
    stated: Steps
    rows: Rows

    @classmethod
    def new(cls, ids: pl.Series, stated: Steps, chosen: Mask) -> _NewRows:
        """The chosen rows of a batch."""
        if chosen.all():
            return cls(ids, stated, np.arange(len(ids)))
        rows = np.flatnonzero(chosen)
        return cls(ids.gather(rows), stated[rows], rows)

    def behind(self, waiting: Table) -> _NewRows:
        """Those who wait, and then these."""
        count = len(waiting.frame)
        if not count:
            return self
        return _NewRows(
            pl.concat(same_form(waiting.frame["node"], self.ids)),
            np.concatenate([stated_steps(waiting), self.stated]),
            np.concatenate([np.full(count, -1), self.rows]),
        )


def _refuse_other_step(given: Table, other: Mask) -> None:
    if other.any():
        rows = np.flatnonzero(other)
        raise given.refusal(Violation(rows, "time", OTHER_STEP, OTHER_STEP_HINT))


def _require_welcome(
    present: Present, given: Table, fresh: _NewRows, past: Mask, late: Late
) -> None:
    """Refuse rows of closed steps, or (if they join the open one) those that disagree."""
    if late == "refuse":
        raise PastStepError(
            CLOSED.format(present.calendar.label(present.steps)),
            place=given.place(int(fresh.rows[past.argmax()]), "time"),
            hint=CLOSED_HINT,
        )
    _first_of_each(fresh, given)  # in the open step, nobody would see that they stated two


def _distinct(ids: pl.Series, rows: Mask) -> int:
    """How many different nodes stand in these rows."""
    return ids.filter(pl.Series(rows)).n_unique() if rows.any() else 0


def _in_order(new_rows: _NewRows, given: Table, open_step: int) -> tuple[IdIndex, Steps, Steps]:
    """Everybody once, in label order: who, the step, and the step that was stated.

    Who is late or undated joins the open step.
    """
    steps = np.maximum(new_rows.stated, np.int32(open_step))
    index, ordered = _numbers_in_order(new_rows.ids, steps) or _texts_in_order(
        new_rows, given, steps
    )
    if np.array_equal(steps, new_rows.stated):
        return index, ordered, ordered
    stated = np.empty(len(index.ids), np.int32)
    stated[index.labels(new_rows.ids)] = new_rows.stated
    return index, ordered, stated


def _numbers_in_order(ids: pl.Series, steps: Steps) -> tuple[IdIndex, Steps] | None:
    """Without sorting, where ids are whole numbers in a narrow range that do not conflict."""
    table = LookUp.around(ids)
    if table is None:
        return None
    from graphveil.graph.intake.kernels import arrange_numbers

    first, last = int(steps.min()), int(steps.max())
    arranged, counts = np.empty(len(ids), np.int64), np.zeros(last - first + 1, np.int64)
    since = steps - np.int32(first)
    if arrange_numbers(ids.to_numpy(), since, table.low, table.labels, arranged, counts) >= 0:
        return None
    in_order = np.repeat(np.arange(first, last + 1, dtype=np.int32), counts)
    table.known = len(in_order)
    return IdIndex(pl.Series(arranged[: len(in_order)]), table), in_order


def _texts_in_order(new_rows: _NewRows, given: Table, steps: Steps) -> tuple[IdIndex, Steps]:
    """By sorting, whatever the ids are; refuses rows of a node that name a later step."""
    everyone = _sorted(new_rows.ids, steps)
    if everyone[0].are_distinct():
        return everyone
    keep = _first_of_each(new_rows, given)  # somebody has two places
    return _sorted(new_rows.ids.gather(keep), steps[keep])


def _sorted(ids: pl.Series, steps: Steps) -> tuple[IdIndex, Steps]:
    order = identity_order(ids, steps)
    return IdIndex.of(ids.gather(order)), steps[order]


def _first_of_each(new_rows: _NewRows, given: Table) -> Rows:
    """The first row of every node; refuses rows that state a later step than another of the node.

    A caller that leaves these out lets the earliest step count: the order of rows must not decide.
    """
    frame = pl.DataFrame({"id": new_rows.ids, "step": new_rows.stated}).with_row_index("row")
    later = frame.filter(pl.col("step") > pl.col("step").min().over("id"))["row"].to_numpy()
    if len(later):
        raise given.refusal(Violation(new_rows.rows[later], "time", TWO_TIMES, TWO_TIMES_HINT))
    first = frame.unique("id", keep="first", maintain_order=True)
    return first["row"].to_numpy().astype(np.int64)
