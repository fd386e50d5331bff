"""Dates in HIV-TRACE results: what each entry says under the field that the steward named.

The program has two dates of its own, `edi` and `baseline`, which it rarely knows. In practice dates
are among the patient attributes, several of them. Which field counts is never read off the file:
one person who has a field would otherwise date everybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Violation
from graphveil.records.columns import no_such, plain, unnamed_date
from graphveil.records.dates import is_missing, look_like_dates
from graphveil.records.readers.hivtrace.document import Section, is_text, violations_of
from graphveil.records.source_file import SourceFile

_PATIENT = "patient_attributes"
_SCHEMA = "patient_attribute_schema"
_OWN_DATES = ("edi", "baseline")  # lists of 9 numbers, where the program knew them
_NO_DATE = "no date"
_TWO_DATES = object()  # what an entry says that has the field twice


def no_date_field(
    sections: list[Section], network: dict[str, Any], file: SourceFile, named: str | None
) -> InputError | None:
    """The refusal to raise if nothing else dates people, or None if the field may be there.

    A name is refused only where the file declares its fields, and not this one: whether people
    have it is no matter of the file as a whole.
    """
    if named is None:
        place = Place(file.name, column="Nodes")
        return unnamed_date("field", "person", place, date_like(sections, network))
    declared = _declared(network)
    known = [plain(name) for name in (*declared, *_OWN_DATES)]
    missing = [name for name in named_fields(named) if _bare(name) not in known]
    if not declared or not missing:
        return None
    place = Place(file.name, column=missing[0])
    return no_such("field", place, list(declared), date_like(sections, network))


def named_fields(named: str | None) -> list[str]:
    """The fields that an option names, with commas between them."""
    return [part.strip() for part in (named or "").split(",") if part.strip()]


def first_named(section: Section, fields: Sequence[str]) -> list[Any]:
    """What each entry says under the first of some names that it says something under."""
    found: list[Any] = [None] * section.count
    for field in fields:
        values = values_named(section, field)
        found = [
            other if value is None or (isinstance(value, str) and is_missing(value)) else value
            for value, other in zip(found, values, strict=True)
        ]
    return found


def values_named(section: Section, named: str) -> list[Any]:
    """What each entry says under a name, among its patient attributes or else by itself.

    Case and surrounding blanks do not matter, and null says nothing. An entry that says two things
    under one name says nothing that can be a date.
    """
    wanted, attributes = _bare(named), section.column(_PATIENT)
    own = [field for field in section.columns if plain(field) == wanted]
    meant = _Meant(wanted)
    dates = []
    for entry, given in enumerate(attributes):
        inner = [given[name] for name in given if meant[name]] if isinstance(given, dict) else []
        outer = [section.columns[field][entry] for field in own]
        value = _only_value(inner)
        dates.append(_only_value(outer) if value is None else value)
    return dates


def _only_value(values: list[Any]) -> Any:
    given = [value for value in values if value is not None]
    return _TWO_DATES if len(given) > 1 else given[0] if given else None


class _Meant(dict[str, bool]):
    """Whether a name is the wanted one; each name is compared once."""

    def __init__(self, wanted: str) -> None:
        super().__init__()
        self._wanted = wanted

    def __missing__(self, name: str) -> bool:
        return self.setdefault(name, plain(name) == self._wanted)


def _bare(named: str) -> str:
    return plain(named).removeprefix(f"{_PATIENT}.")


def _declared(network: dict[str, Any]) -> dict[str, Any]:
    schema = network.get(_SCHEMA)
    return schema if isinstance(schema, dict) else {}


def date_like(sections: list[Section], network: dict[str, Any]) -> list[str]:
    """Fields that the schema calls dates, or whose first values look like dates."""
    declared = [
        name
        for name, entry in _declared(network).items()
        if isinstance(entry, dict) and entry.get("type") == "Date"
    ]
    names = dict.fromkeys(name for people in sections for name in _names(people))
    seen = [
        name
        for name in names
        if look_like_dates(value for people in sections for value in _said(people, name))
    ]
    return list(dict.fromkeys((*declared, *seen)))


def _names(people: Section) -> Iterator[str]:
    """Fields of the entries, then those of their patient attributes."""
    yield from (field for field in people.columns if field != _PATIENT)
    for given in people.column(_PATIENT):
        yield from given if isinstance(given, dict) else ()


def _said(people: Section, name: str) -> Iterator[Any]:
    for own, given in zip(people.column(name), people.column(_PATIENT), strict=True):
        yield given.get(name, own) if isinstance(given, dict) else own


def date_texts(values: Sequence[Any]) -> tuple[list[str | None], list[Violation]]:
    """What each value says as text, and the rows whose value cannot be a date."""
    texts = [_date_text(value) for value in values]
    rule = "the date is not text, a year or a list of numbers, or the entry has two of this name"
    wrong = violations_of(rule, "time", [row for row, text in enumerate(texts) if text is _NO_DATE])
    return [None if text is _NO_DATE else text for text in texts], wrong


def _date_text(value: Any) -> str | None:
    """Text, a year, or the list [year, month, day, …] that the program writes."""
    if value is None:
        return None
    if isinstance(value, list) and len(value) >= 3 and all(type(each) is int for each in value):
        return "{:04}-{:02}-{:02}".format(*value)
    if type(value) is int or (isinstance(value, str) and (not value.strip() or is_text(value))):
        return str(value)
    return _NO_DATE
