"""`graphveil formats`: every format that is read, or what certain files would be taken for."""

from __future__ import annotations

from typing import Annotated

import typer

from graphveil.cli.options import Json
from graphveil.cli.output import one_line, print_json, print_note, print_table
from graphveil.cli.reading_options import Reading, taking_reading_options


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
    if as_json:
        print_json(explanation.as_data())
        return
    print_note(PRIVATE)
    for line in explanation.lines():
        print(one_line(line))


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
