"""Links on the workers: both ends get labels, and a task lays out each class of edges."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.blocks import read_all
from graphveil.backends.spark.graph import Part, SparkGraph
from graphveil.backends.spark.intake import resolving as stages
from graphveil.backends.spark.intake.label_index import LabelIndex
from graphveil.backends.spark.intake.people import ENDED, UNDATED
from graphveil.backends.spark.intake.resolving import (
    Broken,
    Note,
    Reading,
    asked,
    by_rule,
    together,
)
from graphveil.backends.spark.intake.tables import SparkTable
from graphveil.backends.spark.jobs import (
    FRAME,
    Parts,
    Sorter,
    SparkCluster,
    delivered,
    failing_as_ours,
    mapped,
    opened_rows,
    part_of_rows,
    received,
    sent,
)
from graphveil.deferred import pl
from graphveil.errors import PastStepError, Place
from graphveil.graph.intake.arrivals import steps_of_labels
from graphveil.graph.intake.identity import UNKNOWN
from graphveil.graph.intake.links import (
    CLOSED,
    CLOSED_HINT,
    RECIPROCAL,
    RECIPROCAL_HINT,
    UNKNOWN_END,
    UNKNOWN_END_HINT,
    contradicting,
    entries_of,
    first_of_each,
    keys_of,
    own_steps,
)
from graphveil.graph.intake.records import IntakeReport, Violation
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, UNSTATED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Int64s = NDArray[np.int64]
_FOUND = "found binary"


class Found(NamedTuple):
    """What tasks made of rows.

    Attributes:
        parts: the files of edges that they wrote.
        per_step: (3, steps) prompt pairs, late edges, and all edges.
        counts: what became of rows, by name.
        broken: the rows that break rules.
        past: the place of the first row of a closed step, where these are refused.
        last_step: the last one that a row of the batch names, or an end of it arrives at.
        known: files of the places of rows that add nothing to the batch.
        strangers: files of the places of those that name somebody unknown.
    """

    parts: tuple[Part, ...]
    per_step: Int64s
    counts: Counter[str]
    broken: tuple[Broken, ...]
    past: int | None
    last_step: int
    known: tuple[str, ...]
    strangers: tuple[str, ...]

    @classmethod
    def together(cls, found: Sequence[Found]) -> Found:
        """What several tasks made."""
        per_step = np.zeros(
            (3, max((each.per_step.shape[1] for each in found), default=0)), np.int64
        )
        for each in found:
            per_step[:, : each.per_step.shape[1]] += each.per_step
        return cls(
            tuple(part for each in found for part in each.parts),
            per_step,
            sum((each.counts for each in found), Counter()),
            by_rule(one for each in found for one in each.broken),
            min((each.past for each in found if each.past is not None), default=None),
            max((each.last_step for each in found), default=-1),
            tuple(name for each in found for name in each.known),
            tuple(name for each in found for name in each.strangers),
        )

    @property
    def report(self) -> IntakeReport:
        """What became of the rows, but for how they are spelled."""
        counts = self.counts
        return IntakeReport(
            edges_added=counts["added"],
            known_edges=counts["distinct"] - counts["added"],
            repeated_edges=counts["rows"] - counts["distinct"],
            self_links=counts["self_links"],
            raised_edges=counts["raised"],
            late_edges=counts["late"],
            edges_undated=counts["undated"],
            edges_after_end=counts["ended"],
        )

    def require_open(self, table: SparkTable, layout: LayoutTask) -> None:
        """Refuse rows of closed steps, where these do not join the open one."""
        if self.past is not None:
            raise PastStepError(
                CLOSED.format(layout.graph.calendar.label(layout.open_step)),
                place=table.place(self.past, "source"),
                hint=CLOSED_HINT,
            )


class Linked(NamedTuple):
    """The edges that a batch adds, and what there is to say about its rows as they were read."""

    found: Found
    note: Note

    @property
    def broken(self) -> tuple[Broken, ...]:
        """The rules that rows break."""
        return by_rule([*self.note.broken, *self.found.broken])


class LayoutTask(NamedTuple):
    """What a task needs to know: the graph with the new nodes, how many were old, and rules.

    Attributes:
        graph: with the new nodes.
        old_nodes: how many were there before.
        open_step: the first that is open.
        late: what becomes of edges of closed steps.
        note_known: whether to write which rows of the batch add nothing to it.
        last_step: after which rows are ignored; None if none are.
        awaited: the place from which on rows waited since an earlier batch.
    """

    graph: SparkGraph
    old_nodes: int
    open_step: int
    late: Late
    note_known: bool = False
    last_step: int | None = None
    awaited: int = stages.NOBODY


def link(
    cluster: SparkCluster,
    index: LabelIndex,
    layout: LayoutTask,
    tables: Sequence[SparkTable],
    reading: Reading,
    waiting: DataFrame | None = None,
) -> Linked:
    """The new edges of tables, and those that wait, written to files by class.

    Args:
        cluster: whose workers do it.
        index: the labels of everybody in the graph, and of who was left out.
        layout: the graph, and rules.
        tables: the batch.
        reading: how its rows become people and steps.
        waiting: edges that came before: `source`, `target`, `step`, and -1 as `place`. One whose
            ends are not both there waits on.
    """
    frame = _classed(cluster, index, layout.graph.colours, reading, tables, waiting)
    with failing_as_ours():
        written = mapped(frame, partial(_lay_out, layout), _FOUND).collect()
    came: list[tuple[Note, Found]] = [pickle.loads(row.found) for row in written]
    return Linked(Found.together([each for _, each in came]), together(note for note, _ in came))


def _classed(
    cluster: SparkCluster,
    index: LabelIndex,
    colours: int,
    reading: Reading,
    tables: Sequence[SparkTable],
    waiting: DataFrame | None,
) -> DataFrame:
    """Packets of rows with both labels, each in the task of its class.

    A row goes to the part of its source, learns that label, then to the part of its target, and
    then to its class.
    """
    address = partial(part_of_rows, "source", index.parts)
    frame = asked(cluster.session, tables, reading, address, waiting)
    to_target = _Looking(
        index, "source", reading.schema, partial(part_of_rows, "target", index.parts)
    )
    frame = mapped(delivered(frame, index.parts), partial(_look_up, to_target), FRAME)
    to_class = _Looking(index, "target", to_target.labelled, partial(_class, colours))
    frame = mapped(delivered(frame, index.parts), partial(_look_up, to_class), FRAME)
    return delivered(frame, colours * colours)


class _Looking(NamedTuple):
    """How labels are looked up for one end of rows.

    Attributes:
        labels: where.
        end: "source" or "target".
        schema: of the rows that come.
        address: where they go next.
    """

    labels: LabelIndex
    end: str
    schema: pa.Schema
    address: Callable[[pa.Table], Parts]

    @property
    def labelled(self) -> pa.Schema:
        """Of the rows that go."""
        import pyarrow as pa

        place = self.schema.get_field_index(self.end)
        return self.schema.set(place, pa.field(self.end, pa.int32()))


def _look_up(looking: _Looking, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of one part with the labels of one end."""
    import pyarrow as pa

    sorter, finder = Sorter(looking.labelled, looking.address), None
    at = looking.schema.get_field_index(looking.end)
    for packet in received(batches):
        if packet.note:
            yield from sent([packet])
            continue
        finder = finder or looking.labels.finder(packet.part)
        rows = opened_rows(packet.content, looking.schema)
        labels = finder.labels(pl.Series(rows[looking.end]))
        yield from sent(
            sorter.add(rows.set_column(at, looking.labelled.field(at), pa.array(labels)))
        )
    yield from sent(sorter.send())


