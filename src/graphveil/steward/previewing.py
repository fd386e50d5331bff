"""Previewing: the first rows of files, which column is taken for what, and what would be read.

Nothing is stored. What is shown contains people's ids: it is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.deferred import pl
from graphveil.errors import GraphveilError, InputError
from graphveil.graph.groups import GROUP
from graphveil.hints import Hint
from graphveil.records import ReadingOptions, read_records
from graphveil.records.columns import listed, plain
from graphveil.records.delimited import DelimitedTable
from graphveil.records.detection import detected, found_files
from graphveil.records.format import registered
from graphveil.records.hivtrace_document import date_like, values_named
from graphveil.records.options import distance_columns
from graphveil.records.readers.hivtrace import people_in
from graphveil.records.table_file import HeldTable, table_file

if TYPE_CHECKING:
    from graphveil.records.source_file import SourceFile
    from graphveil.steward.adding import Addition


ROWS = 6  # that are shown
PERSON, DATE, ONE_END, OTHER_END = "person", "date", "one end", "other end"
LINK_DATE, DISTANCE = "date of link", "distance"


@dataclass(frozen=True)
class Preview:
    """The beginning of one file, sheet or table; private.

    Attributes:
        name: of the file.
        format: what it is taken for; nothing where it is not recognised.
        why: by what, or why not.
        lists: "nodes", "edges" or "network".
        columns: all that it has.
        rows: the first few, as text.
        roles: what columns are taken for.
        dates: columns that look like dates.
    """

    name: str
    format: str
    why: str
    lists: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    roles: Mapping[str, str] = field(default_factory=dict)
    dates: tuple[str, ...] = ()


def previews(
    files: Sequence[Path], format_name: str | None, options: ReadingOptions
) -> tuple[Preview, ...]:
    """The beginning of every file, sheet and table; refuses what cannot be opened at all."""
    return tuple(
        _preview(file, explained_file(file, format_name, options), options)
        for file in found_files(files, options)
    )


def _preview(file: SourceFile, recognised: ExplainedFile, options: ReadingOptions) -> Preview:
    columns, rows, dates = _beginning(file, recognised, options)
    return Preview(
        name=file.name,
        format=recognised.format,
        why=recognised.why,
        lists=recognised.lists,
        columns=columns,
        rows=rows,
        roles=_roles(columns, recognised, options),
        dates=dates,
    )


def _beginning(
    file: SourceFile, recognised: ExplainedFile, options: ReadingOptions
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Columns, first rows, and columns that look like dates; nothing if it is no table."""
    try:
        if recognised.format == "hivtrace":
            return _people_of_hivtrace(file, options)
        if recognised.format and not recognised.columns:
            return (), (), ()  # a graph, or lines without names
        table = table_file(file)
        names = tuple(name for name in table.names if name.strip())
        return names, _first_rows(table, names), tuple(table.date_columns())
    except GraphveilError:
        return (), (), ()


def _first_rows(table: Any, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:

    if isinstance(table, DelimitedTable):
        places = [table.names.index(name) for name in names]
        return tuple(
            tuple(row[place] if place < len(row) else "" for place in places)
            for row in islice(table.rows, ROWS)
        )
    if isinstance(table, HeldTable):
        return _texts(table.table.frame.select(names).head(ROWS))
    try:
        return _texts(pl.read_parquet(table.file.path, n_rows=ROWS, columns=list(names)))
    except (pl.exceptions.PolarsError, OSError):
        return ()


def _texts(frame: pl.DataFrame) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_text(cell) for cell in row) for row in frame.rows())


def _text(cell: object) -> str:
    """A cell as people read it: a day has no hours."""
    return "" if cell is None else str(cell).removesuffix(" 00:00:00")


