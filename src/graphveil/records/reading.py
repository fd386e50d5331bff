"""Files of any known format become records, with a report on what was read and how.

What the steward said about columns and conditions is held against what the files have: a word
that fits nowhere is refused, since it may be misspelt, and would be ignored without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from graphveil.deferred import pl
from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.groups import GROUP, column_of
from graphveil.graph.intake.identity import spelled_alike
from graphveil.graph.intake.records import Records, Table
from graphveil.hints import Hint
from graphveil.records.columns import bare, listed, plain
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
from graphveil.records.options import DEFAULTS, NO_DISTANCE, NO_LABELS, Filter, ReadingOptions
from graphveil.records.table_file import joined


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


def require_used(options: ReadingOptions, found: Sequence[tuple[Format, Claimed]]) -> None:
    """Refuse a column of ids that was named and that no file has."""
    used = {plain(name) for _, claimed in found for name in claimed.claim.columns}
    for option in ("id", "source", "target"):
        named = getattr(options, option)
        if named is not None and plain(named) not in used:
            raise InputError(
                f"no file has the column '{named}', which was named as {option}",
                place=Place(", ".join(claimed.file.name for _, claimed in found)[:80]),
                hint=Hint("columns"),
            )


def require_understood(options: ReadingOptions, parsed: Sequence[ParsedFile]) -> None:
    """Refuse a condition that fits no table, or both kinds; and a threshold for no distance."""
    held = {each for file in parsed for each in file.conditions}
    for each in options.filters:
        kinds = sorted(filter_.kind or "" for filter_ in held if _same(each, filter_))
        if not kinds and each.kind is None:
            raise ParameterError(
                "where", f"no file has the column '{each.column}'",
                hint=Hint("columns"),
            )  # fmt: skip
        if len(kinds) > 1 and each.kind is None:
            raise ParameterError(
                "where", f"people and links both have the column '{each.column}'",
                hint=f'Say "nodes:{each.text}" or "edges:{each.text}".',
            )  # fmt: skip
    linked = [file.report.name for file in parsed if file.edges]
    limited = options.threshold is not None or bare(options.distance or "") not in (
        "",
        NO_DISTANCE,
    )
    if limited and linked and not any(file.threshold for file in parsed):
        raise ParameterError(
            "max_distance", f"no list of links has a column of distances: {listed(linked)}",
            hint=Hint("name-distance"),
        )  # fmt: skip


def labelled(
    options: ReadingOptions, by_format: Mapping[str, ReadingOptions], nodes: Sequence[Table]
) -> tuple[list[Table], list[Note]]:
    """The tables of people, each with the columns of all groups; and which files lack one.

    Refuses a column that no list of people has. Where files are said to have no labels of a
    group, its column is empty.
    """
    named: dict[str, str] = {}
    for each in (options, *by_format.values()):
        named = each.group_columns | named
    notes = []
    for group, column in named.items() if nodes else ():
        lacking = [each.source for each in nodes if column_of(group) not in each.frame.columns]
        if len(lacking) == len(nodes) and column != NO_LABELS:
            raise unlabelled(group, column, lacking)
        notes += [
            Note(f"{name} says nothing about {group}: it has no column '{column}'")
            for name in dict.fromkeys(lacking)
            if column != NO_LABELS
        ]
    return [_with_columns(each, named) for each in nodes], notes


def unlabelled(group: str, column: str, lacking: Iterable[str]) -> InputError:
    """The refusal of lists of people none of which has the column of a group."""
    return InputError(
        f"no list of people has the column '{column}', which was named for '{group}'",
        place=Place(", ".join(dict.fromkeys(lacking))[:80]),
        hint=Hint("columns"),
    )


def _with_columns(table: Table, groups: Iterable[str]) -> Table:
    missing = [column_of(each) for each in groups if column_of(each) not in table.frame.columns]
    empty = [pl.lit(None, dtype=pl.String).alias(name) for name in missing]
    return replace(table, frame=table.frame.with_columns(empty)) if empty else table


def _same(one: Filter, other: Filter) -> bool:
    return (one.column, one.comparison, one.value) == (other.column, other.comparison, other.value)


def understood(parsed: Sequence[ParsedFile]) -> Mapping[str, Mapping[str, Any]]:
    """By format, the conditions for their kind of table, and thresholds with their unit."""
    found: dict[str, dict[str, Any]] = {}
    for file in parsed:
        own = found.setdefault(file.report.format, {})
        if file.conditions:
            texts = {each.text for each in file.conditions} | set(own.get("where", ()))
            own["where"] = sorted(texts)
        if file.threshold is not None:
            own["max_distance"] = str(file.threshold)
    return found


def without_links_of_left_out(
    parsed: Sequence[ParsedFile], nodes: Sequence[Table], edges: Sequence[Table]
) -> tuple[list[Table], list[Note]]:
    """The links without those of people that a condition left out, and how many these are.

    Somebody who is also listed in a row that meets the conditions is not left out.
    """
    left_out = [table for file in parsed for table in file.left_out]
    if not left_out:
        return list(edges), []
    gone = _texts(left_out, "node")
    gone = gone.filter(~gone.is_in(_texts(nodes, "node").implode())).drop_nulls().implode()
    remaining, count = [], 0
    for table in edges:
        theirs = _texts([table], "source").is_in(gone) | _texts([table], "target").is_in(gone)
        theirs = theirs.fill_null(False)  # who is not named is left to the intake
        count += int(theirs.sum())
        remaining.append(table.kept(~theirs.to_numpy()) if theirs.any() else table)
    rule = "links left out, of people who do not meet the conditions"
    return remaining, [Note.of_rows(rule, count)] if count else []


def _texts(tables: Sequence[Table], column: str) -> pl.Series:
    """The ids of some tables as the study will spell them; what is no id is nobody's."""
    found = [_spelled(table, column) for table in tables]
    return pl.concat(found) if found else pl.Series(dtype=pl.String)


def _spelled(table: Table, column: str) -> pl.Series:
    ids = table.frame[column]
    whole = ids.cast(pl.Int64, strict=False) if ids.dtype.is_float() else ids
    return spelled_alike(whole.cast(pl.String)).str.strip_chars()
