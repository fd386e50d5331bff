"""Dates in HIV-TRACE results: which field holds them, and what its values say.

The program has two dates of its own, which it rarely knows. In practice dates are among the
patient attributes, several of them, and the steward names the one that counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphveil.errors import InputError, Place
from graphveil.formats.columns.dates import look_like_dates
from graphveil.formats.columns.names import no_such, plain, unnamed_date
from graphveil.formats.readers.hivtrace.sections import Section, faults_of, is_text
from graphveil.formats.source_file import SourceFile
from graphveil.graph.faults import Fault

_PATIENT = "patient_attributes"
_OWN_DATES = ("edi", "baseline")  # lists of 9 numbers, where the program knew them
_NO_DATE = "no date"


def date_field(
    sections: list[Section], network: dict[str, Any], file: SourceFile, named: str | None
) -> tuple[str | None, InputError | None]:
    """The field that dates people, or the refusal to raise if nothing else dates them."""
    fields = _fields(sections)
    if named is not None:
        wanted = (plain(named), f"{_PATIENT}.{plain(named)}")
        found = [field for field in fields if plain(field) in wanted]
        if found or not any(people.count for people in sections):
            return (found or [named])[-1], None
        offered = [field.removeprefix(f"{_PATIENT}.") for field in fields]
        place = Place(file.name, column=named)
        return None, no_such("field", place, offered, _date_like(sections, fields, network))
    for own in _OWN_DATES:
        if any(isinstance(value, list) for people in sections for value in people.column(own)):
            return own, None
    place = Place(file.name, column="Nodes")
    return None, unnamed_date("field", "person", place, _date_like(sections, fields, network))


def _fields(sections: list[Section]) -> list[str]:
    """Fields of the entries, then those of their patient attributes."""
    plain_fields = (field for people in sections for field in people.columns if field != _PATIENT)
    patients = (
        f"{_PATIENT}.{field}"
        for people in sections
        for given in people.column(_PATIENT)
        if isinstance(given, dict)
        for field in given
    )
    return list(dict.fromkeys((*plain_fields, *patients)))


def _date_like(sections: list[Section], fields: list[str], network: dict[str, Any]) -> list[str]:
    """Fields that the schema calls dates, or whose first values look like dates."""
    schema = network.get("patient_attribute_schema")
    declared = [
        name
        for name, entry in (schema.items() if isinstance(schema, dict) else ())
        if isinstance(entry, dict) and entry.get("type") == "Date"
    ]
    seen = [
        field.removeprefix(f"{_PATIENT}.")
        for field in fields
        if look_like_dates(value for people in sections for value in times_of(people, field))
    ]
    return list(dict.fromkeys((*declared, *seen)))


def times_of(people: Section, field: str) -> list[Any]:
    """The field of every entry, which may be one of its patient attributes."""
    prefix, dot, name = field.partition(".")
    if dot and prefix == _PATIENT:
        attributes = people.column(_PATIENT)
        return [given.get(name) if isinstance(given, dict) else None for given in attributes]
    return people.column(field)


def date_texts(values: Sequence[Any]) -> tuple[list[str | None], list[Fault]]:
    """What each value says as text, and the rows whose value cannot be a date."""
    texts = [_date_text(value) for value in values]
    rule = "the date is not text, a year or a list of numbers"
    wrong = faults_of(rule, "time", [row for row, text in enumerate(texts) if text is _NO_DATE])
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
