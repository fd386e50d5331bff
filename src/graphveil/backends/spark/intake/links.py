"""Links on the workers: both ends get labels, and a task lays out each class of edges."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphveil.backends.spark.graph import Part, SparkGraph
from graphveil.backends.spark.intake.label_index import LabelIndex
from graphveil.backends.spark.intake.people import DROPPED
from graphveil.backends.spark.intake.resolving import Note, Reading, asked, refuse_faults, together
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
from graphveil.errors import PastStepError
from graphveil.graph.intake import links as words
from graphveil.graph.intake.identity import UNKNOWN
from graphveil.graph.intake.records import IntakeReport
from graphveil.graph.intake.rules import Late
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, UNSTATED

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

Int64s = NDArray[np.int64]
_FOUND = "found binary"
_NO_SOURCE, _NO_TARGET, _PAST, _REVERSE = range(4)  # rules, in the order of the one intake
_WORDS = {
    _NO_SOURCE: ("source", words.UNKNOWN_END, words.UNKNOWN_END_HINT),
    _NO_TARGET: ("target", words.UNKNOWN_END, words.UNKNOWN_END_HINT),
    _REVERSE: ("target", words.RECIPROCAL, words.RECIPROCAL_HINT),
}


class Found(NamedTuple):
    """What one task made of its rows.

    Attributes:
        parts: the files that it wrote.
        per_step: (3, steps) prompt pairs, late edges, and all edges.
        counts: what became of rows, by name.
        trouble: the first row that breaks each rule, by rank.
        last_step: the last one that a row of the batch names, or an end of it arrives at.
        known: the file of the places of rows that the graph has already, or that were left out.
    """

    parts: tuple[Part, ...]
    per_step: Int64s
    counts: dict[str, int]
    trouble: dict[int, int]
    last_step: int
    known: str | None


@dataclass(frozen=True, eq=False)
class Linked:
    """The edges that a batch adds: files, integers per step, and the report.

    Attributes:
        parts: their files.
        per_step: (3, steps) prompt pairs, late edges, and all edges.
        report: what became of the rows.
        last_step: the last one that a row of the batch names, or an end of it arrives at.
        known: files of the places of rows that were there already, or were left out.
        note: what there is to say about the rows.
    """

    parts: tuple[Part, ...] = field(repr=False)
    per_step: Int64s = field(repr=False)
    report: IntakeReport = field(repr=False)
    last_step: int = field(repr=False)
    known: tuple[str, ...] = field(repr=False)
    note: Note = field(repr=False)


class LayoutTask(NamedTuple):
    """What a task needs to know: the graph with the new nodes, how many were old, and rules.

    Attributes:
        graph: with the new nodes.
        old_nodes: how many were there before.
        open_step: the first that is open.
        late: what becomes of edges of closed steps.
        note_known: whether to write which rows of the batch the graph has already.
    """

    graph: SparkGraph
    old_nodes: int
    open_step: int
    late: Late
    note_known: bool = False


def link(
    cluster: SparkCluster,
    index: LabelIndex,
    laying: LayoutTask,
    table: SparkTable | None,
    reading: Reading,
    waiting: DataFrame | None = None,
) -> Linked:
    """The new edges of a table, and those that wait, written to files by class.

    Args:
        cluster: whose workers do it.
        index: the labels of everybody in the graph, and of who was left out.
        laying: the graph, and rules.
        table: the batch.
        reading: how its rows become people and steps.
        waiting: edges that came before: `source`, `target`, `step`, and -1 as `place`. One whose
            ends are not both there waits on.
    """
    frame = _classed(cluster, index, laying.graph.colours, reading, table, waiting)
    with failing_as_ours():
        written = mapped(frame, partial(_lay_out, laying), _FOUND).collect()
    came: list[tuple[Note, Found]] = [pickle.loads(row.found) for row in written]
    note, found = together(note for note, _ in came), [each for _, each in came]
    if table is not None:
        refuse_faults(table, note)
        _refuse(found, table, laying)
    return _together(found, note)


def _classed(
    cluster: SparkCluster,
    index: LabelIndex,
    colours: int,
    reading: Reading,
    table: SparkTable | None,
    waiting: DataFrame | None,
) -> DataFrame:
    """Packets of rows with both labels, each in the task of its class.

    A row goes to the part of its source, learns that label, then to the part of its target, and
    then to its class.
    """
    address = partial(part_of_rows, "source", index.parts)
    frame = asked(cluster.session, table, reading, address, waiting)
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
    import polars as pl
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


def laid_out(laying: LayoutTask, table: pa.Table) -> Found:
    """One task's rows: what is wrong with them, or the files of their edges."""
    source, target = (table[end].to_numpy() for end in ("source", "target"))
    place = table["place"].to_numpy()
    waits = place < 0
    counts: dict[str, int] = {}
    trouble: dict[int, int] = {}
    gone = (source == DROPPED) | (target == DROPPED)
    for end, rank in ((source, _NO_SOURCE), (target, _NO_TARGET)):
        _note(trouble, rank, place[~gone & ~waits & (end == UNKNOWN)])
    valid = ~gone & (source >= 0) & (target >= 0)
    counts["undated"] = int((gone & ~waits).sum())
    stated = table["step"].fill_null(UNSTATED).to_numpy()
    rows = _Rows(*(each[valid] for each in (source, target, stated, place, waits)))
    own, loops = ~rows.waits, rows.source == rows.target
    arrival = rows.arrival(laying)
    raised = (rows.stated != UNSTATED) & (rows.stated < arrival)
    counts["raised"] = int((raised & own).sum())
    counts["self_links"] = int((loops & own).sum())
    last = int(np.maximum(rows.stated, arrival)[own].max(initial=-1))
    rows = rows.take(~loops)
    parts, per_step = _edges(laying, rows, counts, trouble)
    known = _known_places(laying, rows, place[gone & ~waits]) if laying.note_known else None
    return Found(parts, per_step, counts, trouble, last, known)


