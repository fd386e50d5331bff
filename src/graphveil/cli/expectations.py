"""What is expected of series, on the command line: sizes and weights, and a yes to drowned ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.steward.beforehand.outlook import Outlook
    from graphveil.steward.beforehand.wishes import SeriesWish

SIZE = "expected size of "  # what the answer for a series is called
Expected = Annotated[
    list[str] | None,
    typer.Option(
        "--expected",
        metavar="SERIES=N",
        help="How large a series will be at the end, by public knowledge; may be repeated.",
    ),
]
Weights = Annotated[
    list[str] | None,
    typer.Option(
        "--weight",
        metavar="SERIES=W",
        help="How much a series without @E matters against the others; 1 unless said.",
    ),
]
Drowned = Annotated[bool, typer.Option("--yes", help="Take series that noise will drown, too.")]


def by_series(option: str, given: Sequence[str] | None, known: Sequence[str]) -> dict[str, str]:
    """What was typed as SERIES=VALUE, by series; refuses what names none, or one twice."""
    found: dict[str, str] = {}
    for text in given or ():
        name, _, value = text.replace(" ", "").partition("=")
        if name not in known or not value:
            problem = f"'{text[:80]}' is not of the form SERIES=N"
            raise ParameterError(option, problem, hint=f"Series: {', '.join(known)[:120]}.")
        if name in found:
            raise ParameterError(option, f"of series '{name}' is given twice")
        found[name] = value
    return found


def size_of(text: str) -> int:
    """An expected size from its text."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ParameterError("expected", f"must be a whole number, not '{text[:40]}'")
    return int(text)


def sizes_by_series(given: Sequence[str] | None, known: Sequence[str]) -> dict[str, int]:
    """The expected sizes that were typed as SERIES=N."""
    return {name: size_of(text) for name, text in by_series("expected", given, known).items()}


def with_options(series: SeriesWish, size: int | None, weight: str | None) -> SeriesWish:
    """The series with what was given apart from its line; refuses what is said twice."""
    for option, here in (("expected", size), ("weight", weight)):
        if here is not None and getattr(series, option) is not None:
            raise ParameterError(option, f"of series '{series.called}' is given twice")
    return replace(
        series,
        expected=series.expected if size is None else size,
        weight=series.weight if weight is None else weight,
    )


def guessed(given: Sequence[str] | None) -> dict[str, str | None]:
    """What was typed as SERIES=N as answers to the questions for sizes, checked later."""
    pairs = (text.replace(" ", "").partition("=") for text in given or ())
    return {SIZE + name: size for name, _, size in pairs}


def answered_sizes(answers: Mapping[str, str], series: Sequence[str]) -> dict[str, int]:
    """The sizes that were typed at the terminal; series without a guess have none."""
    texts = {name: answers.get(SIZE + name) for name in series}
    return {name: size_of(text) for name, text in texts.items() if text}


def accept(outlooks: Sequence[Outlook], *, yes: bool) -> None:
    """Ask whether drowned series shall be begun all the same; refuse where nobody can be asked."""
    from graphveil.cli.questions import at_a_terminal
    from graphveil.steward.beforehand.drowning import drowned, require_useful

    found = drowned(outlooks)
    if yes or not found:
        return
    if not at_a_terminal():
        require_useful(outlooks)
    for each in found:
        typer.echo(f"Series {each}.", err=True)
    typer.confirm("The noise will drown it. Go on all the same?", abort=True, err=True)
