"""Workbooks, archives, encodings, databases and R's data hold the same tables as plain files."""

from __future__ import annotations

import datetime as dt
import gzip
import sqlite3
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
import rdata
import xlsxwriter

from commands import ROOT
from graphveil.errors import InputError, ParameterError, RecordError
from graphveil.records import (
    ReadFiles,
    ReadingOptions,
    from_frames,
    from_rows,
    held_tables,
    read_records,
    workbooks,
)
from study_databases import execute, new_database

PEOPLE = "case_id,onset,age\nÄnne,2014-03-14,5\nb2,2014-04-01,\n"
LINKS = "from,to\nÄnne,b2\n"
EXPECTED = ([("Änne", "2014-03-14"), ("b2", "2014-04-01")], [("Änne", "b2")])


def read(*words: str | Path, **options: Any) -> ReadFiles:
    return read_records(words, options=ReadingOptions(**{"time": "onset", **options}))


def rows(found: ReadFiles) -> tuple[list[Any], list[Any]]:
    return found.records.nodes.frame.rows(), found.records.edges.frame.rows()


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    with xlsxwriter.Workbook(path) as book:
        dates = book.add_format({"num_format": "dd/mm/yyyy"})
        for name, lines in sheets.items():
            sheet = book.add_worksheet(name)
            for row, line in enumerate(lines):
                for column, cell in enumerate(line):
                    style = [dates] if isinstance(cell, dt.date) else []
                    sheet.write(row, column, cell, *style)
    return path


EXAMPLES = ROOT / "examples" / "formats"
HELD = EXAMPLES / "containers"
OUTBREAK: dict[str, Sequence[str | Path]] = {
    "plain": [EXAMPLES / "contacts" / "linelist.csv", EXAMPLES / "contacts" / "contacts.csv"],
    "workbook": [HELD / "outbreak.xlsx"],
    "zip": [HELD / "linelist.zip", HELD / "contacts.zip"],
    "utf-16": [HELD / "linelist-utf16.csv", HELD / "contacts-utf16.csv"],
    "tabs": [HELD / "linelist.tsv", HELD / "contacts.tsv"],
    "sqlite": [f"sqlite:///{HELD / 'outbreak.db'}#{name}" for name in ("linelist", "contacts")],
    "r": [HELD / "outbreak.rds"],
}


@pytest.mark.parametrize("container", OUTBREAK)
def test_the_examples_all_hold_the_same_outbreak(container: str) -> None:
    """Four people, one of them dated by her report, and a room that is nobody."""
    found = read(*OUTBREAK[container], time="onset,report", where=("nodes:type=person",))
    people = [("W01", "2014-03-02"), ("W02", "2014-03-11"), ("W03", "2014-03-14")]
    assert found.records.nodes.frame.rows() == [*people, ("W04", "2014-04-01")]
    links = found.records.edges.frame.select("source", "target").rows()
    assert links == [("W01", "W02"), ("W02", "W03"), ("W03", "W04")]


def test_tables_and_queries_of_a_server(postgresql: str) -> None:
    """Nothing is written there, not even by a query that would."""
    address = new_database(postgresql)
    for statement in (
        "CREATE TABLE people (case_id text, onset date, seen timestamptz, age integer)",
        "INSERT INTO people VALUES ('Änne', '2014-03-14', '2014-03-14T01:00+02', 5)",
        "INSERT INTO people VALUES ('b2', NULL, '2014-04-01T12:00Z', NULL)",
        'CREATE TABLE links ("from" text, "to" text)',
        "INSERT INTO links VALUES ('Änne', 'b2')",
    ):
        execute(address, statement)
    found = read(f"{address}#people", f"{address}#links", time="onset,seen")
    (first, second), links = rows(found)
    assert first == ("Änne", "2014-03-14")
    assert second[0] == "b2"
    assert second[1].startswith("2014-04-01")
    assert links == [("Änne", "b2")]
    asked = "select case_id as id, onset from people where age is not null"
    assert rows(read(f"{address}#{asked}"))[0] == [("Änne", "2014-03-14")]
    writing = "with gone as (delete from people returning *) select case_id, onset from gone"
    with suppress(InputError):
        read(f"{address}#{writing}")
    assert len(rows(read(f"{address}#people", time="onset,seen"))[0]) == 2


