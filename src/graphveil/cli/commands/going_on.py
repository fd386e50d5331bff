"""`extend`, `hand-over`, `adopt`: a study goes on, past its end or somewhere else."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, Prices, StudyFolder, confirm, given_prices
from graphveil.cli.output import print_json, print_table, three_digits, working
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.custody import Adoption
    from graphveil.steward.series import StudyGoingOn


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
