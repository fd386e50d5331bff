"""Header rows: which line has the names of the columns, and what stands between them.

That is the first line, unless it is a title: one value alone that is no name of a column. The
header is then the next line with several values, if one of them is a known name, or was told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graphveil.formats.columns.known_names import is_known
from graphveil.formats.columns.names import plain

SEPARATORS = ",\t;"
_QUOTED = re.compile(r'"[^"]*"')
_MOST_TITLES = 20


def separator_of(line: str) -> str:
    """What stands between the columns of a header."""
    return max(SEPARATORS, key=_QUOTED.sub("", line).count)


def header_line(lines: Sequence[str], told: Sequence[str]) -> int:
    """How many lines stand above the header.

    Args:
        lines: the beginning of a file.
        told: names of columns that the steward named.
    """
    rows = [_cells(line) for line in lines[:_MOST_TITLES]]
    return header_row(rows, told)


def header_row(rows: Sequence[Sequence[str]], told: Sequence[str]) -> int:
    """How many rows of cells stand above the header."""
    names = {plain(name) for name in told}

    def is_name(cell: str) -> bool:
        return is_known(cell) or plain(cell) in names

    for number, row in enumerate(rows):
        filled = [cell for cell in row if cell.strip()]
        if len(filled) > 1:
            return number if not number or any(map(is_name, filled)) else 0
        if any(map(is_name, filled)):
            return number if not number else 0
    return 0


def _cells(line: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.rstrip("\r").split(separator_of(line))]
