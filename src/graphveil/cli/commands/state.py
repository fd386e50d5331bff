"""`status` and `verify`: where a study is, and whether all that it claims holds."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from graphveil.cli.ending import UNFINISHED
from graphveil.cli.options import HERE, Conf, Engine, Json, Master, StudyFolder, chosen, warn
from graphveil.cli.output import print_json, print_series, print_table, working
from graphveil.errors import StudyError

if TYPE_CHECKING:
    from graphveil.steward.status import Status
    from graphveil.steward.verifying import Verification


def status(folder: StudyFolder, as_json: Json = False) -> None:
    """Show which steps are sealed and due, what is spent and left, and where the report is.

    Only what is marked as private depends on what the records say.

    Example: graphveil status my-study
    """
    from graphveil.steward.custody import shared_backup
    from graphveil.steward.status import status as status_of

    state = status_of(folder)
    warn(shared_backup(folder))
    if as_json:
        print_json(state.as_data())
    else:
        _print_status(folder, state)


def _print_status(folder: Path, state: Status) -> None:
    print_series(f"{state.listed.title}: {state.state}", state.listed.series)
    print(f"Calendar: {state.calendar}.")
    print(state.promised)
    steps = state.steps
    last = f", the last {steps.last_sealed}" if steps.last_sealed else ""
    following = steps.next_step or "none, the calendar has ended"
    due = _due_words(steps.steps_due)
    print(f"Steps: {steps.steps_sealed} sealed{last}; next: {following}{due}.")
    print(f"Budget: {state.listed.budget}.")
    print(_advice(folder, state))
    waiting = state.private.batches_waiting
    print(f"PRIVATE, for the data holder only: batches of records waiting: {waiting}.")
    if state.private.unsettled:
        print(
            f"PRIVATE: {state.private.unsettled} was refused or did not end, so no step is "
            f"published. Add the files again, or: graphveil add {folder} --abandon"
        )


def _due_words(due: int | None) -> str:
    if not due:
        return "" if due is None else "; none is due"
    return f"; {due} {'has ended and is' if due == 1 else 'have ended and are'} due"


def _advice(folder: Path, state: Status) -> str:
    """What to do next."""
    if not state.verdict.may_go_on:
        return f"This machine: {state.verdict.value}. See graphveil hand-over and graphveil adopt."
    if not state.is_open:
        return f"A draft spends nothing. Next: graphveil add {folder} FILES"
    if not state.is_current:
        return f"The public part is behind. Next: graphveil publish {folder}"
    if state.page is None:
        return f"Nothing is published yet. Next: graphveil publish {folder}"
    return f"The public part is up to date: {state.page}"


def verify(
    folder: StudyFolder,
    engine: Engine = HERE,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Check ledger, budget, private tables, noise and the public files against each other.

    Changes nothing. Ends with exit code 9 at the first row or file that differs from what was
    committed, and names it; with 11 if nothing is wrong, but something is still to be written,
    and names the command for it. For a public part alone, checks what anybody can check.

    Example: graphveil verify my-study
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.steward import reporting, verifying

    with working("Verifying …"):
        with suppress(StudyError):  # which verifying reports, as part of what it finds
            if reporting.has_private_part(reporting.find(folder)):  # which alone is counted
                load_kernels_without_blas()
        verification = verifying.verify(folder, chosen(engine, master, conf))
    if as_json:
        print_json(verification.as_data())
    else:
        _print_checks(verification)
    if verification.failure is not None:
        raise verification.failure
    if verification.outcome is verifying.Outcome.UNFINISHED:
        raise typer.Exit(UNFINISHED)


def _print_checks(verification: Verification) -> None:
    if verification.checks:
        rows = [(each.name, each.found) for each in verification.checks]
        print_table("Checks passed", ("what", "found"), rows, text_columns=2)
    if verification.failure is not None:
        return
    open_ones = [each for each in verification.checks if not each.is_finished]
    if not open_ones:
        print("All checks passed.")
        return
    print("Nothing is wrong, but the public part is unfinished:")
    for each in open_ones:
        print(f"  {each.name}: {each.found}")
    print(f"Next: {verification.finish}")
