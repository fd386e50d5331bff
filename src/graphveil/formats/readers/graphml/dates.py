"""Dates in GraphML: which declared attribute holds them, and what elements say under it."""

from __future__ import annotations

from collections.abc import Sequence

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import look_like_dates
from graphveil.formats.columns.names import names_by_text, no_such, plain, unnamed_date
from graphveil.formats.readers.graphml.elements import Document, Element
from graphveil.formats.source_file import SourceFile


def date_key(document: Document, domain: str, name: str, file: SourceFile) -> str | None:
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


def values_of(
    document: Document, elements: Sequence[Element], key: str | None
) -> Sequence[str | None]:
    """What each element says under a key, or the default of the key."""
    if key is None:
        return [None] * len(elements)
    default = document.keys[key].default
    return [element.data.get(key, default) for element in elements]


def _date_keys(document: Document, domain: str, elements: Sequence[Element]) -> list[str]:
    return [
        key.name
        for key_id, key in document.keys.items()
        if key.domain in (domain, "all") and look_like_dates(values_of(document, elements, key_id))
    ]


def no_time(document: Document, file: SourceFile, named: str | None) -> InputError:
    """The refusal of a graph without the date attribute; raised at once if there is a candidate."""
    likely = _date_keys(document, "node", document.nodes)
    if named is not None:
        found = [key.name for key in document.keys.values()]
        return no_such("attribute", Place(file.name, column=named), found, likely)
    return unnamed_date("attribute", "node", Place(file.name), likely)


def no_edge_time(document: Document, file: SourceFile, named: str | None) -> InputError | None:
    """The refusal of edges without the date attribute that was named, if one was."""
    if named is None:
        return None
    found = list(names_by_text([key.name for key in document.keys.values()]))
    likely = _date_keys(document, "edge", document.edges)
    return no_such("attribute", Place(file.name, column=named), found, likely)
