"""Columns of times as people hold them: arrays, pandas columns and Python objects.

All become polars columns. Objects become text that means the same, so that one reader of text
decides what a time is; objects that cannot be a time become text that cannot be read.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from graphveil.deferred import np, pl
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    TimeColumn: TypeAlias = pl.Series | NDArray[Any] | Iterable[object]

UNREADABLE_TEXT = "?"
BEYOND_TEXT = "9" * 20  # a number that no 64-bit integer holds


def as_series(values: TimeColumn) -> pl.Series:
    """A polars column of what may also be an array, a pandas column or Python objects."""
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError("times", "must be a column or a list of times")
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if isinstance(values, np.ndarray):
        return _series_of_array(values)
    return texts_of(values)


def _series_of_array(values: NDArray[Any]) -> pl.Series:
    if values.ndim != 1:
        raise ParameterError("times", "must have one dimension")
    if isinstance(values, np.ma.MaskedArray):
        return texts_of(values.tolist())
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    if values.dtype.kind == "M":
        return _series_of_datetimes(values)
    plain = values.dtype.kind in "iu" or values.dtype in (np.float32, np.float64)
    return pl.Series(values) if plain else texts_of(values.tolist())


def _series_of_datetimes(values: NDArray[np.datetime64]) -> pl.Series:
    """Days stay days; other units take the way of text, which keeps their precision."""
    unit = np.datetime_data(values.dtype)
    if unit in (("D", 1), ("ms", 1), ("us", 1), ("ns", 1)):
        return pl.Series(values)
    texts = pl.Series(np.datetime_as_string(values), dtype=pl.String)
    return texts.set(pl.Series(np.isnat(values)), None)


def texts_of(values: Iterable[object]) -> pl.Series:
    """A column of text that says the same as the given objects."""
    return pl.Series([_text_of(value) for value in values], dtype=pl.String)


def _text_of(value: object) -> str | None:
    """A Python object as the text that means the same; None if it means a missing value."""
    if _is_missing(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a surrogate pair is not text
    if isinstance(value, dt.date):  # datetimes and pandas timestamps are dates, too
        return value.isoformat()
    if isinstance(value, np.datetime64):
        return str(value)
    if isinstance(value, bool):
        return UNREADABLE_TEXT
    if isinstance(value, int | np.integer):
        return str(int(value)) if int(value).bit_length() <= 64 else BEYOND_TEXT
    if isinstance(value, float | np.floating | decimal.Decimal):
        return _text_of_fraction(value)
    return UNREADABLE_TEXT


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64):
        return bool(np.isnat(value))
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def _text_of_fraction(value: float | np.floating[Any] | decimal.Decimal) -> str:
    if value in (math.inf, -math.inf):
        return UNREADABLE_TEXT
    if not -(2**64) < value < 2**64:
        return BEYOND_TEXT
    return str(int(value)) if value == int(value) else UNREADABLE_TEXT
