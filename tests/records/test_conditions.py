"""Distances make no links by themselves, conditions look at one record, columns have any name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import GraphveilError, InputError, ParameterError
from graphveil.records import ReadFiles, ReadingOptions, read_records

LONGEST_MESSAGE = 300
PEOPLE = "ID,dx\na,2014\nb,2014\nc,2015\n"
TN93 = "ID1,ID2,Distance\na,b,0.01\na,c,0.0150\nb,c,0.0151\n"


def read(folder: Path, *texts: str, **options: Any) -> ReadFiles:
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"file{number}.csv")
        paths[-1].write_text(text, encoding="utf-8")
    return read_records(paths, options=ReadingOptions(**options))


def links(found: ReadFiles) -> list[tuple[Any, ...]]:
    return [row[:2] for row in found.records.edges.frame.rows()]


def people(found: ReadFiles) -> list[Any]:
    return found.records.nodes.frame["node"].to_list()


def said(found: ReadFiles) -> str:
    return "\n".join(found.report.lines())


def test_a_list_of_distances_is_refused_with_the_usual_thresholds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'Distance': these are distances.*0\.015.*HIV") as told:
        read(tmp_path, PEOPLE, TN93, time="dx")
    assert 'distance="none"' in str(told.value)
    assert len(str(told.value)) < LONGEST_MESSAGE


def test_pairs_up_to_the_threshold_are_links_and_others_are_counted(tmp_path: Path) -> None:
    found = read(tmp_path, PEOPLE, TN93, time="dx", max_distance="0.015")
    assert links(found) == [("a", "b"), ("a", "c")]
    assert "1 pairs further apart than 0.015 (row 4)" in said(found)
    assert found.understood["microbetrace"] == {"max_distance": "0.015"}
    assert len(links(read(tmp_path, PEOPLE, TN93, time="dx", distance="None"))) == 3


@pytest.mark.parametrize(
    "names", ["from,to", "source,target", "infector,infectee", "Index,Partner"]
)
@pytest.mark.parametrize("column", ["SNPs", "tn93", "genetic distance", "Length"])
def test_distances_are_known_in_every_table_of_links(
    tmp_path: Path, names: str, column: str
) -> None:
    text = f"{names},{column}\na,b,3\na,c,30\n"
    with pytest.raises(InputError, match="these are distances"):
        read(tmp_path, PEOPLE, text, time="dx")
    assert links(read(tmp_path, PEOPLE, text, time="dx", max_distance="12")) == [("a", "b")]


def test_a_threshold_keeps_the_unit_that_a_column_says(tmp_path: Path) -> None:
    text = "source,target,SNPs\na,b,3\n"
    found = read(tmp_path, text, max_distance="12")
    assert found.understood["pair"] == {"max_distance": "12 snps"}
    with pytest.raises(InputError, match="counted in snps, and the threshold in tn93"):
        read(tmp_path, text, max_distance="0.015 tn93")


@pytest.mark.parametrize("value", ["", "far", "-0.1", "NaN", "inf", "0,01x"])
def test_a_pair_without_a_distance_is_refused_in_its_row(tmp_path: Path, value: str) -> None:
    text = f'source,target,distance\na,b,0.01\na,c,"{value}"\n'
    with pytest.raises(InputError, match="row 3, column 'distance': the distance is missing or"):
        read(tmp_path, text, max_distance="0.015")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_distance": "near"}, "must be a number.*0.015"),
        ({"max_distance": "-1"}, "must be a number"),
        ({"where": ("dx",)}, "cannot be understood: 'dx'"),
        ({"where": ("dx>soon",)}, "'>' needs a number or a date"),
        ({"undated": "perhaps"}, "must be refuse, first, drop"),
    ],
)
def test_options_that_say_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ReadingOptions(**options)


TYPED = "ID,dx,Node type,age\na,2014,Person,17\nb,2014,person,40\nv,2014,Venue,\nc,2015,,18\n"
VISITS = "source,target,kind\na,b,sex\na,v,visit\nb,c,sex\n"


@pytest.mark.parametrize(
    ("where", "who", "linked"),
    [
        (["Node type=Person"], "ab", ["ab"]),
        (["node TYPE = person|Venue"], "abv", ["ab", "av"]),
        (["Node type!=Venue"], "abc", ["ab", "bc"]),
        (["Node type!="], "abv", ["ab", "av"]),
        (["Node type="], "c", []),
        (["age>=18"], "bc", ["bc"]),
        (["age<18"], "a", []),
        (["nodes:age>17", "Node type=person"], "b", []),
        (["kind=sex"], "abvc", ["ab", "bc"]),
        (["edges:kind!=sex"], "abvc", ["av"]),
    ],
)
def test_conditions_choose_records_and_links_of_others_go_with_them(
    tmp_path: Path, where: list[str], who: str, linked: list[str]
) -> None:
    found = read(tmp_path, TYPED, VISITS, time="dx", where=tuple(where))
    assert people(found) == list(who)
    assert ["".join(ends) for ends in links(found)] == linked
    assert " left out: not " in said(found)


def test_what_conditions_leave_out_is_told(tmp_path: Path) -> None:
    found = read(tmp_path, TYPED, VISITS, time="dx", where=("Node type!=Venue",))
    assert "1 row left out: not Node type!=Venue (row 4)" in said(found)
    assert "1 link left out, of people who do not meet the conditions" in said(found)
    assert found.understood["microbetrace"] == {"where": ["nodes:Node type!=Venue"]}


def test_a_link_that_names_nobody_is_left_to_the_intake(tmp_path: Path) -> None:
    visits = "source,target\na,v\na,\na,b\n"
    found = read(tmp_path, TYPED, visits, time="dx", where=("Node type!=Venue",))
    assert links(found) == [("a", None), ("a", "b")]


def test_somebody_with_a_row_that_counts_is_not_left_out(tmp_path: Path) -> None:
    text = "ID,dx,type\na,2014,person\nb,2014,venue\nb ,2014,person\n"
    found = read(tmp_path, text, "source,target\na,b\n", time="dx", where=("type=person",))
    assert links(found) == [("a", "b")]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("colour=red", "no file has the column 'colour'"),
        ("nodes:colour=red", "column 'colour': there is no column"),
        ("note=x", 'people and links both have .*Say "nodes:note=x" or "edges:note=x"'),
        ("age>5", "row 3, column 'age': the value cannot be compared"),
    ],
)
def test_conditions_that_cannot_be_held_are_refused(
    tmp_path: Path, where: str, message: str
) -> None:
    nodes = "ID,dx,note,age\na,2014,x,1\nb,2014,x,old\n"
    with pytest.raises(GraphveilError, match=message) as told:
        read(tmp_path, nodes, "source,target,note\na,b,x\n", time="dx", where=(where,))
    assert len(str(told.value)) < LONGEST_MESSAGE


def test_columns_are_named_where_nobody_knows_them(tmp_path: Path) -> None:
    nodes, edges = "Fall,Datum\nx,2014\ny,2015\n", "Nr,Fall A,Fall B\n1,x,y\n"
    with pytest.raises(InputError, match="not in a known format"):
        read(tmp_path, nodes, edges, time="Datum")
    told = {"id": "fall", "source": "Fall A", "target": "Fall B", "time": "Datum"}
    found = read(tmp_path, nodes, edges, **told)
    assert (people(found), links(found)) == (["x", "y"], [("x", "y")])
    with pytest.raises(InputError, match="no file has the column 'Fal', which was named as id"):
        read(tmp_path, PEOPLE, edges, **{**told, "id": "Fal"})


def test_named_columns_count_more_than_known_ones(tmp_path: Path) -> None:
    text = "id,case_id,dx\n1,x,2014\n2,y,2014\n"
    assert people(read(tmp_path, text, id="case_id", time="dx")) == ["x", "y"]
    assert people(read(tmp_path, text, id="ID", time="dx")) == ["1", "2"]


def test_a_line_list_may_name_its_infectors_as_it_likes(tmp_path: Path) -> None:
    text = "case_id,dx,got it from\nx,2014,\ny,2014,x\n"
    found = read(tmp_path, text, id="case_id", source="got it from", time="dx")
    assert links(found) == [("x", "y")]
    assert found.report.files[0].format == "linelist"


@pytest.mark.parametrize(
    "header", ["from,to", "infector.case,infectee.case", "Index,Partner", "CASE ID,contact_id"]
)
def test_pairs_go_by_many_names(tmp_path: Path, header: str) -> None:
    found = read(tmp_path, PEOPLE, f"{header},more\na,b,1\nb,c,2\n", time="dx")
    assert links(found) == [("a", "b"), ("b", "c")]
    assert [file.format for file in found.report.files][1] == "contacts"


def test_a_title_may_stand_above_the_header(tmp_path: Path) -> None:
    title = '"Cases, ward 3";;\n;;\nas of May;;\n'
    found = read(tmp_path, f"{title}case_id;onset;age\nx;2014;\ny;soon;3\n", time="onset")
    assert people(found) == ["x", "y"]
    assert found.records.nodes.place(1, "time").row == 6
    with pytest.raises(InputError, match=r"row 6: a quote is not closed"):
        read(tmp_path, f'{title}case_id;onset;age\nx;2014;\n"y;soon;3\n', time="onset")


@pytest.mark.parametrize(
    ("text", "first"),
    [("node\n1,2\n", "node"), ("A title\nno,names\n1,2\n", "A title"), ("case_id\nx\n", "case_id")],
)
def test_a_title_is_no_header_and_a_header_no_title(tmp_path: Path, text: str, first: str) -> None:
    from graphveil.records.delimited import DelimitedTable
    from graphveil.records.source_file import SourceFile

    (tmp_path / "file").write_text(text)
    assert DelimitedTable.of(SourceFile.found(tmp_path / "file", "file")).names[0] == first


def test_of_several_dates_the_first_that_is_there_counts_record_by_record(tmp_path: Path) -> None:
    text = "ID,onset,report\na,2014,2015\nb,NA,2016\nc,,\n"
    found = read(tmp_path, text, time="onset, report")
    assert found.records.nodes.frame["time"].to_list() == [2014, 2016, None]
    with pytest.raises(InputError, match=r"column 'reprt': there is no column.*mean 'report'"):
        read(tmp_path, text, time="onset,reprt")
