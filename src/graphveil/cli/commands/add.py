"""`graphveil add`: records go into the private part, and wait for their step."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.ending import HINTS
from graphveil.cli.options import (
    HERE,
    Conf,
    Engine,
    Json,
    Master,
    StudyFolder,
    chosen,
    confirm,
)
from graphveil.cli.output import one_line, print_json, print_note, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError, UnconfirmedError
from graphveil.hints import in_words

if TYPE_CHECKING:
    from graphveil.steward.adding import Addition


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
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Refuse all files at the first row that breaks a rule. Without it, such rows are "
            "set aside and listed, and the others go in.",
        ),
    ] = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", help="Add the rest, even if more than a tenth is set aside or nothing is left."
        ),
    ] = False,
    ignore_after_end: Annotated[
        bool,
        typer.Option("--ignore-after-end", help="Leave out records dated after the last step."),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Read and check; change nothing.")
    ] = False,
    details: Annotated[
        Path | None,
        typer.Option(
            "--list",
            metavar="FILE",
            help="Write which records were re-dated or vanished (.csv).",
        ),
    ] = None,
    withdraw: Annotated[
        int | None,
        typer.Option(
            "--withdraw",
            metavar="BATCH",
            min=1,
            help="Withdraw this batch: the latest, unless a step was sealed since.",
        ),
    ] = None,
    abandon: Annotated[
        bool,
        typer.Option("--abandon", help="Give up files whose addition was refused or stopped."),
    ] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", hidden=True)] = False,
    engine: Engine = HERE,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Add records to a study; they are published with their step, or the next one.

    The first records open the study: from then on its file is a promise. A row that
    breaks a rule is set aside, and everybody else's go in. If files are refused, no
    further step is published until they are added or given up (--abandon). What is
    printed about the records is private.

    Example: graphveil add my-study nodes.csv edges.csv --dry-run
    """
    if withdraw is not None or abandon:
        _require_no_files(files)
        if withdraw is not None:
            _withdraw(folder, withdraw, as_json)
        else:
            _abandon(folder, as_json)
        return
    if skip_bad:
        print_note("--skip-bad is what `graphveil add` does by itself now: it can be left out.")

    def added(agreed: bool) -> Addition:
        from graphveil.deferred import load_kernels_without_blas
        from graphveil.steward import adding
        from graphveil.study.backends import AddOptions

        with working("Reading and checking …"):
            load_kernels_without_blas()
            return adding.add(
                folder,
                files or [],
                format=reading.format,
                options=reading.options,
                how=AddOptions(complete, strict, agreed, ignore_after_end, dry_run=dry_run),
                change_reading=change_reading,
                engine=chosen(engine, master, conf),
            )

    addition = _agreed(added, yes)
    if details is not None:
        addition.write_details(details)
    if as_json:
        print_json(addition.as_data())
    else:
        _print(folder, addition, details)


def _agreed(add_files: Callable[[bool], Addition], yes: bool) -> Addition:
    """What became of the files; who sits at a terminal is asked where others are refused."""
    try:
        return add_files(yes)
    except UnconfirmedError as doubtful:
        if not sys.stdin.isatty():
            raise
        print_note(doubtful.worded(HINTS))
        confirm("Add the rest all the same?")
        return add_files(True)


def _require_no_files(files: list[str] | None) -> None:
    if files:
        raise ParameterError("files", "do not go with --withdraw and --abandon")


def _withdraw(folder: Path, batch: int, as_json: bool) -> None:
    from graphveil.steward import adding

    adding.withdraw(folder, batch)
    if as_json:
        print_json({"withdrawn": batch})
    else:
        print(f"Batch {batch} was withdrawn: it will not be published.")


def _abandon(folder: Path, as_json: bool) -> None:
    from graphveil.steward import adding

    count = adding.abandon(folder)
    if as_json:
        print_json({"abandoned": count})
    elif count:
        print(f"Given up. Next: graphveil publish {folder}, or add the right files first.")
    else:
        print("There was nothing to give up: no addition was refused or stopped.")


def _print(folder: Path, added: Addition, details: Path | None) -> None:
    from graphveil.study.records.findings import PRIVATE

    print_note(PRIVATE)
    for line in added.lines():
        print_note(f"  {one_line(line)}")
    if details is not None:
        print_note(f"  listed in {details}, readable by you only")
    if added.skipped_list is not None:
        print_note(f"  what was set aside is listed in {folder / 'private' / added.skipped_list}")
    doubt = in_words(added.added.findings.doubt, HINTS)
    if added.batch is None:
        print(f"A dry run: nothing was changed.{' It would ask first: ' * bool(doubt)}{doubt}")
    else:
        print(f"Batch {added.batch} was stored. Next: graphveil publish {folder}")
