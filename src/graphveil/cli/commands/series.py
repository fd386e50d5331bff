"""`graphveil series`: the series of a study, and one more, charged to what is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Drowned,
    Json,
    Minimise,
    Projection,
    StudyFolder,
    accept,
    given_parameters,
)
from graphveil.cli.output import UNSPENT, print_json, print_outlooks, print_series, working
from graphveil.errors import ParameterError
from graphveil.graph.thresholds import projection_of
from graphveil.steward.requests import entry_value, series_data

if TYPE_CHECKING:
    from graphveil.steward.requests import SeriesRequest
    from graphveil.steward.series import Opening


def series(
    context: typer.Context,
    folder: StudyFolder,
    opened: Annotated[
        str | None,
        typer.Option(
            "--open",
            metavar="STATISTIC",
            help="Open a series from the next step on; also in the syntax of `graphveil new`.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="Its share of what is left, for all releases."),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Its name.")] = None,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", metavar="NAME", help="Leave out to use the best.")
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", metavar="T", help="Releases, if fewer than the calendar has."),
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="δ", help="Its share of the study's δ.")
    ] = None,
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="SHARE", help="Its share of the study's pool, not an ε."),
    ] = None,
    ratio: Annotated[
        str | None,
        typer.Option(
            "--ratio",
            metavar="'NAME = FORMULA'",
            help="Promise a ratio of series from now on, as `graphveil new` does. It is free.",
        ),
    ] = None,
    projection: Projection = None,
    minimise: Minimise = None,
    expected: Annotated[
        int | None,
        typer.Option("--expected", metavar="N", help="Expected size at the end; public."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why; shown on the card.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the predicted error; open nothing.")
    ] = False,
    yes: Drowned = False,
    as_json: Json = False,
) -> None:
    """List the series of a study, open one more from the next step on, or promise a ratio.

    A series is paid for when it is opened, out of what is left of the budget. Its first
    release counts everything that is there by then. A ratio follows from published numbers, of
    all steps at which they are, and costs nothing; once promised, it stays.

    Example: graphveil series my-study --open triangles --epsilon 1/4 --dry-run
    """
    flags = {
        "name": name, "epsilon": epsilon, "mechanism": mechanism, "horizon": horizon,
        "delta": delta, "pool": pool, "projection": projection, "minimise": minimise,
        "expected": expected, "justification": reason,
    }  # fmt: skip
    given = given_parameters(context)
    parameters = {key: entry_value(key, text) for key, text in given.items()}
    if opened is None:
        _require_nothing([*flags.values(), *parameters.values(), dry_run or None, yes or None])
        if ratio is None:
            _list(folder, as_json=as_json)
        else:
            _promise(folder, ratio, as_json=as_json)
    elif ratio is not None:
        raise ParameterError("ratio", "is promised by itself", hint="Leave --open out.")
    else:
        request = _series_request(opened, _given(flags), parameters)
        _open(folder, request, yes=yes, dry_run=dry_run, as_json=as_json)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _require_nothing(options: list[object]) -> None:
    if any(option is not None for option in options):
        raise ParameterError(
            "series", "these options can only be used with --open", hint="Name a statistic."
        )


def _list(folder: Path, *, as_json: bool) -> None:
    from graphveil.steward.series import series_of

    found = series_of(folder)
    if as_json:
        print_json(found.as_data())
        return
    print_series(found.title, found.series)
    print(f"Budget: {found.budget}.")


def _promise(folder: Path, text: str, *, as_json: bool) -> None:
    """Promise a ratio, and say that it is public."""
    from graphveil.steward.series import promise_ratio
    from graphveil.study.promise_entries import ratio_entry

    promised = promise_ratio(folder, **ratio_entry(text))
    if as_json:
        print_json(promised.model_dump(exclude_none=True))
    else:
        print(f"Promised: {promised.name} = {promised.formula}. It costs nothing.")


def _series_request(text: str, flags: dict[str, Any], parameters: dict[str, Any]) -> SeriesRequest:
    """The series that the line and the options describe together; refuses what is said twice."""
    from graphveil.steward.requests import SeriesRequest

    line = series_data(text)
    for key in (line.keys() & flags.keys()) | (line["parameters"].keys() & parameters.keys()):
        raise ParameterError(key, "is given twice", hint="Leave one out.")
    if "projection" in flags:
        flags["projection"] = projection_of(flags["projection"])
    request = SeriesRequest(**line | flags | {"parameters": line["parameters"] | parameters})
    if request.names_no_share:
        raise ParameterError("epsilon", "is needed to open a series", hint="Give --epsilon E.")
    return request


def _open(folder: Path, request: SeriesRequest, *, yes: bool, dry_run: bool, as_json: bool) -> None:
    """Show what the series would be like, and open it unless this is a dry run."""
    from graphveil.steward.series import open_series

    with working("Planning …"):
        opening = open_series(folder, request, dry_run=True)
    if not dry_run:
        accept([opening.outlook], yes=yes)
        opening = open_series(folder, request, drowned_too=True)
    if as_json:
        print_json(opening.as_data())
    else:
        _print(opening)


def _print(opening: Opening) -> None:
    outlook = opening.outlook
    print_outlooks("Predicted standard deviation of the noise", [outlook])
    if opening.opened:
        print(f"Opened: {outlook.series.name}, from {outlook.first_label} on.")
        print(f"Budget: {opening.budget}.")
    else:
        print(f"It would begin with {outlook.first_label}. {UNSPENT}")
