"""`graphveil plan --budget`: totals from small to large, as a table, as data or as a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.cli.expectations import size_of, sizes_by_series, with_options
from graphveil.cli.output import print_json, print_table, three_digits, working
from graphveil.errors import ParameterError
from graphveil.steward.beforehand.series_syntax import entry_value, projection_of

if TYPE_CHECKING:
    from graphveil.graph.promises.bound import Bound
    from graphveil.statistics.statistic import Statistic
    from graphveil.steward.beforehand.budgets import Budgets, SeriesAtPrice
    from graphveil.steward.beforehand.wishes import SeriesWish

BoundFor = Callable[["Statistic", "Bound | None"], "Bound"]
UNSPENT = "Nothing is spent by looking: these numbers follow from public parameters alone."


def wished(
    lines: Sequence[str],
    given: dict[str, str],
    expected: Sequence[str] | None,
    options: dict[str, str | None],
) -> list[SeriesWish]:
    """The series that stand on the command line, with what options say about them.

    Args:
        lines: one for each series, in the syntax of `graphveil new`.
        given: parameters of a statistic, which only one series can have.
        expected: SERIES=N, or N where there is one series.
        options: what holds for every series that does not say it itself.
    """
    from graphveil.cli.questions import series_wishes

    series = series_wishes(" ".join(line.replace(" ", "") for line in lines))
    if given and len(series) > 1:
        name = next(iter(given))
        hint = f"Write it with the series: NAME:{name}={given[name][:20]}."
        raise ParameterError(name, "is it for all of these series?", hint=hint)
    told: dict[str, Any] = {key: text for key, text in options.items() if text is not None}
    if "projection" in told:
        told["projection"] = projection_of(told["projection"])
    parameters = {key: entry_value(key, text) for key, text in given.items()}
    wishes = [_completed(each, told, parameters) for each in series]
    sizes = _sizes(expected or (), [each.called for each in wishes])
    return [with_options(each, sizes.get(each.called), None) for each in wishes]


def _completed(wish: SeriesWish, told: dict[str, Any], parameters: dict[str, Any]) -> SeriesWish:
    missing = {key: value for key, value in told.items() if getattr(wish, key) is None}
    return replace(wish, **missing, parameters={**wish.parameters, **parameters})


def _sizes(expected: Sequence[str], names: list[str]) -> dict[str, int]:
    if len(names) == 1 and len(expected) == 1 and "=" not in expected[0]:
        return {names[0]: size_of(expected[0])}
    return sizes_by_series(expected, names)


def plan_series_budgets(
    wishes: Sequence[SeriesWish], bound_for: BoundFor, budget: str, **options: Any
) -> Budgets:
    """The errors of some series for every total."""
    from graphveil.statistics.statistic import statistic
    from graphveil.steward.beforehand.budgets import read_range, series_budgets, threshold_of

    low, high = read_range(budget)
    bound = [
        bound_for(statistic(each.statistic, **each.parameters), threshold_of(each))
        for each in wishes
    ]
    with working("Planning …"):
        return series_budgets(list(zip(wishes, bound, strict=True)), low, high, **options)


def plan_study_budgets(folder: Path, budget: str, expected: Sequence[str] | None) -> Budgets:
    """The errors of a study's series for every total."""
    from graphveil.steward.beforehand.budgets import read_range, study_budgets
    from graphveil.steward.beforehand.outlook import study_outlook

    low, high = read_range(budget)
    known = [each.series.name for each in study_outlook(folder).series]
    sizes = sizes_by_series(expected, known)
    with working("Planning …"):
        return study_budgets(folder, low, high, sizes)


def show(found: Budgets, *, plot: Path | None, as_json: bool) -> None:
    """Draw the curves if a file is given, and print them."""
    from graphveil.steward.beforehand.plots.budget_plot import write_budgets

    if plot is not None:
        with working("Drawing …"):
            write_budgets(plot, found)
    if as_json:
        print_json(found.as_data())
    else:
        _print(found)


def _print(found: Budgets) -> None:
    from graphveil.noise.exact_numbers import as_text

    print_table(
        f"{found.title}: standard deviation of the noise at the last release, by ε in all",
        ("ε", *(each.name for each in found.budgets[0].series)),
        ((as_text(each.total), *map(_cell, each.series)) for each in found.budgets),
    )
    print(found.how)
    print(UNSPENT)


def _cell(series: SeriesAtPrice) -> str:
    found = series.judgement
    pooled = "*" if series.pool else ""
    return f"{three_digits(series.std)}{pooled}" + (f", {found.word}" if found else "")
