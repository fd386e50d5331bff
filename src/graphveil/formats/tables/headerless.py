"""What text without a header row says about itself: that it has none, and its direction."""

from __future__ import annotations

import re

from graphveil.errors import InputError, Place
from graphveil.formats.parse_report import Note
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.spaced import Glance, Spaced, glance

_SAYS_DIRECTION = re.compile(r"^#\s*(un)?directed\b", re.IGNORECASE)
_DIGIT = re.compile(r"[0-9]")


def ids_have_digits(seen: Glance) -> bool:
    """Whether no line can be a header: names have no digits, or are ID1 and ID2."""
    if {value.lower() for value in seen.rows[0]} >= {"id1", "id2"}:
        return False
    return all(_DIGIT.search(row[0]) and _DIGIT.search(row[1]) for row in seen.rows)


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
