"""`memo`, `report`, `releases`: what others read about a study, and what it published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_as_it_is, print_json, print_releases, working
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.study.public_part import PublicPart


def memo(
    folder: StudyFolder,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", help="Where to write it (memo-of-….html)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a memo about a study: what it publishes, promises and costs, and who decides.

    It is filled from the study file, prints on two pages, and ends with lines to sign.
    Nothing is spent, and no record is read.

    Example: graphveil memo my-study
    """
    from graphveil.steward.memo import memo
    from graphveil.whole_files import write_whole

    content = memo(folder)
    path = to or Path(f"memo-of-{folder.resolve().name}.html")
    write_whole(path, lambda file: file.write(content), parameter="to")
    if as_json:
        print_json({"memo": str(path), "spent": False})
    else:
        print(f"The memo: {path}")


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


def releases(
    folder: StudyFolder,
    series: Annotated[
        str | None, typer.Option("--series", metavar="NAME", help="This series only.")
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    as_json: Json = False,
    parquet: Annotated[
        Path | None, typer.Option("--parquet", metavar="FILE", help="Write Parquet.")
    ] = None,
) -> None:
    """Show every published number with its interval; all of it is public.

    Also works on the public part alone.

    Example: graphveil releases my-study --series edges --csv
    """
    from graphveil.report import releases as tidy
    from graphveil.steward.reporting import published
    from graphveil.whole_files import write_whole

    if sum((as_csv, as_json, parquet is not None)) > 1:
        raise ParameterError("releases", "give one of --csv, --json and --parquet")
    part = published(folder, series)
    if parquet is not None:
        content = tidy.as_parquet(part)
        write_whole(parquet, lambda file: file.write(content), parameter="parquet")
        print(f"Written: {parquet}")
    elif as_csv or as_json:
        made = tidy.as_csv(part) if as_csv else tidy.as_json(part)
        print_as_it_is(made.decode().rstrip("\n"))
    else:
        _print_releases(part)


def _print_releases(part: PublicPart) -> None:
    from graphveil.report.releases import measurements

    rows = measurements(part)
    if not rows:
        print("Nothing is published yet.")
        return
    print_releases(f"{part.promise.title}: published so far", rows)
    print("The raw value is unbiased; the processed value is post-processed, and may be biased.")
