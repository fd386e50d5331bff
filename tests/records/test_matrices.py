"""Distance matrices: half or whole, in text or a workbook, with every cell judged by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from graphveil.errors import InputError, ParameterError
from graphveil.records import ReadFiles, ReadingOptions, read_records

NEAR = ReadingOptions(max_distance="0.015")
WHOLE = ",a,b,c\na,0,0.01,0.2\nb,0.01,0,0.015\nc,0.2,0.015,0\n"
PEOPLE = "node,time\na,2001\nb,2002\nc,2003\nd,2004\n"


def read(folder: Path, text: str, options: ReadingOptions = NEAR) -> ReadFiles:
    (folder / "matrix.csv").write_text(text)
    (folder / "people.csv").write_text(PEOPLE)
    return read_records([folder / "matrix.csv", folder / "people.csv"], options=options)


def links(found: ReadFiles) -> set[frozenset[str]]:
    rows = [frozenset(pair) for pair in found.records.edges.frame.rows()]
    assert len(rows) == len(set(rows)), "each pair once"
    return set(rows)


def pairs(*names: str) -> set[frozenset[str]]:
    return {frozenset(name) for name in names}


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE.replace(",", "\t").replace("\ta\tb", "snp-dists 0.8.2\ta\tb", 1),
        ",a,b,c\na,,,\nb,0.01,,\nc,0.2,0.015,\n",
        ",a,b,c\na\nb,0.01\nc,0.2,0.015\n",
        ",a,b,c\na,,0.01,NA\nb,,,0.015\nc,,,\n",
        "A title\n" + WHOLE.replace(",a", "node,a", 1),
        WHOLE.replace("b,0.01,0,0.015", "\nb,0.01,0,0.015"),
    ],
)
def test_half_a_matrix_is_as_good_as_a_whole_one(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, text)
    assert links(found) == pairs("ab", "bc")
    assert found.directed is False


def test_a_workbook_may_hold_one(tmp_path: Path) -> None:
    with xlsxwriter.Workbook(tmp_path / "book.xlsx") as book:
        sheet = book.add_worksheet("distances")
        for row, line in enumerate(WHOLE.splitlines()):
            for column, cell in enumerate(line.split(",")):
                sheet.write(row, column, float(cell) if cell[:1].isdigit() else cell)
        people = book.add_worksheet("people")
        for row, line in enumerate(PEOPLE.splitlines()):
            people.write_row(row, 0, line.split(","))
    assert links(read_records([tmp_path / "book.xlsx"], options=NEAR)) == pairs("ab", "bc")


def test_two_columns_of_one_name_are_two_records_of_a_person(tmp_path: Path) -> None:
    twice = ",a,b,a\na,0,0.2,0.001\nb,0.2,0,0.01\na,0.001,0.01,0\n"
    assert links(read(tmp_path, twice)) == pairs("ab")


def test_people_may_be_called_as_columns_of_other_formats(tmp_path: Path) -> None:
    text = "ID,node,source\nnode,0,0.01\nsource,0.01,0\ntarget,1,1\n"
    assert links(read(tmp_path, text)) == {frozenset(("node", "source"))}


def test_an_odd_cell_is_a_fault_of_its_pair_alone(tmp_path: Path) -> None:
    odd = WHOLE.replace("a,0,0.01,0.2", "a,0,0.01,far")
    with pytest.raises(InputError, match=r"matrix.csv, row 2: a distance is no number"):
        read(tmp_path, odd)
    found = read(tmp_path, odd, ReadingOptions(max_distance="0.015", mark_bad=True))
    edges = found.records.edges.without_faults()
    assert {frozenset(pair) for pair in edges.frame.rows()} == pairs("ab", "bc")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ReadingOptions(), "not every pair is a link.*usual for HIV"),
        (ReadingOptions(max_distance="0.015", distance="none"), "not every pair is a link"),
        (ReadingOptions(max_distance="0.015", where=("sex=f",)), "no file has the column 'sex'"),
    ],
)
def test_what_a_matrix_needs_is_said(tmp_path: Path, options: ReadingOptions, message: str) -> None:
    with pytest.raises((InputError, ParameterError), match=message) as refused:
        read(tmp_path, WHOLE, options)
    assert len(str(refused.value)) < 300


def test_dates_come_from_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(WHOLE)
    with pytest.raises(InputError, match=r"a matrix has no dates\. Add a list of its people"):
        read_records([tmp_path / "matrix.csv"], options=NEAR)


def test_a_header_may_be_longer_than_what_is_looked_at_first(tmp_path: Path) -> None:
    ids = [f"sequence-{number:05}|2003" for number in range(4_000)]
    rows = [",".join(["", *ids]), *(f"{name},{'1,' * at}" for at, name in enumerate(ids[:30]))]
    (tmp_path / "wide.csv").write_text("\n".join(rows))
    options = ReadingOptions(max_distance="1", time_from_id="|2")
    found = read_records([tmp_path / "wide.csv"], options=options)
    assert len(found.records.nodes.frame) == 30
    assert len(found.records.edges.frame) == 30 * 29 // 2
