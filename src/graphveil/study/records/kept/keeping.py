"""Keeping: what the last sealed step leaves for the next command, named by its row of the ledger.

private/kept/0123….columns        the arena: columns that only grow
private/kept/0007-graph-….kept    as of step 7: how long they are, their checksums, degrees
private/kept/0007-counts-….kept   as of step 7: the counts of every series, and where they stand
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graphveil.graph.degrees import degrees
from graphveil.series.counting import SeriesCounts
from graphveil.study.ledger import Ledger, StoredFile
from graphveil.study.public.facts import Event
from graphveil.study.records.kept import counts as kept_counts
from graphveil.study.records.kept import graph as kept_graph
from graphveil.study.records.kept.arena import Arena, Layout, UnusableError, Values, clear, written
from graphveil.study.records.kept.graph import SLOTS, KeptGraph, table_of
from graphveil.study.records.kept.packing import read_packed, write_packed
from graphveil.study.storage.folder import Folder, make_private_folder
from graphveil.study.storage.keeping import UNREADABLE

if TYPE_CHECKING:
    from graphveil.engines.engine import Keeping
    from graphveil.graph.intake.id_table import IdTable
    from graphveil.graph.sequence import GraphSequence
    from graphveil.series.terms import SeriesTerms

FORM = 1  # of what is written here
NAME = "kept"  # of the entry in the row of a step


@dataclass(frozen=True)
class Entry:
    """What the row of a step says of what was kept with it; files, and nothing of their content.

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

    def to_data(self) -> dict[str, Any]:
        """For the private part of a row."""
        files = {"graph": vars(self.graph), "counts": vars(self.counts)}
        return {"form": self.form, "columns": self.columns, **files}


def newest(ledger: Ledger) -> Entry | None:
    """What was kept last, if anything was."""
    rows = ledger.of(Event.STEP_SEALED)
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

    def keep(self, folder: Folder) -> dict[str, Any]:
        """Write it; what is returned belongs into the row of the last step.

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
        return Entry(
            step,
            form_of(self.keeping),
            layout.name,
            write_packed(home, f"{step:04}-graph", graph),
            write_packed(home, f"{step:04}-counts", counts),
        ).to_data()

    def _laid_out(self, folder: Folder, columns: Mapping[str, Values], index: IdTable) -> Layout:
        """Behind what is there, unless the table of ids had to be made anew."""
        if self.before is None or table_of(self.before.sequence).slots is not index.slots:
            return written(folder.kept, columns)
        state = self.before.sequence.steps
        return self.before.arena.grown(columns, {SLOTS: index.all_changed}, state)
