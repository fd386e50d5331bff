"""The JSON document that holds an HIV-TRACE network, within limits of size and depth.

An object that has one key twice is refused: of two values one would be lost without a word.
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

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:]', re.DOTALL)


def read_network(file: SourceFile, options: ReadingOptions) -> dict[str, Any]:
    """The network, with or without its wrapper, or a refusal."""
    data = read_json(file, options)
    network = data.get(_WRAPPER, data) if isinstance(data, dict) else data
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
        return json.loads(text, object_pairs_hook=_of_different_keys)
    except _KeyRepeatedError:
        raise InputError(
            "an object of the JSON has the same key twice",
            place=Place(file.name, _line_of_repetition(text)),
            hint="Remove one of the two; if a program wrote them, export the results again.",
        ) from None
    except json.JSONDecodeError as error:
        raise _not_json(file, error.lineno) from error
    except ValueError as error:  # a number of thousands of digits
        raise _not_json(file, None) from error


class _KeyRepeatedError(Exception):
    """An object has a key twice."""


def _of_different_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _KeyRepeatedError
    return found


def _line_of_repetition(text: str) -> int | None:
    """The line of the first key that its object has already; the JSON is known to be valid."""
    keys: list[set[str]] = []
    key = ""
    for token in _TOKEN.finditer(text):
        mark = token[0][0]
        if mark in "{[":
            keys.append(set())
        elif mark in "}]":
            keys.pop()
        elif mark == '"':
            key = token[0]
        elif json.loads(key) in keys[-1]:
            return text.count("\n", 0, token.start()) + 1
        else:
            keys[-1].add(json.loads(key))
    return None


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
