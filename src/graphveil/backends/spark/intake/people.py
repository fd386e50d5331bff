"""The people of one part: the one intake's rules about them, in one task; private.

A part holds every row of its ids: those of the batch, and those of nodes that wait. So
`graph.intake.arrivals` says here what becomes of them, as it does of all people in one memory; the
driver gets sums, and the rows that break a rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import SparkGraph
from graphveil.backends.spark.intake import resolving as stages
from graphveil.backends.spark.intake.label_index import LabelIndex
from graphveil.backends.spark.intake.resolving import MOST_LISTED, Broken, Reading
from graphveil.backends.spark.jobs import as_arrow
from graphveil.deferred import pl
from graphveil.errors import PastStepError
from graphveil.graph.groups import Groups
from graphveil.graph.intake.appending import Filtered, filtered
from graphveil.graph.intake.arrivals import (
    Arrivals,
    Known,
    Present,
    arrivals,
    known_nodes,
    redated_nodes,
    relabelled_nodes,
)
from graphveil.graph.intake.records import IntakeReport, Records, Table
from graphveil.graph.intake.resolving import (
    NO_TIME,
    Resolved,
    dated_only,
    first_strata,
    nothing,
    of_one_time_each,
    stated_steps,
    strata_of,
    until_end,
)
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import UNSTATED

if TYPE_CHECKING:
    import pyarrow as pa


Int32s = NDArray[np.int32]
UNDATED, ENDED = -2, -3  # labels of people who are left out with their links, and why
_SAMPLED = 64  # nodes of a part from which the driver learns how steps and ids are spread


class ArrivalRules(NamedTuple):
    """How nodes of a batch arrive.

    Attributes:
        reading: how rows become people and steps.
        late: refuse records of closed steps, or let them "join" the first open one.
        drops_undated: whether people without a time are left out, with their links.
        ignores_end: whether records from after the last step are.
        only_earlier: whether a known node may state a later step without being re-dated.
    """

    reading: Reading
    late: Late
    drops_undated: bool = False
    ignores_end: bool = False
    only_earlier: bool = False


class Arriving(NamedTuple):
    """What a task needs to know.

    Attributes:
        graph: before the batch.
        labels: of who is there.
        arrival_rules: the rules.
        note_rows: whether to write which rows of the batch are not sealed, and whom it names.
    """

    graph: SparkGraph
    labels: LabelIndex
    arrival_rules: ArrivalRules
    note_rows: bool


class PartFound(NamedTuple):
    """What became of the nodes of one part.

    Attributes:
        part: its number.
        report: of its rows.
        broken: the rows that break rules.
        past: the place of a row of a closed step, and what is wrong; then there is no more.
        last_step: at which the last of the batch arrives; -1 if nobody does.
        new: how many nodes arrive.
        people: the file of these, with their steps.
        dropped: the file of those that were left out, in the form of an index.
        rows: the file of rows of the batch whose nodes are not sealed.
        given: the file of the nodes of the batch, once each.
        sample: some of the new nodes: their steps, and their ids.
        redated: who was known, and came with another step.
        relabelled: who was known, and came with other labels.
    """

    part: int
    report: IntakeReport = IntakeReport()
    broken: tuple[Broken, ...] = ()
    past: tuple[int, str] | None = None
    last_step: int = -1
    new: int = 0
    people: str | None = None
    dropped: str | None = None
    rows: str | None = None
    given: str | None = None
    sample: tuple[Int32s, list[object]] = (np.empty(0, np.int32), [])
    redated: pl.DataFrame | None = None
    relabelled: pl.DataFrame | None = None


class _Settled(NamedTuple):
    """The rows of a part that break no rule: all, the dated ones, and those before the end."""

    all: Resolved
    dated: Resolved
    counted: Resolved
    arrivals: Arrivals


def found_in(arriving: Arriving, part: int, rows: pa.Table) -> PartFound:
    """What becomes of the nodes of a part; runs on a worker."""
    frame, arrival_rules = pl.DataFrame(rows), arriving.arrival_rules
    present = _present(arriving, part)
    own = frame.filter(pl.col("place") >= 0).sort("place")
    given = Table(own.drop("place"), "", numbers=own["place"].to_numpy())
    waiting = _waiting(frame, present)
    try:
        found = _settled(arrival_rules, present, given, waiting)
    except PastStepError as refused:
        return PartFound(part, past=((refused.place and refused.place.row) or 0, refused.what))
    settled, write = found.taken, arriving.graph.workspace.write
    came, counted = settled.arrivals, settled.counted
    ids, now = counted.nodes.frame["node"], stated_steps(counted.nodes)
    known, only_earlier = known_nodes(present, waiting, ids), arrival_rules.only_earlier
    redated = redated_nodes(known, ids, now, present.calendar, only_earlier=only_earlier)
    relabelled = _relabelled(arrival_rules.reading, known, counted)
    named = came.index.labels(ids)
    dropped = _dropped(settled, arriving.labels.schema)
    return PartFound(
        part,
        replace(
            came.report,
            nodes_undated=settled.dated.nodes_undated,
            nodes_after_end=counted.nodes_after_end,
            two_labels=settled.all.relabelled,
            relabelled_nodes=0 if relabelled is None else len(relabelled),
        ),
        broken=tuple(_broken(found)),
        last_step=int(came.steps[named[named >= 0]].max(initial=-1)),
        new=len(came.steps),
        people=write("people", _people(came, arriving.labels.text)) if len(came.steps) else None,
        dropped=write("labels", dropped) if dropped.num_rows else None,
        rows=_unsealed(arriving, present, counted) if arriving.note_rows else None,
        given=_given(arriving, ids) if arriving.note_rows and len(ids) else None,
        sample=_sample(came),
        redated=redated.head(MOST_LISTED),
        relabelled=None if relabelled is None else relabelled.head(MOST_LISTED),
    )


def _relabelled(reading: Reading, known: Known, given: Resolved) -> pl.DataFrame | None:
    """Who was known, and came with other labels; one row each, as all of a person's rows agree."""
    now = strata_of(given.nodes)
    if now is None:
        return None
    return relabelled_nodes(known, given.nodes.frame["node"], now, reading.groups)


