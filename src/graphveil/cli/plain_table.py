"""A table as plain lines, where nothing has to be folded, coloured or measured for width.

Drawn as `rich` draws it, which most commands then need not import.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

GAP = "   "


def plain_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int, width: int
) -> list[str] | None:
    """The lines of a table; None if it is too wide, or has characters that are not one wide.

    Args:
        header: the names of the columns.
        rows: their cells.
        text_columns: how many columns are set flush left; the others are set flush right.
        width: how many characters a line may have.
    """
    lines = [header, *rows]
    if not all(cell.isascii() or _is_one_wide(cell) for line in lines for cell in line):
        return None
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    across = sum(widths) + len(GAP) * len(widths) + 1
    if across > width:
        return None
    head, *body = (f"  {GAP.join(_set(line, widths, text_columns))}  " for line in lines)
    rule = f" {'─' * (across - 2)} "
    return [" " * across, head, rule, *body, " " * across]


def _set(cells: Sequence[str], widths: Sequence[int], text_columns: int) -> list[str]:
    return [
        cell.ljust(width) if place < text_columns else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]


def _is_one_wide(text: str) -> bool:
    """Whether every character takes one place; what is not sure counts as not."""
    return all(
        east_asian_width(each) in ("Na", "N", "A") and not combining(each) and each.isprintable()
        for each in text
    )
