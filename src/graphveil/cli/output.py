"""Output: tables for people, JSON for programs, and a spinner on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from graphveil.cli.plain_table import plain_table
from graphveil.cli.terminal import one_line, shown_in_json, terminal
from graphveil.cli.verb import is_quiet

if TYPE_CHECKING:
    from rich.console import Console


# A pipe has no width of its own; folding cells there would only hide them from grep.
WIDTH_OF_A_PIPE = 200


def print_json(data: Any) -> None:
    """Print data for programs."""
    print(shown_in_json(json.dumps(data, indent=2, ensure_ascii=False)))


def print_note(text: str) -> None:
    """Tell people something beside the result, on standard error, unless they want it quiet."""
    if not is_quiet():
        print(text, file=sys.stderr)


def console(*, stderr: bool = False, width: int | None = None) -> Console:
    """A terminal that is drawn on; whoever uses it gives it text that is clean already."""
    from rich.console import Console

    stream = terminal(sys.stderr if stderr else sys.stdout)
    drawn = False if stderr and is_quiet() else None  # no bar turns, whatever is at the other end
    return Console(file=stream, width=width, markup=False, highlight=False, force_terminal=drawn)


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1
) -> None:
    """Print a table for people; all but the first columns are numbers, set flush right."""
    names = [one_line(name) for name in header]
    cells = [[one_line(_cell(value)) for value in row] for row in rows]
    plain = None
    if not sys.stdout.isatty():
        plain = plain_table(names, cells, text_columns, WIDTH_OF_A_PIPE)
    if plain is None:
        _draw_table(one_line(title), names, cells, text_columns)
    else:
        print(one_line(title), *plain, sep="\n")


def _draw_table(title: str, header: list[str], rows: list[list[str]], text_columns: int) -> None:
    """Print a table that has to be drawn: for a terminal, folded, or with wide characters."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(header):
        justify: Literal["left", "right"] = "left" if place < text_columns else "right"
        table.add_column(Text(name), justify=justify, no_wrap=place == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    wide = console(width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)
    wide.print(title, style="bold")
    wide.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def three_digits(number: float) -> str:
    """As many digits as mean anything to a reader."""
    from graphveil.planning.usefulness import rounded

    return rounded(number)


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that something is going on; silent unless standard error is a terminal."""
    if not sys.stderr.isatty() or is_quiet():
        yield
        return
    from rich.text import Text

    shown = console(stderr=True)
    with shown.status(Text(one_line(message))):
        yield
