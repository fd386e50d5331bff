"""HIV-TRACE results: a JSON network of people whose viruses are alike.

Both forms are read, plain and compact, with or without the wrapper `trace_results`. Edges name
nodes by position. Removed edges are dropped. Ids such as PERSON|SEQUENCE are handed on as they
are. People without links may be listed as `Singletons`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import no_such
from graphveil.formats.file_reports import file_report
from graphveil.formats.format import Claim, Claimed, Format, Part, register
from graphveil.formats.hivtrace_dates import date_field, date_text, times_of
from graphveil.formats.hivtrace_sections import Section, is_text, section
from graphveil.formats.json_documents import read_json
from graphveil.formats.options import ReadingOptions
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.time_fields import tidied
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

_WRAPPER = "trace_results"
_BEGINS = re.compile(rb"(\xef\xbb\xbf)?\s*\{")
_SAYS_SO = re.compile(
    rb'"(trace_results|Cluster sizes|Network Summary|Nodes|Edges|Settings|Degrees|Singletons'
    rb'|Directed Edges|HIV Stages|Multiple sequences|patient_attribute_schema)"\s*:'
)


def _claims(file: SourceFile, insisted: bool) -> Claim | None:
    says_so = _BEGINS.match(file.head) and _SAYS_SO.search(file.head)
    return Claim("network", "JSON with sections of HIV-TRACE") if insisted or says_so else None


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[Part]:
    return [_read_one(each, options) for each in files]


def _read_one(claimed: Claimed, options: ReadingOptions) -> Part:
    network = _network(read_json(claimed.file, options), claimed.file)
    sections, notes = _people(network, claimed.file)
    ids = [_ids(each) for each in sections]
    field, refusal = date_field(sections, network, claimed.file, options.time)
    nodes = []
    for each, names in zip(sections, ids, strict=True):
        table, changed = tidied(_nodes(each, names, field), day_first=options.day_first)
        nodes.append(table)
        notes += changed
    links = section(network, "Edges", claimed.file.name)
    kept, removed = _kept(links)
    edges, edge_refusal, changed = _edges(links, ids[0], kept, options)
    directed, mixed = _direction(links, kept)
    dated = [Note(f"dated by the field '{field}'")] if field else []
    notes = [*dated, *notes, *removed, *mixed, *changed]
    return Part(
        file_report(claimed, HIVTRACE.name, nodes=nodes, edges=[edges], notes=notes),
        nodes=tuple(nodes),
        edges=(edges,),
        directed=directed,
        without_time=refusal,
        without_edge_time=edge_refusal,
    )


def _network(data: Any, file: SourceFile) -> dict[str, Any]:
    network = data.get(_WRAPPER, data) if isinstance(data, dict) else data
    if not isinstance(network, dict):
        raise InputError(
            "the file is no HIV-TRACE network",
            place=Place(file.name),
            hint="Supply the JSON results, with Nodes and Edges.",
        )
    return network


def _people(network: dict[str, Any], file: SourceFile) -> tuple[list[Section], list[Note]]:
    """The sections that list people; isolated ones may be a count only."""
    listed = section(network, "Nodes", file.name)
    if isinstance(network.get("Singletons"), list | dict):
        return [listed, section(network, "Singletons", file.name)], []
    summary = network.get("Network Summary")
    counts = [
        network.get("Singletons"),
        summary.get("Singletons") if isinstance(summary, dict) else 0,
    ]
    alone = max((count for count in counts if type(count) is int), default=0)
    rule = "people without links are a count only: supply a node list if the study needs them"
    return [listed], [Note.of_rows(rule, alone)] if alone > 0 else []


def _ids(people: Section) -> list[str]:
    """The id of every entry as text; positions of edges refer to this list."""
    ids = people.column("id")
    for entry, name in enumerate(ids):
        if type(name) not in (str, int) or not is_text(str(name)):
            raise people.refuse("the node has no id", entry, "id")
    return [str(name) for name in ids]


def _nodes(people: Section, ids: list[str], field: str | None) -> Table:
    import polars as pl

    values = times_of(people, field) if field else [None] * people.count
    texts = [date_text(people, entry, value, field or "") for entry, value in enumerate(values)]
    frame = pl.DataFrame(
        {"node": ids, "time": texts}, schema={"node": pl.String, "time": pl.String}
    )
    names = {"node": f"{people.name}.id", "time": f"{people.name}.{field or 'time'}"}
    return Table(frame, people.source, 0, names)


def _kept(links: Section) -> tuple[list[int], list[Note]]:
    """The entries of edges that were not removed."""
    marks = links.column("removed")
    removed = [entry for entry, mark in enumerate(marks) if mark]
    kept = [entry for entry, mark in enumerate(marks) if not mark]
    if not removed:
        return kept, []
    return kept, [Note.of_rows("edges marked as removed: dropped", len(removed), removed)]


def _edges(
    links: Section, ids: list[str], kept: list[int], options: ReadingOptions
) -> tuple[Table, InputError | None, list[Note]]:
    import polars as pl

    named = options.edge_time
    names = {end: f"{links.name}.{end}" for end in ("source", "target")}
    columns = {end: _ends(links, end, ids, kept) for end in names}
    if named in links.columns:
        values = links.column(named)
        times = [date_text(links, entry, values[entry], named) for entry in kept]
        columns["time"] = pl.Series(times, dtype=pl.String)
        names["time"] = f"{links.name}.{named}"
    table = Table(
        pl.DataFrame(columns), links.source, names=names, numbers=np.array(kept, dtype=np.int64)
    )
    if "time" in columns:
        table, notes = tidied(table, day_first=options.day_first)
        return table, None, notes
    place = Place(links.source, column=f"{links.name}.{named}")
    refusal = no_such("field", place, list(links.columns), []) if named else None
    return table, refusal, []


def _ends(links: Section, end: str, ids: list[str], kept: list[int]) -> pl.Series:
    import polars as pl

    positions = links.column(end)
    for entry in kept:
        if type(positions[entry]) is not int or not 0 <= positions[entry] < len(ids):
            raise links.refuse("the edge does not name two positions in Nodes", entry, end)
    return pl.Series([ids[positions[entry]] for entry in kept], dtype=pl.String)


def _direction(links: Section, kept: list[int]) -> tuple[bool, list[Note]]:
    """Links are undirected, unless all say otherwise; a mixture must not depend on direction.

    The programme marks single links as directed. Where such a link stands in both directions,
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
