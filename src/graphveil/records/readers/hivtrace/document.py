"""The JSON document that holds an HIV-TRACE network, within limits of size and depth.

An object that has one key twice is not taken for what it says: of two values one would be lost
without a word. If it is an entry of a list, that entry alone is set aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.graph.intake.records import Violation
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
