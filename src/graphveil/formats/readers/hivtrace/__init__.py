"""HIV-TRACE results: a JSON network of people whose viruses are alike.

Both forms are read, plain and compact, with or without the wrapper `trace_results`. Edges name
nodes by position. Removed edges are dropped. Ids such as PERSON|SEQUENCE are handed on as they
are. People without links may be listed as `Singletons`; where they are not, somebody is listed only
because of a link, and would vanish with whoever is at its other end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphveil.errors import InputError
from graphveil.formats.columns.dates import undated
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, ParsedFile, register
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.readers.hivtrace.conditions import conditions_of, plain_texts
from graphveil.formats.readers.hivtrace.dates import (
    date_texts,
    first_named,
    named_fields,
    no_date_field,
    values_named,
)
from graphveil.formats.readers.hivtrace.document import IS_SESSION, read_network
from graphveil.formats.readers.hivtrace.links import read_links
from graphveil.formats.readers.hivtrace.sections import Section, faults_of, is_text, section
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.selection import Selected, Selection
from graphveil.graph.intake.records import Table

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
    """The sections that list people, and the network, for whoever chooses a field of dates."""
    network = read_network(file, options)
    return _people(network, file, all_listed=options.all_listed)[0], network


def _dated_by(nodes: list[Table], named: str | None, refusal: InputError | None) -> list[Note]:
    if refusal is not None:
        return []
    if all(table.frame["time"].null_count() == len(table.frame) for table in nodes):
        return [Note(f"WARNING: nobody has a date in the field '{named}'")]
    return [Note(f"dated by the field '{named}'")]


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
    return Selection("nodes", times, conditions)


def _listed(
    people: Section, ids: list[str | None], fields: Sequence[str], options: ReadingOptions
) -> Selected:
    """The people of a section who count, dated by the first of the fields that says something."""
    import polars as pl

    chosen = _selection(people, fields, options)
    texts, wrong = date_texts(first_named(people, fields))
    nobody = faults_of("the node has no id", "node", [n for n, name in enumerate(ids) if not name])
    columns = {"node": ids, "time 0": texts}
    for n, (condition, _) in enumerate(chosen.conditions):
        columns[f"condition {n}"] = plain_texts(values_named(people, condition.column))
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    names = {"node": f"{people.name}.id", "time": f"{people.name}.{', '.join(fields) or 'time'}"}
    table = Table(frame, people.source, 0, chosen.columns | names).marked(*nobody, *wrong)
    found = chosen.applied(table, options)
    return found if fields else replace(found, table=undated(found.table))


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
