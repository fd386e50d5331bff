"""Line lists: infectors become edges, wherever and however a row names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from format_examples import LINELIST
from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, Place
from graphveil.graph.sequence import GraphSequence
from graphveil.records import ReadFiles, ReadingOptions, read_records

YEARS = Calendar.yearly(2020)


def read(folder: Path, text: str, **options: Any) -> ReadFiles:
    (folder / "cases.csv").write_text(text)
    return read_records([folder / "cases.csv"], options=ReadingOptions(**options))


def lines(found: ReadFiles) -> str:
    return "\n".join(found.report.lines())


@pytest.mark.parametrize(
    ("cell", "infectors"),
    [
        ("", []),
        (" ", []),
        ("NA", []),
        ("unknown", []),
        ("a", ["a"]),
        (" a ", ["a"]),
        ('"a,b"', ["a", "b"]),
        ('"a, b,"', ["a", "b"]),
        ("a;b", ["a", "b"]),
        ("a b", ["a b"]),
        ("a ; ; b", ["a", "b"]),
        ('"a,\tb;c  d"', ["a", "b", "c  d"]),
        ("a;unknown", ["a"]),
        ("stranger", ["stranger"]),
    ],
)
def test_a_cell_may_name_any_number_of_infectors(
    tmp_path: Path, cell: str, infectors: list[str]
) -> None:
    found = read(tmp_path, f"case_id,infected_by,time\nx,{cell},2020\n").records
    assert found.nodes.frame.rows() == [("x", 2020)]
    assert found.edges.frame.rows() == [(infector, "x") for infector in infectors]
    assert found.edges.frame.schema == {"source": pl.String, "target": pl.String}


def test_blanks_within_ids_do_not_cut_them(tmp_path: Path) -> None:
    text = 'case,infector,time\nno 1,,2020\nno 2,no 1,2020\nno 3,"no 1 , no 2",2020\n'
    found = read(tmp_path, text).records
    assert found.edges.frame.rows() == [("no 1", "no 2"), ("no 1", "no 3"), ("no 2", "no 3")]


def test_edges_stand_in_the_row_of_their_case() -> None:
    edges = read_records(LINELIST.paths, options=LINELIST.options).records.edges
    assert edges.place(0, "source") == Place("cases.csv", 3, "infected_by")
    assert edges.place(4, "source") == Place("cases.csv", 5, "infected_by")
    assert edges.place(4, "target") == Place("cases.csv", 5, "case_id")


def test_edges_stand_in_the_row_of_their_case_below_blank_lines(tmp_path: Path) -> None:
    text = "case_id,infector,time\n\na,,2020\n,,\nb,,2020\nc,a;b,2020\n"
    found = read(tmp_path, text)
    assert [found.records.edges.place(row, "source").row for row in (0, 1)] == [6, 6]
    assert "1 row with several infectors: an edge from each (row 6)" in lines(found)


def test_the_report_says_what_was_read() -> None:
    said = lines(read_records(LINELIST.paths, options=LINELIST.options))
    assert "cases.csv: read as linelist (a header row with case_id and infected_by)" in said
    assert "5 rows of nodes, 5 rows of edges" in said
    assert "dated by the column 'confirmed'" in said
    assert "2 rows with several infectors: an edge from each (rows 4, 5)" in said
    assert "1 node without a date: left to the study's rule (row 6)" in said


def test_a_column_without_a_name_is_no_date(tmp_path: Path) -> None:
    found = read(tmp_path, ",case_id,infector,time\n0,a,,2020\n1,b,a,2020\n").records
    assert found.edges.frame.rows() == [("a", "b")]


def test_an_edge_may_have_a_date_of_its_own(tmp_path: Path) -> None:
    text = "case_id,infector,seen,met\na,,2020,\nb,a,2020,1/5/2021\nc,a;b,2021,none\n"
    edges = read(tmp_path, text, time="seen", edge_time="met", day_first=False).records.edges
    assert edges.frame.rows() == [("a", "b", "2021-01-05"), ("a", "c", None), ("b", "c", None)]
    assert edges.place(0, "time") == Place("cases.csv", 3, "met")
    same = read(tmp_path, text, time="seen", edge_time="seen").records.edges
    assert same.frame["time"].to_list() == [2020, 2021, 2021]


def test_unlisted_infectors_are_refused_by_row_until_they_are_listed(tmp_path: Path) -> None:
    cases = tmp_path / "cases.csv"
    cases.write_text("case_id,infector,seen\na,,2020\nb,a; stranger,2020\n")
    options = ReadingOptions(time="seen")
    begun = GraphSequence.begin(YEARS)
    with pytest.raises(InputError, match=r"cases\.csv, row 3, column 'infector'") as refused:
        begun.extend(read_records([cases], options=options).records)
    assert "stranger" not in str(refused.value)
    (tmp_path / "others.csv").write_text("node,time\nstranger,2020\n")
    both = read_records([cases, tmp_path / "others.csv"], options=options)
    assert begun.extend(both.records).report.edges_added == 2


def test_a_line_list_may_be_dated_by_another_file(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("case_id,infector\na,\nb,a\n")
    (tmp_path / "dates.csv").write_text("node,time\na,2020\nb,2021\n")
    found = read_records([tmp_path / "cases.csv", tmp_path / "dates.csv"])
    assert found.records.edges.frame.rows() == [("a", "b")]
    assert "2 nodes without a date" in lines(found)
    with pytest.raises(InputError, match="no column was named as the date of a node"):
        read_records([tmp_path / "cases.csv"])


HEADER = "age,case_id,seen,infector\n"


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_rows_in_quotes_as_a_whole_are_read_as_they_were_meant(tmp_path: Path, end: str) -> None:
    text = HEADER + '9,a,2020,\n"8,b,2021,a"\n7,c,2021,b\n"6,d,2021,""a, b"""' + end
    found = read(tmp_path, text, time="seen")
    assert found.records.nodes.frame.rows() == [("a", 2020), ("b", 2021), ("c", 2021), ("d", 2021)]
    assert found.records.edges.frame.rows() == [("a", "b"), ("b", "c"), ("a", "d"), ("b", "d")]
    assert found.records.edges.place(3, "source").row == 5
    assert "2 rows quoted as a whole: read without the quotes (rows 3, 5)" in lines(found)


