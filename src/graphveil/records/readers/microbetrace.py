"""MicrobeTrace: node and link lists as CSV, and whole sessions as JSON.

Links have no direction, although their columns are called source and target. The program
has no date column of its own: the steward names the one that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table
from graphveil.records.columns import are_links, bare, is_mapped, names_by_text, unnamed_date
from graphveil.records.dates import look_like_dates, undated
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, file_report, register
from graphveil.records.hivtrace_document import (
    IS_SESSION,
    Section,
    date_texts,
    first_named,
    is_text,
    named_fields,
    read_json,
    require_distinct,
    section,
    values_named,
    violations_of,
)
from graphveil.records.options import NO_DISTANCE, Kind, ReadingOptions, unsaid
from graphveil.records.readers.hivtrace import conditions_of, plain_texts
from graphveil.records.selection import Selected, Selection, read_table
from graphveil.records.source_file import SourceFile
from graphveil.records.table_file import claimed_table

_ID = "id"
_ENDS = (("source", "target"), ("id1", "id2"))


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    table = claimed_table(file, insisted)
    if table is None:
        return None
    theirs = names_by_text(table.names)
    if is_mapped(table.names, options):
        return None
    for ends in _ENDS:
        if set(ends) <= theirs.keys() and "node" not in theirs:
            columns = tuple(theirs[end] for end in ends)
            return Claim("edges", f"{table.kind} with {' and '.join(columns)}", columns)
    if _ID not in theirs or (are_links(table.names) and not insisted):
        return None
    return Claim("nodes", f"{table.kind} with {theirs[_ID]}", (theirs[_ID],))


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [read_table(each, MICROBETRACE.name, options, directed=False) for each in files]


MICROBETRACE = register(
    Format(
        name="microbetrace",
        summary="MicrobeTrace node list and link list",
        looks="CSV: nodes with a column ID and a date column that you name; links with source "
        "and target, or ID1 and ID2",
        claims=_claims,
        read=_read,
    )
)


# MicrobeTrace sessions (`.microbetrace`): JSON with all nodes and links of a saved session.
#
# A session has every pair, however far apart: the steward says up to which distance it is a
# link, as for a list. A link without a distance comes from contact tracing, and counts.


_DISTANCE = "distance"


def _claims_session(file: SourceFile, insisted: bool, _: ReadingOptions) -> Claim | None:
    if not insisted and not IS_SESSION.match(file.head):
        return None
    return Claim("network", "JSON with the data of a MicrobeTrace session")


def _read_session(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_read_one(each, options) for each in files]


def _read_one(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    file = claimed.file
    data = _data(read_json(file, options), file)
    people, links = (section(data, name, file) for name in ("nodes", "links"))
    refusal = _no_time(people, file) if options.time is None else None
    nodes = _listed(people, {"node": [_id(each) for each in _ids(people)]}, options.time, options)
    threshold = None if bare(options.distance or "") == NO_DISTANCE else options.threshold
    if threshold is None and bare(options.distance or "") != NO_DISTANCE:
        raise unsaid(Place(file.name, column="links.distance"))
    ends = {end: [_id(each) for each in links.column(end)] for end in ("source", "target")}
    edges = _listed(links, ends, options.edge_time, options)
    table = nodes.table if options.time else undated(nodes.table)
    notes = [*nodes.notes, *edges.notes]
    return ParsedFile(
        file_report(claimed, SESSION.name, nodes=[table], edges=[edges.table], notes=notes),
        nodes=(table,),
        edges=(edges.table,),
        directed=False,
        without_time=refusal,
        left_out=() if nodes.left_out is None else (nodes.left_out,),
        conditions=_selection("nodes", None, options).used
        | _selection("edges", None, options).used,
        threshold=threshold,
    )


def _data(found: Any, file: SourceFile) -> dict[str, Any]:
    """The part of a session that has nodes and links."""
    for name in ("commonService", "session", "data"):
        require_distinct(found, file.name)
        if isinstance(found, dict) and isinstance(found.get(name), dict):
            found = found[name]
    require_distinct(found, file.name)
    if not isinstance(found, dict) or not {"nodes", "links"} <= found.keys():
        raise InputError(
            "the file is not a MicrobeTrace session",
            place=Place(file.name),
            hint="Save the session again, or export its node list and link list.",
        )
    return found


def _ids(people: Section) -> list[Any]:
    """What names each entry: its own `_id`, or else its `id`."""
    pairs = zip(people.column("_id"), people.column("id"), strict=True)
    return [first if first is not None else second for first, second in pairs]


def _id(value: Any) -> str | None:
    if isinstance(value, dict):  # the drawing replaces an id by its node
        value = value.get("_id", value.get("id"))
    return str(value) if type(value) in (str, int) and is_text(str(value)) else None


def _selection(kind: Kind, named: str | None, options: ReadingOptions) -> Selection:
    conditions = tuple((each, each.column) for each in conditions_of(kind, options.filters))
    times = () if named is None else (f"{'nodes' if kind == 'nodes' else 'links'}.{named}",)
    groups = options.named_groups if kind == "nodes" else ()
    chosen = Selection(kind, times, conditions, groups=groups)
    if kind == "nodes" or bare(options.distance or "") == NO_DISTANCE:
        return chosen
    column = options.distance or _DISTANCE
    return replace(chosen, distance=column, threshold=options.threshold)


def _listed(
    entries: Section, ids: dict[str, list[str | None]], named: str | None, options: ReadingOptions
) -> Selected:
    """The entries of a section that count."""
    chosen = _selection("nodes" if "node" in ids else "edges", named, options)
    columns: dict[str, list[str | None]] = dict(ids)
    violations = [
        violation
        for name, values in ids.items()
        for violation in violations_of(f"the entry has no {name}", name,
                               [row for row, value in enumerate(values) if value is None])
    ]  # fmt: skip
    if named is not None:
        columns["time 0"], wrong = date_texts(first_named(entries, named_fields(named)))
        violations += wrong
    for ours, theirs in chosen.columns.items():
        if ours not in columns:
            texts = plain_texts(values_named(entries, theirs))
            columns[ours] = [text or "0" for text in texts] if ours == _DISTANCE else texts
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    names = {**chosen.columns, **{name: f"{entries.name}.{name}" for name in (*ids, "time")}}
    table = Table(frame, entries.source, 0, names).marked(*violations)
    return chosen.applied(table, options)


def _no_time(people: Section, file: SourceFile) -> InputError:
    likely = [name for name, values in people.columns.items() if look_like_dates(values)]
    return unnamed_date("field", "person", Place(file.name, column="nodes"), likely)


SESSION = register(
    Format(
        name="microbetrace-session",
        summary="MicrobeTrace session",
        looks="JSON with data.nodes and data.links, as MicrobeTrace saves it; you name the date",
        claims=_claims_session,
        read=_read_session,
    )
)
