"""Layout: sentences and tables that fit the screen, broken between words and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import combining, east_asian_width

GAP = "   "
WIDEST = 10**6  # of what is not shown on a screen


def width_of(text: str) -> int:
    """How many places a text takes on a screen."""
    return len(text) if text.isascii() else sum(map(_places, text))


def _places(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def folded(text: str, width: int) -> str:
    """A text whose long lines are broken between words; what follows is indented as its line is."""
    return "\n".join(
        line if width_of(line) <= width else "\n".join(_folded_line(line, width))
        for line in text.split("\n")
    )


def _folded_line(line: str, width: int) -> Iterator[str]:
    blank = " " * (len(line) - len(line.lstrip(" ")))
    first, *others = _lines(line.strip(" "), width - len(blank))
    yield blank + first
    deeper = blank + "  " if blank else ""
    for each in _lines(" ".join(others), width - len(deeper)) if others else ():
        yield deeper + each


def _lines(text: str, width: int) -> list[str]:
    """A text as lines of whole words; a word that is too long has a line of its own."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width_of(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], text_columns: int, width: int = WIDEST
) -> list[str]:
    """The lines of a table; cells are folded where it is too wide, and then it becomes a list.

    Args:
        header: the names of the columns.
        rows: their cells.
        text_columns: how many columns are set flush left; the others are set flush right.
        width: how many places a line may take.
    """
    room = width - 2 - len(GAP) * len(header) + len(GAP) - 2
    widths = _widths([header, *rows], room)
    if widths is None:
        return _listed(header, rows, width)
    across = sum(widths) + len(GAP) * len(widths) + 1
    rule = f" {'─' * (across - 2)} "
    body = (line for row in rows for line in _row(row, widths, text_columns))
    return [" " * across, *_row(header, widths, text_columns), rule, *body, " " * across]


def _widths(lines: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """How wide each column is, the widest one narrowed first; None if no folding is enough."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(width_of, column)) for column in columns]
    least = [
        max(width_of(word) for cell in column for word in cell.split(" ")) for column in columns
    ]
    if sum(least) > room:
        return None
    while sum(widths) > room:
        widest = max(
            (place for place in range(len(widths)) if widths[place] > least[place]),
            key=widths.__getitem__,
        )
        widths[widest] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], text_columns: int) -> Iterator[str]:
    parts = [_lines(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(map(len, parts))):
        line = [part[number] if number < len(part) else "" for part in parts]
        yield f"  {GAP.join(_set(line, widths, text_columns))}  "


def _set(cells: Sequence[str], widths: Sequence[int], text_columns: int) -> Iterator[str]:
    for place, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        blanks = " " * (width - width_of(cell))
        yield cell + blanks if place < text_columns else blanks + cell


def _listed(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each row as a heading with its other cells below it; empty ones are left out."""
    lines = [""]
    for row in rows:
        pairs = zip(header[1:], row[1:], strict=True)
        named = (
            f"  {name}: {cell}" if name else f"  {cell}"
            for name, cell in pairs
            if cell not in ("", "–")
        )
        lines += [line for each in (row[0], *named) for line in folded(each, width).split("\n")]
    return [*lines, ""]
