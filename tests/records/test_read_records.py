"""Files of every format become the same kind of records, with places and a report."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from format_examples import (
    COMPACT,
    EXAMPLES,
    GRAPHML,
    HIVTRACE,
    MICROBETRACE,
    PAIR,
    SNAP,
    TEMPORAL,
    Example,
)
from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, ParameterError, Place
from graphveil.graph.intake.records import Table
from graphveil.graph.sequence import GraphSequence
from graphveil.records import ReadFiles, ReadingOptions, read_records, spaced


def read(example: Example, **changes: Any) -> ReadFiles:
    return read_records(example.paths, **{"options": example.options, **changes})


def rows(table: Table) -> list[tuple[object, ...]]:
    texts = table.frame.with_columns(
        pl.col(pl.Datetime).dt.strftime("%Y-%m-%d %H:%M:%S"), pl.col(pl.Int64).cast(pl.String)
    )
    return texts.rows()


def lines(found: ReadFiles) -> str:
    return "\n".join(found.report.lines())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_examples_read_to_their_records(example: Example, backwards: bool, named: bool) -> None:
    paths = example.paths[::-1] if backwards else example.paths
    chosen = example.format if named else None
    found = read_records(paths, format=chosen, options=example.options)
    assert sorted(rows(found.records.nodes), key=str) == sorted(example.nodes, key=str)
    assert rows(found.records.edges) == example.edges
    assert found.directed is example.directed
    assert [file.format for file in found.report.files] == [example.format] * len(paths)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_names_of_files_do_not_matter_nor_does_gzip(example: Example, tmp_path: Path) -> None:
    paths = []
    for number, path in enumerate(example.paths):
        paths.append(tmp_path / f"file{number}")
        paths[-1].write_bytes(gzip.compress(path.read_bytes()))
    found = read_records(paths, options=example.options)
    assert rows(found.records.nodes) == example.nodes
    assert rows(found.records.edges) == example.edges


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_byte_order_marks_and_windows_line_ends_are_fine(example: Example, tmp_path: Path) -> None:
    paths = []
    for path in example.paths:
        paths.append(tmp_path / path.name)
        text = path.read_text().replace("\n", "\r\n")
        paths[-1].write_text(text, encoding="utf-8-sig", newline="")
    found = read_records(paths, options=example.options)
    assert rows(found.records.nodes) == example.nodes
    assert rows(found.records.edges) == example.edges


@pytest.mark.parametrize(
    "calendar",
    [Calendar.yearly(2019), Calendar.monthly("2019-01"), Calendar.every(1, "2019-01-01")],
    ids=["yearly", "monthly", "daily"],
)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
def test_every_calendar_reads_the_times(example: Example, calendar: Calendar) -> None:
    records = read(example).records
    sequence = GraphSequence.begin(calendar).extend(records, undated="first").sequence
    assert sequence.nodes == len(example.nodes)


def test_parquet_is_a_pair_by_its_content(tmp_path: Path) -> None:
    paths = []
    for path in PAIR.paths:
        paths.append(tmp_path / path.stem)
        pl.read_csv(path).write_parquet(paths[-1])
    found = read_records(paths)
    assert rows(found.records.nodes) == PAIR.nodes
    assert "Parquet with node" in lines(found)


@pytest.mark.parametrize("separator", ["\t", ";"])
def test_tabs_and_semicolons_do_for_commas(tmp_path: Path, separator: str) -> None:
    paths = []
    for path in PAIR.paths:
        paths.append(tmp_path / path.name)
        paths[-1].write_text(path.read_text().replace(",", separator))
    assert rows(read_records(paths).records.edges) == PAIR.edges


def test_the_report_says_what_happened() -> None:
    said = lines(read(HIVTRACE))
    assert "results.json: read as hivtrace (JSON with sections of HIV-TRACE)" in said
    assert "5 rows of nodes, 3 rows of edges" in said
    assert "1 edge marked as removed: dropped (row 2)" in said
    assert "1 node without a date: left to the study's rule (row 3)" in said
    assert "dated by the field 'dx_date'" in said
    assert "7 people without links are counted but not listed" in lines(read(COMPACT))
    said = lines(read(MICROBETRACE))
    assert "3 dates not written as 2021-07-08: 7/8/2021 is July 8" in said
    assert "1 pairs further apart than 0.015 tn93 (row 5)" in said
    assert "3 lines beginning with #: skipped (rows 1, 2, 3)" in lines(read(SNAP))


def test_rows_are_numbered_as_people_find_them() -> None:
    edges = read(HIVTRACE).records.edges
    assert edges.place(2, "source") == Place("results.json", 3, "Edges.source")
    nodes = read(HIVTRACE).records.nodes
    assert nodes.place(2, "time") == Place("results.json", 2, "Nodes.dx_date")
    assert nodes.place(4, "node") == Place("results.json", 0, "Singletons.id")
    assert read(PAIR).records.edges.place(0, "source") == Place("edges.csv", 2, "source")
    assert read(SNAP).records.edges.place(0, "target") == Place("edges.txt", 4, "target")
    assert read(TEMPORAL).records.nodes.place(3, "node") == Place("messages.txt", 4, "node")
    assert read(GRAPHML).records.nodes.place(3, "node") == Place("contacts.graphml", 9, "id")
    assert read(GRAPHML).records.edges.place(1, "time") == Place("contacts.graphml", 11, "met")


def test_files_of_several_years_are_joined_and_keep_their_places(tmp_path: Path) -> None:
    texts = {
        "2019/nodes.csv": "node,time\n1,2019\n2,2019\n",
        "2020/nodes.csv": "node,time\nx7,2020-05-01\n",
        "2019/edges.csv": "source,target\n1,2\n",
        "2020/edges.csv": "source,target,time\n1,x7,2020-06-01\n2,zz,\n",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    found = read_records([tmp_path / name for name in texts])
    assert rows(found.records.nodes) == [("1", "2019"), ("2", "2019"), ("x7", "2020-05-01")]
    assert rows(found.records.edges) == [
        ("1", "2", None), ("1", "x7", "2020-06-01"), ("2", "zz", None),
    ]  # fmt: skip
    with pytest.raises(InputError, match=r"2020/edges\.csv, row 3, column 'target'"):
        GraphSequence.begin(Calendar.yearly(2019)).extend(found.records)


def test_ids_of_parquet_files_of_several_types_mean_the_same(tmp_path: Path) -> None:
    kinds = {"whole": [1, 2], "floats": [3.0, 4.0], "text": ["05", "6"]}
    for name, ids in kinds.items():
        frame = pl.DataFrame({"node": ids, "time": [2001, 2002]})
        frame.write_parquet(tmp_path / f"{name}.parquet")
    found = read_records(sorted(tmp_path.iterdir())).records
    assert sorted(found.nodes.frame["node"].to_list()) == ["05", "1", "2", "3", "4", "6"]
    assert "no file lists edges" in lines(read_records(sorted(tmp_path.iterdir())))


def test_several_networks_of_one_programme_are_joined(tmp_path: Path) -> None:
    found = read_records([*HIVTRACE.paths, *COMPACT.paths], options=ReadingOptions(time="dx_date"))
    assert rows(found.records.nodes) == HIVTRACE.nodes + COMPACT.nodes
    assert rows(found.records.edges) == HIVTRACE.edges + COMPACT.edges
    assert found.records.edges.place(3, "target").source == "compact.json"


def test_a_node_appears_with_its_first_line_in_any_file(tmp_path: Path) -> None:
    (tmp_path / "later").write_text("1 2 1600000000\n4 3 1600000005\n")
    (tmp_path / "earlier").write_text("# x\n2 3 1500000000\n")
    found = read_records([tmp_path / "later", tmp_path / "earlier"]).records
    assert rows(found.nodes) == [
        ("1", "2020-09-13 12:26:40"),
        ("4", "2020-09-13 12:26:45"),
        ("2", "2017-07-14 02:40:00"),
        ("3", "2017-07-14 02:40:00"),
    ]
    assert found.nodes.place(3, "time") == Place("earlier", 2, "time")


def test_a_node_list_may_date_or_complete_another_format(tmp_path: Path) -> None:
    (tmp_path / "alone.csv").write_text("node,time\nL90,2019\n")
    (tmp_path / "alone.tsv").write_text("ID\tYear\nL01\t2001\nL02\t-\n")
    paths = [*COMPACT.paths, tmp_path / "alone.csv"]
    found = read_records(paths, options=COMPACT.options)
    assert rows(found.records.nodes) == [*COMPACT.nodes, ("L90", "2019")]
    dated = read_records([*COMPACT.paths, tmp_path / "alone.tsv"], options=ReadingOptions("Year"))
    assert rows(dated.records.nodes)[2:] == [("L03", None), ("L01", "2001"), ("L02", None)]
    undated = read_records(paths).records.nodes  # the file with dates completes the other
    assert rows(undated) == [*((name, None) for name, _ in COMPACT.nodes), ("L90", "2019")]
    with pytest.raises(InputError, match=r"no field was named.*dx_date"):
        read_records(COMPACT.paths)


def test_links_alone_are_read_for_people_known_before(tmp_path: Path) -> None:
    (tmp_path / "links.csv").write_text("source,target,distance\na,b,0.1\n")
    found = read_records([tmp_path / "links.csv"], options=ReadingOptions(max_distance="0.1"))
    assert found.records.nodes.frame.is_empty()
    assert found.records.nodes.frame.columns == ["node", "time"]
    assert "edges can only link people who are already known" in lines(found)
    assert [file.format for file in found.report.files] == ["pair"]


def test_own_dates_of_hiv_trace_are_taken_if_they_are_named(tmp_path: Path) -> None:
    nodes = [{"id": "A", "edi": [2005, 1, 15, 0, 0, 0, 5, 15, -1]}, {"id": "B", "edi": None}]
    path = tmp_path / "network.json"
    path.write_text(json.dumps({"Nodes": nodes, "Edges": []}))
    found = read_records([path], options=ReadingOptions(time="edi"))
    assert rows(found.records.nodes) == [("A", "2005-01-15"), ("B", None)]
    with pytest.raises(InputError, match="no field was named"):
        read_records([path])
    path.write_text(json.dumps({"Nodes": [{"id": 7, "baseline": [1999, 12, 31]}], "Edges": []}))
    found = read_records([path], options=ReadingOptions(time="baseline"))
    assert rows(found.records.nodes) == [("7", "1999-12-31")]


def test_each_entry_of_hiv_trace_is_asked_for_the_date_by_itself(tmp_path: Path) -> None:
    """One spelling, one entry with a field of its own, must not speak for the others."""
    nodes: list[dict[str, Any]] = [
        {"id": "A", "patient_attributes": {"dx": "2001"}},
        {"id": "B", "patient_attributes": {"DX ": "2002", "edi": "1990"}},
        {"id": "C", "dx": "2003"},
        {"id": "D", "dx": "1999", "patient_attributes": {"dx": "2004"}},
        {"id": "E", "dx": "2005", "patient_attributes": {"dx": None}},
        {"id": "F", "edi": [2000, 1, 1]},
    ]
    path = tmp_path / "network.json"
    path.write_text(json.dumps({"Nodes": nodes, "Edges": []}))
    for named in ("dx", "Dx", "patient_attributes.dx"):
        found = read_records([path], options=ReadingOptions(time=named)).records.nodes
        assert rows(found) == [
            ("A", "2001"), ("B", "2002"), ("C", "2003"), ("D", "2004"), ("E", "2005"), ("F", None),
        ]  # fmt: skip
    absent = read_records([path], options=ReadingOptions(time="seen", edge_time="met"))
    assert "WARNING: nobody has a date in the field 'seen'" in lines(absent)
    assert "WARNING: no edge has a date in the field 'met'" in lines(absent)


def test_files_say_whether_people_are_listed_for_their_links_only(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("node,time\n21,2019\n")
    for example, by_links in ((HIVTRACE, ()), (COMPACT, ("compact.json",)), (PAIR, ())):
        assert read(example).records.by_links == by_links
    all_listed = replace(COMPACT.options, all_listed=True)
    assert read(COMPACT, options=all_listed).records.by_links == ()
    completed = read_records([*COMPACT.paths, tmp_path / "people.csv"], options=COMPACT.options)
    assert completed.records.by_links == ()
    both = read_records([*HIVTRACE.paths, *COMPACT.paths], options=ReadingOptions(time="dx_date"))
    assert both.records.by_links == ("compact.json",)  # the other file has other people
    assert read(TEMPORAL).records.by_links == ("messages.txt",)
    listed = read_records([*TEMPORAL.paths, tmp_path / "people.csv"]).records
    assert (rows(listed.nodes), listed.by_links) == ([("21", "2019")], ())
    assert len(listed.edges.frame) == len(TEMPORAL.edges)


def trace(*directed: bool | None) -> dict[str, Any]:
    edges = [
        {"source": a, "target": b, "directed": mark}
        for (a, b), mark in zip([(0, 1), (1, 0), (1, 2)], directed, strict=False)
    ]
    return {"Nodes": [{"id": name, "time": "2001"} for name in "ABC"], "Edges": edges}


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ((None, False, None), None),
        ((True, True, True), "3 edges marked as directed: read as undirected"),
        ((True, True, False), "2 edges marked as directed: read as undirected"),
        ((True, False, False), "1 edge marked as directed: read as undirected"),
        ((), None),
    ],
)
def test_links_of_hiv_trace_are_undirected_whatever_some_say(
    tmp_path: Path, marks: tuple[bool | None, ...], expected: str | None
) -> None:
    (tmp_path / "n.json").write_text(json.dumps(trace(*marks)))
    found = read_records([tmp_path / "n.json"], options=ReadingOptions(time="time"))
    assert found.directed is False
    assert expected in lines(found) if expected else "marked" not in lines(found)


def test_directions_of_files_must_agree(tmp_path: Path) -> None:
    text = GRAPHML.paths[0].read_text()
    (tmp_path / "directed.graphml").write_text(text.replace('"undirected"', '"directed"'))
    assert read_records([tmp_path / "directed.graphml"], options=GRAPHML.options).directed is True
    with pytest.raises(InputError, match=r"directed\.graphml: the edges of this file are directed"):
        read_records([*GRAPHML.paths, tmp_path / "directed.graphml"], options=GRAPHML.options)
    every = text.replace("<edge ", '<edge directed="true" ')
    (tmp_path / "every.graphml").write_text(every)
    with pytest.raises(InputError, match=r"column 'directed': the edge has another direction"):
        read_records([tmp_path / "every.graphml"], options=GRAPHML.options)


def test_graphml_has_defaults_namespaces_and_names(tmp_path: Path) -> None:
    (tmp_path / "g").write_text(
        '<g:graphml xmlns:g="x"><g:key id="time" for="node"><g:default>2007</g:default></g:key>'
        '<g:graph edgedefault="directed"><g:node id="&lt;a&gt;"/><g:node id="b">'
        '<g:data key="time">20<!-- no -->08</g:data></g:node></g:graph></g:graphml>'
    )
    found = read_records([tmp_path / "g"])
    assert rows(found.records.nodes) == [("<a>", "2007"), ("b", "2008")]
    assert found.directed is True


def test_large_edge_lists_take_the_fast_way_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = read(SNAP).records.edges
    monkeypatch.setattr(spaced, "_WORTH_THE_TRY", 0)
    fast = read(SNAP).records.edges
    assert fast.frame["source"].dtype == pl.Int64
    assert rows(fast) == rows(slow)
    assert fast.place(1, "source") == slow.place(1, "source")


def test_day_first_is_the_stewards_word(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text("Id,When\n1,7/8/2021\n2,25/12/2021 9:05\n")
    options = ReadingOptions(time="When", day_first=True)
    found = read_records([tmp_path / "nodes.csv"], options=options)
    assert rows(found.records.nodes) == [("1", "2021-08-07"), ("2", "2021-12-25T09:05")]
    assert "2 dates not written as 2021-07-08: 7/8/2021 is 7 August" in lines(found)


def test_options_and_arguments_are_checked(tmp_path: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"time": " "}, {"edge_time": ""}, {"most_bytes": 0}, {"most_nesting": 0},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(ParameterError):
            ReadingOptions(**options)
    with pytest.raises(ParameterError, match="Did you mean 'hivtrace'"):
        read_records(HIVTRACE.paths, format="hiv-trace")
    with pytest.raises(ParameterError, match="list of at least one file"):
        read_records([])
    with pytest.raises(ParameterError, match="list of at least one file"):
        read_records("nodes.csv")
    with pytest.raises(InputError, match="given twice"):
        read_records([*PAIR.paths, PAIR.paths[0]])
    with pytest.raises(InputError, match="no such file"):
        read_records([tmp_path / "none.csv"])
    shutil.copy(PAIR.paths[0], tmp_path / "odd [1].csv")
    assert rows(read_records([tmp_path / "odd [1].csv"]).records.nodes) == PAIR.nodes
