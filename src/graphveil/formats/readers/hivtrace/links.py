"""Links in HIV-TRACE results: which of them count, and whom they join.

They have no direction, although they have a source and a target. The program marks single links as
directed; were the marks to decide, one person's link would turn everybody's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphveil.formats.columns.distances import NO_DISTANCE, TN93, Threshold
from graphveil.formats.columns.filters import Filter
from graphveil.formats.columns.names import bare
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.readers.hivtrace.conditions import conditions_of, plain_texts
from graphveil.formats.readers.hivtrace.dates import (
    date_texts,
    first_named,
    named_fields,
    values_named,
)
from graphveil.formats.readers.hivtrace.sections import Section, faults_of
from graphveil.formats.tables.selection import Selection
from graphveil.graph.intake.faults import Fault
from graphveil.graph.intake.records import Table

_DISTANCE = "length"  # as the program calls it


@dataclass(frozen=True, eq=False)
class ListedLinks:
    """The links of one file.

    Attributes:
        table: the edges that were not removed.
        notes: the rules that some of them met.
        conditions: those that links were held to.
        threshold: up to which distance they are links, if the steward says so.
    """

    table: Table
    notes: list[Note]
    conditions: frozenset[Filter]
    threshold: Threshold | None


def read_links(links: Section, ids: list[str | None], options: ReadingOptions) -> ListedLinks:
    """The links that count; `ids` are those of the nodes, which links name by position."""
    kept, removed = _kept(links)
    chosen = _selection(links, options)
    found = chosen.applied(_edges(links, ids, kept, chosen, options.edge_time), options)
    notes = [*removed, *_marked(links, kept), *found.notes, *_undated(found.table, options)]
    return ListedLinks(found.table, notes, chosen.used, chosen.threshold)


def _selection(links: Section, options: ReadingOptions) -> Selection:
    """What links are dated and judged by; the program has made them links by a distance already."""
    named = options.edge_time
    conditions = tuple((each, each.column) for each in conditions_of("edges", options.filters))
    told = options.distance is None or bare(options.distance) != NO_DISTANCE
    threshold = options.threshold if told else None
    return Selection(
        "edges",
        times=() if named is None else (f"{links.name}.{named}",),
        conditions=conditions,
        distance=(options.distance or _DISTANCE) if threshold else None,
        threshold=threshold and Threshold(threshold.most, threshold.unit or TN93),
    )


def _kept(links: Section) -> tuple[list[int], list[Note]]:
    """The entries of edges that were not removed."""
    marks = links.column("removed")
    removed = [entry for entry, mark in enumerate(marks) if mark]
    kept = [entry for entry, mark in enumerate(marks) if not mark]
    if not removed:
        return kept, []
    return kept, [Note.of_rows("edges marked as removed: dropped", len(removed), removed)]


def _edges(
    links: Section, ids: list[str | None], kept: list[int], chosen: Selection, named: str | None
) -> Table:
    """All edges that were not removed, with what they are dated and judged by."""
    import polars as pl

    names = {end: f"{links.name}.{end}" for end in ("source", "target")}
    found = {end: _ends(links, end, ids, kept) for end in names}
    columns: dict[str, list[str | None]] = {end: people for end, (people, _) in found.items()}
    faults = [fault for _, wrong in found.values() for fault in wrong]
    if named is not None:
        values = first_named(links, named_fields(named))
        columns["time 0"], wrong = date_texts([values[entry] for entry in kept])
        faults += wrong
        names["time"] = f"{links.name}.{named}"
    for ours, theirs in chosen.columns.items():
        if ours not in columns:
            texts = plain_texts(values_named(links, theirs))
            columns[ours] = [texts[entry] for entry in kept]
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    numbers = np.array(kept, dtype=np.int64)
    table = Table(frame, links.source, names=chosen.columns | names, numbers=numbers)
    return table.marked(*faults)


def _undated(edges: Table, options: ReadingOptions) -> list[Note]:
    if options.edge_time is None or edges.frame["time"].null_count() < len(edges.frame):
        return []
    return [Note(f"WARNING: no edge has a date in the field '{options.edge_time}'")]


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
