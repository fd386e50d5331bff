"""`add` and `publish`: records come in, and steps go out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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
from graphveil.cli.output import console, one_line, print_json, print_note, print_releases, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError, UnconfirmedError
from graphveil.hints import in_words

if TYPE_CHECKING:
    from graphveil.steward.adding import Addition
    from graphveil.steward.publishing import Progress, Publication


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
        _print_addition(folder, addition, details)


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


def _print_addition(folder: Path, added: Addition, details: Path | None) -> None:
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


def publish(
    folder: StudyFolder,
    step: Annotated[
        str | None,
        typer.Option("--step", metavar="LABEL", help="The next step, or a sealed one again."),
    ] = None,
    through: Annotated[
        str | None,
        typer.Option("--through", metavar="LABEL", help="Every step up to this one, in order."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Every step that has ended by the clock.")
    ] = False,
    early: Annotated[
        bool, typer.Option("--early", help="Seal a step although it has not ended yet.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Leave page, charts, card and table for later.")
    ] = False,
    engine: Engine = HERE,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Seal the next step and publish it: its noise is drawn once and never again.

    A step that is already sealed is written again with the same numbers. If an earlier run
    was interrupted, a plain publish finishes it and seals nothing more.

    Example: graphveil publish my-study
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.steward import publishing

    asked = publishing.PublishRequest(step, through, everything, early, report=not no_report)
    load_kernels_without_blas()
    where = chosen(engine, master, conf)
    with _progress() as progress:
        made = publishing.publish(folder, asked, progress, where)
    if as_json:
        print_json(made.as_data())
    else:
        _print_publication(made)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """On a terminal, a bar while several steps are sealed, and a note while the report is made."""
    if not sys.stderr.isatty():
        yield lambda now: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from graphveil.steward.publishing import Stage

    columns = ("Sealing", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shown_on = console()
    bar = Bar(*columns, console=shown_on, transient=True, disable=not shown_on.is_terminal)
    task = bar.add_task("")
    with ExitStack() as shown:

        def show(now: Progress) -> None:
            if now.stage is Stage.REPORTING:
                shown.close()  # the bar: a terminal has room for one at a time
                shown.enter_context(working("Writing the report …"))
            elif now.steps > 1:
                if now.sealed == 0:
                    shown.enter_context(bar)
                bar.update(task, completed=now.sealed, total=now.steps)

        yield show


def _print_publication(made: Publication) -> None:
    if made.finished:
        print("What an earlier run had sealed is now published in full, unchanged.")
        print("Nothing more was sealed; run the command again for the next step.")
    elif not made.steps:
        print("Already sealed: written again, with the same numbers.")
    else:
        _print_new(made)
    if made.page is not None:
        print(f"The report: {made.page}")


def _print_new(made: Publication) -> None:
    """The newest step; of a backfill, the others are only counted."""
    labels = made.labels
    print_releases(f"Published: {labels[-1]}", made.newest)
    if len(labels) > 1:
        span = f"{labels[0]} to {labels[-1]}"
        print(f"{len(labels)} steps were sealed, {span}; `graphveil releases` shows all.")
