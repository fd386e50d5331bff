"""Column names: find ours among the user's, or say what is missing and what is near."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from graphveil.errors import InputError, Place
from graphveil.hints import Hint


@dataclass(frozen=True)
class Wanted:
    """The columns of one kind of table."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


NODES = Wanted(("node", "time"))
EDGES = Wanted(("source", "target"), ("time",))

_NOTHING: Mapping[str, str] = {}
_SHOWN = 8  # names that a message offers
_LETTERS = 90  # that they may take together
_MARKS = re.compile(r"[\W_]")


def match_columns(
    found: Sequence[str], wanted: Wanted, source: str, called: Mapping[str, str] = _NOTHING
) -> dict[str, str]:
    """The user's name for each of our columns; case and surrounding blanks do not matter.

    Args:
        found: the names that the table has.
        wanted: the columns that we want of it.
        source: what messages call the table.
        called: other names under which some of our columns are to be looked for.
    """
    theirs = names_by_text(found)
    sought = {name: called.get(name, name) for name in wanted.required + wanted.optional}
    for column in wanted.required:
        if plain(sought[column]) not in theirs:
            raise InputError(
                "there is no such column",
                place=Place(source, column=sought[column]),
                hint=_advice(sought[column], found, wanted),
            )
    return {name: theirs[plain(at)] for name, at in sought.items() if plain(at) in theirs}


def plain(name: str) -> str:
    """A name as it is compared: without case and surrounding blanks."""
    return name.strip().lower()


def bare(name: str) -> str:
    """A name without case, blanks and marks: Infected.By is infected_by."""
    return _MARKS.sub("", plain(name))


def listed(names: Sequence[str]) -> str:
    """Some names for a message, as many as there is room for."""
    shown: list[str] = []
    for name in names:
        if len(shown) == _SHOWN or sum(map(len, (*shown, name))) > _LETTERS:
            return ", ".join((*shown, "…"))
        shown.append(name.strip())
    return ", ".join(shown)


def names_by_text(found: Sequence[str]) -> dict[str, str]:
    """The user's names by their compared text; of two equal ones the first."""
    theirs: dict[str, str] = {}
    for name in found:
        theirs.setdefault(plain(name), name)
    return theirs


def refuse_repeated(found: Sequence[str], used: Iterable[str], place: Place) -> None:
    """Refuse a table that has two columns of one name, or two that might be a used one.

    Args:
        found: the names that the table has; nameless columns may repeat.
        used: the names of the columns that are read.
        place: the header.
    """
    exact, alike = Counter(filter(str.strip, found)), Counter(map(plain, found))
    for name in found:
        if exact[name] > 1 or (name in set(used) and alike[plain(name)] > 1):
            raise InputError(
                "two columns have this name; case and surrounding blanks do not count",
                place=replace(place, column=name.strip()),
                hint="Rename or remove one of them.",
            )


def no_such(kind: str, place: Place, found: Sequence[str], likely: Sequence[str]) -> InputError:
    """The refusal of a named column, field or attribute that is not there.

    Args:
        kind: which of these three it is.
        place: where it was looked for; its column is the name.
        found: what there is; the nearest is offered.
        likely: those that look like dates.
    """
    by_text = names_by_text(found)
    near = get_close_matches(plain(place.column or ""), list(by_text), n=1)
    hint = [f"Did you mean '{by_text[near[0]]}'?"] if near else []
    return InputError(
        f"there is no {kind} of this name",
        place=place,
        hint=" ".join([*hint, _dates(kind, likely)]),
    )


def unnamed_date(kind: str, whose: str, place: Place, likely: Sequence[str]) -> InputError:
    """The refusal of a file whose date was not named; what looks like one is offered.

    Args:
        kind: "column", "field" or "attribute".
        whose: what the date belongs to.
        place: where it was looked for.
        likely: those that look like dates.
    """
    return InputError(
        f"no {kind} was named as the date of a {whose}",
        place=place,
        hint=Hint.joined(Hint("name-time"), _dates(kind, likely)),
    )


def _dates(kind: str, likely: Sequence[str]) -> str:
    """Which columns or fields look like dates, as a sentence."""
    if not likely:
        return f"No {kind} looks like a date."
    more = ", …" if len(likely) > _SHOWN else ""
    return f"These look like dates: {', '.join(likely[:_SHOWN])}{more}."


def _advice(column: str, names: Sequence[str], wanted: Wanted) -> str:
    expected = ", ".join((*wanted.required, *(f"[{name}]" for name in wanted.optional)))
    near = get_close_matches(plain(column), [plain(name) for name in names], n=1)
    hint = f" Is it the one called '{near[0]}'? Rename it." if near else ""
    return f"Expected columns: {expected}.{hint}"
