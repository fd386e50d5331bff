"""Column names: find ours among the user's, or say what is missing and what is near.

People and the ends of links are known under many names in files of other origins. These are
compared without case, blanks and marks: `Infected.By` is `infected_by`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from graphveil.errors import InputError, Place
from graphveil.hints import Hint

if TYPE_CHECKING:
    from graphveil.records.options import ReadingOptions

_NOTHING: Mapping[str, str] = {}
_SHOWN = 8  # names that a message offers
_LETTERS = 90  # that they may take together
_MARKS = re.compile(r"[\W_]")
IDS = (
    "patientid", "personid", "individualid", "subjectid", "participantid", "caseid", "id",
    "nodeid", "caseno", "casenumber", "casenr", "recordid", "studyid",
)  # fmt: skip
ENDS = (
    ("from", "to"), ("fromid", "toid"), ("sourceid", "targetid"), ("sourcecase", "targetcase"),
    ("infector", "infectee"), ("infectorid", "infecteeid"), ("infectorcase", "infecteecase"),
    ("index", "partner"), ("indexid", "partnerid"), ("index", "contact"),
    ("indexcase", "contact"), ("indexid", "contactid"), ("indexcaseid", "contactid"),
    ("case", "contact"), ("caseid", "contactid"), ("participantid", "contactid"),
    ("ego", "alter"), ("person1", "person2"), ("patient1", "patient2"), ("case1", "case2"),
    ("node1", "node2"),
)  # fmt: skip
INFECTORS = tuple(
    name + end
    for name in (
        "infectedby", "infector", "sourcecase", "sourcepatient", "transmittedby", "transmitter",
    )
    for end in ("", "id")
)  # fmt: skip
_NATIVE = ("node", "source", "target", "id1", "id2")
_ALL = {*IDS, *INFECTORS, *_NATIVE, *(name for ends in ENDS for name in ends)}
_MAY_BE_DATES = ("from", "to")  # of a stay, say, in a list of people


@dataclass(frozen=True)
class Wanted:
    """The columns of one kind of table."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()


NODES = Wanted(("node", "time"))
EDGES = Wanted(("source", "target"), ("time",))


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


def is_known(name: str) -> bool:
    """Whether a column of this name may hold ids."""
    return bare(name) in _ALL


def known_ids(names: Sequence[str]) -> list[str]:
    """The columns that may name a person."""
    return [name for name in names if bare(name) in IDS]


def known_ends(names: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of columns that may be the two ends of a link."""
    theirs = {bare(name): name for name in reversed(names)}
    return [(theirs[a], theirs[b]) for a, b in ENDS if a in theirs and b in theirs]


def are_links(names: Sequence[str]) -> bool:
    """Whether a table has two ends that can be nothing else."""
    return any(tuple(map(bare, ends)) != _MAY_BE_DATES for ends in known_ends(names))


def requested_names(names: Sequence[str], *columns: str | None) -> tuple[str, ...] | None:
    """The user's spelling of columns that the steward named; None unless all of them are there."""
    theirs = names_by_text(names)
    found = [theirs.get(plain(column)) for column in columns if column is not None]
    spelled = tuple(column for column in found if column is not None)
    return spelled if len(spelled) == len(columns) else None


def is_mapped(names: Sequence[str], options: ReadingOptions) -> bool:
    """Whether the steward named columns of this table as ids of people or ends of links."""
    both = requested_names(names, options.source, options.target)
    return both is not None or requested_names(names, options.id) is not None