def _people_of_hivtrace(
    file: SourceFile, options: ReadingOptions
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The people of an HIV-TRACE network, with the fields that may be dates."""
    sections, network = people_in(file, options)
    dates = date_like(sections, network)
    columns = ("id", *(name for name in dates if name != "id"))
    values = [values_named(sections[0], name) for name in columns]
    rows = islice(zip(*values, strict=True), ROWS)
    return columns, tuple(tuple(_shown(cell) for cell in row) for row in rows), tuple(dates)


def _shown(cell: object) -> str:
    return "" if cell is None else str(cell)[:60]


def _roles(
    columns: Sequence[str], recognised: ExplainedFile, options: ReadingOptions
) -> dict[str, str]:
    """What columns are taken for, by what was recognised and the steward's options."""
    theirs = {plain(name): name for name in reversed(columns)}
    roles: dict[str, str] = {}

    def take(names: str | None, role: str) -> None:
        for name in (names or "").split(","):
            if plain(name) in theirs:
                roles.setdefault(theirs[plain(name)], role)

    ids = recognised.ids or (("id",) if recognised.format == "hivtrace" else ())
    named = {"nodes": (PERSON,), "edges": (ONE_END, OTHER_END), "network": (PERSON, ONE_END)}
    roles |= dict(zip(ids, named.get(recognised.lists, ()), strict=False))
    if recognised.lists in ("nodes", "network"):
        take(options.time or "time", DATE)
    if recognised.lists in ("edges", "network"):
        take(options.edge_time or ("time" if recognised.lists == "edges" else None), LINK_DATE)
        take(
            options.distance or (recognised.distances[0] if recognised.distances else None),
            DISTANCE,
        )
    return roles


@dataclass(frozen=True)
class Sample:
    """The first people and links as they would be read; private.

    Attributes:
        columns: what the parts of a person are called.
        people: id, date, and a label in each group.
        links: two ids, and a date where links have one.
    """

    columns: tuple[str, ...] = ()
    people: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    links: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


def sample(files: Sequence[Path], format_name: str | None, options: ReadingOptions) -> Sample:
    """What would be read first; nothing of files that are refused."""
    try:
        read = read_records(files, format=format_name, options=replace(options, mark_bad=True))
    except InputError:
        return Sample()
    people, links = (each.frame.head(ROWS) for each in (read.records.nodes, read.records.edges))
    labels = [name for name in people.columns if name.startswith(GROUP)]
    return Sample(
        ("person", "date", *(name.removeprefix(GROUP) for name in labels)),
        _texts(people.select("node", "time", *labels)),
        _texts(links),
    )


# Explaining files: what each would be taken for, and which options are still needed.
#
# Nothing is stored and no study is needed. The answer shows columns and true counts: it is
# private.


PRIVATE = "PRIVATE: columns and true counts of your files. For the data holder only."


@dataclass(frozen=True)
class KnownFormat:
    """A format, as the table of formats shows it."""

    name: str
    summary: str
    looks: str


@dataclass(frozen=True)
class ExplainedFile:
    """What one file would be taken for.

    Attributes:
        name: the file, sheet or table.
        format: what it would be read as; nothing if it would be refused.
        why: by what it is recognised, or the refusal.
        lists: "nodes", "edges" or "network".
        ids: the columns that name people, or the ends of links.
        columns: all columns, if it is a table.
        dates: those that look like dates.
        distances: those that are distances by their name.
    """

    name: str
    format: str = ""
    why: str = ""
    lists: str = ""
    ids: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    distances: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """The file in words."""
        if not self.format:
            return [Hint.joined(f"{self.name}:", self.why)]
        columns = {
            "columns": self.columns, "named by": self.ids, "look like dates": self.dates,
            "distances": self.distances,
        }  # fmt: skip
        lines = [f"  {word}: {listed(names)}" for word, names in columns.items() if names]
        return [f"{self.name}: {self.format}, lists {self.lists} ({self.why})", *lines]


@dataclass(frozen=True)
class Explained:
    """What files would be taken for together; private.

    Attributes:
        files: each by itself.
        report: what would be read, as `graphveil add` says it.
        refusal: why they would be refused, if they would.
    """

    files: tuple[ExplainedFile, ...]
    report: tuple[str, ...]
    refusal: str

    def lines(self) -> list[str]:
        """Everything in words."""
        lines = [line for file in self.files for line in file.lines()]
        if self.refusal:
            return [*lines, Hint.joined("Now refused:", self.refusal)]
        return [*lines, "They would be read:", *(f"  {line}" for line in self.report)]

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"private": PRIVATE, **asdict(self)}


