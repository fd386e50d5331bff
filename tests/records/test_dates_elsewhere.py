"""Dates that do not stand beside the people they belong to: in a second file, or in their ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphveil.errors import GraphveilError, InputError, ParameterError
from graphveil.records import ReadFiles, ReadingOptions, read_records

PEOPLE, DATES = "case_id,sex\na,f\nb,m\nc,f\n", "case_id,onset\na,2001\nb,2002\n"
REPORTS, LINKS = "case_id,report\nc,2003\n", "from,to\na,b\n"


def read(folder: Path, *files: str, **options: str) -> ReadFiles:
    paths = []
    for number, text in enumerate(files):
        paths.append(folder / f"{number}.csv")
        paths[-1].write_text(text)
    return read_records(paths, options=ReadingOptions(**options))  # type: ignore[arg-type]


def dates(found: ReadFiles) -> dict[str, set[object]]:
    said: dict[str, set[object]] = {}
    for name, time in found.records.nodes.frame.rows():
        said.setdefault(name, set()).add(None if time is None else str(time))
    return said


def test_a_second_file_of_the_same_format_dates_people_by_their_id(tmp_path: Path) -> None:
    found = read(tmp_path, PEOPLE, DATES, LINKS, time="onset")
    assert dates(found) == {"a": {None, "2001"}, "b": {None, "2002"}, "c": {None}}
    assert "people without a date here are dated by the other files" in str(found.report.lines())
    assert found.formats == ("contacts",)


def test_each_file_may_have_one_of_several_columns(tmp_path: Path) -> None:
    found = read(tmp_path, DATES, REPORTS, time="onset,report")
    assert dates(found) == {"a": {"2001"}, "b": {"2002"}, "c": {"2003"}}


@pytest.mark.parametrize("named", ["onsett", "onset,reprot", "onsett,report"])
def test_a_column_that_no_file_has_is_refused(tmp_path: Path, named: str) -> None:
    with pytest.raises(InputError, match=r"column '(onsett|reprot)': there is no column"):
        read(tmp_path, DATES, REPORTS, time=named)


def test_ids_may_have_the_date(tmp_path: Path) -> None:
    ids = "case_id,time\na|2001-02-03|x,\nb|7 May 2002,\nc||y,2009\nd,2004\ne|2003|z,1999\n"
    said = {"b|7 May 2002": {"2002-05-07"}, "d": {"2004"}, "c||y": {"2009"}}
    said |= {"a|2001-02-03|x": {"2001-02-03"}, "e|2003|z": {"2003"}}
    assert dates(read(tmp_path, ids, time_from_id="|2")) == said
    last = "case_id\nB.FR.x.2001\nA_1.2002-03\nnone\n"
    assert dates(read(tmp_path, last, time_from_id=".-1"))["A_1.2002-03"] == {"2002-03"}


def test_an_unclear_date_in_an_id_is_a_fault_of_its_row(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"0.csv, row 3.*whether the day or the month"):
        read(tmp_path, "case_id\na|2001\nb|3/4/2002\n", time_from_id="|2")


@pytest.mark.parametrize("text", ["2", "|", "|0", "", "|x", "|2x"])
def test_a_field_that_cannot_be_understood_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match=r"time_from_id: cannot be understood.*\|2 for A17"):
        ReadingOptions(time_from_id=text)


def test_a_column_and_a_field_of_ids_are_not_said_together() -> None:
    with pytest.raises(GraphveilError, match="together with a column"):
        ReadingOptions(time="onset", time_from_id="|2")
