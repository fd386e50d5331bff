"""`graphveil publish`: the next step is sealed, for ever, and only then announced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, StudyFolder
from graphveil.errors import BoundError, ParameterError, StudyError

if TYPE_CHECKING:
    from pathlib import Path

    from graphveil.study import Study, StudyFile
    from graphveil.study.ledger import Ledger


def publish(
    folder: StudyFolder,
    step: Annotated[
        str | None,
        typer.Option("--step", metavar="LABEL", help="This step: the next, or one again."),
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
    as_json: Json = False,
) -> None:
    """Seal the next step and publish it: its noise is drawn once and never again.

    A step that is sealed already is written again with the same numbers. If an earlier run
    was interrupted, a plain publish finishes that and seals nothing more.

    Example: graphveil publish my-study
    """
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.study import Study

    if sum((step is not None, through is not None, everything)) > 1:
        raise ParameterError("publish", "give one of --step, --through and --all")
    study = Study.at(folder)
    ledger = study.ledger()
    promise = study.promise(ledger)
    behind = _is_behind(study, ledger, reported=not no_report)
    last = _last(promise, len(ledger.sealed), step, through, everything=everything)
    load_kernels_without_blas()
    if last is None and behind:
        study.announce()
        new: list[int] = []
    else:
        new = _sealed(study, len(ledger.sealed), last, early=early, report=not no_report)
    if not no_report:
        _report(study)
    _tell(study.folder.public, promise, new, finished=behind and last is None, as_json=as_json)
    if not (no_report or as_json):
        print(f"The report: {study.folder.public / 'report.html'}")


def _is_behind(study: Study, ledger: Ledger, *, reported: bool) -> bool:
    """Whether something was sealed that the public part does not show yet."""
    from graphveil.cli.public_folder import report_is_current

    stale = reported and bool(ledger.sealed) and not report_is_current(study, ledger)
    return study.committed().is_behind or stale


def _last(
    promise: StudyFile, made: int, step: str | None, through: str | None, *, everything: bool
) -> int | None:
    """The last step to seal; None for just the next one."""
    from graphveil.cli.calendar_steps import last_ended, step_called

    calendar = promise.steps()
    if everything:
        return last_ended(promise)
    if through is not None:
        return step_called(calendar, through, "through")
    if step is None:
        return None
    number = step_called(calendar, step, "step")
    if number > made:
        raise StudyError(
            f"{step} is out of order: the next step is {calendar.label(made)}. Steps are sealed "
            f"one after the other; to seal all up to {step}, use --through {step}."
        )
    return number


def _sealed(study: Study, made: int, last: int | None, *, early: bool, report: bool) -> list[int]:
    """Seal, with a bar where there is much to seal; a refusal leaves the public part whole."""
    steps = 1 if last is None else last + 1 - made
    try:
        with _progress(steps) as advance:
            return study.publish(last, early=early, sealed=advance).steps
    except BoundError:
        if report and len(study.ledger().sealed) > made:
            _report(study)
        raise


def _report(study: Study) -> None:
    from graphveil.cli.public_folder import write_report

    write_report(study.folder.public)


@contextmanager
def _progress(steps: int) -> Iterator[Callable[[int], object]]:
    """A bar on a terminal, for more than one step; silence elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(stderr=True)
    silent = steps < 2 or not console.is_terminal
    columns = ("Sealing", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("", total=steps)
        yield lambda step: bar.advance(task)


def _tell(
    public: Path, promise: StudyFile, new: list[int], *, finished: bool, as_json: bool
) -> None:
    from graphveil.cli.commands.releases import rows_of_steps
    from graphveil.cli.output import print_json

    labels = [promise.steps().label(step) for step in new]
    if as_json:
        rows = rows_of_steps(public, new)
        print_json({"sealed": labels, "finished_an_earlier_run": finished, "releases": rows})
        return
    if finished:
        print("What an earlier run had sealed is now published in full, as it was.")
        print("Nothing more was sealed; run the command again for the next step.")
    elif not new:
        print("Sealed before: written again, with the same numbers.")
    else:
        _print_new(public, new, labels)


def _print_new(public: Path, new: list[int], labels: list[str]) -> None:
    """The newest step; of a backfill, the others are only counted."""
    from graphveil.cli.commands.releases import print_steps

    print_steps(f"Published: {labels[-1]}", public, new[-1:])
    if len(new) > 1:
        span = f"{labels[0]} to {labels[-1]}"
        print(f"{len(new)} steps were sealed, {span}; `graphveil releases` shows all.")
