"""Names under which people and the ends of links are known in files of many origins.

They are compared without case, blanks and marks: `Infected.By` is `infected_by`.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.records.columns import bare, names_by_text, plain
from graphveil.records.options import ReadingOptions

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
