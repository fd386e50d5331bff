"""CSV files, plain or gzipped, with a header row; also with tabs or semicolons for commas.

Ids are text. Large files that hold plain numbers and nothing else are read as numbers, which
is several times faster and means the same.
"""

from __future__ import annotations

import csv
import io
import mmap
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import Wanted, match_columns
from graphveil.formats.options import DEFAULTS
from graphveil.formats.source_file import HEAD, SourceFile
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_HEADER_ROWS = 1
_SEPARATORS = ",\t;"
_QUOTED = re.compile(r'"[^"]*"')
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SAVE_AS = "Save the file as UTF-8 text with commas between columns and a header row."


@dataclass(frozen=True)
class Beginning:
    """The first lines of a delimited file.

    Attributes:
        names: the header row.
        rows: the rows after it, as far as they were looked at.
        separator: what stands between columns.
    """

    names: list[str]
    rows: list[list[str]]
    separator: str


def beginning(file: SourceFile) -> Beginning:
    """The header and some rows of a file; refuses an empty one.

    Bytes that are no text are replaced here; whoever reads all rows refuses them by row.
    """
    head = file.head
    if len(head) >= HEAD:  # the last line may be cut
        head = head[: head.rfind(b"\n") + 1]
    text = head.decode("utf-8-sig", errors="replace")
    unquoted = _QUOTED.sub("", text.partition("\n")[0])
    separator = max(_SEPARATORS, key=unquoted.count)
    header, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)) or [[]]
    if not any(name.strip() for name in header):
        raise InputError("the file is empty", place=Place(file.name), hint=_SAVE_AS)
    return Beginning(header, rows, separator)


def read_csv(path: Path, wanted: Wanted) -> Table:
    """Read the wanted columns of a CSV file."""
    file = SourceFile.found(path, path.name)
    names = match_columns(beginning(file).names, wanted, file.name)
    return read_columns(file, names, DEFAULTS.table_bytes)


def read_columns(file: SourceFile, names: dict[str, str], most_bytes: int) -> Table:
    """Read columns of a delimited file.

    Args:
        file: the file.
        names: the user's name for each of the columns, by ours.
        most_bytes: the largest file to read.
    """
    content = file.content(most_bytes)
    start = beginning(file)
    frame = _as_numbers(content, start, names)
    if frame is None:
        frame = _as_text(content, file.name, start, names)
    chosen = frame.select(frame[theirs].alias(ours) for ours, theirs in names.items())
    return Table(chosen, file.name, _HEADER_ROWS + 1, names)


def _as_numbers(
    content: Path | bytes, start: Beginning, names: dict[str, str]
) -> pl.DataFrame | None:
    """The columns as numbers, or None unless the file holds plain numbers and nothing else."""
    import numpy as np
    import polars as pl

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size < _WORTH_THE_TRY or sorted(start.names) != sorted(names.values()):
        return None
    if not start.rows or not all(_PLAIN_NUMBER.fullmatch(value) for value in start.rows[0]):
        return None
    from graphveil.formats.plain_numbers import parse_plain_numbers

    if isinstance(content, bytes):
        text = np.frombuffer(content, dtype=np.uint8)
    else:
        text = np.memmap(content, dtype=np.uint8, mode="r")
    body = text[int(np.argmax(text[:HEAD] == ord("\n"))) + 1 :]
    numbers = parse_plain_numbers(body, len(start.names), start.separator)
    return None if numbers is None else pl.DataFrame(dict(zip(start.names, numbers, strict=True)))


def _as_text(
    content: Path | bytes, name: str, start: Beginning, names: dict[str, str]
) -> pl.DataFrame:
    import polars as pl

    _refuse_nul(content, name)
    columns = list(dict.fromkeys(names.values()))
    try:
        frame = pl.read_csv(
            content, columns=columns, infer_schema=False, separator=start.separator, glob=False
        )
    except pl.exceptions.PolarsError as error:
        raise _what_is_wrong(content, name, start) from error
    return _with_numeric_times(_without_blank_end(frame), names)


def _refuse_nul(content: Path | bytes, name: str) -> None:
    if isinstance(content, bytes):
        _refuse_nul_at(content.find(b"\0"), content, name)
        return
    with content.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        at = view.find(b"\0")
        _refuse_nul_at(at, view[: max(at, 0)], name)


def _refuse_nul_at(at: int, before: bytes, name: str) -> None:
    if at >= 0:
        raise _not_text(name, before.count(b"\n", 0, at) + 1)


def _with_numeric_times(frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Times that are all plain numbers become numbers, in files of any size."""
    time = names.get("time")
    return frame if time is None else frame.with_columns(numeric_if_plain(frame[time]))


def numeric_if_plain(times: pl.Series) -> pl.Series:
    """A column of text as whole numbers, if it holds nothing else."""
    import polars as pl

    bare = times.str.strip_chars()
    if not bare.str.contains(f"^{_PLAIN_NUMBER.pattern}$").fill_null(True).all():
        return times
    return bare.replace("", None).cast(pl.Int64)


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Blank lines at the end of a file are no records."""
    import polars as pl

    if not frame.height or any(value is not None for value in frame.row(-1)):
        return frame
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return frame.head(int(filled[-1]) + 1 if len(filled) else 0)


def _what_is_wrong(content: Path | bytes, name: str, start: Beginning) -> InputError:
    """Read the file once more, slowly, to name the first bad row."""
    raw = io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
    width, number = len(start.names), 0
    escaping = "surrogateescape"
    with raw, io.TextIOWrapper(raw, encoding="utf-8-sig", errors=escaping, newline="") as text:
        try:
            for number, row in enumerate(csv.reader(text, delimiter=start.separator), start=1):
                "".join(row).encode()  # what was no UTF-8 cannot be written as such
                if len(row) > width:
                    what = f"the row has {len(row)} columns, the header {width}"
                    hint = "Quote values that hold a comma."
                    return InputError(what, place=Place(name, number), hint=hint)
        except UnicodeEncodeError:
            return _not_text(name, number)
        except csv.Error:
            return _not_text(name, number + 1)
    return InputError("the file cannot be read as CSV", place=Place(name), hint=_SAVE_AS)


def _not_text(name: str, row: int) -> InputError:
    what = "the row cannot be read as UTF-8 text"
    return InputError(what, place=Place(name, row), hint=_SAVE_AS)
