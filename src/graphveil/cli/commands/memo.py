"""`graphveil memo`: a draft on two pages, for the people who decide about it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_json


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
    from graphveil.steward.planning.memo import memo
    from graphveil.whole_files import write_whole

    content = memo(folder)
    path = to or Path(f"memo-of-{folder.resolve().name}.html")
    write_whole(path, lambda file: file.write(content), parameter="to")
    if as_json:
        print_json({"memo": str(path), "spent": False})
    else:
        print(f"The memo: {path}")
