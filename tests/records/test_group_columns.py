"""Columns of groups: every reader that has attributes of people has their labels, one by one."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import networkx as nx
import polars as pl
import pytest
import xlsxwriter

from graphveil.errors import InputError, ParameterError
from graphveil.graph.groups import Group, column_of
from graphveil.records import ReadingOptions, read_records

Row = tuple[str, str, str]
PEOPLE: list[Row] = [
    ("ann", "2001", "1"), ("bob", "2001", "01"), ("cem", "2002", "2"), ("dee", "2002", ""),
    ("eva", "2002", "North"), ("fay", "2003", "1.0"),
]  # fmt: skip
WARD = Group("ward", ("1", "2", "North"))
EXPECTED = {"ann": "1", "bob": "other", "cem": "2", "dee": "unknown", "eva": "North", "fay": "1"}


def _csv(folder: Path, people: list[Row]) -> str:
    return str(_table(folder / "people.csv", ("node", "time", "Ward No"), people))


def _table(path: Path, header: tuple[str, ...], rows: list[Row]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def _linelist(folder: Path, people: list[Row]) -> str:
    path = folder / "cases.csv"
    rows = [(name, "", time, ward) for name, time, ward in people]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("case_id", "infected_by", "time", "Ward No"), *rows])
    return str(path)


def _microbetrace(folder: Path, people: list[Row]) -> str:
    return str(_table(folder / "nodes.csv", ("ID", "time", "Ward No"), people))


def _parquet(folder: Path, people: list[Row]) -> str:
    frame = pl.DataFrame(people, schema=["node", "time", "Ward No"], orient="row")
    frame.write_parquet(folder / "people.parquet")
    return str(folder / "people.parquet")


def _workbook(folder: Path, people: list[Row]) -> str:
    with xlsxwriter.Workbook(folder / "book.xlsx") as book:
        sheet = book.add_worksheet("People")
        for row, cells in enumerate([("node", "time", "Ward No"), *people]):
            for column, cell in enumerate(cells):
                sheet.write_string(row, column, cell)
    return f"{folder / 'book.xlsx'}#People"


def _database(folder: Path, people: list[Row]) -> str:
    path = folder / "people.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute('CREATE TABLE people (node TEXT, time TEXT, "Ward No" TEXT)')
        database.executemany("INSERT INTO people VALUES (?, ?, ?)", people)
        database.commit()
    return f"sqlite:///{path}#people"


def _graph(people: list[Row]) -> nx.Graph[str]:
    graph: nx.Graph[str] = nx.Graph()
    for name, time, ward in people:
        graph.add_node(name, time=time, **({"Ward No": ward} if ward else {}))
    return graph


def _graphml(folder: Path, people: list[Row]) -> str:
    nx.write_graphml(_graph(people), folder / "people.graphml")
    return str(folder / "people.graphml")


def _gexf(folder: Path, people: list[Row]) -> str:
    nx.write_gexf(_graph(people), folder / "people.gexf")
    return str(folder / "people.gexf")


def _hivtrace(folder: Path, people: list[Row]) -> str:
    nodes = [
        {"id": name, "patient_attributes": {"time": time, **({"Ward No": ward} if ward else {})}}
        for name, time, ward in people
    ]
    path = folder / "results.json"
    path.write_text(json.dumps({"Nodes": nodes, "Edges": [], "Singletons": []}))
    return str(path)


def _session(folder: Path, people: list[Row]) -> str:
    nodes = [{"_id": name, "time": time, "Ward No": ward} for name, time, ward in people]
    path = folder / "session.microbetrace"
    path.write_text(json.dumps({"version": "0.8", "data": {"nodes": nodes, "links": []}}))
    return str(path)


WRITERS: list[Callable[[Path, list[Row]], str]] = [
    *(_csv, _linelist, _microbetrace, _parquet, _workbook, _database),
    *(_graphml, _gexf, _hivtrace, _session),
]


def labels(
    write: Callable[[Path, list[Row]], str], folder: Path, rows: list[Row]
) -> dict[str, str]:
    options = ReadingOptions(
        time="time", group=("ward=Ward No",), max_distance="1" if write is _session else None
    )
    name = "microbetrace" if write is _microbetrace else None
    found = read_records([write(folder, rows)], format=name, options=options).records.nodes.frame
    cells = (WARD.cells[cell] for cell in WARD.cells_of(found[column_of("ward")]))
    return dict(zip(found["node"].cast(pl.String), cells, strict=True))


@pytest.mark.parametrize("write", WRITERS)
def test_labels_are_read_as_text_and_nobody_decides_about_others(
    write: Callable[[Path, list[Row]], str], tmp_path: Path
) -> None:
    assert labels(write, tmp_path, PEOPLE) == EXPECTED
    for gone in PEOPLE:
        (rest := tmp_path / gone[0]).mkdir()
        found = labels(write, rest, [each for each in PEOPLE if each != gone])
        assert found == {each: EXPECTED[each] for each in EXPECTED if each != gone[0]}


def test_a_column_of_numbers_is_read_alike_with_and_without_one_who_has_none() -> None:
    """A frame of whole numbers becomes one of broken ones if somebody's is missing."""
    whole, broken = pl.Series([1, 2]), pl.Series([1.0, 2.0, None])
    assert WARD.cells_of(whole).tolist() == WARD.cells_of(broken).tolist()[:2] == [0, 1]


def test_a_column_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no list of people has the column 'Street'"):
        read_records([_csv(tmp_path, PEOPLE)], options=ReadingOptions(group=("ward=Street",)))


def test_files_without_labels_are_said_to_have_none(tmp_path: Path) -> None:
    found = read_records([_csv(tmp_path, PEOPLE)], options=ReadingOptions(group=("ward=none",)))
    assert found.records.nodes.frame[column_of("ward")].null_count() == len(PEOPLE)


@pytest.mark.parametrize("given", [("ward",), ("=Ward No",), ("ward=",), ("ward=a", "ward=b")])
def test_a_group_without_a_column_is_refused(given: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError, match="group"):
        ReadingOptions(group=given)
