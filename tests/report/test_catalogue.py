"""The data package describes the very tables that are published: names, types, keys."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import frictionless
import pytest

from graphveil.report.artefacts import artefacts
from graphveil.study.public_part import PublicPart
from public_parts import promise, published

PART = PublicPart.of(published(promise(), 3).rows)
FILES = {each.path: each.make() for each in artefacts(PART) if not each.drawn}
PACKAGE: dict[str, Any] = json.loads(FILES["datapackage.json"])
READ = {"integer": int, "number": float, "string": str}


@pytest.mark.parametrize("resource", PACKAGE["resources"], ids=lambda each: str(each["name"]))
def test_every_value_has_the_type_that_is_stated(resource: dict[str, Any]) -> None:
    rows = list(csv.reader(io.StringIO(FILES[resource["path"]].decode())))
    fields = resource["schema"]["fields"]
    assert rows[0] == [each["name"] for each in fields]
    for row in rows[1:]:
        for value, field in zip(row, fields, strict=True):
            assert value or not field["constraints"]["required"], field["name"]
            if value:
                READ[field["type"]](value)


def test_keys_tell_rows_apart() -> None:
    keyed = [each for each in PACKAGE["resources"] if "primaryKey" in each["schema"]]
    assert {each["name"] for each in keyed} >= {"releases"}
    for resource in keyed:
        table = csv.DictReader(io.StringIO(FILES[resource["path"]].decode()))
        keys = [tuple(row[name] for name in resource["schema"]["primaryKey"]) for row in table]
        assert len(set(keys)) == len(keys)


def test_every_table_is_described_and_the_dataset_names_them() -> None:
    tables = {path for path in FILES if path.endswith(".csv") and "/" not in path}
    assert {each["path"] for each in PACKAGE["resources"]} == tables
    dataset = json.loads(FILES["dataset.jsonld"])
    assert {each["contentUrl"] for each in dataset["distribution"]} == tables
    assert dataset["@type"] == "Dataset"
    assert PACKAGE["temporal"] == {"first": PART.steps[0].label, "last": PART.steps[-1].label}


def test_a_well_kept_reader_finds_every_table_as_it_is_described(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text)
    report = frictionless.validate(str(tmp_path / "datapackage.json"))
    assert report.valid, report.flatten(["title", "rowNumber", "fieldName", "note"])
    assert report.stats["tasks"] == len(PACKAGE["resources"])
