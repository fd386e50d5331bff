"""Links in HIV-TRACE results: which of them count, and whom they join.

They have no direction, although they have a source and a target. The program marks single links as
directed; were the marks to decide, one person's link would turn everybody's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.formats.columns.dates import tidied
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.readers.hivtrace.dates import date_texts, values_named
from graphveil.formats.readers.hivtrace.sections import Section, faults_of
from graphveil.graph.faults import Fault
from graphveil.graph.records import Table


@dataclass(frozen=True, eq=False)
class ListedLinks:
    """The links of one file.

    Attributes:
        table: the edges that were not removed.
        notes: the rules that some of them met.
    """

    table: Table
    notes: list[Note]


def read_links(links: Section, ids: list[str | None], options: ReadingOptions) -> ListedLinks:
    """The links that count; `ids` are those of the nodes, which links name by position."""
    kept, removed = _kept(links)
    table, changed = _edges(links, ids, kept, options)
    return ListedLinks(table, [*removed, *_marked(links, kept), *changed])


def _kept(links: Section) -> tuple[list[int], list[Note]]:
    """The entries of edges that were not removed."""
    marks = links.column("removed")
    removed = [entry for entry, mark in enumerate(marks) if mark]
    kept = [entry for entry, mark in enumerate(marks) if not mark]
    if not removed:
        return kept, []
    return kept, [Note.of_rows("edges marked as removed: dropped", len(removed), removed)]


def _edges(
    links: Section, ids: list[str | None], kept: list[int], options: ReadingOptions
) -> tuple[Table, list[Note]]:
    import polars as pl

    named = options.edge_time
    names = {end: f"{links.name}.{end}" for end in ("source", "target")}
    found = {end: _ends(links, end, ids, kept) for end in names}
    columns = {end: pl.Series(people, dtype=pl.String) for end, (people, _) in found.items()}
    faults = [fault for _, wrong in found.values() for fault in wrong]
    if named is not None:
        values = values_named(links, named)
        times, wrong = date_texts([values[entry] for entry in kept])
        faults += wrong
        columns["time"] = pl.Series(times, dtype=pl.String)
        names["time"] = f"{links.name}.{named}"
    numbers = np.array(kept, dtype=np.int64)
    table = Table(pl.DataFrame(columns), links.source, names=names, numbers=numbers)
    table = table.marked(*faults)
    if named is None:
        return table, []
    table, notes = tidied(table, day_first=options.day_first)
    if table.frame["time"].null_count() == len(kept):
        notes.append(Note(f"WARNING: no edge has a date in the field '{named}'"))
    return table, notes


def _ends(
    links: Section, end: str, ids: list[str | None], kept: list[int]
) -> tuple[list[str | None], list[Fault]]:
    """Whom each link names at one end, and the rows that name no position."""
    named = links.column(end)
    positions = [named[entry] for entry in kept]
    valid = [type(at) is int and 0 <= at < len(ids) for at in positions]
    wrong = [row for row, names_somebody in enumerate(valid) if not names_somebody]
    people = [ids[at] if ok else None for at, ok in zip(positions, valid, strict=True)]
    return people, faults_of("the edge does not name two positions in Nodes", end, wrong)


def _marked(links: Section, kept: list[int]) -> list[Note]:
    """The links that say that they have a direction."""
    marks = links.column("directed")
    marked = [entry for entry in kept if marks[entry]]
    rule = "edges marked as directed: read as undirected, as all are"
    return [Note.of_rows(rule, len(marked), marked)] if marked else []