@pytest.mark.parametrize(
    "row",
    [
        '"Doe, Jane",2020,',  # a name as an id, and empty columns after it
        '"Doe, Jane"',
        '"Doe, J, a, ne"',
        f'"{"x" * 200_000},2020,a"',
    ],
)
def test_commas_in_an_id_make_no_row(tmp_path: Path, row: str) -> None:
    found = read(tmp_path, f"case_id,seen,infector\na,2020,\n{row}\n", time="seen")
    assert "quoted as a whole" not in lines(found)
    assert found.records.nodes.frame["node"].to_list()[1] == row.split('"')[1]


def test_a_blank_in_one_id_does_not_cut_the_cells_of_others(tmp_path: Path) -> None:
    text = "case,infector,time\nno 1,,2020\na,,2020\nb,,2020\nc,a b,2020\n"
    with_it = read(tmp_path, text).records.edges.frame.rows()
    assert with_it == read(tmp_path, text.replace("no 1,,2020\n", "")).records.edges.frame.rows()


def test_a_row_in_quotes_says_nothing_about_another(tmp_path: Path) -> None:
    text = 'case_id,seen,infector\n"a,2020,",2020,\n"a,2020,"\n'
    nodes = read(tmp_path, text, time="seen").records.nodes.frame
    assert nodes["node"].to_list() == ["a,2020,", "a"]


def test_a_header_alone_is_an_empty_list(tmp_path: Path) -> None:
    found = read(tmp_path, "case_id,infector,time\n").records
    assert found.nodes.frame.is_empty()
    assert found.edges.frame.is_empty()
    assert GraphSequence.begin(YEARS).extend(found).sequence.nodes == 0
