"""Text in columns with blanks between them, without a header, with # before comments."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from graphveil.deferred import pl
from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Table, Violation
from graphveil.records.delimited import NOT_TEXT, TOO_NARROW, BadLines, is_text, with_unread
from graphveil.records.format import Claimed, Note
from graphveil.records.source_file import HEAD, SourceFile, decoded

_WORTH_THE_TRY = 1 << 20  # bytes; below, reading text takes no time
_PART = 1 << 26  # characters that become lines at a time
_BETWEEN = r"(?:\s+,\s+|\s+)"  # a comma counts only where blanks surround it
_COMMENT = "#"
_NEVER_INSIDE = r"[,;\"<>{}\[\]]"


@dataclass(frozen=True)
class FirstLines:
    """The beginning of a file; all other lines have to be like the first, or are refused.

    Attributes:
        first: the values of the first line that is no comment; none if there is no such line.
        comments: the lines before it, which begin with #.
        others: the lines after it, as far as they were looked at.
    """

    first: list[str]
    comments: list[str]
    others: list[str] = field(default_factory=list, repr=False)

    @property
    def width(self) -> int:
        """How many columns there are."""
        return len(self.first)

    def insisted_on(self, width: int) -> FirstLines:
        """The same where the format is given: begins at the first line of this width, if any."""
        if self.width in (0, width):
            return self
        lines = (re.split(_BETWEEN, line) for line in self.others if not line.startswith(_COMMENT))
        return replace(self, first=next((line for line in lines if len(line) == width), self.first))


@dataclass(frozen=True, eq=False)
class Spaced:
    """All rows of a file, column by column.

    Attributes:
        columns: numbers or text.
        numbers: the line of each row, counted from 1.
        comments: how many lines were comments, and the first of these lines.
        bad: the lines that cannot be read.
    """

    columns: list[pl.Series]
    numbers: NDArray[np.int64]
    comments: tuple[int, list[int]]
    bad: BadLines = field(default_factory=dict)

    def table(self, names: Sequence[str], source: str, *violations: Violation) -> Table:
        """The rows under our names, some of which break a rule, and the lines that are none."""
        frame = pl.DataFrame(dict(zip(names, self.columns, strict=True)))
        whole = Table(frame, source, numbers=self.numbers).marked(*violations)
        return with_unread(whole, self.bad)


def first_lines(file: SourceFile) -> FirstLines | None:
    """The beginning, or None if the file is not of this kind at all."""
    head = file.head
    if len(head) >= HEAD:  # the last line may be cut
        head = head[: head.rfind(b"\n") + 1]
    try:
        lines = [line.strip() for line in decoded(head, file.name).split("\n")]
    except InputError:
        return None
    comments = list(takewhile(lambda line: not line or line.startswith(_COMMENT), lines))
    first = re.split(_BETWEEN, lines[len(comments)]) if len(comments) < len(lines) else []
    if not first and len(file.head) >= HEAD:
        return None
    return FirstLines(first, [line for line in comments if line], lines[len(comments) + 1 :])


def unlikely(values: pl.Series) -> pl.Series:
    """Values that may be part of a header or of another format: no digit, or marks of others."""
    text = values.cast(pl.String)
    return ~text.str.contains("[0-9]") | text.str.contains(_NEVER_INSIDE)


def read_spaced(file: SourceFile, width: int, most_bytes: int) -> Spaced:
    """All rows of a file with so many columns; a line that has more or fewer is a bad one."""
    raw = file.rows(most_bytes)
    if len(raw) >= _WORTH_THE_TRY:
        plain = _as_numbers(raw, width)
        if plain is not None:
            return plain
    return _as_text(raw, width)


def _as_numbers(raw: bytes, width: int) -> Spaced | None:
    """The rows as numbers, or None unless all after the first comments are plain numbers."""
    from graphveil.records.plain_numbers import parse_plain_numbers

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


def _lines(text: str) -> Iterator[pl.Series]:
    """All lines, part by part; a list of them would need many times the memory."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start + _PART)
        end = len(text) if end < 0 else end
        yield pl.Series([text[start:end]], dtype=pl.String).str.split("\n").explode()
        start = end + 1


