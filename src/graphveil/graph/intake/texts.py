"""Columns of text as bytes: what compiled loops work on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

PIECE = 1 << 16  # texts that one thread works on at a time


class TextBytes(NamedTuple):
    """The bytes of all texts, one after the other.

    Attributes:
        ends: (texts + 1,) where each ends, and so the next begins, from 0 on.
        content: the bytes.
    """

    ends: NDArray[np.int64]
    content: NDArray[np.uint8]

    @classmethod
    def of(cls, texts: pl.Series) -> TextBytes:
        """Those of a column in which nothing is missing."""
        import polars as pl

        lists = texts.cast(pl.Binary).cast(pl.List(pl.UInt8))
        lengths = lists.list.len()
        ends = np.zeros(len(texts) + 1, np.int64)
        np.cumsum(lengths.to_numpy(), out=ends[1:])
        filled = lists if (lengths > 0).all() else lists.filter(lengths > 0)
        content = filled.explode() if len(filled) else pl.Series([], dtype=pl.UInt8)
        return cls(ends, content.to_numpy())


def pieces_of(texts: pl.Series) -> list[tuple[int, pl.Series]]:
    """A column in pieces, each with its first row: their bytes stay in the cache."""
    return [(first, texts.slice(first, PIECE)) for first in range(0, len(texts), PIECE)]
