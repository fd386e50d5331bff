"""`graphveil releases`: what was published, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_as_it_is, print_releases
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.study.public.public_part import PublicPart


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
        _print(part)


def _print(part: PublicPart) -> None:
    from graphveil.report.releases import measurements

    rows = measurements(part)
    if not rows:
        print("Nothing is published yet.")
        return
    print_releases(f"{part.promise.title}: published so far", rows)
    print("The raw value is unbiased; the processed value is post-processed, and may be biased.")
