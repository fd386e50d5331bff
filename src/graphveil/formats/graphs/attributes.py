"""Attributes of graphs: which declared ones date and judge elements, and what these say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import look_like_dates
from graphveil.formats.columns.names import names_by_text, no_such, plain, unnamed_date
from graphveil.formats.graphs.document import Document, Element
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile
from graphveil.formats.tables.dating import OWN_TIME, named_columns
from graphveil.formats.tables.selection import Selection

Domain = Literal["node", "edge"]
Columns = dict[str, Sequence[str | None]]


def node_selection(
    document: Document, file: SourceFile, options: ReadingOptions
) -> tuple[Selection, InputError | None]:
    """What nodes are dated and judged by, and the refusal of a date that is not there."""
    times, missing = _times(document, "node", options.time or OWN_TIME, file)
    names = _names(document, "node")
    refusal = None if missing is None else _no_time(document, file, options.time, missing)
    return Selection.of(names, "nodes", options, file.name, times), refusal


def edge_selection(
    document: Document, file: SourceFile, options: ReadingOptions
) -> tuple[Selection, InputError | None]:
    """The same for edges."""
    times, missing = _times(document, "edge", options.edge_time or OWN_TIME, file)
    names = _names(document, "edge")
    refusal = None
    if missing is not None and options.edge_time is not None:
        likely = _date_keys(document, "edge", document.edges)
        found = list(names_by_text([key.name for key in document.keys.values()]))
        refusal = no_such("attribute", Place(file.name, column=missing), found, likely)
    return Selection.of(names, "edges", options, file.name, times), refusal


def chosen_values(
    document: Document, domain: Domain, file: SourceFile, chosen: Selection
) -> Columns:
    """What each node or edge says under the attributes that were chosen."""
    by_name = names_by_key(document, domain)
    elements = document.nodes if domain == "node" else document.edges
    defaults = (document.keys[by_name[theirs]].default for theirs in chosen.columns.values())
    file.ceiling.take(len(elements) * sum(len(text or "") for text in defaults), file.name)
    return {
        ours: _values_of(document, elements, by_name[theirs])
        for ours, theirs in chosen.columns.items()
    }


def names_by_key(document: Document, domain: Domain) -> dict[str, str]:
    """The id of each key of nodes or edges, by its name; of two equal names the first."""
    found: dict[str, str] = {}
    for at, key in document.keys.items():
        if key.domain in (domain, "all"):
            found.setdefault(key.name, at)
    return found


def _names(document: Document, domain: Domain) -> list[str]:
    return list(names_by_key(document, domain))


def _times(
    document: Document, domain: Domain, named: str, file: SourceFile
) -> tuple[tuple[str, ...], str | None]:
    """The names of the attributes that are dates, and the first that is not there."""
    wanted = named_columns(named, lambda name: _key(document, domain, name, file) is not None)
    keys = {name: _key(document, domain, name, file) for name in wanted}
    missing = [name for name, key in keys.items() if key is None]
    if missing:
        return (), missing[0]
    return tuple(document.keys[key].name for key in keys.values() if key is not None), None


def _key(document: Document, domain: Domain, name: str, file: SourceFile) -> str | None:
    """The id of the key that people know by this name, for nodes or for edges."""
    keys = {at: key for at, key in document.keys.items() if key.domain in (domain, "all")}
    called = [at for at, key in keys.items() if plain(key.name) == plain(name)]
    found = called or [at for at in keys if plain(at) == plain(name)]
    if len(found) > 1:
        raise InputError(
            "two attributes have this name; case and surrounding blanks do not count",
            place=Place(file.name, column=name),
            hint="Rename or remove one of them.",
        )
    return found[0] if found else None


def _values_of(document: Document, elements: Sequence[Element], key: str) -> Sequence[str | None]:
    """What each element says under a key, or the default of the key."""
    default = document.keys[key].default
    return [element.data.get(key, default) for element in elements]


def _date_keys(document: Document, domain: Domain, elements: Sequence[Element]) -> list[str]:
    return [
        name
        for name, key in names_by_key(document, domain).items()
        if look_like_dates(_values_of(document, elements, key))
    ]


def _no_time(document: Document, file: SourceFile, named: str | None, missing: str) -> InputError:
    """The refusal of a graph without the date attribute."""
    likely = _date_keys(document, "node", document.nodes)
    if named is not None:
        found = [key.name for key in document.keys.values()]
        return no_such("attribute", Place(file.name, column=missing), found, likely)
    return unnamed_date("attribute", "node", Place(file.name), likely)
