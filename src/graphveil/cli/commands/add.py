"""`graphveil add`: records go into the private part, and wait for their step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.engine_options import Conf, Engine, EngineName, Master, chosen
from graphveil.cli.options import Json, StudyFolder
from graphveil.cli.output import print_json, print_note, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.cli.terminal import one_line
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.records.adding import Addition


@taking_reading_options
def add(
    folder: StudyFolder,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Files, sheets (BOOK.xlsx#SHEET), or database tables (URL#TABLE).",
        ),
    ] = None,
    *,
    reading: Reading,
    change_reading: Annotated[
        bool,
        typer.Option("--change-reading", help="These options differ from those before: use them."),
    ] = False,
    complete: Annotated[
        bool,
        typer.Option("--complete", help="The files hold everything: report what vanished."),
    ] = False,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out the rows that break a rule; keep a private list of them."
        ),
    ] = False,
    ignore_after_end: Annotated[
        bool,
        typer.Option("--ignore-after-end", help="Leave out records of after the last step."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check; change nothing.")
    ] = False,
    details: Annotated[
        Path | None,
        typer.Option(
            "--list", metavar="FILE", help="Write which records were re-dated or vanished (.csv)."
        ),
    ] = None,
    withdraw: Annotated[
        bool, typer.Option("--withdraw", help="Withdraw the latest batch, if it is not sealed.")
    ] = False,
    engine: Engine = EngineName.LOCAL,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Add records to a study; they are published with their step, or the next one.

    The first records open the study: from then on its file is a promise. What is printed
    about the records is private.

    Example: graphveil add my-study nodes.csv edges.csv --dry-run
    """
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.steward.records import adding

    if withdraw:
        _withdraw(folder, files, as_json=as_json)
        return
    with working("Reading and checking …"):
        load_kernels_without_blas()
        added = adding.add(
            folder,
            files or [],
            format=reading.format,
            options=reading.options,
            complete=complete,
            skip_bad=skip_bad,
            ignore_after_end=ignore_after_end,
            change_reading=change_reading,
            dry_run=dry_run,
            engine=chosen(engine, master, conf),
        )
    if details is not None:
        added.write_details(details)
    if as_json:
        print_json(added.as_data())
    else:
        _print(folder, added, details)


def _withdraw(folder: Path, files: list[str] | None, *, as_json: bool) -> None:
    from graphveil.steward.records import adding

    if files:
        raise ParameterError("withdraw", "takes no files", hint="Leave them out.")
    number = adding.withdraw(folder)
    if as_json:
        print_json({"withdrawn": number})
    else:
        print(f"Batch {number} was withdrawn: it will not be published.")


def _print(folder: Path, added: Addition, details: Path | None) -> None:
    from graphveil.study.records.findings import PRIVATE

    print_note(PRIVATE)
    for line in added.lines():
        print_note(f"  {one_line(line)}")
    if details is not None:
        print_note(f"  listed in {details}, readable by you only")
    if added.batch is None:
        print("A dry run: nothing was changed.")
    else:
        print(f"Batch {added.batch} was stored. Next: graphveil publish {folder}")
