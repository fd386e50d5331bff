"""Sections of an HIV-TRACE result: lists of entries, or columns in the compact form.

A column of the compact form is a list, or a dictionary encoding: `keys` has the values by
number, and `values` the number of each entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.formats.readers.hivtrace.document import is_ambiguous, require_distinct
from graphveil.formats.source_file import SourceFile
from graphveil.graph.intake.faults import Fault

_SLOT = 8  # bytes of a place in a list
_MEND = "Entries are counted from 0. Export the results again, or remove the entry."


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


def faults_of(rule: str, column: str, rows: Sequence[int]) -> list[Fault]:
    """The rows of a table that break a rule, if there are any."""
    return [Fault(np.array(rows, np.int64), column, rule, _MEND)] if rows else []


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
