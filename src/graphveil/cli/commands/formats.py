"""`graphveil formats`: every format that is read, or what certain files would be taken for."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.hints import HINTS
from graphveil.cli.options import Json
from graphveil.cli.output import one_line, print_json, print_note, print_table
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.hints import in_words

if TYPE_CHECKING:
    from graphveil.records import ReadingOptions
    from graphveil.steward.records.previewing import ExplainedFile

_GUESSED_DISTANCE = {"snps": "12"}
_USUAL_DISTANCE = "0.015"


@taking_reading_options
def formats(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Files to explain; none: list all formats."),
    ] = None,
    *,
    reading: Reading,
    as_json: Json = False,
) -> None:
    """List the file formats, or explain what would be read of certain files, and how.

    No study is needed, and nothing is kept. What is said about files is private.

    Example: graphveil formats

    Example: graphveil formats cases.xlsx contacts.csv --time onset
    """
    if not files:
        _list(as_json=as_json)
        return
    from graphveil.steward.records.previewing import PRIVATE, explained

    explanation = explained(files, format=reading.format, options=reading.options)
    command = _command(files, explanation.files, reading.options)
    if as_json:
        print_json(explanation.as_data() | {"command": command})
        return
    print_note(PRIVATE)
    for line in explanation.lines():
        print(one_line(in_words(line, HINTS)))
    if explanation.refusal:
        print(one_line(f"Try: {command}"))


def _list(*, as_json: bool) -> None:
    from dataclasses import asdict

    from graphveil.steward.records.previewing import known_formats

    known = known_formats()
    if as_json:
        print_json([asdict(each) for each in known])
        return
    rows = [(each.name, each.looks) for each in known]
    print_table("formats", ("name", "files"), rows, text_columns=2)
    print("Tables may be CSV, Parquet, Excel sheets, databases or R's data; packed or not.")
    print("What would be read of a file: graphveil formats FILE")


def _command(
    files: Sequence[str | Path], each: Sequence[ExplainedFile], options: ReadingOptions
) -> str:
    """A command with the options that are likely to be missing."""
    words = ["graphveil", "add", "STUDY", *map(str, files), *_already(options)]
    dates = [file.dates[0] for file in each if file.dates and file.lists != "edges"]
    own = any("time" in map(str.lower, file.columns) for file in each if file.lists != "edges")
    if options.time is None and dates and not own:
        words += ["--time", dates[0]]
    distances = [name for file in each for name in file.distances]
    if options.threshold is None and options.distance is None and distances:
        words += ["--max-distance", _threshold(distances[0])]
    return " ".join(shlex.quote(word) for word in words)


def _already(options: ReadingOptions) -> list[str]:
    """The given options, as the shell takes them."""
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
    from graphveil.records.options import unit_of

    return _GUESSED_DISTANCE.get(unit_of(column) or "", _USUAL_DISTANCE)
