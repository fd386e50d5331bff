"""An HIV-TRACE network as its JSON results have it: people whose viruses are alike.

Reads the plain form, with or without the wrapper `trace_results`. Edges name nodes by position.
Removed edges are dropped. An id such as PERSON|SEQUENCE belongs to the person, who is one node
with the earliest of its dates. Links have no direction; as in the paper's directed version they
are written from the earlier to the later node, undated ones first, ties by id.
"""

from __future__ import annotations

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from graphveil.errors import InputError, Place
from graphveil.experiments.supplied import SuppliedFile
from graphveil.formats.memory import from_rows
from graphveil.graph.records import Records

RESULTS = SuppliedFile(
    "results.json",
    "an HIV-TRACE network: Nodes with an id and a date, and Edges by position",
    "The format is described with the HIV-TRACE software (Kosakovsky Pond, Weaver, Leigh Brown "
    "and Wertheim 2018); the paper's own HIV data are private.",
)
_REFUSED = "the file is no HIV-TRACE network in plain form"
_MEND = f"Supply {RESULTS.holds}."


def read_hivtrace(path: Path, date: str) -> Records:
    """People by date, and the links between them.

    Args:
        path: the JSON file.
        date: the node attribute, or patient attribute, that is the time stamp.
    """
    network = _network(path)
    listed = network["Nodes"]
    singletons = network.get("Singletons")
    everybody = [*listed, *(singletons if isinstance(singletons, list) else [])]
    people = [_person(node, path, row) for row, node in enumerate(everybody)]
    dates = _dates(everybody, people, date, path)
    links = {
        _earlier_first(people[a], people[b], dates)
        for a, b in _positions(network["Edges"], len(listed), path)
        if people[a] != people[b]
    }
    return from_rows([(person, dates[person]) for person in sorted(dates)], sorted(links))


def _network(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise RESULTS.missing(str(path.parent), path.name)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError("the file is not JSON", place=Place(path.name), mend=_MEND) from error
    network = data.get("trace_results", data) if isinstance(data, dict) else data
    if not isinstance(network, dict):
        raise InputError(_REFUSED, place=Place(path.name), mend=_MEND)
    if isinstance(network.get("Nodes"), dict):
        raise InputError(
            "the file is in compact form, which is not read here",
            place=Place(path.name),
            mend="Write the results without compact_json.",
        )
    for part in ("Nodes", "Edges"):
        if not isinstance(network.get(part), list):
            raise InputError(_REFUSED, place=Place(path.name, column=part), mend=_MEND)
    return network


def _person(node: Any, path: Path, row: int) -> str:
    name = node.get("id") if isinstance(node, dict) else None
    person = "" if name is None else str(name).split("|")[0].strip()
    if not person:
        raise InputError("the node has no id", place=Place(path.name, row, "Nodes"), mend=_MEND)
    return person


def _dates(nodes: list[dict[str, Any]], people: list[str], date: str, path: Path) -> dict[str, Any]:
    """The earliest date of each person, None without one; dates sort as text."""
    if nodes and not any(date in _attributes(node) for node in nodes):
        _refuse_attribute(nodes, date, path)
    dates: dict[str, str | None] = dict.fromkeys(people)
    for person, node in zip(people, nodes, strict=True):
        here, known = _date(_attributes(node).get(date)), dates[person]
        if here is not None and (known is None or here < known):
            dates[person] = here
    return dates


def _attributes(node: dict[str, Any]) -> dict[str, Any]:
    given = node.get("patient_attributes")
    return {**node, **(given if isinstance(given, dict) else {})}


def _date(value: Any) -> str | None:
    """Text, a year, or the list [year, month, day, …] that the software writes."""
    if isinstance(value, list) and len(value) >= 3 and all(type(each) is int for each in value):
        return "{:04}-{:02}-{:02}".format(*value)
    return None if value is None or value == "" else str(value)


def _refuse_attribute(nodes: list[dict[str, Any]], date: str, path: Path) -> None:
    names = sorted({name for node in nodes for name in _attributes(node)})
    near = get_close_matches(date, names, n=1)
    raise InputError(
        f"no node has an attribute called '{date}'",
        place=Place(path.name, column="Nodes"),
        mend=f"Did you mean '{near[0]}'?" if near else f"There are: {', '.join(names)}.",
    )


def _positions(edges: list[Any], nodes: int, path: Path) -> list[tuple[int, int]]:
    """The ends of every edge that was not removed."""
    found = []
    for row, edge in enumerate(edges):
        given = edge if isinstance(edge, dict) else {}
        ends: tuple[Any, Any] = given.get("source"), given.get("target")
        if given.get("removed"):
            continue
        if not all(type(end) is int and 0 <= end < nodes for end in ends):
            raise InputError(
                "the edge does not name two positions in Nodes",
                place=Place(path.name, row, "Edges"),
                mend="Rows are counted from 0.",
            )
        found.append(ends)
    return found


def _earlier_first(a: str, b: str, dates: dict[str, Any]) -> tuple[str, str]:
    first, second = sorted((a, b), key=lambda person: (dates[person] or "", person))
    return first, second
