"""CSV files, plain or gzipped, with a header row.

Ids are text. Large files that hold plain numbers and nothing else are read as numbers, which
is several times faster and means the same.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.formats.column_names import Wanted, match_columns
from graphveil.graph.records import Table

if TYPE_CHECKING:
    import polars as pl

_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_LONGEST_HEADER = 1 << 16
_HEADER_ROWS = 1
_PLAIN_NUMBER = re.compile(r"-?[0-9]{1,18}")
_SAVE_AS = "Save the file as UTF-8 text with commas between columns and a header row."


def read_csv(path: Path, wanted: Wanted) -> Table:
    """Read the wanted columns of a CSV file."""
    content = _content(path)
    header, first = _first_rows(content, path)
    names = match_columns(header, wanted, path.name)
    frame = _as_numbers(content, header, first, names)
    if frame is None:
        frame = _as_text(content, path, header, names)
    ours = {theirs: name for name, theirs in names.items()}
    return Table(frame.rename(ours), path.name, _HEADER_ROWS + 1, names)


def _content(path: Path) -> Path | bytes:
    """The file itself, or its unpacked bytes."""
    if path.suffix.lower() != ".gz":
        return path
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise InputError(
            "the file cannot be unpacked; it is damaged or not gzip",
            place=Place(path.name),
            mend="Pack it again with gzip.",
        ) from error


def _first_rows(content: Path | bytes, path: Path) -> tuple[list[str], list[str]]:
    """The header and the first row of data."""
    raw = io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
    try:
        with raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
            rows = csv.reader(text)
            header, first = next(rows, []), next(rows, [])
    except UnicodeDecodeError as error:
        raise InputError(
            "the file is not UTF-8 text", place=Place(path.name), mend=_SAVE_AS
        ) from error
    if not any(name.strip() for name in header):
        raise InputError("the file is empty", place=Place(path.name), mend=_SAVE_AS)
    return header, first


def _as_numbers(
    content: Path | bytes, header: list[str], first: list[str], names: dict[str, str]
) -> pl.DataFrame | None:
    """The columns as numbers, or None unless the file holds plain numbers and nothing else."""
    import numpy as np
    import polars as pl

    size = len(content) if isinstance(content, bytes) else content.stat().st_size
    if size < _WORTH_THE_TRY or sorted(header) != sorted(names.values()):
        return None
    if not all(_PLAIN_NUMBER.fullmatch(value) for value in first):
        return None
    from graphveil.formats.plain_numbers import parse_plain_numbers

    if isinstance(content, bytes):
        text = np.frombuffer(content, dtype=np.uint8)
    else:
        text = np.memmap(content, dtype=np.uint8, mode="r")
    body = text[int(np.argmax(text[:_LONGEST_HEADER] == ord("\n"))) + 1 :]
    numbers = parse_plain_numbers(body, len(header))
    return None if numbers is None else pl.DataFrame(dict(zip(header, numbers, strict=True)))


def _as_text(
    content: Path | bytes, path: Path, header: list[str], names: dict[str, str]
) -> pl.DataFrame:
    import polars as pl

    try:
        frame = pl.read_csv(content, columns=list(names.values()), infer_schema=False)
    except pl.exceptions.PolarsError as error:
        raise _what_is_wrong(content, path, header) from error
    return _with_numeric_times(_without_blank_end(frame), names)


def _with_numeric_times(frame: pl.DataFrame, names: dict[str, str]) -> pl.DataFrame:
    """Times that are all plain numbers become numbers, in files of any size."""
    import polars as pl

    time = names.get("time")
    if time is None:
        return frame
    bare = frame[time].str.strip_chars()
    if not bare.str.contains(f"^{_PLAIN_NUMBER.pattern}$").fill_null(True).all():
        return frame
    return frame.with_columns(bare.replace("", None).cast(pl.Int64).alias(time))


def _without_blank_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Blank lines at the end of a file are no records."""
    import polars as pl

    if not frame.height or any(value is not None for value in frame.row(-1)):
        return frame
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    return frame.head(int(filled[-1]) + 1 if len(filled) else 0)


def _what_is_wrong(content: Path | bytes, path: Path, header: list[str]) -> InputError:
    """Read the file once more, slowly, to name the first bad row."""
    raw = io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
    number = 0
    with raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        try:
            for number, row in enumerate(csv.reader(text), start=1):
                if len(row) > len(header):
                    what = f"the row has {len(row)} columns, the header {len(header)}"
                    mend = "Quote values that hold a comma."
                    return InputError(what, place=Place(path.name, number), mend=mend)
        except (UnicodeDecodeError, csv.Error):
            what = "the row cannot be read as UTF-8 text"
            return InputError(what, place=Place(path.name, number + 1), mend=_SAVE_AS)
    return InputError("the file cannot be read as CSV", place=Place(path.name), mend=_SAVE_AS)
