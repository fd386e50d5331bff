"""Files of any known format become records, with a report on what was read and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphveil.errors import InputError, ParameterError, Place
from graphveil.formats.detection import detected
from graphveil.formats.format import Claimed, Format, Part
from graphveil.formats.joining import joined
from graphveil.formats.options import DEFAULTS, ReadingOptions
from graphveil.formats.parse_report import Note, ParseReport
from graphveil.formats.source_file import found_files
from graphveil.graph.records import Records, Table


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read.

    Attributes:
        records: nodes(node, time) and edges(source, target[, time]); every row knows its place.
        report: what happened to the files; private.
        directed: whether the files say that edges have a direction; None if they are silent.
    """

    records: Records
    report: ParseReport
    directed: bool | None


def read_records(
    paths: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    options: ReadingOptions = DEFAULTS,
) -> Reading:
    """Records from one or many files, all of them or none.

    Args:
        paths: the files, in any order; those of one kind are joined.
        format: the format of all files; None recognises each by its content.
        options: what the files do not say themselves.

    Raises:
        InputError: If a file cannot be read; says where and how to mend it.
    """
    if isinstance(paths, str | Path) or not paths:
        raise ParameterError("paths", "must be a list of at least one file")
    parts = _parts(detected(found_files(paths), format), options)
    _refuse_undated(parts)
    nodes = [table for part in parts for table in part.nodes]
    edges = [table for part in parts for table in part.edges]
    return Reading(
        records=Records(nodes=joined(nodes, ("node", "time")), edges=_joined_edges(edges)),
        report=ParseReport(tuple(part.report for part in parts), tuple(_notes(nodes, edges))),
        directed=_direction(parts),
    )


def _parts(found: list[tuple[Format, Claimed]], options: ReadingOptions) -> list[Part]:
    """Every file read by its format, in the order of the files."""
    parts: dict[str, Part] = {}
    for format_ in dict.fromkeys(format_ for format_, _ in found):
        own = [claimed for each, claimed in found if each is format_]
        read = format_.read(own, options)
        parts |= {claimed.file.name: part for claimed, part in zip(own, read, strict=True)}
    return [parts[claimed.file.name] for _, claimed in found]


def _refuse_undated(parts: list[Part]) -> None:
    """Refuse a missing date field, unless files of another format have it."""
    dating = {part.report.format for part in parts if part.nodes and part.without_time is None}
    for part in parts:
        if part.without_time is not None and not dating - {part.report.format}:
            raise part.without_time
    missing = [part.without_edge_time for part in parts if part.edges]
    if missing and all(missing) and missing[0] is not None:
        raise missing[0]


def _joined_edges(edges: list[Table]) -> Table:
    timed = any("time" in table.frame.columns for table in edges)
    return joined(edges, ("source", "target", *(["time"] if timed else [])))


def _notes(nodes: list[Table], edges: list[Table]) -> list[Note]:
    notes = []
    if not nodes:
        notes.append(Note("no file lists nodes: edges can only link people known before"))
    if not edges:
        notes.append(Note("no file lists edges"))
    return notes


def _direction(parts: list[Part]) -> bool | None:
    """What the files say together; refuses a contradiction."""
    saying = [part for part in parts if part.directed is not None and part.edges]
    for part in saying:
        if part.directed != saying[0].directed:
            raise InputError(
                f"the edges of this file are {_word(part)}, those of "
                f"{saying[0].report.name} are {_word(saying[0])}",
                place=Place(part.report.name),
                hint="Read them apart, or write the directions in one way.",
            )
    return saying[0].directed if saying else None


def _word(part: Part) -> str:
    return "directed" if part.directed else "undirected"
