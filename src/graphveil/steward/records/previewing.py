"""Previewing: the first rows of files, which column is taken for what, and what would be read.

Nothing is kept. What is shown holds people's ids: it is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import GraphveilError, InputError

if TYPE_CHECKING:
    import polars as pl

    from graphveil.formats import ReadingOptions
    from graphveil.formats.source_file import SourceFile
    from graphveil.steward.records.explaining import ExplainedFile

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
    from graphveil.formats.containers.finding import found_files
    from graphveil.steward.records.explaining import explained_file

    return tuple(
        _preview(file, explained_file(file, format_name, options), options)
        for file in found_files(files, options)
    )


def _preview(file: SourceFile, found: ExplainedFile, options: ReadingOptions) -> Preview:
    columns, rows, dates = _beginning(file, found, options)
    return Preview(
        name=file.name,
        format=found.format,
        why=found.why,
        lists=found.lists,
        columns=columns,
        rows=rows,
        roles=_roles(columns, found, options),
        dates=dates,
    )


def _beginning(
    file: SourceFile, found: ExplainedFile, options: ReadingOptions
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Columns, first rows, and columns that look like dates; nothing of what is no table."""
    from graphveil.formats.tables.table_file import table_file

    try:
        if found.format == "hivtrace":
            return _people_of_hivtrace(file, options)
        if found.format and not found.columns:
            return (), (), ()  # a graph, or lines without names
        table = table_file(file)
        names = tuple(name for name in table.names if name.strip())
        return names, _first_rows(table, names), tuple(table.date_columns())
    except GraphveilError:
        return (), (), ()


def _first_rows(table: Any, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    import polars as pl

    from graphveil.formats.tables.delimited import DelimitedTable
    from graphveil.formats.tables.held import HeldTable

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
    return tuple(tuple("" if cell is None else str(cell) for cell in row) for row in frame.rows())


def _people_of_hivtrace(
    file: SourceFile, options: ReadingOptions
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The people of an HIV-TRACE network, with the fields that may be dates."""
    from graphveil.formats.readers.hivtrace import people_in
    from graphveil.formats.readers.hivtrace.dates import date_like, values_named

    sections, network = people_in(file, options)
    dates = date_like(sections, network)
    columns = ("id", *(name for name in dates if name != "id"))
    told = [values_named(sections[0], name) for name in columns]
    rows = islice(zip(*told, strict=True), ROWS)
    return columns, tuple(tuple(_shown(cell) for cell in row) for row in rows), tuple(dates)


def _shown(cell: object) -> str:
    return "" if cell is None else str(cell)[:60]


def _roles(columns: Sequence[str], found: ExplainedFile, options: ReadingOptions) -> dict[str, str]:
    """What columns are taken for, by what was recognised and what the steward said."""
    from graphveil.formats.columns.names import plain

    theirs = {plain(name): name for name in reversed(columns)}
    roles: dict[str, str] = {}

    def take(names: str | None, role: str) -> None:
        for name in (names or "").split(","):
            if plain(name) in theirs:
                roles.setdefault(theirs[plain(name)], role)

    ids = found.ids or (("id",) if found.format == "hivtrace" else ())
    named = {"nodes": (PERSON,), "edges": (ONE_END, OTHER_END), "network": (PERSON, ONE_END)}
    roles |= dict(zip(ids, named.get(found.lists, ()), strict=False))
    if found.lists in ("nodes", "network"):
        take(options.time or "time", DATE)
    if found.lists in ("edges", "network"):
        take(options.edge_time or ("time" if found.lists == "edges" else None), LINK_DATE)
        take(options.distance or (found.distances[0] if found.distances else None), DISTANCE)
    return roles


@dataclass(frozen=True)
class Sample:
    """The first people and links as they would be read; private.

    Attributes:
        people: id and date.
        links: two ids, and a date where links have one.
    """

    people: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    links: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


def sample(files: Sequence[Path], format_name: str | None, options: ReadingOptions) -> Sample:
    """What would be read first; nothing of files that are refused."""
    from graphveil.formats import read_records

    try:
        found = read_records(files, format=format_name, options=replace(options, mark_bad=True))
    except InputError:
        return Sample()
    records = found.records
    return Sample(_texts(records.nodes.frame.head(ROWS)), _texts(records.edges.frame.head(ROWS)))
