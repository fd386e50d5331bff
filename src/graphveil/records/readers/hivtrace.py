"""HIV-TRACE results: a JSON network of people whose viruses are alike.

Both forms are read, plain and compact, with or without the wrapper `trace_results`. Edges name
nodes by position. Removed edges are dropped. Ids such as PERSON|SEQUENCE are handed on as they
are. People without links may be listed as `Singletons`; where they are not, somebody is listed only
because of a link, and would vanish with the person at its other end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphveil.deferred import pl
from graphveil.errors import InputError
from graphveil.graph.groups import column_of
from graphveil.graph.intake.records import Table, Violation
from graphveil.records.columns import bare, plain
from graphveil.records.dates import undated
from graphveil.records.format import Claim, Claimed, Format, Note, ParsedFile, file_report, register
from graphveil.records.hivtrace_document import (
    IS_SESSION,
    Section,
    date_texts,
    first_named,
    is_text,
    named_fields,
    no_date_field,
    read_network,
    section,
    values_named,
    violations_of,
)
from graphveil.records.options import NO_DISTANCE, TN93, Filter, Kind, ReadingOptions, Threshold
from graphveil.records.selection import Selected, Selection
from graphveil.records.source_file import SourceFile

# Conditions on HIV-TRACE results: entries declare no columns, so a name is of people or of
# links.
#
# Whether anybody has a field is no matter of the file: one person who has it would decide for
# all.


_OF_LINKS = ("source", "target", "directed", "length", "support", "removed", "sequences", "weight")


def conditions_of(kind: Kind, filters: Iterable[Filter]) -> list[Filter]:
    """The conditions on people, or on links: those with a field that the program gives links."""
    placed = [
        replace(each, kind=each.kind or ("edges" if plain(each.column) in _OF_LINKS else "nodes"))
        for each in filters
    ]
    return [each for each in placed if each.kind == kind]


def plain_texts(values: Iterable[Any]) -> list[str | None]:
    """Values as text; nothing where there is none, or more than one."""
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return str(value) if isinstance(value, int | float) else None


# Links in HIV-TRACE results: which of them count, and whom they join.
#
# They have no direction, although they have a source and a target. The program marks single
# links as directed; were the marks to decide, one person's link would turn everybody's.


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
    present, removed = _present(links)
    chosen = _link_selection(links, options)
    selected = chosen.applied(_edges(links, ids, present, chosen, options.edge_time), options)
    notes = [
        *removed,
        *_marked(links, present),
        *selected.notes,
        *_undated(selected.table, options),
    ]
    return ListedLinks(selected.table, notes, chosen.used, chosen.threshold)


def _link_selection(links: Section, options: ReadingOptions) -> Selection:
    """What links are dated and judged by; the program has made them links by a distance already."""
    named = options.edge_time
    conditions = tuple((each, each.column) for each in conditions_of("edges", options.filters))
    uses_distance = options.distance is None or bare(options.distance) != NO_DISTANCE
    threshold = options.threshold if uses_distance else None
    return Selection(
        "edges",
        times=() if named is None else (f"{links.name}.{named}",),
        conditions=conditions,
        distance=(options.distance or _DISTANCE) if threshold else None,
        threshold=threshold and Threshold(threshold.most, threshold.unit or TN93),
    )


def _present(links: Section) -> tuple[list[int], list[Note]]:
    """The entries of edges that were not removed."""
    marks = links.column("removed")
    removed = [entry for entry, mark in enumerate(marks) if mark]
    present = [entry for entry, mark in enumerate(marks) if not mark]
    if not removed:
        return present, []
    return present, [Note.of_rows("edges marked as removed: dropped", len(removed), removed)]


def _edges(
    links: Section, ids: list[str | None], present: list[int], chosen: Selection, named: str | None
) -> Table:
    """All edges that were not removed, with what they are dated and judged by."""
    names = {end: f"{links.name}.{end}" for end in ("source", "target")}
    ends = {end: _ends(links, end, ids, present) for end in names}
    columns: dict[str, list[str | None]] = {end: people for end, (people, _) in ends.items()}
    violations = [violation for _, wrong in ends.values() for violation in wrong]
    if named is not None:
        values = first_named(links, named_fields(named))
        columns["time 0"], wrong = date_texts([values[entry] for entry in present])
        violations += wrong
        names["time"] = f"{links.name}.{named}"
    for ours, theirs in chosen.columns.items():
        if ours not in columns:
            texts = plain_texts(values_named(links, theirs))
            columns[ours] = [texts[entry] for entry in present]
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    numbers = np.array(present, dtype=np.int64)
    table = Table(frame, links.source, names=chosen.columns | names, numbers=numbers)
    return table.marked(*violations)


def _undated(edges: Table, options: ReadingOptions) -> list[Note]:
    if options.edge_time is None or edges.frame["time"].null_count() < len(edges.frame):
        return []
    return [Note(f"WARNING: no edge has a date in the field '{options.edge_time}'")]


def _ends(
    links: Section, end: str, ids: list[str | None], present: list[int]
) -> tuple[list[str | None], list[Violation]]:
    """Whom each link names at one end, and the rows that name no position."""
    named = links.column(end)
    positions = [named[entry] for entry in present]
    valid = [type(at) is int and 0 <= at < len(ids) for at in positions]
    wrong = [row for row, names_somebody in enumerate(valid) if not names_somebody]
    people = [ids[at] if ok else None for at, ok in zip(positions, valid, strict=True)]
    return people, violations_of("the edge does not name two positions in Nodes", end, wrong)


def _marked(links: Section, present: list[int]) -> list[Note]:
    """The links that say that they have a direction."""
    marks = links.column("directed")
    marked = [entry for entry in present if marks[entry]]
    rule = "edges marked as directed: read as undirected, as all are"
    return [Note.of_rows(rule, len(marked), marked)] if marked else []


_BEGINS = re.compile(rb"(\xef\xbb\xbf)?\s*\{")


def _claims(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    if not insisted and (not _BEGINS.match(file.head) or IS_SESSION.match(file.head)):
        return None
    return Claim("network", "JSON with sections of HIV-TRACE")


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_read_one(each, options) for each in files]


def _read_one(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    network = read_network(claimed.file, options)
    sections, notes = _people(network, claimed.file, all_listed=options.all_listed)
    ids = [_ids(each) for each in sections]
    refusal = no_date_field(sections, network, claimed.file, options.time)
    fields = [] if refusal else named_fields(options.time)
    found = [
        _listed(people, names, fields, options) for people, names in zip(sections, ids, strict=True)
    ]
    nodes = [each.table for each in found]
    notes += [note for each in found for note in each.notes]
    links = read_links(section(network, "Edges", claimed.file), ids[0], options)
    notes = [*_dated_by(nodes, options.time, refusal), *notes, *links.notes]
    notes += _unlabelled(nodes, options)
    return ParsedFile(
        file_report(claimed, HIVTRACE.name, nodes=nodes, edges=[links.table], notes=notes),
        nodes=tuple(nodes),
        edges=(links.table,),
        directed=False,
        without_time=refusal,
        linked_only=len(sections) == 1 and not options.all_listed,
        left_out=tuple(each.left_out for each in found if each.left_out is not None),
        conditions=_selection(sections[0], fields, options).used | links.conditions,
        threshold=links.threshold,
    )


def people_in(file: SourceFile, options: ReadingOptions) -> tuple[list[Section], dict[str, Any]]:
    """The sections that list people, and the network, to choose a field of dates from."""
    network = read_network(file, options)
    return _people(network, file, all_listed=options.all_listed)[0], network


def _dated_by(nodes: list[Table], named: str | None, refusal: InputError | None) -> list[Note]:
    if refusal is not None:
        return []
    if all(table.frame["time"].null_count() == len(table.frame) for table in nodes):
        return [Note(f"WARNING: nobody has a date in the field '{named}'")]
    return [Note(f"dated by the field '{named}'")]


def _unlabelled(nodes: list[Table], options: ReadingOptions) -> list[Note]:
    """The groups of which nobody states a label; fields need not be declared."""
    return [
        Note(f"WARNING: nobody has a label in the field '{field_name}'")
        for group, field_name in options.named_groups
        if all(each.frame[column_of(group)].null_count() == len(each.frame) for each in nodes)
    ]


def _people(
    network: dict[str, Any], file: SourceFile, *, all_listed: bool
) -> tuple[list[Section], list[Note]]:
    """The sections that list people; isolated ones may be counted only."""
    listed = section(network, "Nodes", file)
    if isinstance(network.get("Singletons"), list | dict):
        return [listed, section(network, "Singletons", file)], []
    summary = network.get("Network Summary")
    counts = [
        network.get("Singletons"),
        summary.get("Singletons") if isinstance(summary, dict) else 0,
    ]
    alone = max((count for count in counts if type(count) is int), default=0)
    rule = "people without links are counted but not listed: supply a node list if they matter"
    if all_listed:
        rule += "; WARNING: you say that all are listed, so series that count people miss them"
    return [listed], [Note.of_rows(rule, alone)] if alone > 0 else []


def _ids(people: Section) -> list[str | None]:
    """The id of every entry as text, if it has one; positions of edges refer to this list."""
    return [
        str(name) if type(name) in (str, int) and is_text(str(name)) else None
        for name in people.column("id")
    ]


def _selection(people: Section, fields: Sequence[str], options: ReadingOptions) -> Selection:
    """What the people of a section are dated and judged by."""
    times = (f"{people.name}.{', '.join(fields)}",) if fields else ()
    conditions = tuple((each, each.column) for each in conditions_of("nodes", options.filters))
    return Selection("nodes", times, conditions, groups=options.named_groups)


def _listed(
    people: Section, ids: list[str | None], fields: Sequence[str], options: ReadingOptions
) -> Selected:
    """The people of a section who count, dated by the first of the fields that says something."""
    chosen = _selection(people, fields, options)
    texts, wrong = date_texts(first_named(people, fields))
    nobody = violations_of(
        "the node has no id", "node", [n for n, name in enumerate(ids) if not name]
    )
    columns = {"node": ids, "time 0": texts}
    for n, (condition, _) in enumerate(chosen.conditions):
        columns[f"condition {n}"] = plain_texts(values_named(people, condition.column))
    for group, field_name in chosen.groups:
        columns[column_of(group)] = plain_texts(values_named(people, field_name))
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    names = {"node": f"{people.name}.id", "time": f"{people.name}.{', '.join(fields) or 'time'}"}
    table = Table(frame, people.source, 0, chosen.columns | names).marked(*nobody, *wrong)
    selected = chosen.applied(table, options)
    return selected if fields else replace(selected, table=undated(selected.table))


HIVTRACE = register(
    Format(
        name="hivtrace",
        summary="HIV-TRACE results",
        looks="JSON with Nodes and Edges, plain or compact, also within trace_results; you name "
        "the field that is the date",
        claims=_claims,
        read=_read,
    )
)
