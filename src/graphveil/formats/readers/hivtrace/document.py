"""The JSON document that holds an HIV-TRACE network, within limits of size and depth.

An object that has one key twice is not taken for what it says: of two values one would be lost
without a word. If it is an entry of a list, that entry alone is set aside.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from graphveil.errors import InputError, Place
from graphveil.formats.options import ReadingOptions
from graphveil.formats.source_file import SourceFile, decoded

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
    """An object of the JSON in which a key stands twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else RepeatedKeys(found)


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
