"""What text without a header row says about itself: that it has none, and its direction."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.formats.format import Claimed
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.spaced import Glance, Spaced, glance, unlikely
from graphveil.graph.intake.faults import Fault

if TYPE_CHECKING:
    import polars as pl

_SAYS_DIRECTION = re.compile(r"^#\s*(un)?directed\b", re.IGNORECASE)


def is_empty(seen: Glance, insisted: bool) -> bool:
    """Whether a file has no lines, but says by a comment (or the user says) that it is one."""
    return not seen.first and (insisted or bool(seen.comments))


def ids_look_like_ids(ids: Sequence[str]) -> bool:
    """Whether a line cannot be a header: names have no digits, or are ID1 and ID2."""
    import polars as pl

    return {name.lower() for name in ids} != {"id1", "id2"} and not unlikely(pl.Series(ids)).any()


def unlikely_lines(
    claimed: Claimed, rows: Spaced, ends: int, odd: pl.Series | None = None
) -> list[Fault]:
    """Lines that would not have been recognised, unless the user insists on the format.

    Every line is held against what was expected of the first: which line that is must not matter.

    Args:
        claimed: the file.
        rows: all of its rows.
        ends: how many columns are ids.
        odd: other rows that are unlikely.
    """
    import polars as pl

    if claimed.claim.insisted:
        return []
    texts = [column for column in rows.columns[:ends] if column.dtype == pl.String]
    rule = "the line may be a header, or of another kind"
    found = [fault for each in texts for fault in _faults(unlikely(each), rule)]
    if odd is not None:
        found += _faults(odd, "the last value is too small for a number of seconds")
    return found


def mixed_dates(other: pl.Series) -> list[Fault]:
    """Lines whose last value is a date where it is none in the first, or the reverse."""
    what = "some lines end with a date and some do not"
    return _faults(other, what, "Put the comment '# id date' above a list of dates.")


def _faults(
    bad: pl.Series,
    rule: str,
    hint: str = "Correct it, or say which format the file has with the option format.",
) -> list[Fault]:
    found = Fault.where(bad, "", rule, hint)
    return [found] if len(found.rows) else []


def says_direction(file: SourceFile) -> bool | None:
    """What the comments at the beginning say about the direction of edges."""
    seen = glance(file)
    for comment in seen.comments if seen else []:
        said = _SAYS_DIRECTION.match(comment)
        if said:
            return said[1] is None
    return None


def comment_notes(found: Spaced) -> list[Note]:
    """How many lines were comments."""
    count, first = found.comments
    return [Note.of_rows("lines that begin with #: skipped", count, first)] if count else []


def refuse_naming(file: SourceFile, named: str | None) -> InputError | None:
    """The refusal of a date column by name: these files have no names."""
    if named is None:
        return None
    return InputError(
        "the columns of this file have no names",
        place=Place(file.name, column=named),
        hint="Leave the name out: the last column is the time.",
    )
