"""The schema of the public ledger is that of the types, and holds for what every version wrote."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import golden
import ledger_schema

SCHEMA: dict[str, Any] = json.loads(ledger_schema.SCHEMA.read_text(encoding="utf-8"))
ROW = jsonschema.Draft202012Validator(SCHEMA)


def rows_in(archive: Path) -> list[dict[str, Any]]:
    with tarfile.open(archive) as packed:
        (name,) = (each for each in packed.getnames() if each.endswith("public/ledger.jsonl"))
        file = packed.extractfile(name)
        assert file is not None
        return [json.loads(line) for line in file]


def test_it_is_written_from_the_types() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert ledger_schema.ledger_schema() == SCHEMA, "run `python tools/ledger_schema.py`"


@pytest.mark.parametrize(
    "archive", sorted(golden.GOLDEN.glob("*.tar.xz")), ids=lambda each: each.name.split(".")[0]
)
def test_every_row_that_a_version_wrote_is_as_it_says(archive: Path) -> None:
    for row in rows_in(archive):
        ROW.validate(row)


@pytest.mark.parametrize("change", ["no such key", "a number as text", "no hash"])
def test_another_row_is_refused(change: str) -> None:
    rows = rows_in(golden.GOLDEN / "2026-11-vectors.tar.xz")
    row = next(each for each in rows if each["event"] == "release made")
    if change == "no such key":
        del row["fact"]["raw"]
    elif change == "a number as text":
        row["fact"]["step"] = "1"
    else:
        row["hash"] = "0"
    assert not ROW.is_valid(row)
