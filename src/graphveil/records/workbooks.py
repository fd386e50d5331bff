"""Workbooks of Excel and its kin, read by calamine: every sheet is a table.

Each cell states its own type: a date is a cell of type date, whatever is above or below it. A cell
with a plain number is a number, also where others have dates.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from copy import copy
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast
from zipfile import ZipFile

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.hints import Hint
from graphveil.records.columns import plain
from graphveil.records.delimited import header_row
from graphveil.records.held_tables import (
    EXACT,
    different,
    held,
    library,
    no_such_part,
    refuse_too_many,
)
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import DAMAGED, ZIP, Ceiling, SourceFile, too_large

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# How far the cells of a workbook reach, checked before they are loaded.
#
# calamine holds a sheet as a rectangle, from its first cell to its last one, or ends the process
# where there is no memory for it. A small file can ask for far more than any machine has: by one
# cell in the far corner of a sheet, or, in OpenDocument, by a cell that is repeated. So cells
# are looked for first, in the text of the sheets, or in the records of a binary one, in bounded
# memory.


_PIECE = 2**20  # bytes at a time
_LETTERS = re.compile(rb"""r\s*=\s*["']([A-Za-z]{1,9})\d""")
_NUMBERS = re.compile(rb"""r\s*=\s*["'][A-Za-z]{0,9}(\d{1,19})["']""")
_OPENED = re.compile(rb"<table:(table|table-row|table-cell|covered-table-cell)[\s/>][^>]*")
_REPEATED = re.compile(rb"""table:number-(?:rows|columns)-repeated\s*=\s*["'](\d{1,19})["']""")
_FILLED = re.compile(rb"office:|calcext:|table:formula")
_ROW, _CELLS = 0, range(2, 12)  # records of .xlsb: a row begins; cells that are filled


def cells_held(archive: ZipFile) -> int:
    """How many cells the largest sheet of a workbook would take, empty ones included."""
    most = 0
    for name in archive.namelist():
        if cells := _counted_by(name):
            with archive.open(name) as file:
                most = max(most, cells(file))
    return most


def unpacked_size(archive: ZipFile, most: int) -> int:
    """How many bytes all members unpack to, whatever the archive says of them.

    Counting stops once there are more than `most`.
    """
    size = 0
    for each in archive.infolist():
        member = copy(each)
        member.file_size = 1 << 62  # else reading would end where the archive says
        with archive.open(member) as file:
            while size <= most and (piece := file.read(_PIECE)):
                size += len(piece)
    return size


def _counted_by(name: str) -> Callable[[IO[bytes]], int] | None:
    """How the cells of a member are counted, if it is a sheet: of .ods, .xlsx or .xlsb."""
    if name == "content.xml":
        return _document_cells
    if not name.startswith("xl/worksheets/"):
        return None
    return {"xml": _excel_cells, "bin": _binary_cells}.get(name.rpartition(".")[2])


def _excel_cells(file: IO[bytes]) -> int:
    """Rows times columns: each cell says its place, such as XFD1048576."""
    rows = columns = 0
    for piece in _pieces(file):
        rows = max(rows, *map(int, set(_NUMBERS.findall(piece))), 0)
        columns = max(columns, *map(_column, set(_LETTERS.findall(piece))), 0)
    return rows * columns


def _column(letters: bytes) -> int:
    """A is 1, Z is 26, AA is 27."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + letter - ord("A") + 1
    return number


def _binary_cells(file: IO[bytes]) -> int:
    """Rows times columns: a row says its number, and each cell of it says its column."""
    row = rows = columns = 0
    for kind, number in _records(file):
        if kind == _ROW:
            row = number + 1
        elif kind in _CELLS:
            rows, columns = max(rows, row), max(columns, number + 1)
    return rows * columns


def _records(file: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Records of a binary sheet: the kind of each, and the number that its content begins with."""
    buffered = BufferedReader(cast(RawIOBase, file), _PIECE)
    while (kind := _packed(buffered, 2)) is not None:
        content = buffered.read(_packed(buffered, 4) or 0)
        yield kind, int.from_bytes(content[:4], "little")