def _known_places(layout: LayoutTask, rows: _Rows, gone: Int64s) -> str | None:
    """Write the places of rows of the batch that add nothing: what is there, and who is not."""
    import pyarrow as pa

    known = _is_known(layout, _keys(layout.graph, rows)) & ~rows.waits
    places = np.concatenate([rows.place[known], gone])
    if not len(places):
        return None
    return layout.graph.workspace.write("known", pa.table({"place": places}))


class _Rows(NamedTuple):
    """Rows of edges between labels."""

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    stated: NDArray[np.int32]
    place: Int64s
    waits: NDArray[np.bool_]

    def arrival(self, laying: LayoutTask) -> NDArray[np.int32]:
        """When the newer end of each arrives."""
        newer = np.maximum(self.source, self.target)
        return np.searchsorted(laying.graph.node_offsets, newer, side="right").astype(np.int32) - 1

    def take(self, chosen: NDArray[np.generic]) -> _Rows:
        """Some of them, in some order."""
        return _Rows(*(column[chosen] for column in self))


def _note(trouble: dict[int, int], rank: int, places: Int64s) -> None:
    if len(places):
        trouble[rank] = int(places.min())


def _edges(
    layout: LayoutTask, rows: _Rows, counts: dict[str, int], trouble: dict[int, int]
) -> tuple[tuple[Part, ...], Int64s]:
    """The files of edges that the graph does not have, each edge at its earliest step."""
    graph, open_step = layout.graph, layout.open_step
    arrival = rows.arrival(layout)
    own = np.maximum(rows.stated, arrival)
    keys = _keys(graph, rows)
    newer = keys >> 31
    first = _first_of_each(keys, own, rows.place)
    fresh = first[~_is_known(layout, keys[first])]
    if graph.oriented:
        _note(trouble, _REVERSE, _reverses(layout, keys, rows.place, fresh))
    past = own[fresh] < open_step
    if layout.late == "refuse":
        _note(trouble, _PAST, rows.place[fresh][past])
    counts |= _reported(rows, keys, own < open_step, first, fresh, past)
    prompt = (newer[fresh] >= layout.old_nodes) & (own[fresh] == arrival[fresh])
    steps = np.maximum(own[fresh], np.int32(open_step))
    return _written(layout, keys[fresh], steps, prompt)


def _first_of_each(keys: Int64s, own: NDArray[np.int32], place: Int64s) -> Int64s:
    """The earliest row of each key, by step and then by place, in order of keys."""
    order = np.argsort(keys)
    begins = np.append(True, keys[order][1:] != keys[order][:-1])[: len(order)]
    if not begins.all():  # seldom, and what follows takes five times as long
        order = np.lexsort((place, own, keys))
    found: Int64s = order[begins]
    return found


def _keys(graph: SparkGraph, rows: _Rows) -> Int64s:
    """One number for each pair and direction."""
    newer, older = np.maximum(rows.source, rows.target), np.minimum(rows.source, rows.target)
    bits = np.where(rows.source < rows.target, FORWARD, BACKWARD) if graph.directed else BOTH
    keys: Int64s = newer.astype(np.int64) << 31 | older.astype(np.int64) << 2 | bits
    return keys


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
    from graphveil.backends.spark.blocks import read_all

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


def _reverses(layout: LayoutTask, keys: Int64s, place: Int64s, fresh: Int64s) -> Int64s:
    """Rows whose reverse is known already, or is in an earlier row."""
    reverse = keys[fresh] ^ BOTH
    against = fresh[_is_known(layout, reverse)]
    order = np.lexsort((place, keys))
    at = np.searchsorted(keys[order], reverse).clip(max=max(len(keys) - 1, 0))
    mine = order[np.searchsorted(keys[order], keys[fresh])]
    both = keys[order][at] == reverse
    later = np.maximum(place[mine], place[order[at]])[both]
    return np.concatenate([place[against], later])


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


def _refuse(found: Sequence[Found], table: SparkTable, layout: LayoutTask) -> None:
    """Refuse the first row of the first rule that is broken."""
    broken = [violation for each in found for violation in each.trouble.items()]
    if not broken:
        return
    rank, place = min(broken)
    if rank == _PAST:
        raise PastStepError(
            words.CLOSED.format(layout.graph.calendar.label(layout.open_step)),
            place=table.place(place, "source"),
            hint=words.CLOSED_HINT,
        )
    raise table.refusal(place, *_WORDS[rank])


def _together(found: Sequence[Found], note: Note) -> Linked:
    names = ["rows", "added", "distinct", "self_links", "raised", "late", "undated"]
    totals = {name: sum(each.counts.get(name, 0) for each in found) for name in names}
    known = totals["distinct"] - totals["added"]
    steps = max((each.per_step.shape[1] for each in found), default=0)
    per_step = np.zeros((3, steps), np.int64)
    for each in found:
        per_step[:, : each.per_step.shape[1]] += each.per_step
    report = IntakeReport(
        edges_added=totals["added"],
        known_edges=known,
        repeated_edges=totals["rows"] - totals["distinct"],
        self_links=totals["self_links"],
        raised_edges=totals["raised"],
        late_edges=totals["late"],
        trimmed_ids=note.trimmed,
        respelled_ids=note.respelled,
        edges_undated=totals["undated"],
    )
    return Linked(
        tuple(part for each in found for part in each.parts),
        per_step,
        report,
        max((each.last_step for each in found), default=-1),
        tuple(each.known for each in found if each.known is not None),
        note,
    )
