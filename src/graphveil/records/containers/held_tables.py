"""Tables of containers: every cell by itself becomes text, whatever its neighbours are."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, Place, installing
from graphveil.records.columns import listed, plain
from graphveil.records.memory import is_missing
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import Ceiling, Held, SourceFile, named_in

if TYPE_CHECKING:
    import polars as pl

Texts: TypeAlias = "tuple[pl.DataFrame, dict[str, NDArray[np.bool_]]]"
BYTES_A_CELL = 16
EXACT = 2**53  # up to which distinct whole numbers are distinct floating-point numbers
_EXACT: Mapping[str, NDArray[np.bool_]] = MappingProxyType({})


def library(module: str, extra: str, place: Place) -> ModuleType:
    """A library that comes with an extra, or how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(
            f"to read this, the library {module} is needed",
            place=place,
            hint=f"Install it: {installing(extra)}",
        ) from error


def held(
    path: Path,
    name: str,
    frame: pl.DataFrame,
    kind: str,
    first: int,
    options: ReadingOptions,
    ceiling: Ceiling,
    inexact: Mapping[str, NDArray[np.bool_]] = _EXACT,
    header: Sequence[str] = (),
) -> SourceFile:
    """A table as a file of its own; rows without any value are no records.

    Args:
        path: where it comes from.
        name: what messages call it.
        frame: its rows, all text.
        kind: what it is, in words.
        first: the user's number of the first row.
        options: what the steward says.
        ceiling: on the memory that it takes, with all others that are read with it.
        inexact: see `Held`.
        header: the names of its columns before those that are alike were told apart.
    """
    import polars as pl

    numbers = np.arange(first, first + frame.height, dtype=np.int64)
    if frame.height and frame.width:
        filled = frame.select(
            pl.any_horizontal(pl.all().str.strip_chars().fill_null("") != "")
        ).to_series()
        frame, numbers = frame.filter(filled), numbers[filled.to_numpy()]
        inexact = {column: rows[filled.to_numpy()] for column, rows in inexact.items()}
    table = Held(frame, kind, numbers, inexact, tuple(header) or tuple(frame.columns))
    return SourceFile(path, name, b"", named=named_in(options), held=table, ceiling=ceiling)


def text_columns(names: Sequence[str], columns: Iterable[Sequence[Any]]) -> Texts:
    """A frame of text, and the cells that are inexact numbers, of columns that have some.

    Of two columns with one name the second gets a number.
    """
    import polars as pl

    texts, inexact = {}, {}
    for name, column in zip(different(names), columns, strict=True):
        texts[name] = pl.Series([cell_text(value) for value in column], dtype=pl.String)
        inexact[name] = np.array([_is_inexact(value) for value in column], dtype=np.bool_)
    return pl.DataFrame(texts), {name: rows for name, rows in inexact.items() if rows.any()}


def _is_inexact(value: Any) -> bool:
    """Whether a number is so large that its neighbours are stored alike."""
    return isinstance(value, float | np.floating) and EXACT <= abs(float(value)) < math.inf


def different(names: Sequence[str]) -> list[str]:
    """The names, where every one that is there already, or is none, gets a number."""
    found: list[str] = []
    known: set[str] = set()
    for number, name in enumerate(names, start=1):
        taken = not name.strip() or plain(name) in known
        found.append(f"{name.strip() or 'column'} ({number})" if taken else name)
        known.add(plain(found[-1]))
    return found


def cell_text(value: Any) -> str | None:
    """What one cell says, as text; whole numbers have no point, and dates are ISO."""
    if is_missing(value):
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
        from graphveil.records.source_file import too_large

        raise too_large(name, options.table_bytes)


def no_such_part(kind: str, part: str, known: Sequence[str], name: str) -> InputError:
    """The refusal of a sheet or table that is not there."""
    what = f"there is no {kind} '{part[:40]}'" if part else f"it is not said which {kind} is meant"
    return InputError(
        what, place=Place(name), hint=f"There are: {listed(known)}. Write {name}#NAME."
    )