def known_formats() -> list[KnownFormat]:
    """Every format, by name."""
    return [KnownFormat(each.name, each.summary, each.looks) for each in registered().values()]


def explained(
    files: Sequence[str | Path],
    *,
    format: str | None,  # noqa: A002
    options: ReadingOptions,
) -> Explained:
    """What files would be taken for, and which options are still needed.

    Args:
        files: as for adding.
        format: of all files; None recognises each by its content.
        options: those given already.
    """
    each = tuple(explained_file(file, format, options) for file in found_files(files, options))
    try:
        read = read_records(files, format=format, options=replace(options, mark_bad=False))
    except GraphveilError as refused:
        return Explained(each, (), refused.text)
    return Explained(each, tuple(read.report.lines()), "")


def explained_file(
    file: SourceFile, format_name: str | None, options: ReadingOptions
) -> ExplainedFile:
    """What one file would be taken for."""
    try:
        [(format_, claimed)] = detected([file], format_name, options, {})
    except InputError as refused:
        return ExplainedFile(file.name, why=Hint.joined(_without(file.name, refused), refused.hint))
    claim = claimed.claim
    found = ExplainedFile(file.name, format_.name, claim.why, claim.role, claim.columns)
    return _with_columns(found, file) if claim.columns else found


def _without(name: str, refused: InputError) -> str:
    """What is wrong with a file, without its name."""
    return refused.problem.removeprefix(f"{name}: ")


def _with_columns(found: ExplainedFile, file: SourceFile) -> ExplainedFile:
    table = table_file(file)
    names = [name for name in table.names if name.strip()]
    dates = [name for name in table.date_columns() if name not in found.ids]
    distances = distance_columns(names) if found.lists == "edges" else []
    return replace(found, columns=tuple(names), dates=tuple(dates), distances=tuple(distances))


# Rules met: what would become of records, in the order in which a steward asks.


_GROUPS = {
    "Added": ("nodes_added", "edges_added"),
    "Known already": (
        "known_nodes", "known_edges", "redated_nodes", "relabelled_nodes", "awaited_edges",
    ),
    "Merged": ("repeated_nodes", "repeated_edges", "two_labels", "trimmed_ids", "respelled_ids"),
    "Moved": ("folded_nodes", "undated_nodes", "late_nodes", "raised_edges", "late_edges"),
    "Dropped": (
        "self_links", "nodes_after_end", "edges_after_end", "nodes_undated", "edges_undated",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class RulesMet:
    """One group of rules; private.

    Attributes:
        group: what became of the records.
        lines: one sentence a rule.
    """

    group: str
    lines: tuple[str, ...]


def rules_met(addition: Addition) -> tuple[RulesMet, ...]:
    """Everything that an addition says about records, by what became of them."""
    findings = addition.added.findings
    groups = {
        group: [said for name in names if (said := findings.intake.said(name))]
        for group, names in _GROUPS.items()
    }
    known = {said for lines in groups.values() for said in lines}
    others = [line for line in findings.lines() if line not in known and not line.startswith("0 ")]
    marks = (" set aside", " waiting", " they wait until ")
    aside = [line for line in others if any(mark in line for mark in marks)]
    groups["Set aside"] = aside
    groups["To look at"] = [line for line in others if line not in aside]
    return tuple(RulesMet(group, tuple(lines)) for group, lines in groups.items() if lines)
