"""Column names: find ours among the user's, or say what is missing and what is near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from graphveil.errors import InputError, Place


@dataclass(frozen=True)
class Wanted:
    """The columns of one kind of table."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


NODES = Wanted(("node", "time"))
EDGES = Wanted(("source", "target"), ("time",))


def match_columns(found: Sequence[str], wanted: Wanted, source: str) -> dict[str, str]:
    """The user's name for each of our columns; case and surrounding blanks do not matter."""
    theirs: dict[str, str] = {}
    for name in found:
        theirs.setdefault(name.strip().lower(), name)
    for column in wanted.required:
        if column not in theirs:
            raise InputError(
                "there is none of this name",
                place=Place(source, column=column),
                mend=_advice(column, found, wanted),
            )
    return {name: theirs[name] for name in wanted.required + wanted.optional if name in theirs}


def _advice(column: str, found: Sequence[str], wanted: Wanted) -> str:
    expected = ", ".join((*wanted.required, *(f"[{name}]" for name in wanted.optional)))
    near = get_close_matches(column, [name.strip().lower() for name in found], n=1)
    hint = f" Is it the one called '{near[0]}'? Rename it." if near else ""
    return f"Expected columns: {expected}.{hint}"
