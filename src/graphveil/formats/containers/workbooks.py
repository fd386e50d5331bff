"""Workbooks of Excel and its kin, read by calamine: every sheet is a table.

Each cell says what it is: dates are cells of dates, whatever stands above or below them. A cell
with a plain number is a number, also where others have dates.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import plain
from graphveil.formats.containers.held_tables import (
    EXACT,
    different,
    held,
    library,
    no_such_part,
    refuse_too_many,
)
from graphveil.formats.containers.sheet_sizes import cells_held, unpacked_size
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import DAMAGED, ZIP, Ceiling, SourceFile, too_large
from graphveil.formats.tables.headers import header_row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

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
        found = [_sheet(path, book, sheet, name, options, ceiling) for sheet in known]
    except (fastexcel.FastExcelError, *DAMAGED) as error:
        raise InputError(
            "the file cannot be read as a workbook; it is damaged or locked",
            place=Place(name),
            hint="Save it again without a password, or save its sheets as CSV.",
        ) from error
    filled = [sheet for sheet in found if sheet is not None]
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
                hint="Remove what stands far from the table, save its sheet as CSV, or raise "
                "--limit (in Python: most_bytes=).",
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
    told = [each for each in (options.id, options.source, options.target) if each]
    above = header_row(rows, told)
    names = different(rows[above])
    inexact = {
        names[place]: found[above + 1 :] for place, found in _inexact(book, sheet, frame).items()
    }
    frame.columns = names
    below, kind = frame.slice(above + 1), f"the sheet '{sheet}'"
    return held(path, own, below, kind, above + 2, options, ceiling, inexact)


def _inexact(book: Any, sheet: str, frame: pl.DataFrame) -> dict[int, NDArray[np.bool_]]:
    """The columns with cells that are large numbers, not text, and which cells these are."""
    import polars as pl

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
