"""Conditions on HIV-TRACE results: entries declare no columns, so a name is of people or of links.

Whether anybody has a field is no matter of the file: one person who has it would decide for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graphveil.formats.columns.filters import Filter, Kind
from graphveil.formats.columns.names import plain

_OF_LINKS = ("source", "target", "directed", "length", "support", "removed", "sequences", "weight")


def conditions_of(kind: Kind, filters: Iterable[Filter]) -> list[Filter]:
    """The conditions on people, or on links: those with a field that the program gives links."""
    placed = [
        replace(each, kind=each.kind or ("edges" if plain(each.column) in _OF_LINKS else "nodes"))
        for each in filters
    ]
    return [each for each in placed if each.kind == kind]


def plain_texts(values: Iterable[Any]) -> list[str | None]:
    """Values as text; nothing where there is none, or more than one."""
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return str(value) if isinstance(value, int | float) else None
