"""`graphveil status`: the state of a study, what is due, and what is left to spend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.cli.options import Json, StudyFolder, warn
from graphveil.cli.output import print_json, print_series

if TYPE_CHECKING:
    from graphveil.steward.status import Status


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
        _print(folder, state)


def _print(folder: Path, state: Status) -> None:
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
    if not state.standing.may_go_on:
        return f"This machine: {state.standing.value}. See graphveil hand-over and graphveil adopt."
    if not state.is_open:
        return f"A draft spends nothing. Next: graphveil add {folder} FILES"
    if not state.is_current:
        return f"The public part is behind. Next: graphveil publish {folder}"
    if state.page is None:
        return f"Nothing is published yet. Next: graphveil publish {folder}"
    return f"The public part is up to date: {state.page}"
