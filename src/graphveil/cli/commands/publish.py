"""`graphveil publish`: the next step is sealed permanently, and only then announced."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import HERE, Conf, Engine, Json, Master, StudyFolder, chosen
from graphveil.cli.output import console, print_json, print_releases, working

if TYPE_CHECKING:
    from graphveil.steward.publishing import Progress, Publication


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
        _print(made)


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


def _print(made: Publication) -> None:
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
