"""Keeping: what the last sealed step leaves for the next command, named beside its row.

private/kept/0123….columns        the arena: columns that only grow
private/kept/0007-graph-….kept    as of step 7: how long they are, their checksums, degrees
private/kept/0007-counts-….kept   as of step 7: the counts of every series, and where they stand
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphveil.graph.degrees import degrees
from graphveil.series.counting import SeriesCounts
from graphveil.study.ledger import Ledger, LedgerRow, StoredFile
from graphveil.study.public.chain import canonical
from graphveil.study.public.facts import Event
from graphveil.study.records.local.kept import counts as kept_counts
from graphveil.study.records.local.kept import graph as kept_graph
from graphveil.study.records.local.kept.arena import (
    Arena,
    Layout,
    UnusableError,
    Values,
    clear,
    written,
)
from graphveil.study.records.local.kept.graph import SLOTS, KeptGraph, table_of
from graphveil.study.records.local.kept.packing import read_packed, write_packed
from graphveil.study.storage.folder import Folder, make_private_folder
from graphveil.study.storage.keeping import UNREADABLE

if TYPE_CHECKING:
    from graphveil.engines.engine import Keeping
    from graphveil.graph.intake.id_table import IdTable
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms

FORM = 2  # of what is written here
NAME = "kept"  # of the entry in the row of a step, where earlier versions put it
ENGINE = "local"  # under which it is named beside the rows


@dataclass(frozen=True)
class Entry:
    """What was kept with a step: files, and nothing of their content.

    Attributes:
        step: the step.
        form: how everything was written.
        columns: the file of the arena.
        graph: what belongs to the graph.
        counts: what belongs to the series.
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
        """What stands beside the row of this hash."""
        files = {"graph": vars(self.graph), "counts": vars(self.counts)}
        data = {"form": self.form, "columns": self.columns, **files}
        return canonical({"row": row, "step": self.step, **data})


def newest(ledger: Ledger) -> Entry | None:
    """What was kept last, if anything was: beside the rows or, by earlier versions, in one."""
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
        found = rows[step].secret.get(NAME)
        if found is not None:
            return _entry(step, found)
    return None


def _entry(step: int, data: Any) -> Entry | None:
    try:
        files = [StoredFile(**data[part]) for part in ("graph", "counts")]
        return Entry(step, str(data["form"]), str(data["columns"]), *files)
    except UNREADABLE:
        return None


def form_of(keeping: Keeping) -> str:
    """What everything that is kept is called; another name means that it cannot be used."""
    return f"{FORM}, {keeping.form}"


def load_graph(
    folder: Folder,
    entry: Entry | None,
    empty: GraphSequence,
    keeping: Keeping | None,
    *,
    check_all: bool = False,
) -> KeptGraph | None:
    """The graph as it was kept; None where that is missing, damaged or of another form."""
    if entry is None or keeping is None or entry.form != form_of(keeping):
        return None
    try:
        data = read_packed(folder.kept, entry.graph)
        turn = None if check_all else entry.step
        arena = Arena.opened(folder.kept, Layout.from_data(data["layout"]), turn)
        return kept_graph.read_graph(empty, arena, data)
    except (UnusableError, *UNREADABLE):
        return None


def load_counts(
    folder: Folder,
    entry: Entry,
    kept: KeptGraph,
    series: Iterable[SeriesTerms],
    keeping: Keeping,
) -> SeriesCounts | None:
    """What the series had counted; None where that is missing, damaged or of another form."""
    try:
        data = read_packed(folder.kept, entry.counts)
        return kept_counts.read_counts(kept, data, series, keeping)
    except (UnusableError, *UNREADABLE):
        return None


@dataclass(frozen=True, eq=False)
class Standing:
    """Where counting stands after some steps, ready to be kept; a secret.

    Attributes:
        graph: up to the last of them.
        counts: of every series.
        before: what was kept before, if it could be used.
        last: what the ledger names now.
        keeping: how counts become data.
    """

    graph: GraphSequence = field(repr=False)
    counts: SeriesCounts = field(repr=False)
    before: KeptGraph | None = field(repr=False)
    last: Entry | None
    keeping: Keeping

    def keep(self, folder: Folder, row: str) -> dict[str, str]:
        """Write it; what is returned belongs beside the row, of this hash, of the last step.

        What the ledger does not name now is removed; what it names stays until the next time.
        """
        home, step = folder.kept, self.graph.steps - 1
        make_private_folder(home)
        clear(home, self.last.names if self.last else set())
        index = table_of(self.graph)
        columns = kept_graph.columns_of(self.graph, index) | kept_counts.columns_of(self.counts)
        layout = self._laid_out(folder, columns, index)
        before = self.before.degrees if self.before else None
        found = degrees(self.graph, before)
        graph = {"layout": layout.to_data(), **kept_graph.beside(self.graph, index, found)}
        counts = kept_counts.beside(self.counts, self.keeping)
        kept = Entry(
            step,
            form_of(self.keeping),
            layout.name,
            write_packed(home, f"{step:04}-graph", graph),
            write_packed(home, f"{step:04}-counts", counts),
        )
        return {ENGINE: kept.text(row)}

    def _laid_out(self, folder: Folder, columns: Mapping[str, Values], index: IdTable) -> Layout:
        """Behind what is there, unless the table of ids had to be made anew."""
        if self.before is None or table_of(self.before.sequence).slots is not index.slots:
            return written(folder.kept, columns)
        state = self.before.sequence.steps
        return self.before.arena.grown(columns, {SLOTS: index.all_changed}, state)