def _present(arriving: Arriving, part: int) -> Present:
    """Who of the part is in the graph already."""
    graph, finder = arriving.graph, arriving.labels.finder(part)
    held = finder.table, finder.stated, graph.node_offsets, finder.known
    return Present(graph.calendar, *held, strata=finder.strata)


def _waiting(rows: pl.DataFrame, present: Present) -> Table:
    """Who waits, once each; places are lower, the later the batch, and the first one counts."""
    before = rows.filter(pl.col("place") < 0).sort(["place", "step"], descending=[True, False])
    first = before.unique("node", keep="first", maintain_order=True)
    unknown = pl.Series(present.index.labels(first["node"]) < 0)
    return Table(first.drop("place").filter(unknown), "")


def _settled(
    arrival_rules: ArrivalRules, present: Present, given: Table, waiting: Table
) -> Filtered[_Settled]:
    """What the one intake makes of the rows, without those that break a rule."""
    last = present.calendar.last_step if arrival_rules.ignores_end else None

    def is_known(ids: pl.Series) -> NDArray[np.bool_]:
        return known_nodes(present, waiting, ids).rows

    def taken(records: Records) -> _Settled:
        labelled, relabelled = _of_one_label_each(records.nodes, arrival_rules.reading.groups)
        nodes = of_one_time_each(labelled, arrival_rules.reading.rules)
        everyone = replace(nothing(), nodes=nodes, relabelled=relabelled)
        dated = dated_only(everyone, is_known) if arrival_rules.drops_undated else everyone
        counted = until_end(dated, last, is_known) if arrival_rules.ignores_end else dated
        with counted.as_read():
            found = arrivals(
                present,
                counted.nodes,
                waiting,
                arrival_rules.late,
                only_earlier=arrival_rules.only_earlier,
            )
        return _Settled(everyone, dated, counted, found)

    return filtered(Records(given, nothing().edges), taken)


def _of_one_label_each(nodes: Table, groups: Groups) -> tuple[Table, int]:
    """What the rows of one person say together about labels, and how many people state two."""
    said = strata_of(nodes)
    if said is None:
        return nodes, 0
    strata, relabelled = first_strata(nodes.frame["node"], said, groups)
    frame = nodes.frame.with_columns(stratum=pl.Series(strata))
    return replace(nodes, frame=frame), relabelled


def _broken(found: Filtered[_Settled]) -> list[Broken]:
    """What was set aside, as the driver hears of it."""
    return [
        one
        for number, each in enumerate(found.left_out)
        for one in Broken.of(
            (stages.UNDATED if each.rule == NO_TIME else stages.ARRIVING, number),
            each.refusal(),
            each.table.row_numbers(),
            stages.NOBODY,
        )
    ]


def _people(came: Arrivals, text: bool) -> pa.Table:
    """The nodes that arrive, in their order among those of the part."""
    kind = pl.String if text else pl.Int64
    strata = {} if came.strata is None else {"stratum": came.strata}
    columns = {"node": came.ids.cast(kind), "stated": came.stated, **strata, "step": came.steps}
    return as_arrow(pl.DataFrame(columns))


def _dropped(settled: _Settled, schema: pa.Schema) -> pa.Table:
    """Who is left out with all links, in the form of an index: for want of a time, or too late."""
    stages_of = (settled.all, settled.dated, UNDATED), (settled.dated, settled.counted, ENDED)
    gone = [
        before.nodes.frame.join(after.nodes.frame, on="node", how="anti")
        .select(pl.col("node").unique())
        .with_columns(label=pl.lit(why, pl.Int32), stated=pl.lit(UNSTATED, pl.Int32))
        .with_columns(pl.lit(0, pl.Int32).alias(name) for name in schema.names[3:])  # nobody asks
        for before, after, why in stages_of
        if before is not after
    ]
    return as_arrow(pl.concat(gone), schema) if gone else schema.empty_table()


def _unsealed(arriving: Arriving, present: Present, counted: Resolved) -> str | None:
    """Write the batch's rows of some nodes, each with the one step that all rows of it state."""
    frame = counted.nodes.frame.with_columns(pl.Series("place", counted.nodes.row_numbers()))
    own = frame.filter(pl.Series(present.index.labels(frame["node"]) < 0))
    if not len(own):
        return None
    schema = arriving.arrival_rules.reading.schema
    return arriving.graph.workspace.write("rows", as_arrow(own.select(schema.names), schema))


def _given(arriving: Arriving, ids: pl.Series) -> str:
    """Write whom the batch names, once each."""
    return arriving.graph.workspace.write("given", as_arrow(pl.DataFrame({"node": ids.unique()})))


def _sample(came: Arrivals) -> tuple[Int32s, list[object]]:
    """The steps and ids of some new nodes, spread over all of them."""
    count = len(came.steps)
    chosen = np.linspace(0, count - 1, min(_SAMPLED, count)).astype(int)
    return came.steps[chosen], came.ids.gather(chosen).to_list()
