"""Drafting: from what the steward wants to a study file, with every share and mechanism set."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphveil.errors import BudgetError, ParameterError, StudyError

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.study.study_file import SeriesPromise, StudyFile

RHYTHMS = ("year", "month", "week")


def calendar(every: str, first: str, last: str | None) -> Calendar:
    """Even steps; of `every` as a number, the way in which `first` is written tells the unit."""
    from graphveil.calendar.calendar import Calendar

    named = {"year": Calendar.yearly, "month": Calendar.monthly, "week": Calendar.weekly}
    if every in named:
        return named[every](first, last)
    if not (every.isascii() and every.isdigit()):
        problem = f"must be {', '.join(RHYTHMS)} or a whole number, not '{every}'"
        raise ParameterError("every", problem)
    return Calendar.every(int(every), _time(first), None if last is None else _time(last))


def calendar_of_cuts(cuts: str, end: str | None) -> Calendar:
    """Steps that begin at the given times."""
    from graphveil.calendar.calendar import Calendar

    times = [_time(cut.strip()) for cut in cuts.split(",")]
    return Calendar.cuts(times, None if end is None else _time(end))


def _time(text: str) -> int | str:
    """Digits are a year if they are four, and a plain number if not."""
    plain = text.isascii() and text.isdigit() and len(text) != 4
    return int(text) if plain else text


def with_shares(series: Sequence[dict[str, Any]], epsilon: str) -> list[dict[str, Any]]:
    """Series that name no ε split what the others leave, equally."""
    from graphveil.noise.exact_numbers import as_text, exact_epsilon
    from graphveil.planning.shares import equal_shares

    open_ones = [each["name"] for each in series if "epsilon" not in each]
    if not open_ones:
        return list(series)
    given = (exact_epsilon(each["epsilon"]) for each in series if "epsilon" in each)
    left = exact_epsilon(epsilon) - sum(given, Fraction())
    if left <= 0:
        raise BudgetError(
            f"the shares that were given leave nothing of ε = {epsilon} for {', '.join(open_ones)}."
            " Give smaller shares, or name one for each."
        )
    share = as_text(equal_shares(left, len(open_ones))[0])
    return [{"epsilon": share, **each} for each in series]


def with_risks(series: Sequence[dict[str, Any]], delta: str | None) -> list[dict[str, Any]]:
    """Series that name no δ may use an equal part of it, if their mechanism needs one."""
    from graphveil.noise.exact_numbers import as_text, exact_delta

    if delta is None:
        return list(series)
    share = as_text(exact_delta(delta) / len(series))
    return [{"delta": share, **each} for each in series]


def checked(data: dict[str, Any], source: str) -> StudyFile:
    """The study that options describe; what is wrong with it is an option, not yet a file."""
    from graphveil.study.study_file import study_file

    try:
        return study_file(data, source)
    except StudyError as error:
        flaw = str(error).removeprefix(f"{source}, ").removeprefix("the file as a whole: ")
        problem, _, hint = flaw.partition(". ")
        raise ParameterError(source, problem.removesuffix("."), hint=hint) from error


def settled(study: StudyFile) -> StudyFile:
    """The same study with "auto" replaced by the mechanism that it chooses now.

    A series whose mechanism is pure takes nothing of δ.
    """
    return study.model_copy(
        update={"series": tuple(settled_series(study, each, 0) for each in study.series)}
    )


def settled_series(study: StudyFile, promise: SeriesPromise, first_step: int) -> SeriesPromise:
    """One series with its mechanism named, as of the step at which it begins."""
    from graphveil.noise.exact_numbers import as_text
    from graphveil.study.opening import series_plan

    chosen = series_plan(study, promise, first_step)
    risk = chosen.request.delta
    delta = None if risk is None else as_text(risk)
    return promise.model_copy(update={"mechanism": chosen.mechanism.name, "delta": delta})
