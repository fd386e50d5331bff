"""Text in columns with blanks between them, without a header, with # before comments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import InputError, Place
from graphveil.formats.source_file import HEAD, SourceFile, decoded

if TYPE_CHECKING:
    import polars as pl

_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_BETWEEN = r"(?:\s+,\s+|\s+)"  # a comma counts only where blanks surround it
_COMMENT = "#"
_NEVER_INSIDE = re.compile(r"[,;\"<>{}\[\]]")
_LOOKED_AT = 200


@dataclass(frozen=True)
class Glance:
    """The first lines of a file.

    Attributes:
        rows: the values of each line.
        comments: the lines that begin with #.
    """

    rows: list[list[str]]
    comments: list[str]

    @property
    def width(self) -> int:
        """How many columns every row has; 0 if they differ or there is none."""
        widths = {len(row) for row in self.rows}
        return widths.pop() if len(widths) == 1 else 0


@dataclass(frozen=True, eq=False)
class Spaced:
    """All rows of a file, column by column.

    Attributes:
        columns: numbers or text.
        numbers: the line of each row, counted from 1.
        comments: how many lines were comments, and the first of these lines.
    """

    columns: list[pl.Series]
    numbers: NDArray[np.int64]
    comments: tuple[int, list[int]]


def glance(file: SourceFile) -> Glance | None:
    """The first lines, or None if the file is not of this kind at all."""
    head = file.head
    if len(head) >= HEAD:  # the last line may be cut
        head = head[: head.rfind(b"\n") + 1]
    try:
        lines = [line.strip() for line in decoded(head, file.name).splitlines()]
    except InputError:
        return None
    comments = [line for line in lines if line.startswith(_COMMENT)]
    data = [line for line in lines if line and not line.startswith(_COMMENT)]
    rows = [re.split(_BETWEEN, line) for line in data[:_LOOKED_AT]]
    if not rows or any(_NEVER_INSIDE.search(value) for row in rows for value in row):
        return None
    return Glance(rows, comments)


def read_spaced(file: SourceFile, width: int, most_bytes: int) -> Spaced:
    """All rows of a file with so many columns; refuses a line that has more or fewer."""
    raw = file.whole(most_bytes)
    if len(raw) >= _WORTH_THE_TRY:
        plain = _as_numbers(raw, width)
        if plain is not None:
            return plain
    return _as_text(decoded(raw, file.name), file.name, width)


def _as_numbers(raw: bytes, width: int) -> Spaced | None:
    """The rows as numbers, or None unless all after the first comments are plain numbers."""
    import polars as pl

    from graphveil.formats.tables.plain_numbers import parse_plain_numbers

    start, comments = 0, 0
    while raw.startswith(b"#", start):
        start, comments = raw.find(b"\n", start) + 1, comments + 1
        if start == 0:
            return None
    first_line = raw[start : raw.find(b"\n", start)]
    separator = "\t" if b"\t" in first_line else " "
    numbers = parse_plain_numbers(np.frombuffer(raw, np.uint8)[start:], width, separator)
    if numbers is None:
        return None
    lines = np.arange(comments + 1, comments + 1 + numbers.shape[1])
    return Spaced([pl.Series(column) for column in numbers], lines, (comments, [1][:comments]))


def _as_text(text: str, name: str, width: int) -> Spaced:
    import polars as pl

    lines = pl.Series(text.split("\n"), dtype=pl.String).str.strip_chars()
    comment = lines.str.starts_with(_COMMENT)
    rows = (~comment & (lines != "")).arg_true()
    shape = "^" + _BETWEEN.join([r"(\S+)"] * width) + "$"
    fields = lines.gather(rows).str.extract_groups(shape).struct.unnest()
    wrong = fields.to_series(0).is_null()
    if wrong.any():
        raise InputError(
            f"the line does not have {width} values separated by blanks",
            place=Place(name, int(rows[int(wrong.arg_true()[0])]) + 1),
            hint="Correct the line, or begin it with # if it is a comment.",
        )
    comments = comment.arg_true()
    return Spaced(
        fields.get_columns(),
        rows.to_numpy().astype(np.int64) + 1,
        (len(comments), [int(row) + 1 for row in comments.head(8)]),
    )
