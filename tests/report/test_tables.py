"""The data dictionary: no public column is without its meaning, and none is described twice."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import pytest

from commands import ROOT
from graphveil.report.artefacts import artefacts
from graphveil.report.page import page
from graphveil.report.public_tables import TABLES, dictionary, tables_of
from graphveil.report.releases import NEVER, as_frame, entries
from graphveil.study.public_part import PublicPart
from public_parts import promise, published

DOCUMENT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
PART = PublicPart.of(published(promise(), 4, reach=40, planned=True).rows)
TABULAR = [each for each in artefacts(PART) if each.path.endswith(".csv")]


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def described() -> dict[str, list[dict[str, str]]]:
    """What the published dictionary says, by file."""
    content = next(each.make() for each in TABULAR if each.path == "dictionary.csv")
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows_of(content):
        found.setdefault(row["file"], []).append(row)
    return found


@pytest.mark.parametrize("path", [each.path for each in TABULAR])
def test_every_column_of_every_table_is_in_the_dictionary(path: str) -> None:
    content = next(each.make() for each in TABULAR if each.path == path)
    told = described()["releases.csv" if path.startswith("charts/") else path]
    header = content.decode().splitlines()[0].split(",")
    assert header == [row["column"] for row in told]
    assert all(row["meaning"] and row["type"] for row in told)


@pytest.mark.parametrize("path", [each.path for each in TABULAR])
def test_values_are_of_the_type_and_empty_only_when_the_dictionary_says_so(path: str) -> None:
    rows = rows_of(next(each.make() for each in TABULAR if each.path == path))
    readers = {"whole number": int, "number": float, "text": str}
    assert rows
    for told in described()["releases.csv" if path.startswith("charts/") else path]:
        values = [row[told["column"]] for row in rows]
        assert told["empty"] != NEVER or all(values)
        for value in filter(None, values):
            readers[told["type"]](value)


def test_the_rows_of_a_series_are_those_of_all_releases() -> None:
    together = rows_of(TABLES[0].content(PART))
    apart = [
        row for each in TABULAR if each.path.startswith("charts/") for row in rows_of(each.make())
    ]
    assert apart == together


def test_data_frames_have_the_same_columns() -> None:
    assert as_frame(PART).columns == [row["column"] for row in described()["releases.csv"]]


def test_the_page_shows_the_dictionary() -> None:
    text = page(PART).decode()
    for entry in dictionary(PART):
        assert f'<th scope="row">{entry.column}</th><td>{entry.file}</td>' in text
    for table in tables_of(PART):
        assert f'<a href="{table.file}" download>' in text


def test_the_document_shows_what_the_dictionary_says_of_releases() -> None:
    for entry in dictionary(PART):
        assert f"`{entry.file}`" in DOCUMENT
        if entry.file == "releases.csv":
            assert f"| `{entry.column}` | {entry.meaning}" in DOCUMENT
            assert entry.empty == NEVER or f"empty {entry.empty})" in DOCUMENT


def test_a_column_without_a_meaning_cannot_be_published() -> None:
    @dataclass(frozen=True)
    class Bare:
        count: int

    with pytest.raises(KeyError, match="empty"):
        entries("bare.csv", Bare)