CASES: list[list[Any]] = [
    ["Outbreak 2014"], [], ["case_id", "onset", "age"], ["Änne", dt.datetime(2014, 3, 14), 5],
    [], [7, dt.datetime(2014, 4, 1), None], ["07", "2014-05", None],
]  # fmt: skip
CONTACTS: list[list[Any]] = [
    ["from", "to", "when"], ["Änne", 7, None], [7, "07", dt.datetime(2014, 6, 1, 9, 30)],
]  # fmt: skip


def test_a_workbook_is_read_sheet_by_sheet_and_cell_by_cell(tmp_path: Path) -> None:
    path = workbook(tmp_path / "book.xlsx", Cases=CASES, Contacts=CONTACTS, Empty=[])
    found = read(path, edge_time="when")
    assert found.records.nodes.frame.rows() == [
        ("Änne", "2014-03-14 00:00:00"), ("7", "2014-04-01 00:00:00"), ("07", "2014-05"),
    ]  # fmt: skip
    assert found.records.edges.frame.rows() == [
        ("Änne", "7", None), ("7", "07", "2014-06-01 09:30:00"),
    ]  # fmt: skip
    assert [file.name for file in found.report.files] == ["book.xlsx#Cases", "book.xlsx#Contacts"]
    assert found.records.nodes.place(1, "time").row == 6


def test_sheets_are_chosen_by_name(tmp_path: Path) -> None:
    path = workbook(tmp_path / "b.xlsx", Cases=CASES, Notes=[["Dear", "all"]], Contacts=CONTACTS)
    with pytest.raises(InputError, match=r"b.xlsx#Notes: the content is not in a known format"):
        read(path)
    assert len(read(f"{path}#cases", f"{path}#Contacts").report.files) == 2
    with pytest.raises(InputError, match=r"there is no sheet 'Case'. There are: Cases, Notes, Con"):
        read(f"{path}#Case")


def test_a_number_among_dates_is_no_date_unless_the_steward_says_so(tmp_path: Path) -> None:
    lines: list[list[Any]] = [["case_id", "onset"], ["a", dt.datetime(2014, 3, 14)], ["b", 41713]]
    path = workbook(tmp_path / "b.xlsx", Cases=lines)
    assert read(path).records.nodes.frame["time"].to_list() == ["2014-03-14 00:00:00", "41713"]
    found = read(path, excel_dates=True).records.nodes.frame["time"].to_list()
    assert found == ["2014-03-14T00:00:00", "2014-03-15"]


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1junk"])
def test_damaged_workbooks_and_archives_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InputError, match=r"damaged"):
        read(tmp_path / "file")


def test_a_workbook_that_unpacks_too_far_is_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "b.xlsx", Cases=CASES)
    with pytest.raises(InputError, match="more than 4,000 bytes"):
        read(path, most_bytes=4000)


