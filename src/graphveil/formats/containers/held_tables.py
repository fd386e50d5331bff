"""Tables of containers: every cell by itself becomes text, whatever its neighbours are."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.formats.columns.names import listed, plain
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import Held, SourceFile, named_in

if TYPE_CHECKING:
    import polars as pl

BYTES_A_CELL = 16


def library(module: str, extra: str, place: Place) -> ModuleType:
    """A library that comes with an extra, or how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"to read this, the library {module} is needed",
            place=place,
            hint=f"Install it: pip install 'graphveil[{extra}]'.",
        ) from error


def held(
    path: Path, name: str, frame: pl.DataFrame, kind: str, first: int, options: ReadingOptions
) -> SourceFile:
    """A table as a file of its own; rows without any value are no records.

    Args:
        path: where it comes from.
        name: what messages call it.
        frame: its rows, all text.
        kind: what it is, in words.
        first: the user's number of the first row.
        options: what the steward says.
    """
    import polars as pl

    numbers = np.arange(first, first + frame.height, dtype=np.int64)
    if frame.height and frame.width:
        filled = frame.select(
            pl.any_horizontal(pl.all().str.strip_chars().fill_null("") != "")
        ).to_series()
        frame, numbers = frame.filter(filled), numbers[filled.to_numpy()]
    table = Held(frame, kind, numbers)
    return SourceFile(path, name, b"", named=named_in(options), held=table)


def text_columns(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> pl.DataFrame:
    """A frame of text; of two columns with one name the second gets a number."""
    import polars as pl

    texts = [[cell_text(value) for value in column] for column in columns]
    return pl.DataFrame(
        {name: pl.Series(column, dtype=pl.String) for name, column in zip(
            different(names), texts, strict=True)}
    )  # fmt: skip


def different(names: Sequence[str]) -> list[str]:
    """The names, where every one that is there already, or is none, gets a number."""
    found: list[str] = []
    for number, name in enumerate(names, start=1):
        taken = not name.strip() or plain(name) in map(plain, found)
        found.append(f"{name.strip() or 'column'} ({number})" if taken else name)
    return found


def cell_text(value: Any) -> str | None:
    """What one cell says, as text; whole numbers have no point, and dates are ISO."""
    if value is None or value != value:  # NaN and NaT are unlike themselves
        return None
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, dt.date | dt.datetime | np.datetime64):
        text = value.isoformat() if isinstance(value, dt.date) else str(value)
        return text.removesuffix("T00:00:00")
    if isinstance(value, float | np.floating | decimal.Decimal) and math.isfinite(value):
        return str(int(value)) if value == int(value) else str(value)
    return str(value).encode("utf-8", "replace").decode()


def refuse_too_many(cells: int, name: str, options: ReadingOptions) -> None:
    """Refuse a table with more cells than the limit on bytes allows."""
    if cells * BYTES_A_CELL > options.table_bytes:
        from graphveil.formats.source_file import too_large

        raise too_large(name, options.table_bytes)


def no_such_part(kind: str, part: str, known: Sequence[str], name: str) -> InputError:
    """The refusal of a sheet or table that is not there."""
    what = f"there is no {kind} '{part[:40]}'" if part else f"it is not said which {kind} is meant"
    return InputError(
        what, place=Place(name), hint=f"There are: {listed(known)}. Write {name}#NAME."
    )