def _class(colours: int, rows: pa.Table) -> Parts:
    """The class of each row, by the colours of its newer and of its older end."""
    source, target = (rows[end].to_numpy() for end in ("source", "target"))
    newer, older = np.maximum(source, target), np.minimum(source, target)
    classes = np.where(older >= 0, newer % colours * colours + older % colours, 0)
    return classes.astype(np.int64)


def _lay_out(layout: LayoutTask, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    kinds = ("source", pa.int32()), ("target", pa.int32()), ("step", pa.int32())
    schema = pa.schema([*kinds, ("place", pa.int64())])
    notes, rows = [], []
    for packet in received(batches):
        if packet.note:
            notes.append(pickle.loads(packet.content))
        else:
            rows.append(opened_rows(packet.content, schema))
    if notes or rows:
        found = laid_out(layout, pa.Table.from_batches(rows, schema))
        blob = pickle.dumps((together(notes), found))
        yield pa.RecordBatch.from_arrays([pa.array([blob], pa.binary())], names=["found"])


def laid_out(layout: LayoutTask, table: pa.Table) -> Found:
    """One task's rows: which break a rule, and the files of the edges of the others."""
    ends = [table[end].to_numpy() for end in ("source", "target")]
    stated, place = table["step"].fill_null(UNSTATED).to_numpy(), table["place"].to_numpy()
    own = place >= 0
    undated = (ends[0] == UNDATED) | (ends[1] == UNDATED)
    ended = ~undated & ((ends[0] == ENDED) | (ends[1] == ENDED) | _after(layout, stated))
    strange = [~undated & ~ended & own & (end == UNKNOWN) for end in ends]
    strange[1] &= ~strange[0]  # of both columns, the first is refused
    broken = [
        each
        for column, rows, rank in zip(("source", "target"), strange, _UNKNOWN, strict=True)
        for each in _refused(layout, rank, place[rows], column, UNKNOWN_END, UNKNOWN_END_HINT)
    ]
    gone = (undated | ended) & own
    counts = Counter(undated=int((undated & own).sum()), ended=int((ended & own).sum()))
    valid = ~undated & ~ended & (ends[0] >= 0) & (ends[1] >= 0)
    rows = _Rows(*(each[valid] for each in (*ends, stated, place, ~own)))
    reverse = _reversed(layout, rows)
    if reverse.any():
        broken += _refused(
            layout, stages.REVERSED, rows.place[reverse], "target", RECIPROCAL, RECIPROCAL_HINT
        )
        broken[-1] = broken[-1]._replace(named=_second(layout, rows, reverse))
    nothing_new = [place[gone], *(place[each] for each in strange), rows.place[reverse]]
    rows = rows.take(~reverse)
    loops = rows.source == rows.target
    steps, raised = own_steps(rows.stated, rows.arrival(layout))
    counts["raised"] = int((raised & ~rows.waits).sum())
    counts["self_links"] = int((loops & ~rows.waits).sum())
    last = int(steps[~rows.waits].max(initial=-1))
    rows = rows.take(~loops)
    parts, per_step, past = _edges(layout, rows, counts)
    known: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    if layout.note_known:
        there = _is_known(layout, _keys(layout.graph, rows)) & ~rows.waits
        known = _places(layout, "known", [*nothing_new, rows.place[there]])
        strangers = _places(layout, "strangers", [place[each] for each in strange])
    return Found(parts, per_step, counts, tuple(broken), past, last, known, strangers)


_UNKNOWN = (stages.SOURCE, stages.TARGET)


def _after(layout: LayoutTask, stated: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which edges say that they come after the last step, where these are ignored."""
    last = layout.last_step
    return np.zeros(len(stated), np.bool_) if last is None else stated > last


def _refused(
    layout: LayoutTask, stage: int, places: Int64s, column: str, rule: str, hint: str
) -> list[Broken]:
    """Rows that break a rule, as the driver hears of it."""
    refused = Violation(places, column, rule, hint).error(Place("", column=column), "edges")
    return Broken.of((stage, 0), refused, places, layout.awaited) if len(places) else []


def _places(layout: LayoutTask, stem: str, places: Sequence[Int64s]) -> tuple[str, ...]:
    """Write the places of some rows, if there are any; the file."""
    import pyarrow as pa

    found = np.concatenate(places)
    write = layout.graph.workspace.write
    return (write(stem, pa.table({"place": found})),) if len(found) else ()


class _Rows(NamedTuple):
    """Rows of edges between labels."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    stated: NDArray[np.int32]
    place: Int64s
    waits: NDArray[np.bool_]

    def arrival(self, layout: LayoutTask) -> NDArray[np.int32]:
        """When the newer end of each arrives."""
        newer = np.maximum(self.source, self.target)
        return steps_of_labels(layout.graph.node_offsets, newer)

    def take(self, chosen: NDArray[np.generic]) -> _Rows:
        """Some of them, in some order."""
        return _Rows(*(column[chosen] for column in self))


def _edges(
    layout: LayoutTask, rows: _Rows, counts: Counter[str]
) -> tuple[tuple[Part, ...], Int64s, int | None]:
    """The files of edges that the graph does not have, each edge at its earliest step.

    Also the first row of a closed step, where these are refused.
    """
    graph, open_step = layout.graph, layout.open_step
    arrival = rows.arrival(layout)
    own, _ = own_steps(rows.stated, arrival)
    keys = _keys(graph, rows)
    first = first_of_each(keys, own, rows.place)
    fresh = first[~_is_known(layout, keys[first])]
    past = own[fresh] < open_step
    refused = rows.place[fresh][past] if layout.late == "refuse" else np.empty(0, np.int64)
    counts.update(_reported(rows, keys, own < open_step, first, fresh, past))
    prompt = (keys[fresh] >> 31 >= layout.old_nodes) & (own[fresh] == arrival[fresh])
    steps = np.maximum(own[fresh], np.int32(open_step))
    named = int(refused.min()) if len(refused) else None
    return *_written(layout, keys[fresh], steps, prompt), named


def _keys(graph: SparkGraph, rows: _Rows) -> Int64s:
    """One number for each pair and direction."""
    entries = entries_of(rows.source, rows.target, directed=graph.directed)
    return keys_of(np.maximum(rows.source, rows.target), entries)


def _reported(
    rows: _Rows,
    keys: Int64s,
    closed: NDArray[np.bool_],
    first: Int64s,
    fresh: Int64s,
    past: NDArray[np.bool_],
) -> dict[str, int]:
    """What the rows of the batch are; those that wait were reported when they came."""
    if not rows.waits.any():
        report = {"rows": len(keys), "distinct": len(first), "added": len(fresh)}
        return report | {"late": int(past.sum())}
    new, waited = keys[fresh], keys[rows.waits]
    joined = keys[rows.waits & closed]
    return {
        "rows": int((~rows.waits).sum()),
        "distinct": len(np.unique(keys[~rows.waits])),
        "added": int((~np.isin(new, waited)).sum()),
        "late": int((~np.isin(new[past], joined)).sum()),
    }


def _is_known(layout: LayoutTask, keys: Int64s) -> NDArray[np.bool_]:
    """Which edges the graph has already: only those between old nodes can be."""
    known = np.zeros(len(keys), np.bool_)
    asked = np.flatnonzero(keys >> 31 < layout.old_nodes)
    if not len(asked):
        return known
    graph = layout.graph
    for edges in read_all(
        graph, {_home(graph, int(key)) for key in np.unique(_classes(graph, keys[asked]))}
    ):
        there = edges.newer.astype(np.int64) << 31 | edges.entries
        for bits in (FORWARD, BACKWARD, BOTH):
            same = there[(there & BOTH) == bits] & ~np.int64(BOTH)
            known[asked] |= np.isin(keys[asked] & ~np.int64(BOTH), same) & (
                (keys[asked] & bits) != 0
            )
    return known


def _classes(graph: SparkGraph, keys: Int64s) -> Int64s:
    newer, older = keys >> 31, (keys & (2**31 - 1)) >> 2
    classes: Int64s = newer % graph.colours * graph.colours + older % graph.colours
    return classes


def _home(graph: SparkGraph, home: int) -> tuple[int, int]:
    return divmod(home, graph.colours)


def _reversed(layout: LayoutTask, rows: _Rows) -> NDArray[np.bool_]:
    """Which rows of the batch are the reverse of an edge, in an oriented graph."""
    found = np.zeros(len(rows.source), np.bool_)
    if layout.graph.oriented:
        pairs = np.flatnonzero(rows.source != rows.target)
        some = rows.take(pairs)
        keys = _keys(layout.graph, some)
        known, against = _is_known(layout, keys), _is_known(layout, keys ^ BOTH)
        found[pairs] = contradicting(keys, some.waits, known, against) & ~some.waits
    return found


def _second(layout: LayoutTask, rows: _Rows, reverse: NDArray[np.bool_]) -> int:
    """The first of these rows that comes after its reverse; or of all, where that is known."""
    keys = _keys(layout.graph, rows)
    first = first_of_each(keys, np.zeros(len(keys), np.int32), rows.place)
    chosen = np.flatnonzero(reverse)
    at = np.searchsorted(keys[first], keys[chosen] ^ BOTH).clip(max=len(first) - 1)
    there = keys[first][at] == keys[chosen] ^ BOTH
    after = ~there | (rows.place[first][at] < rows.place[chosen])
    return int(rows.place[chosen][after if after.any() else ~after].min())


def _written(
    layout: LayoutTask, keys: Int64s, steps: NDArray[np.int32], prompt: NDArray[np.bool_]
) -> tuple[tuple[Part, ...], Int64s]:
    from graphveil.backends.spark.graph import class_files

    graph = layout.graph
    count = max(graph.steps, int(steps.max(initial=-1)) + 1)
    per_step = np.zeros((3, count), np.int64)
    per_step[2] = np.bincount(steps, minlength=count)
    parts = []
    for late in (False, True):
        chosen = prompt != late
        own, of = keys[chosen], steps[chosen]
        order = np.lexsort((own, of)) if late else np.argsort(own, kind="stable")
        own, of = own[order], of[order]
        if not late and len(own):  # both directions of a pair are one entry
            begins = np.flatnonzero(np.append(True, own[1:] >> 2 != own[:-1] >> 2))
            own, of = np.bitwise_or.reduceat(own, begins), of[begins]
        per_step[int(late)] = np.bincount(of, minlength=count)
        newer = (own >> 31).astype(np.int32)
        entries = (own & (2**31 - 1)).astype(np.int32)
        parts += class_files(graph.workspace, graph.colours, newer, entries, of, late)
    return tuple(parts), per_step
