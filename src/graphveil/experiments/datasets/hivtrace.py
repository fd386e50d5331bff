"""An HIV-TRACE network for experiments: one node a person, links from earlier to later.

An id such as PERSON|SEQUENCE belongs to the person, who has the earliest of its dates. Links
have no direction; as in the paper's directed version they are written from the earlier to the
later node, undated ones first, ties by id.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from graphveil.errors import InputError, Place
from graphveil.experiments.datasets.supplied import SuppliedFile
from graphveil.formats import ReadingOptions, from_rows, read_records
from graphveil.graph.intake.records import Records

RESULTS = SuppliedFile(
    "results.json",
    "an HIV-TRACE network: Nodes with an id and a date, and Edges by position",
    "The format is described with the HIV-TRACE software (Kosakovsky Pond, Weaver, Leigh Brown "
    "and Wertheim 2018); the paper's own HIV data are private.",
)
Dates: TypeAlias = dict[str, str | None]


def read_hivtrace(path: Path, date: str) -> Records:
    """People by date, and the links between them.

    Args:
        path: the JSON file.
        date: the node attribute, or patient attribute, that is the time stamp.
    """
    if not path.is_file():
        raise RESULTS.missing(str(path.parent), path.name)
    found = read_records([path], format="hivtrace", options=ReadingOptions(time=date)).records
    dates = _dates(found)
    if dates and not any(dates.values()):
        raise InputError(
            "nobody has a date in the field of this name",
            place=Place(path.name, column=date),
            hint="Name the attribute that is the time stamp.",
        )
    ends = (map(_person, found.edges.frame[end]) for end in ("source", "target"))
    links = {_earlier_first(a, b, dates) for a, b in zip(*ends, strict=True) if a != b}
    return from_rows([(person, dates[person]) for person in sorted(dates)], sorted(links))


def _person(name: str) -> str:
    return name.partition("|")[0].strip()


def _dates(found: Records) -> Dates:
    """The earliest date of each person, None without one; dates sort as text."""
    dates: Dates = {}
    for name, time in found.nodes.frame.iter_rows():
        person, here = _person(name), None if time is None else str(time)
        known = dates.get(person)
        dates[person] = min(filter(None, (here, known)), default=None)
    return dates


def _earlier_first(a: str, b: str, dates: Dates) -> tuple[str, str]:
    first, second = sorted((a, b), key=lambda person: (dates[person] or "", person))
    return first, second
