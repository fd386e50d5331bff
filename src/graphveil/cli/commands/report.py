"""`graphveil report`: page, charts, card and table, from the public part alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_json, working


def report(
    folder: StudyFolder,
    registry: Annotated[
        Path | None,
        typer.Option(
            "--registry", metavar="FILE", help="Also write an entry for OpenDP's registry, as YAML."
        ),
    ] = None,
    region: Annotated[
        str,
        typer.Option("--region", metavar="TEXT", help="For the entry: where the data are from."),
    ] = "",
    sector: Annotated[
        str, typer.Option("--sector", metavar="TEXT", help="For the entry, such as Public health.")
    ] = "",
    curator: Annotated[
        str, typer.Option("--curator", metavar="KIND", help="For the entry: who publishes it.")
    ] = "Government",
    author: Annotated[
        list[str] | None,
        typer.Option("--author", metavar="NAME", help="Of the entry; may be repeated."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write the public report again: a page for readers, charts, a privacy card, a table.

    Of a whole study, the public part is first brought up to date with what was sealed. The
    report follows from study.toml and ledger.jsonl and nothing else, so a public part that came
    from somewhere else will do. The same two files always give the same report.

    Example: graphveil report my-study

    Example: graphveil report my-study --registry entry.yaml --region Example --sector "Public
    health" --author "A. Steward"
    """
    from graphveil.steward import reporting

    filed = reporting.filed_by(region, sector, author or [], curator) if registry else None

    with working("Writing the report …"):
        written = reporting.report(folder).paths
        if registry is not None and filed is not None:
            reporting.write_registry_entry(folder, registry, filed)
            written = (*written, registry)
    if as_json:
        print_json([str(path) for path in written])
    else:
        for path in written:
            print(path)
