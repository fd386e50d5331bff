"""The checkpoint: graph and counts of the last sealed step, so that a command costs what is new.

private/kept/0123….columns        the arena: columns that only grow
private/kept/0007-graph-….kept    as of step 7: how long they are, their checksums, degrees
private/kept/0007-counts-….kept   as of step 7: the counts of every series, and their state

All of it follows from the segments. What is missing, damaged or of another version is ignored, and
made anew from them (`docs/durability.md#what-is-kept-beside-the-segments`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.backends.backend import ExactCounts, extent
from graphveil.deferred import pl
from graphveil.graph.columns import Column
from graphveil.graph.degrees import FinalDegrees, degrees
from graphveil.graph.intake.id_table import IdColumns, IdTable, Numbers, Slots, Texts
from graphveil.graph.projection import EdgeLists, Projected
from graphveil.graph.sequence import GraphSequence, Growth, LateEdges
from graphveil.series.counting import SeriesCounts, View, ViewCounts, by_view
from graphveil.statistics.change import tally_under
from graphveil.study.chain import canonical
from graphveil.study.facts import Event
from graphveil.study.folder import Folder, make_private_folder
from graphveil.study.ledger import Ledger, LedgerRow, StoredFile
from graphveil.study.reading import UNREADABLE
from graphveil.study.records.arena import (
    Arena,
    Layout,
    UnusableError,
    Values,
    clear,
    read_packed,
    write_packed,
    written,
)

if TYPE_CHECKING:
    from graphveil.backends.backend import CheckpointFormat
    from graphveil.series.counting import SeriesTerms


# The cached graph: its columns in an arena, everything small in a file beside it.


GROWING = ("stated", "offsets", "entries", "late_newer", "late_entries")
STRATA = "strata"
SLOTS, NUMBERS, TEXT_ENDS, TEXTS = "slots", "numbers", "text_ends", "texts"


@dataclass(frozen=True, eq=False)
class CachedGraph:
    """The graph as of a sealed step; a secret.

    Attributes:
        sequence: the graph, mapped.
        degrees: of everybody, so that a promise is checked at the cost of what is new.
        arena: where its columns lie.
    """

    sequence: GraphSequence = field(repr=False)
    degrees: FinalDegrees = field(repr=False)
    arena: Arena = field(repr=False)


def column(arena: Arena, name: str) -> Column[Any]:
    """A column of an arena, with the room after it."""
    return Column.within(arena.whole(name), arena.length(name))


def graph_columns(sequence: GraphSequence, index: IdTable) -> dict[str, Values]:
    """Everything that grows with the graph, by name."""
    growth = sequence.growth or Growth.of(sequence)
    held = {name: getattr(growth, name).values for name in _growing(sequence)}
    return held | _ids(index.known) | {SLOTS: index.slots.places}


def _growing(sequence: GraphSequence) -> tuple[str, ...]:
    """Those columns, and that of labels where the study has groups."""
    return GROWING if sequence.strata is None else (*GROWING, STRATA)


def table_of(sequence: GraphSequence) -> IdTable:
    """Its table of ids, which is made from all ids if there is none yet."""
    index = sequence.index
    if isinstance(index, IdTable):
        return index
    ids = sequence.ids.rechunk()
    return IdTable.of(Numbers.of(ids) if ids.dtype == pl.Int64 else Texts.of(ids))


def lists_of(lists: EdgeLists) -> dict[str, Values]:
    """The edges of a projection, by name."""
    return {name: each.values for name, each in lists._asdict().items()}


def beside_graph(sequence: GraphSequence, index: IdTable, degrees: FinalDegrees) -> dict[str, Any]:
    """What does not lie in the arena."""
    directed = {"inward": degrees.inward} if sequence.directed else {}
    return {
        "node_offsets": sequence.node_offsets,
        "late_offsets": sequence.late.offsets,
        "seed": index.seed,
        "outward": degrees.outward,
        **directed,
    }


def read_graph(empty: GraphSequence, arena: Arena, data: Mapping[str, Any]) -> CachedGraph:
    """The graph that lies in an arena."""
    columns = {name: column(arena, name) for name in _growing(empty)}
    growth = Growth(index=_table(arena, data), **columns)
    late = LateEdges(
        data["late_offsets"].copy(), growth.late_newer.values, growth.late_entries.values
    )
    sequence = replace(
        empty,
        names=growth.index.ids,
        stated=growth.stated.values,
        node_offsets=data["node_offsets"].copy(),  # not read-only, as kernels want it
        offsets=growth.offsets.values,
        entries=growth.entries.values,
        late=late,
        growth=growth,
        strata=None if growth.strata is None else growth.strata.values,
    )
    outward = data["outward"]
    return CachedGraph(
        sequence,
        FinalDegrees(outward, data.get("inward", outward), sequence.steps),
        arena,
    )


def _ids(known: IdColumns) -> dict[str, Values]:
    if isinstance(known, Texts):
        return {TEXT_ENDS: known.ends.values, TEXTS: known.content.values}
    return {NUMBERS: known.column.values}


def _table(arena: Arena, data: Mapping[str, Any]) -> IdTable:
    texts = TEXTS in arena.layout.regions
    known: IdColumns = (
        Texts(column(arena, TEXT_ENDS), column(arena, TEXTS))
        if texts
        else Numbers(column(arena, NUMBERS))
    )
    places = arena.whole(SLOTS)[: arena.length(SLOTS)]
    return IdTable(known, Slots(places, len(known)), data["seed"])


def same_graph(found: GraphSequence, expected: GraphSequence) -> bool:
    """Whether two graphs are the same, entry by entry."""
    own = ("node_offsets", "stated", "offsets", "entries")
    pairs = [(getattr(found, each), getattr(expected, each)) for each in own]
    late = ("offsets", "newer", "entries")
    pairs += [(getattr(found.late, each), getattr(expected.late, each)) for each in late]
    if expected.strata is not None:
        pairs.append((found.strata, expected.strata))
    same = all(np.array_equal(one, other) for one, other in pairs)
    return same and found.ids.cast(str).equals(expected.ids.cast(str))


# The counts of every series at a sealed step, and the state from which counting goes on.


def count_columns(counts: SeriesCounts) -> dict[str, Values]:
    """The edges of every projection that has left some out, by name."""
    return {
        f"{view_key(view)} {name}": values
        for view, each in counts.views.items()
        if isinstance(each.seen, Projected) and each.seen.lists is not None
        for name, values in lists_of(each.seen.lists).items()
    }


def beside_counts(counts: SeriesCounts, counts_format: CheckpointFormat) -> dict[str, Any]:
    """What does not lie in the arena."""
    return {view_key(view): _view(each, counts_format) for view, each in counts.views.items()}


def view_key(view: View) -> str:
    """What a view is called in files."""
    projects, bound = view
    return f"{'projected to' if projects else 'under'} {bound!r}"


def _view(view: ViewCounts, counts_format: CheckpointFormat) -> dict[str, Any]:
    answers = {
        repr(tally): counts_format.packed(answer) for tally, answer in view.counts.answers.items()
    }
    if not isinstance(view.seen, Projected):
        return {"answers": answers}
    seen = view.seen
    late = None if seen.lists is None else seen.late.offsets
    return {"answers": answers, "used": list(seen.used), "taken": seen.taken, "late_offsets": late}


def read_counts(
    cached: CachedGraph,
    data: Mapping[str, Any],
    series: Iterable[SeriesTerms],
    counts_format: CheckpointFormat,
) -> SeriesCounts:
    """The cached counts of the series; those that were not counted then are missing."""
    views = {}
    for view, members in by_view(series).items():
        view_data = data.get(view_key(view))
        if view_data is not None:
            seen = _seen(cached, view, view_data)
            views[view] = ViewCounts(seen, _counts(seen, view, members, view_data, counts_format))
    return SeriesCounts(cached.sequence.steps, views)


def _counts(
    seen: GraphSequence,
    view: View,
    members: Iterable[SeriesTerms],
    data: Mapping[str, Any],
    counts_format: CheckpointFormat,
) -> ExactCounts:
    wanted = {terms.statistic: tally_under(terms.statistic, terms.bound) for terms in members}
    known = {
        statistic: tally for statistic, tally in wanted.items() if repr(tally) in data["answers"]
    }
    answers = {
        tally: counts_format.unpacked(tally, data["answers"][repr(tally)])
        for tally in known.values()
    }
    return ExactCounts(tuple(known), extent(seen, seen.steps), answers, view[1].counted)


def _seen(cached: CachedGraph, view: View, data: Mapping[str, Any]) -> GraphSequence:
    """What the series looked at: the graph, or its projection."""
    graph = cached.sequence
    if "used" not in data:
        return graph
    values: dict[str, Any] = {**vars(graph), "growth": None}
    values |= {"used": tuple(data["used"]), "taken": data["taken"]}
    if data["late_offsets"] is None:
        return Projected(**values)
    columns = {name: column(cached.arena, f"{view_key(view)} {name}") for name in EdgeLists._fields}
    lists = EdgeLists(**columns)
    late = LateEdges(
        data["late_offsets"].copy(), lists.late_newer.values, lists.late_entries.values
    )
    edges = {"offsets": lists.offsets.values, "entries": lists.entries.values, "late": late}
    return Projected(**values | edges, lists=lists)


FORM = 2  # of what is written here
NAME = "kept"  # of the entry in the row of a step, where earlier versions put it
ENGINE = "local"  # under which it is named beside the rows


@dataclass(frozen=True)
class Entry:
    """The checkpoint of a step: the names and checksums of its files, not their content.

    Attributes:
        step: the step.
        form: the format in which everything was written.
        columns: the file of the arena.
        graph: the file of the graph.
        counts: the file of the counts.
    """

    step: int
    form: str
    columns: str
    graph: StoredFile
    counts: StoredFile

    @property
    def names(self) -> set[str]:
        """Its files."""
        return {self.columns, self.graph.name, self.counts.name}

    def text(self, row: str) -> str:
        """The text to store beside the row of this hash."""
        files = {"graph": vars(self.graph), "counts": vars(self.counts)}
        data = {"form": self.form, "columns": self.columns, **files}
        return canonical({"row": row, "step": self.step, **data})


def newest(ledger: Ledger) -> Entry | None:
    """The newest checkpoint, if any: stored beside the rows or, by earlier versions, in a row."""
    rows = ledger.of(Event.STEP_SEALED)
    return _beside(ledger, rows) or _within(rows)


def _beside(ledger: Ledger, rows: Sequence[LedgerRow]) -> Entry | None:
    """The entry beside the rows; None where it belongs to other rows than these."""
    try:
        data = json.loads(ledger.beside[ENGINE])
        step = data["step"]
        return _entry(step, data) if rows[step].hash == data["row"] else None
    except UNREADABLE:
        return None


def _within(rows: Sequence[LedgerRow]) -> Entry | None:
    for step in reversed(range(len(rows))):
        data = rows[step].secret.get(NAME)
        if data is not None:
            return _entry(step, data)
    return None


def _entry(step: int, data: Any) -> Entry | None:
    try:
        files = [StoredFile(**data[part]) for part in ("graph", "counts")]
        return Entry(step, str(data["form"]), str(data["columns"]), *files)
    except UNREADABLE:
        return None


def form_of(checkpoint_format: CheckpointFormat) -> str:
    """The name of the format; a checkpoint with another name cannot be used."""
    return f"{FORM}, {checkpoint_format.form}"


def load_graph(
    folder: Folder,
    entry: Entry | None,
    empty: GraphSequence,
    checkpoint_format: CheckpointFormat | None,
    *,
    check_all: bool = False,
) -> CachedGraph | None:
    """The cached graph; None where it is missing, damaged or of another form."""
    if entry is None or checkpoint_format is None or entry.form != form_of(checkpoint_format):
        return None
    try:
        data = read_packed(folder.kept, entry.graph)
        turn = None if check_all else entry.step
        arena = Arena.opened(folder.kept, Layout.from_data(data["layout"]), turn)
        return read_graph(empty, arena, data)
    except (UnusableError, *UNREADABLE):
        return None


def load_counts(
    folder: Folder,
    entry: Entry,
    kept: CachedGraph,
    series: Iterable[SeriesTerms],
    checkpoint_format: CheckpointFormat,
) -> SeriesCounts | None:
    """The cached counts of the series; None where they are missing, damaged or of another form."""
    try:
        data = read_packed(folder.kept, entry.counts)
        return read_counts(kept, data, series, checkpoint_format)
    except (UnusableError, *UNREADABLE):
        return None


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The graph and the counts after some steps, ready to be stored; a secret.

    Attributes:
        graph: up to the last of them.
        counts: of every series.
        before: the graph of the previous checkpoint, if it could be used.
        last: the checkpoint that the ledger names now.
        checkpoint_format: the format of the counts.
    """

    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    before: CachedGraph | None = field(repr=False)
    last: Entry | None
    checkpoint_format: CheckpointFormat

    def keep(self, folder: Folder, row: str) -> dict[str, str]:
        """Write the files; returns what to store beside the row of the last step.

        Files that the ledger does not name now are removed; those it names stay until the next
        time. `row` is the hash of the row.
        """
        home, step = folder.kept, self.graph.steps - 1
        make_private_folder(home)
        clear(home, self.last.names if self.last else set())
        index = table_of(self.graph)
        columns = graph_columns(self.graph, index) | count_columns(self.counts)
        layout = self._laid_out(folder, columns, index)
        before = self.before.degrees if self.before else None
        final_degrees = degrees(self.graph, before)
        graph = {"layout": layout.to_data(), **beside_graph(self.graph, index, final_degrees)}
        counts = beside_counts(self.counts, self.checkpoint_format)
        entry = Entry(
            step,
            form_of(self.checkpoint_format),
            layout.name,
            write_packed(home, f"{step:04}-graph", graph),
            write_packed(home, f"{step:04}-counts", counts),
        )
        return {ENGINE: entry.text(row)}

    def _laid_out(self, folder: Folder, columns: Mapping[str, Values], index: IdTable) -> Layout:
        """Append the columns to the arena; write a new one if the table of ids was rebuilt."""
        if self.before is None or table_of(self.before.sequence).slots is not index.slots:
            return written(folder.kept, columns)
        state = self.before.sequence.steps
        return self.before.arena.grown(columns, {SLOTS: index.all_changed}, state)
