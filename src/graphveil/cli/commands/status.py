"""`graphveil status`: where a study stands, what is due, and what is left to spend."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli.options import Json, StudyFolder

if TYPE_CHECKING:
    from graphveil.study import Study, StudyFile
    from graphveil.study.ledger import Ledger


def status(folder: StudyFolder, as_json: Json = False) -> None:
    """Show which steps are sealed and due, what is spent and left, and where the report is.

    Nothing of it depends on what the records say.

    Example: graphveil status my-study
    """
    from graphveil.cli.output import print_json
    from graphveil.study import Study

    found = _found(Study.at(folder))
    if as_json:
        print_json(found)
    else:
        _print(folder, found)


def _found(study: Study) -> dict[str, Any]:
    from graphveil.cli.public_folder import report_is_current

    committed = study.committed()
    ledger = committed.ledger
    promise = study.promise(ledger)
    page = study.folder.public / "report.html"
    sealed = len(ledger.sealed)
    return {
        "title": promise.title,
        "state": "open" if ledger.is_open else "draft",
        "calendar": promise.steps().describe(),
        **_steps(promise, sealed),
        "batches_waiting": sum(each.last_step >= sealed for each in ledger.batches),
        "budget": found_budget(promise),
        "series": found_series(promise, ledger),
        "public_part_is_current": not committed.is_behind
        and (not sealed or report_is_current(study, ledger)),
        "report": str(page) if page.is_file() else None,
    }


def _steps(promise: StudyFile, sealed: int) -> dict[str, Any]:
    """What is sealed, what comes next, and how many have ended and are due."""
    from graphveil.study.study import steps_ended

    calendar = promise.steps()
    over = calendar.last_step is not None and sealed > calendar.last_step
    return {
        "steps_sealed": sealed,
        "last_sealed": calendar.label(sealed - 1) if sealed else None,
        "next_step": None if over else calendar.label(sealed),
        "steps_due": _due(promise, steps_ended(promise) - sealed),
    }


def _due(promise: StudyFile, ended: int) -> int | None:
    """How many steps wait to be sealed; None if there is no clock for them."""
    from graphveil.calendar.times import Unit

    calendar = promise.steps()
    endless = calendar.unit == Unit.NUMBER and calendar.last_step is None
    return None if endless else max(0, ended)


def found_budget(promise: StudyFile) -> dict[str, Any]:
    """What may be spent, and what is left of it."""
    from graphveil.noise.exact_numbers import as_text

    epsilon, delta = promise.budget_left()
    return {
        "epsilon": promise.budget.epsilon,
        "epsilon_left": as_text(epsilon),
        "delta": promise.budget.delta,
        "delta_left": None if promise.budget.delta is None else as_text(delta),
    }


def found_series(promise: StudyFile, ledger: Ledger) -> list[dict[str, Any]]:
    """What each series costs, and how often it was published."""
    begins = {each.series: each.first_step for each in ledger.series}
    made = {each.series: len(each.releases) for each in ledger.series}
    return [
        {
            "name": each.name,
            "statistic": str(each.counted()),
            "epsilon": each.epsilon,
            "delta": each.delta,
            "mechanism": each.mechanism,
            "from": promise.steps().label(begins.get(each.name, 0)),
            "releases": made.get(each.name, 0),
        }
        for each in promise.series
    ]


def _print(folder: Path, found: dict[str, Any]) -> None:
    print_series(f"{found['title']}: {found['state']}", found["series"])
    print(f"Calendar: {found['calendar']}.")
    last, following = found["last_sealed"], found["next_step"]
    print(f"Steps: {found['steps_sealed']} sealed{f', the last {last}' if last else ''}; ", end="")
    print(f"next: {following or 'none, the calendar is over'}{_due_words(found['steps_due'])}.")
    print(f"Batches of records that wait: {found['batches_waiting']}.")
    print(f"Budget: {budget_words(found['budget'])}.")
    print(_advice(folder, found))


def print_series(title: str, series: list[dict[str, Any]]) -> None:
    """The series of a study, with their prices."""
    from graphveil.cli.output import print_table

    keys = ("name", "statistic", "mechanism", "from", "epsilon", "releases")
    rows = [tuple(each[key] for key in keys) for each in series]
    header = ("series", "statistic", "mechanism", "from", "ε", "releases")
    print_table(title, header, rows, text_columns=4)


def _due_words(due: int | None) -> str:
    if not due:
        return "" if due is None else "; none is due"
    return f"; {due} {'has ended and is' if due == 1 else 'have ended and are'} due"


def budget_words(budget: dict[str, Any]) -> str:
    """The same in words."""
    words = f"ε = {budget['epsilon']}, of which {budget['epsilon_left']} is left"
    if budget["delta"] is None:
        return words
    return f"{words}; δ = {budget['delta']}, of which {budget['delta_left']} is left"


def _advice(folder: Path, found: dict[str, Any]) -> str:
    """What to do next."""
    if found["state"] == "draft":
        return f"A draft spends nothing. Next: graphveil add {folder} FILES"
    if not found["public_part_is_current"]:
        return f"The public part is behind. Next: graphveil publish {folder}"
    if found["report"] is None:
        return f"Nothing is published yet. Next: graphveil publish {folder}"
    return f"The public part is up to date: {found['report']}"
