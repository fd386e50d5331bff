"""The plan of a study: the error that its series will have, before anything is spent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.cli.predicted import Outlook
    from graphveil.study import Study


def is_study(name: str) -> bool:
    """Whether a name means a study; of a name that is also a statistic, if there is one."""
    from graphveil.statistics.statistic import registered

    path = Path(name)
    return (path / "public" / "study.toml").is_file() or (
        name not in registered() and (path.is_dir() or len(path.parts) > 1)
    )


def plan_study(folder: Path, expected: list[str], *, as_json: bool) -> None:
    """Print the predicted error of each series, with warnings for sizes that are expected."""
    from graphveil.cli.output import print_json, working
    from graphveil.study import Study

    with working("Planning …"):
        outlooks = study_outlooks(Study.at(folder))
        warnings = _warnings(outlooks, _sizes(expected, outlooks))
    if as_json:
        data = [each.as_data() | {"warning": warnings.get(each.promise.name)} for each in outlooks]
        print_json({"study": str(folder), "spent": False, "series": data})
    else:
        _print(outlooks, warnings)


def study_outlooks(study: Study) -> list[Outlook]:
    """Every series of a study, each from the step at which it begins."""
    from graphveil.cli.predicted import Outlook

    promise, ledger = study.promise(), study.ledger()
    begins = {each.promise.name: each.first_step for each in ledger.series}
    return [Outlook(promise, each, begins.get(each.name, 0)) for each in promise.series]


def _sizes(expected: list[str], outlooks: list[Outlook]) -> dict[str, int]:
    """The guesses by series."""
    known = [each.promise.name for each in outlooks]
    sizes = {}
    for text in expected:
        name, _, number = text.partition("=")
        if name not in known or not (number.isascii() and number.isdigit()):
            problem = f"'{text}' is not of the form SERIES=N"
            raise ParameterError("expected", problem, hint=f"Series: {', '.join(known)}.")
        sizes[name] = int(number)
    return sizes


def _warnings(outlooks: list[Outlook], sizes: dict[str, int]) -> dict[str, str]:
    found = {
        each.promise.name: each.plan.warning(sizes[each.promise.name])
        for each in outlooks
        if each.promise.name in sizes
    }
    return {name: warning for name, warning in found.items() if warning is not None}


def _print(outlooks: list[Outlook], warnings: dict[str, str]) -> None:
    from graphveil.cli.predicted import UNSPENT, print_outlooks
    from graphveil.noise.exact_numbers import as_text

    study = outlooks[0].study
    print_outlooks(f"{study.title}: standard deviation of the noise, predicted", outlooks)
    left, _ = study.budget_left()
    print(f"Calendar: {study.steps().describe()}. Bound: {study.bound.bound()}.")
    print(f"ε = {study.budget.epsilon} in all; {as_text(left)} is left for later series.")
    print(UNSPENT)
    for name, warning in warnings.items():
        print(f"Warning, {name}: {warning}", file=sys.stderr)
