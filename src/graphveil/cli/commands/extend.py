"""`graphveil extend`: a study goes on past the last step that it was planned for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, Prices, StudyFolder, confirm, given_prices
from graphveil.cli.output import print_json, print_table, three_digits, working

if TYPE_CHECKING:
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
        _show(planned)
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


def _show(extension: StudyGoingOn) -> None:
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
