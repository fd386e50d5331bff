"""`graphveil adopt`: a copy of a study goes on by itself, with fresh noise."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json, Prices, StudyFolder, confirm, given_prices
from graphveil.cli.output import print_json, print_table, three_digits, working

if TYPE_CHECKING:
    from graphveil.steward.custody import Adoption


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
            _show(planned)
        confirm("Adopt this copy? It cannot be undone.")
    with working("Adopting …"):
        done = adoption(folder, reason, given_prices(price))
    if as_json:
        print_json(done.as_data())
        return
    if yes:
        _show(done)
    print("Adopted: from now on this copy goes on by itself.")


def _show(adopted: Adoption) -> None:
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
