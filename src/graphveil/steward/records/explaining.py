"""Explaining files: what each would be taken for, and which options are still to be said.

Nothing is kept and no study is needed. What is said shows columns and true counts: it is private.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import GraphveilError, InputError

if TYPE_CHECKING:
    from graphveil.formats import ReadingOptions
    from graphveil.formats.source_file import SourceFile

PRIVATE = "PRIVATE: columns and true counts of your files. For the data holder only."
_GUESSED_DISTANCE = {"snps": "12"}
_USUAL_DISTANCE = "0.015"


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
        from graphveil.formats.columns.names import listed

        if not self.format:
            return [f"{self.name}: {self.why}"]
        said = {
            "columns": self.columns, "named by": self.ids, "look like dates": self.dates,
            "distances": self.distances,
        }  # fmt: skip
        told = [f"  {word}: {listed(names)}" for word, names in said.items() if names]
        return [f"{self.name}: {self.format}, lists {self.lists} ({self.why})", *told]


@dataclass(frozen=True)
class Explained:
    """What files would be taken for together; private.

    Attributes:
        files: each by itself.
        report: what would be read, as `graphveil add` says it.
        refusal: why they would be refused, if they would.
        command: the options to add, as far as they can be guessed.
    """

    files: tuple[ExplainedFile, ...]
    report: tuple[str, ...]
    refusal: str
    command: str

    def lines(self) -> list[str]:
        """Everything in words."""
        told = [line for file in self.files for line in file.lines()]
        if self.refusal:
            return [*told, f"Now refused: {self.refusal}", f"Try: {self.command}"]
        return [*told, "They would be read:", *(f"  {line}" for line in self.report)]

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {"private": PRIVATE, **asdict(self)}


def known_formats() -> list[KnownFormat]:
    """Every format, by name."""
    from graphveil.formats.format import registered

    return [KnownFormat(each.name, each.summary, each.looks) for each in registered().values()]


def explained(
    files: Sequence[str | Path],
    *,
    format: str | None,  # noqa: A002
    options: ReadingOptions,
) -> Explained:
    """What files would be taken for, and what is still to be said.

    Args:
        files: as for adding.
        format: of all files; None recognises each by its content.
        options: what was said already.
    """
    from graphveil.formats import read_records
    from graphveil.formats.containers.finding import found_files

    each = tuple(explained_file(file, format, options) for file in found_files(files, options))
    command = _command(files, each, options)
    try:
        found = read_records(files, format=format, options=replace(options, mark_bad=False))
    except GraphveilError as refused:
        return Explained(each, (), str(refused), command)
    return Explained(each, tuple(found.report.lines()), "", command)


def explained_file(
    file: SourceFile, format_name: str | None, options: ReadingOptions
) -> ExplainedFile:
    """What one file would be taken for."""
    from graphveil.formats.detection import detected

    try:
        [(format_, claimed)] = detected([file], format_name, options, {})
    except InputError as refused:
        return ExplainedFile(file.name, why=str(refused).removeprefix(f"{file.name}: "))
    claim = claimed.claim
    found = ExplainedFile(file.name, format_.name, claim.why, claim.role, claim.columns)
    return _with_columns(found, file) if claim.columns else found


def _with_columns(found: ExplainedFile, file: SourceFile) -> ExplainedFile:
    from graphveil.formats.columns.distances import distance_columns
    from graphveil.formats.tables.table_file import table_file

    table = table_file(file)
    names = [name for name in table.names if name.strip()]
    dates = [name for name in table.date_columns() if name not in found.ids]
    distances = distance_columns(names) if found.lists == "edges" else []
    return replace(found, columns=tuple(names), dates=tuple(dates), distances=tuple(distances))


def _command(
    files: Sequence[str | Path], each: Sequence[ExplainedFile], options: ReadingOptions
) -> str:
    """A command with the options that are likely to be missing."""
    said = ["graphveil", "add", "STUDY", *map(str, files), *_already(options)]
    dates = [file.dates[0] for file in each if file.dates and file.lists != "edges"]
    own = any("time" in map(str.lower, file.columns) for file in each if file.lists != "edges")
    if options.time is None and dates and not own:
        said += ["--time", dates[0]]
    distances = [name for file in each for name in file.distances]
    if options.threshold is None and options.distance is None and distances:
        said += ["--max-distance", _threshold(distances[0])]
    return " ".join(shlex.quote(word) for word in said)


def _already(options: ReadingOptions) -> list[str]:
    """What was said, as the shell takes it."""
    words = []
    for name in ("id", "source", "target", "time", "edge_time", "distance", "max_distance"):
        if getattr(options, name) is not None:
            words += [f"--{name.replace('_', '-')}", getattr(options, name)]
    for each in options.where:
        words += ["--where", each]
    if options.day_first is not None:
        words.append("--day-first" if options.day_first else "--month-first")
    return words


def _threshold(column: str) -> str:
    from graphveil.formats.columns.distances import unit_of

    return _GUESSED_DISTANCE.get(unit_of(column) or "", _USUAL_DISTANCE)
