"""The JSON document that holds an HIV-TRACE network, within limits of size and depth.

An object that has one key twice is not taken for what it says: of two values one would be lost
without a word. If it is an entry of a list, that entry alone is set aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Violation
from graphveil.records.columns import no_such, plain, unnamed_date
from graphveil.records.dates import is_missing, look_like_dates
from graphveil.records.options import ReadingOptions
from graphveil.records.source_file import SourceFile, decoded

# How a saved session of MicrobeTrace begins, which is JSON as well.
IS_SESSION = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{\s*"'
    rb'(data|session|commonService|style|meta|files|state|network|tabs|version)"'
)
_WRAPPER = "trace_results"
_BLOCK = 1 << 22
_STEPS = np.zeros(256, np.int8)  # by how much each byte changes the depth
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
# What a parsed document takes: a dictionary, a list, an entry of either. Measured, and rather high.
_COSTS = {b"{": 120, b"[": 64, b",": 40, b":": 60}
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SLOT = 8  # bytes of a place in a list
_MEND = "Entries are counted from 0. Export the results again, or remove the entry."
_PATIENT = "patient_attributes"
_SCHEMA = "patient_attribute_schema"
_OWN_DATES = ("edi", "baseline")  # lists of 9 numbers, where the program knew them
_NO_DATE = "no date"
_TWO_DATES = object()  # what an entry says that has the field twice


def read_network(file: SourceFile, options: ReadingOptions) -> dict[str, Any]:
    """The network, with or without its wrapper, or a refusal."""
    data = read_json(file, options)
    require_distinct(data, file.name)
    network = data.get(_WRAPPER, data) if isinstance(data, dict) else data
    require_distinct(network, file.name, _WRAPPER)
    if not isinstance(network, dict):
        raise InputError(
            "the file is not an HIV-TRACE network",
            place=Place(file.name),
            hint="Supply the JSON results, with Nodes and Edges.",
        )
    return network


def read_json(file: SourceFile, options: ReadingOptions) -> Any:
    """The document, or a refusal with its line."""
    raw = file.whole(options.document_bytes, _COSTS)
    text = decoded(raw, file.name)
    if _depth(raw) > options.most_nesting:
        raise InputError(
            f"the JSON is nested more than {options.most_nesting} deep",
            place=Place(file.name),
            hint="HIV-TRACE results are flat: check that this is the right file.",
        )
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except json.JSONDecodeError as error:
        raise _not_json(file, error.lineno) from error
    except ValueError as error:  # a number of thousands of digits
        raise _not_json(file, None) from error


class RepeatedKeys(dict[str, Any]):
    """An object of the JSON in which a key occurs twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    return entries if len(entries) == len(pairs) else RepeatedKeys(entries)


def is_ambiguous(entry: Any) -> bool:
    """Whether an entry, or an object in it, has a key twice."""
    if isinstance(entry, dict):
        return isinstance(entry, RepeatedKeys) or any(map(is_ambiguous, entry.values()))
    return isinstance(entry, list) and any(map(is_ambiguous, entry))


def require_distinct(found: Any, source: str, name: str | None = None) -> None:
    """Refuse an object that is no entry, and has a key twice."""
    if isinstance(found, RepeatedKeys):
        raise InputError(
            "an object of the JSON has the same key twice",
            place=Place(source, column=name),
            hint="Remove one of the two; if a program wrote them, export the results again.",
        )


def _depth(raw: bytes) -> int:
    """How deep brackets are nested, not counting those within text; block by block."""
    bare = np.frombuffer(_STRING.sub(b"", raw), dtype=np.uint8)
    deepest = depth = 0
    for start in range(0, len(bare), _BLOCK):
        steps = _STEPS[bare[start : start + _BLOCK]]
        depths = np.cumsum(steps, dtype=np.int32)
        deepest = max(deepest, depth + int(depths.max()))
        depth += int(depths[-1])
    return deepest


def _not_json(file: SourceFile, line: int | None) -> InputError:
    return InputError(
        "the file is not valid JSON; it may be cut off",
        place=Place(file.name, line),
        hint="Export the results again.",
    )


# Sections of an HIV-TRACE result: lists of entries, or columns in the compact form.
#
# A column of the compact form is a list, or a dictionary encoding: `keys` has the values by
# number, and `values` the number of each entry.


@dataclass(frozen=True)
class Section:
    """One section, whichever form it has.

    Attributes:
        source: the file.
        name: "Nodes", "Edges" or "Singletons".
        columns: the values of each field, one per entry; None where an entry has no such field.
        count: how many entries there are.
    """

    source: str
    name: str
    columns: dict[str, list[Any]]
    count: int

    def column(self, field: str) -> list[Any]:
        """A field of every entry."""
        return self.columns.get(field) or [None] * self.count

    def refuse(self, what: str, entry: int, field: str) -> InputError:
        """A refusal of one entry."""
        place = Place(self.source, entry, f"{self.name}.{field}")
        return InputError(what, place=place, hint=_MEND)


def violations_of(rule: str, column: str, rows: Sequence[int]) -> list[Violation]:
    """The rows of a table that break a rule, if there are any."""
    return [Violation(np.array(rows, np.int64), column, rule, _MEND)] if rows else []


def section(network: dict[str, Any], name: str, file: SourceFile) -> Section:
    """The section of this name; refuses what is neither a list nor columns."""
    found = network.get(name)
    require_distinct(found, file.name, name)
    if isinstance(found, list):
        return _of_entries(found, name, file)
    if isinstance(found, dict):
        return _of_columns(found, name, file)
    raise _refused(file.name, name)


def is_text(name: str) -> bool:
    """Whether there is something that can be stored; half a surrogate pair cannot."""
    try:
        return bool(name.strip()) and b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False


def _of_entries(entries: list[Any], name: str, file: SourceFile) -> Section:
    # An entry that is no object, or has a key twice, has no fields: that is its own fault.
    entries = [
        entry if isinstance(entry, dict) and not is_ambiguous(entry) else {} for entry in entries
    ]
    fields = dict.fromkeys(field for entry in entries for field in entry)
    file.ceiling.take(_SLOT * len(fields) * len(entries), file.name)
    columns = {field: [entry.get(field) for entry in entries] for field in fields}
    return Section(file.name, name, columns, len(entries))


def _of_columns(found: dict[str, Any], name: str, file: SourceFile) -> Section:
    columns = {field: _decoded(values, f"{name}.{field}", file) for field, values in found.items()}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise InputError(
            "the columns of the compact form have different lengths",
            place=Place(file.name, column=name),
            hint="Export the results again.",
        )
    return Section(file.name, name, columns, lengths.pop() if lengths else 0)


def _decoded(column: Any, name: str, file: SourceFile) -> list[Any]:
    """The values of a column of the compact form."""
    if isinstance(column, list):
        return column
    keys, values = (
        (column.get("keys"), column.get("values")) if isinstance(column, dict) else (None, None)
    )
    if not isinstance(keys, dict) or not isinstance(values, list):
        raise _refused(file.name, name)
    sizes = {number: len(str(value)) for number, value in keys.items()}
    file.ceiling.take(sum(sizes.get(str(each), 0) for each in values), file.name)
    # A number that is not among the keys says nothing: that is a matter of its own entry.
    return [None if number is None else keys.get(str(number)) for number in values]


def _refused(source: str, name: str) -> InputError:
    return InputError(
        "the file is not an HIV-TRACE network: entries or columns are expected here",
        place=Place(source, column=name),
        hint="Supply the JSON results, with Nodes and Edges.",
    )


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
