"""Writes the JSON schema of the public ledger from the types that read and write it.

    python tools/ledger_schema.py

One schema for a row of `ledger.jsonl`, in which the event decides what the fact must have. What a
newer version adds is allowed: programs that read a ledger shall ignore what they do not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from commands import ROOT
from graphveil.study.facts import Fact

SCHEMA = ROOT / "src" / "graphveil" / "report" / "ledger.schema.json"
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def ledger_schema() -> dict[str, Any]:
    """Of one row."""
    definitions: dict[str, Any] = {}
    cases = []
    for kind in sorted(_events(Fact), key=lambda each: str(each.event)):
        schema = kind.model_json_schema(
            mode="serialization", ref_template="#/$defs/{model}", by_alias=True
        )
        definitions |= schema.pop("$defs", {})
        definitions[kind.__name__] = schema
        event = {"properties": {"event": {"const": str(kind.event)}}, "required": ["event"]}
        fact = {"properties": {"fact": {"$ref": f"#/$defs/{kind.__name__}"}}}
        cases.append({"if": event, "then": fact})
    for each in definitions.values():
        _optional(each)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:graphveil:schema:ledger-row:1",
        "title": "A row of the public ledger of a graphveil study",
        "description": "One line of ledger.jsonl. Keys never change their meaning.",
        "type": "object",
        "required": ["number", "at", "event", "fact", "seal", "previous", "hash"],
        "additionalProperties": False,
        "properties": {
            "number": {"type": "integer", "minimum": 0},
            "at": {"type": "string", "description": "when the command began, in UTC"},
            "event": {"type": "string"},
            "fact": {"type": "object"},
            "seal": {"type": "string", "description": "a commitment to the private ledger"},
            "previous": HASH,
            "hash": HASH,
        },
        "allOf": cases,
        "$defs": dict(sorted(definitions.items())),
    }


def _events(kind: type[Fact]) -> Iterator[type[Fact]]:
    """The facts that are rows, not parts of others."""
    for each in kind.__subclasses__():
        if "event" in vars(each):
            yield each
        yield from _events(each)


def _optional(schema: dict[str, Any]) -> None:
    """Python's words for its own values are left out, and what has a default may be missing."""
    schema.pop("title", None)
    description = schema.pop("description", "").split("\n\n")[0]
    if description:
        schema["description"] = " ".join(description.split())
    properties = schema.get("properties", {})
    for each in properties.values():
        each.pop("title", None)
    if "required" in schema:
        schema["required"] = [
            name for name in schema["required"] if "default" not in properties[name]
        ]


def main() -> None:
    """Write it down."""
    text = json.dumps(ledger_schema(), indent=2, ensure_ascii=False)
    SCHEMA.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
