"""`series`, `extend`, `hand-over`, `adopt`: a study goes on: more, longer, or somewhere else."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Drowned,
    Json,
    Minimise,
    Prices,
    Projection,
    StudyFolder,
    accept,
    confirm,
    given_parameters,
    given_prices,
)
from graphveil.cli.output import (
    UNSPENT,
    print_json,
    print_outlooks,
    print_series,
    print_table,
    three_digits,
    working,
)
from graphveil.errors import ParameterError
from graphveil.graph.thresholds import projection_of
from graphveil.steward.requests import SeriesRequest, entry_value, series_data

if TYPE_CHECKING:
    from graphveil.steward.custody import Adoption
    from graphveil.steward.series import Opening, StudyGoingOn


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
        opening = open_series(folder, request, even_too_noisy=True)
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


def extend(
    folder: StudyFolder,
    last: Annotated[
        str | None, typer.Option("--last", metavar="TIME", help="The new last step, such as 2035.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", metavar="N", help="Or how many steps more.")
    ] = None,
    price: Prices = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; it cannot be undone.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what it would cost; change nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Go on past the last step of a study's calendar.

    Most series go on for nothing. Noise that was made for all planned steps together, and noise
    on totals, has a price, which is taken out of what is left of the budget: it is shown first,
    and nothing is paid without a yes. A smaller price means more noise.

    Example: graphveil extend my-study --last 2035
    """
    from graphveil.steward.series import extend as going_on

    wanted = given_prices(price)
    with working("Planning …"):
        planned = going_on(folder, last=last, steps=steps, prices=wanted, dry_run=True)
    if not as_json:
        _show_extension(planned)
    if not dry_run:
        if planned.price != "0" and not yes:
            confirm(f"Pay ε = {planned.price} and go on? It cannot be undone.")
        agreed = {each.name: each.price for each in planned.series if each.price != "0"}
        with working("Extending …"):
            planned = going_on(folder, last=last, steps=steps, prices=wanted | agreed)
    if as_json:
        print_json(planned.as_data())
    elif planned.extended:
        print(f"Extended: the last step is {planned.last} now.")
    else:
        print("Nothing was changed.")


def _show_extension(extension: StudyGoingOn) -> None:
    """What goes on for nothing, what costs how much, and the noise at the new steps."""
    print_table(
        f"From {extension.end} to {extension.last}: predicted standard deviation of the noise",
        ("series", "price, ε", f"at {extension.end}", "first new", f"at {extension.last}"),
        (
            (
                each.name,
                "none" if each.price == "0" else each.price,
                *map(three_digits, (each.last_planned, each.first_new, each.last_new)),
            )
            for each in extension.series
        ),
        text_columns=2,
    )
    if extension.others:
        print(f"Without an end of their own: {', '.join(extension.others)}.")
    print(f"Budget before: {extension.budget_before}.")
    print(f"Budget after:  {extension.budget_after}.")


def hand_over(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="The folder of the study.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="CODE", help="The machine that may go on with the study."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let another machine go on with a study, and this one never again.

    Without a folder, shows the code of this machine. So: show the code on the new machine, hand
    the study over on the old one, and then copy its folder.

    Example: graphveil hand-over my-study --to 0123456789abcdef
    """
    from graphveil.steward import custody

    if folder is None and to is None:
        code = custody.machine_code()
        _tell({"machine": code}, f"This machine: {code}", as_json=as_json)
    elif folder is None or to is None:
        raise ParameterError(
            "to",
            "a folder and the code of a machine belong together",
            hint="Run `graphveil hand-over` without both on the new machine: it shows its code.",
        )
    else:
        custody.hand_over(folder, to)
        message = (
            f"Handed over to {to}: this machine will not go on with the study.\n"
            "Copy its whole folder there now; the first command that is run there takes it."
        )
        _tell({"handed_over_to": to}, message, as_json=as_json)


def _tell(data: dict[str, Any], text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(data)
    else:
        print(text)


def adopt(
    folder: StudyFolder,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; published on page and card.")
    ],
    price: Prices = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; it cannot be undone.")] = False,
    as_json: Json = False,
) -> None:
    """Go on with a study that was copied, moved or restored, with fresh noise from now on.

    What was published stays. All noise that was drawn ahead is thrown away, so that this copy
    shares none with any other. Noise that was made for all steps together, and whose rest cannot
    be drawn anew, has a price, taken out of what is left of the budget. If a study is only moved,
    hand it over instead: that costs nothing.

    Example: graphveil adopt my-study --reason "the old server is lost"
    """
    from graphveil.steward.custody import adoption

    if not yes:
        with working("Planning …"):
            planned = adoption(folder, prices=given_prices(price))
        with redirect_stdout(sys.stderr if as_json else sys.stdout):
            _show_adoption(planned)
        confirm("Adopt this copy? It cannot be undone.")
    with working("Adopting …"):
        done = adoption(folder, reason, given_prices(price))
    if as_json:
        print_json(done.as_data())
        return
    if yes:
        _show_adoption(done)
    print("Adopted: from now on this copy goes on by itself.")


def _show_adoption(adopted: Adoption) -> None:
    """The error before and after, and what it costs if another copy goes on."""
    rows = (
        (
            each.series,
            *map(three_digits, (each.next_before, each.next_after)),
            *map(three_digits, (each.last_before, each.last_after)),
        )
        for each in adopted.changes
    )
    header = ("series", "next release", "adopted", "last release", "adopted")
    print_table("Predicted standard deviation of the noise", header, rows)
    price = f"ε = {adopted.epsilon}" + (f", δ = {adopted.delta}" if adopted.delta else "")
    for each in adopted.changes:
        if each.price != "0":
            print(f"Fresh noise for {each.series} costs ε = {each.price}; less means more noise.")
    if adopted.price != "0":
        print(f"Budget after: {adopted.budget}.")
    print("If no other copy goes on, the guarantee of the study stays as it is.")
    print(f"Each other copy that goes on costs every person up to {price} more.")