def _packed(file: BufferedReader[RawIOBase], most: int) -> int | None:
    """A number in at most so many bytes, seven bits in each; None where the file ends."""
    number = None
    for place in range(most):
        if not (read := file.read(1)):
            break
        number = (number or 0) + ((read[0] & 127) << 7 * place)
        if read[0] < 128:
            break
    return number


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
        for match in _OPENED.finditer(piece):
            times = _REPEATED.search(match[0])
            yield match[1], int(times[1]) if times else 1, bool(_FILLED.search(match[0]))


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A file piece by piece; no tag lies across two of them."""
    rest = b""
    while read := file.read(_PIECE):
        piece = rest + read
        cut = piece.rfind(b"<") if b"<" in piece else len(piece)
        yield piece[:cut]
        rest = piece[cut:]
    yield rest


_OLE = bytes.fromhex("d0cf11e0a1b11ae1")  # of .xls
_MEMBERS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")  # .xlsx, .xlsb, .ods
_LOOKED_AT = 20
_BYTES_HELD = 128  # of a cell, empty or not, while a sheet is read


def is_workbook(path: Path) -> bool:
    """Whether a file is a workbook, by its content."""
    try:
        with path.open("rb") as file:
            head = file.read(len(_OLE))
        if head.startswith(ZIP):
            with zipfile.ZipFile(path) as archive:
                return any(member in archive.namelist() for member in _MEMBERS)
    except DAMAGED:
        return False
    return head == _OLE


def sheets_of(
    path: Path, part: str, name: str, options: ReadingOptions, ceiling: Ceiling
) -> list[SourceFile]:
    """The sheet of a name, or every sheet that is not empty."""
    fastexcel = library("fastexcel", "excel", Place(name))
    try:
        _refuse_large(path, name, options)
        book = fastexcel.read_excel(path)
        known = [sheet for sheet in book.sheet_names if not part or plain(sheet) == plain(part)]
        if not known:
            raise no_such_part("sheet", part, book.sheet_names, name)
        tables = [_sheet(path, book, sheet, name, options, ceiling) for sheet in known]
    except (fastexcel.FastExcelError, *DAMAGED) as error:
        raise InputError(
            "the file cannot be read as a workbook; it is damaged or locked",
            place=Place(name),
            hint="Save it again without a password, or save its sheets as CSV.",
        ) from error
    filled = [sheet for sheet in tables if sheet is not None]
    if not filled:
        raise InputError("the sheets are empty", place=Place(name), hint="Check the file.")
    return filled


def _refuse_large(path: Path, name: str, options: ReadingOptions) -> None:
    """Refuse a workbook that would unpack, or reach, to more than the limit."""
    if not zipfile.is_zipfile(path):
        return _refuse_bytes(path.stat().st_size, name, options)
    with zipfile.ZipFile(path) as archive:
        _refuse_bytes(unpacked_size(archive, options.table_bytes), name, options)
        if _BYTES_HELD * cells_held(archive) > options.table_bytes:
            raise InputError(
                "a sheet reaches so far down and to the right that it cannot be held",
                place=Place(name),
                hint=Hint("limit-sheet"),
            )
    return None


def _refuse_bytes(size: int, name: str, options: ReadingOptions) -> None:
    if size > options.table_bytes:
        raise too_large(name, options.table_bytes)


def _sheet(
    path: Path, book: Any, sheet: str, name: str, options: ReadingOptions, ceiling: Ceiling
) -> SourceFile | None:
    frame = book.load_sheet(sheet, header_row=None, dtypes="string").to_polars()
    if frame.is_empty():
        return None
    own = f"{name}#{sheet}"
    refuse_too_many(frame.height * frame.width, own, options)
    ceiling.take(int(frame.estimated_size()), own)
    rows = [[cell or "" for cell in row] for row in frame.head(_LOOKED_AT).rows()]
    given = [each for each in (options.id, options.source, options.target) if each]
    above = header_row(rows, given)
    names = different(rows[above])
    inexact = {
        names[place]: found[above + 1 :] for place, found in _inexact(book, sheet, frame).items()
    }
    frame.columns = names
    below, kind = frame.slice(above + 1), f"the sheet '{sheet}'"
    return held(path, own, below, kind, above + 2, options, ceiling, inexact, rows[above])


def _inexact(book: Any, sheet: str, frame: pl.DataFrame) -> dict[int, NDArray[np.bool_]]:
    """The columns with cells that are large numbers, not text, and which cells these are."""
    found = {}
    for place, column in enumerate(frame.get_columns()):
        large = column.cast(pl.Float64, strict=False).abs() >= EXACT
        if large.any():
            # Asked whether it is true, a number answers, and text does not.
            loaded = book.load_sheet(
                sheet, header_row=None, use_columns=[place], dtypes="boolean"
            ).to_polars()
            found[place] = (large & loaded.to_series().is_not_null()).fill_null(False).to_numpy()
    return {place: rows for place, rows in found.items() if rows.any()}
