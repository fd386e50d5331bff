"""Rosters: lines of text, each with one person and a time, or with a link between two people."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table
from graphveil.records.format import Claim, Claimed, Format, ParsedFile, file_report, register
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import SourceFile

_FIRST_LINE = b"roster 1"
_WORDS = {"person": ("time", "node"), "link": ("source", "target")}


def _claims(file: SourceFile, insisted: bool, options: ReadingOptions) -> Claim | None:
    recognised = file.head.splitlines()[:1] == [_FIRST_LINE]
    return Claim("network", "text that begins with roster") if recognised or insisted else None


def _read(files: Sequence[Claimed], options: ReadingOptions) -> list[ParsedFile]:
    return [_parsed(each, options) for each in files]


def _parsed(claimed: Claimed, options: ReadingOptions) -> ParsedFile:
    """Every line is read by itself: nobody's line decides how another is read."""
    lines = claimed.file.rows(options.table_bytes).decode(errors="replace").splitlines()
    people, links = _table(claimed, lines, "person"), _table(claimed, lines, "link")
    report = file_report(claimed, ROSTER.name, nodes=[people], edges=[links])
    return ParsedFile(report, (people,), (links,), directed=False)


def _table(claimed: Claimed, lines: list[str], kind: str) -> Table:
    """The lines of one kind, with their numbers in the file; missing words are null."""
    name, columns = claimed.file.name, _WORDS[kind]
    if not lines or lines[0] != _FIRST_LINE.decode():
        raise InputError("no roster", place=Place(name, 1), hint="Begin it with: roster 1")
    rows = {n: line.split()[1:] for n, line in enumerate(lines, 1) if line.startswith(kind)}
    cells = {
        column: [row[place] if len(row) > place else None for row in rows.values()]
        for place, column in enumerate(columns)
    }
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))
    numbers = pl.Series(list(rows), dtype=pl.Int64).to_numpy()
    return Table(frame, name, numbers=numbers)


ROSTER = register(
    Format(
        name="acme-graphs.roster",
        summary="rosters of people and links",
        looks="text that begins with the line 'roster 1'",
        claims=_claims,
        read=_read,
    )
)
