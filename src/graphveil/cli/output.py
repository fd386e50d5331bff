"""Output: tables for people, JSON for programs, and a spinner on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal


def print_json(data: Any) -> None:
    """Print data for programs."""
    print(json.dumps(data, indent=2, ensure_ascii=False))


def print_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[object]], *, text_columns: int = 1
) -> None:
    """Print a table for people; all but the first columns are numbers, set flush right."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(header):
        justify: Literal["left", "right"] = "left" if place < text_columns else "right"
        table.add_column(name, justify=justify, no_wrap=place == 0)
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    # A pipe has no width of its own; folding cells there would only hide them from grep.
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(title, style="bold", highlight=False, markup=False)
    console.print(table)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def three_digits(number: float) -> str:
    """As many digits as mean anything to a reader."""
    return f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that something is going on; silent unless standard error is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(message):
        yield
