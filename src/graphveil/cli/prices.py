"""Prices on the command line: what a steward is ready to pay, and the question before."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout

import typer

from graphveil.errors import ParameterError


def given_prices(given: Sequence[str] | None) -> dict[str, str]:
    """The prices that were typed as NAME=E, by the name of the series."""
    found: dict[str, str] = {}
    for text in given or ():
        name, said, price = text.partition("=")
        if not said or not name or not price:
            raise ParameterError("price", "is written NAME=E, such as clusters=1/4")
        if name in found:
            raise ParameterError("price", f"of series '{name}' is given twice")
        found[name] = price
    return found


def confirm(question: str) -> None:
    """Ask before something that cannot be undone; refuse where nobody can be asked."""
    if not sys.stdin.isatty():
        raise ParameterError("yes", "is needed where nobody can be asked", hint="Give --yes.")
    with redirect_stdout(sys.stderr):  # standard output is for what the command comes to
        typer.confirm(question, abort=True)
