"""How far the cells of a workbook reach, told before they are held.

calamine holds a sheet as a rectangle, from its first cell to its last one, or ends the process
where there is no memory for it. A small file can ask for far more than any machine has: by one cell
in the far corner of a sheet, or, in OpenDocument, by a cell that is repeated. So cells are looked
for first, in the text of the sheets, in bounded memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO
from zipfile import ZipFile

_PIECE = 2**20  # bytes at a time
_LETTERS = re.compile(rb"""r\s*=\s*["']([A-Za-z]{1,9})\d""")
_NUMBERS = re.compile(rb"""r\s*=\s*["'][A-Za-z]{0,9}(\d{1,19})["']""")
_OPENED = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)[\s/>][^>]*")
_REPEATED = re.compile(rb"""table:number-(?:rows|columns)-repeated\s*=\s*["'](\d{1,19})["']""")
_FILLED = re.compile(rb"office:|calcext:|table:formula")


def cells_held(archive: ZipFile) -> int:
    """How many cells the largest sheet of an .xlsx or .ods would take, empty ones included."""
    names = archive.namelist()
    sheets = [n for n in names if n.startswith("xl/worksheets/") and n.endswith(".xml")]
    most = 0
    for name in sheets:
        with archive.open(name) as file:
            most = max(most, _excel_cells(file))
    if "content.xml" in names:
        with archive.open("content.xml") as file:
            most = max(most, _document_cells(file))
    return most


def _excel_cells(file: IO[bytes]) -> int:
    """Rows times columns: each cell says its place, such as XFD1048576."""
    rows = columns = 0
    for piece in _pieces(file):
        rows = max(rows, *map(int, set(_NUMBERS.findall(piece))), 0)
        columns = max(columns, *map(_column, set(_LETTERS.findall(piece))), 0)
    return rows * columns


def _column(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    found = 0
    for letter in letters.upper():
        found = 26 * found + letter - ord("A") + 1
    return found


def _document_cells(file: IO[bytes]) -> int:
    """Of the largest table: rows up to the last that is filled, times the longest of them."""
    most = rows = filled = longest = length = 0
    for kind, times, is_filled in _tags(file):
        if kind == b"table":
            rows = filled = longest = 0
        elif kind == b"table-row":
            rows, length = rows + times, 0
        else:
            length += times
            if is_filled:
                filled, longest = rows, max(longest, length)
        most = max(most, filled * longest)
    return most


def _tags(file: IO[bytes]) -> Iterator[tuple[bytes, int, bool]]:
    """Tables, rows and cells: the kind, how often it is repeated, and whether it is filled."""
    for piece in _pieces(file):
        for found in _OPENED.finditer(piece):
            times = _REPEATED.search(found[0])
            yield found[1], int(times[1]) if times else 1, bool(_FILLED.search(found[0]))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A file piece by piece; no tag lies across two of them."""
    rest = b""
    while read := file.read(_PIECE):
        piece = rest + read
        cut = piece.rfind(b"<") if b"<" in piece else len(piece)
        yield piece[:cut]
        rest = piece[cut:]
    yield rest