def _as_text(raw: bytes, width: int) -> Spaced:
    text, unread = _readable(raw)
    lines = pl.concat(_lines(text)).str.strip_chars()
    comment = lines.str.starts_with(_COMMENT)
    rows = (~comment & (lines != "")).arg_true()
    shape = "^" + _BETWEEN.join([r"(\S+)"] * width) + "$"
    fields = lines.gather(rows).str.extract_groups(shape).struct.unnest()
    wrong = fields.to_series(0).is_null()
    odd = [int(row) + 1 for row in rows.filter(wrong)]
    bad = {rule: found for rule, found in ((NOT_TEXT, unread), (TOO_NARROW, odd)) if found}
    comments = comment.arg_true()
    return Spaced(
        fields.filter(~wrong).get_columns(),
        rows.filter(~wrong).to_numpy().astype(np.int64) + 1,
        (len(comments), [int(row) + 1 for row in comments.head(8)]),
        bad,
    )


def _readable(raw: bytes) -> tuple[str, list[int]]:
    """The text, in which lines that are none are empty, and the numbers of these."""
    whole = raw.removeprefix(codecs.BOM_UTF8)
    if is_text(whole):
        return whole.decode(), []
    lines = whole.split(b"\n")
    bad = [number for number, line in enumerate(lines, start=1) if not is_text(line)]
    gone = set(bad)
    remaining = (b"" if number in gone else line for number, line in enumerate(lines, start=1))
    return b"\n".join(remaining).decode(), bad


# What text without a header row says about itself: that it has none, and its direction.


_SAYS_DIRECTION = re.compile(r"^#\s*(un)?directed\b", re.IGNORECASE)


def is_empty(seen: FirstLines, insisted: bool) -> bool:
    """Whether a file has no lines, but says by a comment (or the user says) that it is one."""
    return not seen.first and (insisted or bool(seen.comments))


def ids_look_like_ids(ids: Sequence[str]) -> bool:
    """Whether a line cannot be a header: names have no digits, or are ID1 and ID2."""
    return {name.lower() for name in ids} != {"id1", "id2"} and not unlikely(pl.Series(ids)).any()


def unlikely_lines(
    claimed: Claimed, rows: Spaced, ends: int, odd: pl.Series | None = None
) -> list[Violation]:
    """Lines that would not have been recognised, unless the user insists on the format.

    Every line is held against what was expected of the first: which line that is must not matter.

    Args:
        claimed: the file.
        rows: all of its rows.
        ends: how many columns are ids.
        odd: other rows that are unlikely.
    """
    if claimed.claim.insisted:
        return []
    texts = [column for column in rows.columns[:ends] if column.dtype == pl.String]
    rule = "the line may be a header, or of another kind"
    violations = [violation for each in texts for violation in _violations(unlikely(each), rule)]
    if odd is not None:
        violations += _violations(odd, "the last value is too small for a number of seconds")
    return violations


def mixed_dates(other: pl.Series) -> list[Violation]:
    """Lines whose last value is a date where it is none in the first, or the reverse."""
    what = "some lines end with a date and some do not"
    return _violations(other, what, "Put the comment '# id date' above a list of dates.")


def _violations(
    bad: pl.Series,
    rule: str,
    hint: str = "Correct it, or say which format the file has with the option format.",
) -> list[Violation]:
    violation = Violation.where(bad, "", rule, hint)
    return [violation] if len(violation.rows) else []


def says_direction(file: SourceFile) -> bool | None:
    """What the comments at the beginning say about the direction of edges."""
    seen = first_lines(file)
    for comment in seen.comments if seen else []:
        match = _SAYS_DIRECTION.match(comment)
        if match:
            return match[1] is None
    return None


def comment_notes(found: Spaced) -> list[Note]:
    """How many lines were comments."""
    count, first = found.comments
    return [Note.of_rows("lines beginning with #: skipped", count, first)] if count else []


def refuse_naming(file: SourceFile, named: str | None) -> InputError | None:
    """The refusal of a date column by name: these files have no names."""
    if named is None:
        return None
    return InputError(
        "the columns of this file have no names",
        place=Place(file.name, column=named),
        hint="Leave the name out: the last column is the time.",
    )
