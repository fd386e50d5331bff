"""A series on one line: statistic[:parameter=value,…][@ε][=name]."""

from __future__ import annotations

import re
from typing import Any

from graphveil.errors import ParameterError

EXAMPLES = "edges, high-degree:tau=3, clusters:k=3,window=5, triangles@1/4 or edges@0.5=links"
_SHAPE = re.compile(
    r"(?P<statistic>[^:@=]+)"
    r"(?::(?P<given>[a-z]+=[^=@]+?(?:,[a-z]+=[^=@]+?)*))?"
    r"(?:@(?P<epsilon>[^@=]+))?"
    r"(?:=(?P<name>[^:@=]+))?"
)
_NEXT_PAIR = re.compile(r",(?=[a-z]+=)")  # a pattern has commas of its own
# What stands among the parameters, but belongs to the series and not to its statistic.
OF_THE_SERIES = (
    *("mechanism", "horizon", "projection", "delta", "pool", "minimise", "expected", "weight"),
)
_TEXTS = ("delta", "pool")


def series_data(text: str) -> dict[str, Any]:
    """What a line says about a series, as the study file has it; only what is there."""
    found = _SHAPE.fullmatch(text.strip())
    if found is None:
        raise ParameterError("series", f"'{text}' cannot be read", hint=f"Write {EXAMPLES}.")
    pairs = _NEXT_PAIR.split(found["given"]) if found["given"] else []
    given = dict(pair.split("=") for pair in pairs)
    own = {key: entry_value(key, given.pop(key)) for key in OF_THE_SERIES if key in given}
    parameters = {key: entry_value(key, value) for key, value in given.items()}
    said = {key: found[key] for key in ("name", "epsilon") if found[key]}
    return {"statistic": found["statistic"], "parameters": parameters, **said, **own}


def projection_of(text: str) -> int | tuple[int, int]:
    """The threshold of a projection: D, or IxO for in- and out-degrees."""
    found = re.fullmatch(r"([0-9]+)(?:x([0-9]+))?", text)
    if found is None:
        problem = f"must be a number, or IxO for in- and out-degrees, not '{text}'"
        raise ParameterError("projection", problem)
    return int(found[1]) if found[2] is None else (int(found[1]), int(found[2]))


def entry_value(key: str, text: str) -> Any:
    """The value of an entry of the study file, from its text."""
    if key == "projection":
        return projection_of(text)
    return int(text) if text.isascii() and text.isdigit() and key not in _TEXTS else text