def document(path: Path, *rows: tuple[int, list[tuple[int, str]]]) -> Path:
    """An OpenDocument sheet: how often each row is repeated, and each of its cells."""
    inside = "".join(
        f'<table:table-row table:number-rows-repeated="{times}">'
        + "".join(
            f'<table:table-cell table:number-columns-repeated="{often}"'
            + (
                f' office:value-type="string"><text:p>{text}</text:p></table:table-cell>'
                if text
                else "/>"
            )
            for often, text in cells
        )
        + "</table:table-row>"
        for times, cells in rows
    )
    names = "".join(
        f' xmlns:{each}="urn:oasis:names:tc:opendocument:xmlns:{each}:1.0"'
        for each in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest:manifest/>")
        archive.writestr(
            "content.xml",
            f'<?xml version="1.0"?><office:document-content{names}><office:body>'
            f'<office:spreadsheet><table:table table:name="Cases">{inside}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


def record(kind: int, content: bytes = b"") -> bytes:
    """One record of .xlsb: its kind and its length, seven bits to a byte, then its content."""
    low = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    size = len(content)
    return low + bytes([size & 127 | 128, size >> 7]) + content


def wide(text: str) -> bytes:
    return len(text).to_bytes(4, "little") + text.encode("utf-16-le")


def binary_book(path: Path, cells: dict[tuple[int, int], str]) -> Path:
    """The smallest .xlsb that has a sheet: cells by row and column, in order."""
    sheet, last = record(129) + record(148, bytes(16)) + record(145), -1
    for (row, column), text in cells.items():
        if row != last:
            sheet, last = sheet + record(0, row.to_bytes(4, "little") + bytes(13)), row
        sheet += record(6, column.to_bytes(4, "little") + bytes(4) + wide(text))
    book = record(131) + record(143) + record(156, bytes(8) + wide("rId1") + wide("Cases"))
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.bin", book + record(144) + record(132))
        archive.writestr("xl/worksheets/sheet1.bin", sheet + record(146) + record(130))
        archive.writestr(
            "xl/_rels/workbook.bin.rels",
            f'<Relationships><Relationship Id="rId1" Type="{kinds}"'
            ' Target="worksheets/sheet1.bin"/></Relationships>',
        )
    return path


HEADER = (1, [(1, "case_id"), (1, "onset")])
TABLE = {(0, 0): "case_id", (0, 1): "onset", (1, 0): "a", (1, 1): "2014-03"}


def test_a_binary_workbook_is_read(tmp_path: Path) -> None:
    path = binary_book(tmp_path / "b.xlsb", TABLE)
    assert read(path).records.nodes.frame.rows() == [("a", "2014-03")]


def test_a_cell_in_the_far_corner_of_a_sheet_is_refused_and_ends_nothing(tmp_path: Path) -> None:
    """Else calamine asks for half a terabyte, and the process is gone without a word."""
    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        sheet = book.add_worksheet("Cases")
        sheet.write_row(0, 0, ["case_id", "onset"])
        sheet.write(1048575, 16383, "x")
    many = document(tmp_path / "b.ods", HEADER, (1_000_000, [(2, "a"), (10_000, "b")]))
    corner = binary_book(tmp_path / "b.xlsb", {**TABLE, (1048575, 16383): "x"})
    for path in (tmp_path / "b.xlsx", many, corner):
        with pytest.raises(InputError, match="reaches so far") as refused:
            read(path)
        assert len(str(refused.value)) < 300


def test_empty_cells_to_the_edge_of_a_sheet_do_no_harm(tmp_path: Path) -> None:
    """As LibreOffice writes them; and a long table is read whole, piece by piece."""
    path = document(
        tmp_path / "b.ods",
        HEADER,
        (1, [(1, "a"), (1, "2014-03"), (16_382, "")]),
        (1_048_574, [(16_384, "")]),
    )
    assert read(path).records.nodes.frame.rows() == [("a", "2014-03")]


@pytest.mark.parametrize("place", [30, 40, 60, 100])
def test_a_sheet_that_does_not_unpack_is_refused(tmp_path: Path, place: int) -> None:
    path = document(tmp_path / "b.ods", HEADER, (2000, [(1, "a")]))
    with zipfile.ZipFile(path) as archive:
        begins = archive.getinfo("content.xml").header_offset
    content = bytearray(path.read_bytes())
    for at in range(begins + place, min(begins + place + 60, len(content) - 200)):
        content[at] ^= 0xA5
    path.write_bytes(content)
    with pytest.raises(InputError):
        read(path)


def test_how_far_cells_reach_is_seen_across_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [["case_id", "onset"], *([f"P{n}", "2014"] for n in range(300))]
    book = workbook(tmp_path / "b.xlsx", Cases=lines, Other=[["x"] * 70])
    sheet = document(tmp_path / "b.ods", HEADER, (40, [(3, ""), (4, "x")]), (2, [(1, "y")]))
    far = binary_book(tmp_path / "b.xlsb", {**TABLE, (70, 8): "x", (300, 200): "y"})
    for piece in (2**20, 999, 64):
        monkeypatch.setattr(workbooks, "_PIECE", piece)
        for path, cells in ((book, 301 * 2), (sheet, 43 * 7), (far, 301 * 201)):
            with zipfile.ZipFile(path) as archive:
                assert workbooks.cells_held(archive) == cells


def test_missing_libraries_are_named_with_their_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = workbook(tmp_path / "b.xlsx", Cases=CASES)

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(held_tables, "import_module", missing)
    with pytest.raises(InputError, match=r"library fastexcel is needed.*graphveil\[excel\]"):
        read(path)


def packed(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, PEOPLE)
    return path


def test_a_zip_with_one_file_is_that_file(tmp_path: Path) -> None:
    path = packed(tmp_path / "people.zip", "people.csv", "__MACOSX/people.csv")
    assert rows(read(path))[0] == EXPECTED[0]
    with pytest.raises(InputError, match="the archive has 2 files"):
        read(packed(tmp_path / "two.zip", "a.csv", "b.csv"))
    with pytest.raises(InputError, match="more than 40 bytes"):
        read(path, most_bytes=40)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "windows-1252", "latin-1"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_encodings_that_are_certain_or_said(tmp_path: Path, encoding: str, pack: Any) -> None:
    (tmp_path / "people.csv").write_bytes(pack(PEOPLE.encode(encoding)))
    (tmp_path / "links.csv").write_bytes(pack(LINKS.encode(encoding)))
    said = encoding if encoding in ("windows-1252", "latin-1") else None
    found = read(tmp_path / "people.csv", tmp_path / "links.csv", encoding=said)
    assert rows(found) == EXPECTED


def test_encodings_are_never_guessed(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(PEOPLE.encode("windows-1252"))
    with pytest.raises(InputError, match='encoding="windows-1252"'):
        read(tmp_path / "people.csv")
    (tmp_path / "odd.csv").write_bytes(PEOPLE.encode("utf-16")[:-1])
    with pytest.raises(InputError, match="the text is not utf-16"):
        read(tmp_path / "odd.csv")
    with pytest.raises(ParameterError, match="'ebcdicx' is not known"):
        ReadingOptions(encoding="ebcdicx")


def test_tables_and_queries_of_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "cases.db"
    with sqlite3.connect(path) as base:
        base.execute("create table people (case_id text, onset text, age int)")
        base.execute("create table links (a text, b text)")
        base.executemany("insert into people values (?, ?, ?)", [("Änne", "2014-03-14", 5),
                         ("b2", "2014-04-01", None)])  # fmt: skip
        base.execute("insert into links values ('Änne', 'b2')")
    base.close()
    query = 'select a as "from", b as "to" from links'
    found = read(f"sqlite:///{path}#people", f"sqlite:///{path}#{query}")
    assert rows(found) == EXPECTED
    assert found.report.files[1].name == "sqlite:cases.db#query"
    with pytest.raises(InputError, match=r"no table 'persons'. There are: links, people"):
        read(f"sqlite:///{path}#persons")
    with pytest.raises(InputError, match="not said which table"):
        read(f"sqlite:///{path}")
    with pytest.raises(InputError, match="no such database file"):
        read(f"sqlite:///{tmp_path}/none.db#people")
    with pytest.raises(InputError, match="refuses the query"):
        read(f"sqlite:///{path}#select nothing from nowhere")
    assert not (tmp_path / "none.db").exists()


def test_tables_of_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "cases.duckdb"
    with duckdb.connect(str(path)) as base:
        base.execute("create table people (case_id varchar, onset date)")
        base.execute("insert into people values ('Änne', '2014-03-14'), ('b2', '2014-04-01')")
        base.execute("create table links as select 'Änne' as \"from\", 'b2' as \"to\"")
    assert rows(read(f"duckdb:///{path}#people", f"duckdb:///{path}#links")) == EXPECTED


def test_a_password_is_never_shown() -> None:
    with pytest.raises(InputError, match="cannot be read") as told:
        read("postgresql://eve:hush@127.0.0.1:1/base#people")
    assert "hush" not in str(told.value)
    assert "eve" not in str(told.value)


def frame(**columns: list[str]) -> pd.DataFrame:
    """A frame of plain objects, which is what the writer of the library understands."""
    found = pd.DataFrame({name: pd.Series(each, dtype=object) for name, each in columns.items()})
    found.columns = pd.Index(list(columns), dtype=object)
    return found


def test_days_and_moments_of_r_are_dates() -> None:
    assert held_tables._days(np.array([16143.0, np.nan]), None) == ["2014-03-14", None]
    assert held_tables._moments(np.array([1394787600.0]), None) == ["2014-03-14T09:00:00Z"]


def test_data_frames_of_r(tmp_path: Path) -> None:
    people = frame(id=["Änne", "b2"], onset=["2014-03-14", "2014-04-01"])
    links = frame(**{"from": ["Änne"], "to": ["b2"]})
    rdata.write_rds(tmp_path / "outbreak.rds", {"linelist": people, "contacts": links})
    rdata.write_rda(tmp_path / "outbreak.RData", {"linelist": people, "contacts": links})
    for name in ("outbreak.rds", "outbreak.RData"):
        found = read(tmp_path / name)
        assert rows(found) == EXPECTED
        assert [file.name for file in found.report.files] == [
            f"{name}#linelist",
            f"{name}#contacts",
        ]
    assert rows(read(f"{tmp_path}/outbreak.rds#linelist"))[0] == EXPECTED[0]
    with pytest.raises(InputError, match=r"no data frame 'people'. There are: linelist, contacts"):
        read(f"{tmp_path}/outbreak.rds#people")
    (tmp_path / "cut.rds").write_bytes(b"X\n\0\0\0\x03rubbish")
    with pytest.raises(InputError, match="cannot be read as data of R"):
        read(tmp_path / "cut.rds")


def test_missing_values_of_r_are_no_value(tmp_path: Path) -> None:
    people = frame(id=["a1", "b2"], onset=["2014-03-14", "2014-04-01"])
    people["age"] = pd.array([5, pd.NA], dtype="Int32")
    rdata.write_rds(tmp_path / "outbreak.rds", {"linelist": people})
    found = read(tmp_path / "outbreak.rds", where=("age=5",), id="id")
    assert found.records.nodes.frame.rows() == [("a1", "2014-03-14")]
    assert [held_tables.cell_text(each) for each in (pd.NA, pd.NaT, np.ma.masked)] == [None] * 3


def test_missing_values_of_pandas_are_no_value() -> None:
    given = pd.DataFrame({"node": ["a", "b"], "time": np.array([2001, pd.NA], dtype=object)})
    assert from_frames(given).nodes.frame["time"].to_list() == ["2001", None]
    assert from_rows([("a", 2001), (pd.NA, 2002)]).nodes.frame["node"].to_list() == ["a", None]


def test_a_time_of_r_that_is_none_is_a_fault_of_its_row_alone() -> None:
    far = np.array([16143.0, 1e300, np.inf])
    assert held_tables._days(far, None) == ["2014-03-14", "1e+300", "inf"]
    assert held_tables._moments(far, None)[1:] == ["1e+300", "inf"]


LARGE = 2.0**53


def large_ids(kind: str, folder: Path) -> str | Path:
    """People of whom two have ids that are too large to be told apart."""
    ids = ["a1", LARGE, LARGE + 2, str(2**53), LARGE - 1]
    path = folder / f"cases.{kind}"
    if kind == "xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet("people")
            sheet.write_row(0, 0, ["case_id", "onset"])
            for row, each in enumerate(ids, start=1):
                write = sheet.write_string if isinstance(each, str) else sheet.write_number
                write(row, 0, each)
                sheet.write_string(row, 1, "2014-03-14")
        return path
    if kind == "db":
        with sqlite3.connect(path) as base:
            base.execute("create table people (case_id, onset text)")
            base.executemany(
                "insert into people values (?, '2014-03-14')", [(each,) for each in ids]
            )
        base.close()
        return f"sqlite:///{path}#people"
    numbers = pd.DataFrame({"case_id": np.array(ids[1:3], dtype=float)})
    numbers["onset"] = pd.Series(["2014-03-14"] * 2, dtype=object)
    numbers.columns = pd.Index(["case_id", "onset"], dtype=object)
    rdata.write_rds(path, {"people": numbers})
    return path


@pytest.mark.parametrize(("kind", "bad"), [("xlsx", [1, 2]), ("db", [1, 2]), ("rds", [0, 1])])
def test_ids_too_large_to_be_told_apart_are_bad_rows(
    tmp_path: Path, kind: str, bad: list[int]
) -> None:
    place = large_ids(kind, tmp_path)
    with pytest.raises(RecordError, match="too large to be exact") as told:
        read(place)
    assert "9007199254740992" not in str(told.value)
    [violation] = read(place, mark_bad=True).records.nodes.violations
    assert violation.rows.tolist() == bad
    assert violation.column == "node"
