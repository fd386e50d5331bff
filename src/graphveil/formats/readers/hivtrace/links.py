"""ListedLinks in HIV-TRACE results: which of them count, whom they join, and their direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import tidied
from graphveil.formats.columns.names import no_such
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.readers.hivtrace.dates import date_texts
from graphveil.formats.readers.hivtrace.sections import Section, faults_of
from graphveil.graph.faults import Fault
from graphveil.graph.records import Table


@dataclass(frozen=True, eq=False)
class ListedLinks:
    """The links of one file.

    Attributes:
        table: the edges that were not removed.
        directed: whether all of them have a direction.
        without_time: the refusal to raise if no other file has the date of edges that was named.
        notes: the rules that some of them met.
    """

    table: Table
    directed: bool
    without_time: InputError | None
    notes: list[Note]


def read_links(links: Section, ids: list[str | None], options: ReadingOptions) -> ListedLinks:
    """The links that count; `ids` are those of the nodes, which links name by position."""
    kept, removed = _kept(links)
    table, refusal, changed = _edges(links, ids, kept, options)
    directed, mixed = _direction(links, kept)
    return ListedLinks(table, directed, refusal, [*removed, *mixed, *changed])


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
) -> tuple[Table, InputError | None, list[Note]]:
    import polars as pl

    named = options.edge_time
    names = {end: f"{links.name}.{end}" for end in ("source", "target")}
    found = {end: _ends(links, end, ids, kept) for end in names}
    columns = {end: pl.Series(people, dtype=pl.String) for end, (people, _) in found.items()}
    faults = [fault for _, wrong in found.values() for fault in wrong]
    if named in links.columns:
        values = links.column(named)
        times, wrong = date_texts([values[entry] for entry in kept])
        faults += wrong
        columns["time"] = pl.Series(times, dtype=pl.String)
        names["time"] = f"{links.name}.{named}"
    numbers = np.array(kept, dtype=np.int64)
    table = Table(pl.DataFrame(columns), links.source, names=names, numbers=numbers)
    table = table.marked(*faults)
    if "time" in columns:
        table, notes = tidied(table, day_first=options.day_first)
        return table, None, notes
    place = Place(links.source, column=f"{links.name}.{named}")
    refusal = no_such("field", place, list(links.columns), []) if named else None
    return table, refusal, []


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


def _direction(links: Section, kept: list[int]) -> tuple[bool, list[Note]]:
    """ListedLinks are undirected, unless all say otherwise; a mixture must not depend on direction.

    The program marks single links as directed. Where such a link is listed in both directions,
    it is as good as undirected; where it does not, reading it as undirected would lose what
    the file says.
    """
    marks, source, target = (links.column(field) for field in ("directed", "source", "target"))
    marked = [entry for entry in kept if marks[entry]]
    if not marked or len(marked) == len(kept):
        return bool(marked), []
    pairs = {(source[entry], target[entry]) for entry in marked}
    for entry in marked:
        if (target[entry], source[entry]) not in pairs:
            raise links.refuse("some edges are directed and some are not", entry, "directed")
    rule = "edges marked as directed, in both directions: read as undirected"
    return False, [Note.of_rows(rule, len(marked), marked)]
