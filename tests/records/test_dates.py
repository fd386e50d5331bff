"""Dates as people write them: each is read by itself, and what is ambiguous is never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import InputError, ParameterError, UnconfirmedError
from graphveil.records import ReadingOptions, read_records
from graphveil.records.dates import Unclear, as_iso, from_excel
from graphveil.steward.adding import add
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from plain_rules import sealed_steps
from studies import promise

CLEAR = {
    "03/2014": "2014-03", "3.2014": "2014-03", "Mar 2014": "2014-03", "2014/3": "2014-03",
    "14-Mar-2014": "2014-03-14", "14 march 2014": "2014-03-14", "14mar14": "2014-03-14",
    "March 14, 2014": "2014-03-14", "Sept 3rd 2014": "2014-09-03", "2014/3/14": "2014-03-14",
    "2014-3-4": "2014-03-04", "14.Mar.69": "1969-03-14", "14-Mar-68": "2068-03-14",
    "2014-03-14 9:30 PM": "2014-03-14T21:30", "2014-03-14 12:05 am": "2014-03-14T00:05",
    "2014-03-14 21:30 UTC": "2014-03-14T21:30Z", "14 Mar 2014 9:05:07 +0100":
    "2014-03-14T09:05:07+0100", "2014-03-14T09:30:00.5Z": "2014-03-14T09:30:00.5Z",
    "2014-Q2": "2014-Q2", "20140314": "20140314", "soon": "soon", "2002.0": "2002.0",
}  # fmt: skip
ORDERED = {
    "3/14/14": (None, "2014-03-14"), "14.03.2014": ("2014-03-14", None),
    "7/8/2021": ("2021-08-07", "2021-07-08"), "7-8-21": ("2021-08-07", "2021-07-08"),
    "25/12/2021 9:05": ("2021-12-25T09:05", None), "31/11/2021": (None, None),
}  # fmt: skip


@pytest.mark.parametrize("written", CLEAR)
@pytest.mark.parametrize("day_first", [None, True, False])
def test_clear_dates_need_no_word(written: str, day_first: bool | None) -> None:
    assert as_iso(written, day_first) == CLEAR[written]


@pytest.mark.parametrize("written", ORDERED)
def test_a_form_that_can_be_ambiguous_needs_the_order_whatever_its_numbers(written: str) -> None:
    day_first, month_first = ORDERED[written]
    assert as_iso(written, None) is Unclear.ORDER
    assert as_iso(written, True) == (day_first or Unclear.ABSENT)
    assert as_iso(written, False) == (month_first or Unclear.ABSENT)


@pytest.mark.parametrize(
    "written", ["14-Foo-2014", "13/2014", "2014-13-01", "1:75", "14-Mar-2014 9:75"]
)
def test_nothing_is_made_up(written: str) -> None:
    found = as_iso(written, True)
    assert found in (written, Unclear.ABSENT, "2014-03-14T09:75")  # which no calendar reads


def test_excel_counts_days() -> None:
    assert from_excel("41712") == "2014-03-14"
    assert from_excel("41712.75") == "2014-03-14T18:00:00"
    assert from_excel("2014-03-14") == "2014-03-14"
    assert from_excel("60") is Unclear.ABSENT  # a day that there was not


def times(folder: Path, values: list[str], **options: Any) -> list[Any]:
    rows = [f"p{number},{value}" for number, value in enumerate(values)]
    (folder / "nodes.csv").write_text("\n".join(["node,time", *rows]))
    found = read_records([folder / "nodes.csv"], options=ReadingOptions(**options))
    return found.records.nodes.frame["time"].to_list()


def test_a_column_may_mix_them(tmp_path: Path) -> None:
    written = ["2014", "03/2014", "14-Mar-2014", "NA", "3/14/14"]
    assert times(tmp_path, written, day_first=False) == [
        "2014", "2014-03", "2014-03-14", None, "2014-03-14",
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"row 6.*day_first=True.*day_first=False"):
        times(tmp_path, written)
    assert times(tmp_path, ["41712", "2014"], excel_dates=True) == ["2014-03-14", "1905-07-06"]
    with pytest.raises(InputError, match=r"row 3.*there is no such date: '60'"):
        times(tmp_path, ["41712", "60"], excel_dates=True)


def study(folder: Path, undated: str) -> Path:
    StoredStudy.create(folder / "study", promise(records={"undated": undated}))
    (folder / "nodes.csv").write_text("node,time\na,2001\nb,\nc,2002\nb,NA\nd,\nd,2002\n")
    (folder / "edges.csv").write_text("source,target\na,b\na,c\nb,c\nc,d\n")
    return folder / "study"


def test_undated_people_are_counted_and_the_option_is_named(tmp_path: Path) -> None:
    root, files = study(tmp_path, "refuse"), [tmp_path / "nodes.csv", tmp_path / "edges.csv"]
    with pytest.raises(InputError, match=r'row 3.*missing.*2 rows have none: undated="drop"') as no:
        add(root, files, how=AddOptions(strict=True))
    with pytest.raises(UnconfirmedError, match=r'row 3.*missing.*undated="drop"') as asked:
        add(root, files)
    assert len(str(asked.value)) < 300
    assert len(str(no.value)) < 300
    with pytest.raises(ParameterError, match="undated: cannot be 'first'"):
        add(root, files, options=ReadingOptions(undated="first"))
    found = add(root, files, options=ReadingOptions(undated="drop")).added.findings.intake
    assert (found.nodes_undated, found.edges_undated) == (2, 2)
    (tmp_path / "edges.csv").write_text("source,target\na,d\n")
    add(root, files)  # drops them again, as before
    StoredStudy.at(root).publish(2, early=True)
    steps = list(sealed_steps(StoredStudy.at(root)))
    assert [sorted(nodes) for nodes, _ in steps[:2]] == [["a"], ["c", "d"]]
    assert sorted(map(sorted, steps[1][1])) == [["a", "c"], ["a", "d"], ["c", "d"]]


def test_days_that_excel_counts_are_pointed_out(tmp_path: Path) -> None:
    root = study(tmp_path, "refuse")
    (tmp_path / "nodes.csv").write_text("node,time\na,37000\n")
    with pytest.raises(UnconfirmedError, match="excel_dates=True"):
        add(root, [tmp_path / "nodes.csv"])
    add(root, [tmp_path / "nodes.csv"], options=ReadingOptions(excel_dates=True))


def test_who_is_known_is_not_dropped(tmp_path: Path) -> None:
    root, files = study(tmp_path, "refuse"), [tmp_path / "nodes.csv", tmp_path / "edges.csv"]
    (tmp_path / "more.csv").write_text("node,time\nb,2001\n")
    add(root, [tmp_path / "more.csv"])
    found = add(root, files, options=ReadingOptions(undated="drop")).added.findings.intake
    assert (found.nodes_undated, found.edges_added) == (0, 4)


def test_a_study_that_takes_the_undated_may_refuse_them_once(tmp_path: Path) -> None:
    root, files = study(tmp_path, "first"), [tmp_path / "nodes.csv", tmp_path / "edges.csv"]
    with pytest.raises(InputError, match="the time is missing"):
        add(root, files, options=ReadingOptions(undated="refuse"), how=AddOptions(strict=True))
    assert add(root, files, options=ReadingOptions(undated="first")).batch == 2, "1 was refused"
