"""`graphveil series`: the series of a study, and one more, charged to what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, K, StudyFolder, Tau
from graphveil.errors import ParameterError, StudyError

if TYPE_CHECKING:
    from graphveil.cli.predicted import Outlook
    from graphveil.study import Study


def series(
    folder: StudyFolder,
    opened: Annotated[
        str | None,
        typer.Option(
            "--open",
            metavar="STATISTIC",
            help="Open a series from the next step on; also as `graphveil new --series` has it.",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="Its share of what is left, for all releases."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="What it is called.")
    ] = None,
    tau: Tau = None,
    k: K = None,
    pattern: Annotated[
        str | None,
        typer.Option("--pattern", metavar="EDGES", help='Edges of a pattern: "a-b,b-c".'),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", metavar="NAME", help="Leave out for the best.")
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", metavar="T", help="Releases, if fewer than the calendar has."),
    ] = None,
    delta: Annotated[
        str | None, typer.Option("--delta", metavar="δ", help="Its share of the study's δ.")
    ] = None,
    projection: Annotated[
        str | None,
        typer.Option("--projection", metavar="D|IxO", help="Of a mechanism that projects."),
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", metavar="TEXT", help="Why; the card states it.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the predicted error; open nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List the series of a study, or open one more from the next step on.

    A series is paid for when it is opened, out of what is left of the budget. Its first
    release counts everything that is there by then.

    Example: graphveil series my-study --open triangles --epsilon 1/4 --dry-run
    """
    from graphveil.study import Study

    study = Study.at(folder)
    flags = {
        "name": name, "epsilon": epsilon, "mechanism": mechanism, "horizon": horizon,
        "delta": delta, "projection": projection, "justification": reason,
    }  # fmt: skip
    parameters = {"tau": tau, "k": k, "pattern": pattern}
    if opened is None:
        _require_nothing([*flags.values(), *parameters.values(), dry_run or None])
        _list(study, as_json=as_json)
        return
    wished = _wished(opened, _given(flags), _given(parameters))
    _open(study, wished, dry_run=dry_run, as_json=as_json)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _require_nothing(options: list[object]) -> None:
    if any(option is not None for option in options):
        raise ParameterError("series", "these options go with --open", hint="Name a statistic.")


def _list(study: Study, *, as_json: bool) -> None:
    from graphveil.cli.commands.status import budget_words, found_budget, found_series, print_series
    from graphveil.cli.output import print_json

    promise, ledger = study.promise(), study.ledger()
    rows, budget = found_series(promise, ledger), found_budget(promise)
    if as_json:
        print_json({"series": rows, "budget": budget})
        return
    print_series(promise.title, rows)
    print(f"Budget: {budget_words(budget)}.")


def _wished(text: str, flags: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The series that the line and the options describe together; refuses what is said twice."""
    from graphveil.cli.series_syntax import named, projection, series_data

    line = series_data(text)
    for key in (line.keys() & flags.keys()) | (line["parameters"].keys() & parameters.keys()):
        raise ParameterError(key, "is given twice", hint="Leave one out.")
    if "projection" in flags:
        flags["projection"] = projection(flags["projection"])
    wished = line | flags | {"parameters": line["parameters"] | parameters}
    if "epsilon" not in wished:
        raise ParameterError("epsilon", "is needed to open a series", hint="Give --epsilon E.")
    return named(wished)


def _open(study: Study, wished: dict[str, Any], *, dry_run: bool, as_json: bool) -> None:
    """Show what the series would be like, and open it unless this is a dry run."""
    from graphveil.cli.output import working
    from graphveil.cli.public_folder import write_report

    with working("Planning …"):
        outlook = _outlook(study, wished)
    if not dry_run:
        study.open_series(outlook.promise)
        if study.ledger().sealed:  # before that, there is no report to bring up to date
            write_report(study.folder.public)
    _print(outlook, dry_run=dry_run, as_json=as_json)


def _outlook(study: Study, wished: dict[str, Any]) -> Outlook:
    """The series as it would be opened; refuses a name that is taken, and overspending."""
    from graphveil.cli.drafting import checked, settled_series
    from graphveil.cli.predicted import Outlook
    from graphveil.study import opening

    ledger = study.ledger()
    if not ledger.is_open:
        raise StudyError(
            "this study is a draft, of which nothing is promised yet: write the series into "
            "public/study.toml."
        )
    before, step = study.promise(ledger), len(ledger.sealed)
    wish = checked(before.to_data() | {"series": [wished]}, "the new series").series[0]
    grown = opening.require_possible(before, wish)
    return Outlook(grown, settled_series(grown, grown.series[-1], step), step)


def _print(outlook: Outlook, *, dry_run: bool, as_json: bool) -> None:
    from graphveil.cli.commands.status import budget_words, found_budget
    from graphveil.cli.output import print_json
    from graphveil.cli.predicted import UNSPENT, print_outlooks

    if as_json:
        print_json(outlook.as_data() | {"opened": not dry_run})
        return
    print_outlooks("Predicted standard deviation of the noise", [outlook])
    label = outlook.study.steps().label(outlook.first_step)
    if dry_run:
        print(f"It would begin with {label}. {UNSPENT}")
    else:
        print(f"Opened: {outlook.promise.name}, from {label} on.")
        print(f"Budget: {budget_words(found_budget(outlook.study))}.")
