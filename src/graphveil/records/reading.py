"""Files of any known format become records, with a report on what was read and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.groups import GROUP
from graphveil.graph.intake.records import Records, Table
from graphveil.records.columns import plain
from graphveil.records.dates import from_ids
from graphveil.records.detection import detected, found_files
from graphveil.records.format import (
    UNDATED,
    Claimed,
    Format,
    Note,
    ParsedFile,
    ParseReport,
    node_notes,
)
from graphveil.records.options import DEFAULTS, ReadingOptions
from graphveil.records.requested import (
    labelled,
    require_understood,
    require_used,
    understood,
    without_links_of_left_out,
)
from graphveil.records.tables.table_file import joined


@dataclass(frozen=True, eq=False)
class ReadFiles:
    """What was read.

    Attributes:
        records: nodes(node, time) and edges(source, target[, time]); every row knows its place.
        report: what happened to the files; private.
        read: the formats of the files.
        formats: those in which people are dated as the options say.
        understood: by format, what conditions and thresholds were taken to mean.
        directed: whether the files say that edges have a direction; None if they do not say.
    """

    records: Records
    report: ParseReport
    read: tuple[str, ...]
    formats: tuple[str, ...]
    understood: Mapping[str, Mapping[str, Any]]
    directed: bool | None


def read_records(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    options: ReadingOptions = DEFAULTS,
    by_format: Mapping[str, ReadingOptions] = MappingProxyType({}),
) -> ReadFiles:
    r"""Records from one or many files, all of them or none.

    Args:
        paths: the files, in any order; those of one format are joined.
        format: the format of all files; None recognises each by its content.
        options: what the files do not say themselves.
        by_format: the same for files of some formats, instead of `options`.

    Raises:
        InputError: If a file cannot be read; says where and how to fix it.

    Examples:
        >>> _ = Path("people.csv").write_text("node,time\nann,2021\n")
        >>> _ = Path("links.csv").write_text("source,target\n")
        >>> found = read_records(["people.csv", "links.csv"])
        >>> found.formats, found.records.nodes.frame.rows()
        (('pair',), [('ann', 2021)])
    """
    if isinstance(paths, str | Path) or not paths:
        raise ParameterError("paths", "must be a list of at least one file")
    found = detected(found_files(paths, options), format, options, by_format)
    require_used(options, found)
    parsed = _parsed(found, options, by_format)
    require_understood(options, parsed)
    nodes, unlabelled = labelled(options, by_format, _people(parsed))
    edges = [table for file in parsed for table in file.edges]
    edges, without = without_links_of_left_out(parsed, nodes, edges)
    if not options.mark_bad:
        for table in (*nodes, *edges):
            table.require_sound()
    _refuse_undated(parsed)
    return ReadFiles(
        records=Records(
            nodes=joined(nodes, ("node", "time", *_labelled(nodes))),
            edges=_joined_edges(edges),
            by_links=_by_links(parsed),
        ),
        report=ParseReport(
            tuple(file.report for file in parsed),
            (*without, *_notes(nodes, edges), *unlabelled),
        ),
        read=tuple(sorted({file.report.format for file in parsed})),
        understood=understood(parsed),
        formats=tuple(sorted({file.report.format for file in parsed if _is_dated(file)})),
        directed=_direction(parsed),
    )


def _parsed(
    found: list[tuple[Format, Claimed]],
    options: ReadingOptions,
    by_format: Mapping[str, ReadingOptions],
) -> list[ParsedFile]:
    """Every file read by its format, in the order of the files."""
    parsed: dict[str, ParsedFile] = {}
    for format_ in dict.fromkeys(format_ for format_, _ in found):
        own = [claimed for each, claimed in found if each is format_]
        used = by_format.get(format_.name, options)
        read = [_dated_by_id(file, used) for file in format_.read(own, used)]
        parsed |= {claimed.file.name: file for claimed, file in zip(own, read, strict=True)}
    return [parsed[claimed.file.name] for _, claimed in found]


def _dated_by_id(file: ParsedFile, options: ReadingOptions) -> ParsedFile:
    """The file with the dates that its people's ids have, if that was said."""
    field = options.id_field
    if field is None or not file.nodes:
        return file
    read = [from_ids(table, field, options) for table in file.nodes]
    nodes = tuple(table for table, _ in read)
    notes = [Note(f"dated by the field '{options.time_from_id}' of ids")]
    notes += [note for _, some in read for note in some]
    notes += [note for table in nodes for note in node_notes(table)]
    others = (note for note in file.report.notes if note.rule != UNDATED)
    report = replace(file.report, notes=(*notes, *others))
    return replace(file, nodes=nodes, report=report, without_time=None)


def _people(parsed: list[ParsedFile]) -> list[Table]:
    """The tables of nodes; those that were made from edges only if nobody lists nodes."""
    listed = [table for file in parsed for table in file.nodes]
    return listed or [table for file in parsed for table in file.derived]


def _labelled(nodes: list[Table]) -> list[str]:
    """The columns of labels that some table of people has."""
    names = (name for table in nodes for name in table.frame.columns if name.startswith(GROUP))
    return list(dict.fromkeys(names))


def _by_links(parsed: list[ParsedFile]) -> tuple[str, ...]:
    """The files whose people have links, all of them, unless a node list completes them.

    A list of the same format is that of another network, and completes nothing.
    """
    complete = {file.report.format for file in parsed if file.nodes and not file.linked_only}
    derived = [] if any(file.nodes for file in parsed) else [f for f in parsed if f.derived]
    linked = [f for f in parsed if f.linked_only and not complete - {f.report.format}]
    return tuple(file.report.name for file in (*linked, *derived))


def _refuse_undated(parsed: list[ParsedFile]) -> None:
    """Refuse a date that was named and that no file has, or the lack of any."""
    if not any(file.without_time is None and (file.nodes or file.derived) for file in parsed):
        there = {plain(name) for file in parsed for name in file.times}
        for file in parsed:
            missing = file.without_time
            if missing is not None and not (
                missing.place and plain(missing.place.column or "") in there
            ):
                raise missing
    absent = [file.without_edge_time for file in parsed if file.edges]
    if absent and all(absent) and absent[0] is not None:
        raise absent[0]


def _is_dated(file: ParsedFile) -> bool:
    return bool(file.nodes or file.derived) and (file.without_time is None or bool(file.times))


def _joined_edges(edges: list[Table]) -> Table:
    timed = any("time" in table.frame.columns for table in edges)
    return joined(edges, ("source", "target", *(["time"] if timed else [])))


def _notes(nodes: list[Table], edges: list[Table]) -> list[Note]:
    notes = []
    if not nodes:
        notes.append(Note("no file lists nodes: edges can only link people who are already known"))
    if not edges:
        notes.append(Note("no file lists edges"))
    return notes


def _direction(parsed: list[ParsedFile]) -> bool | None:
    """What the files say together; refuses a contradiction."""
    saying = [file for file in parsed if file.directed is not None and file.edges]
    for file in saying:
        if file.directed != saying[0].directed:
            raise InputError(
                f"the edges of this file are {_word(file)}, those of "
                f"{saying[0].report.name} are {_word(saying[0])}",
                place=Place(file.report.name),
                hint="Read them separately, or convert one of them.",
            )
    return saying[0].directed if saying else None


def _word(file: ParsedFile) -> str:
    return "directed" if file.directed else "undirected"
