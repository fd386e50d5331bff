"""Bad files are refused with their place and a remedy, and limits hold."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from format_examples import EXAMPLES, GRAPHML, HIVTRACE, LINELIST, PAIR, Example
from graphveil.errors import InputError
from graphveil.records import ReadingOptions, read_records

LONGEST_MESSAGE = 300
DATED = ReadingOptions(time="dx")
PACKED = gzip.compress(b"node,time\n1,2001\n", mtime=0)  # gzip would write the time of day
PLAIN = ReadingOptions()


def network(**changes: Any) -> str:
    nodes = [{"id": f"P{n}", "patient_attributes": {"dx": "2001-05-0" + str(n)}} for n in (1, 2, 3)]
    return json.dumps({"Settings": {}, "Nodes": nodes, "Edges": [], **changes})


def graphml(graph: str, keys: str = '<key id="time" for="node"/>') -> str:
    return f'<graphml>{keys}\n<graph edgedefault="directed">\n{graph}\n</graph></graphml>'


def edge(**fields: Any) -> dict[str, Any]:
    return {"source": 0, "target": 1, **fields}


TRACES: list[tuple[str, str]] = [
    (network(Edges=[edge(), edge(target=3)]), "row 1, column 'Edges.target': .* two positions"),
    (network(Edges=[edge(source=True)]), "row 0, column 'Edges.source': .* two positions"),
    (network(Edges=[edge(source="P1")]), "row 0, column 'Edges.source': .* two positions"),
    (network(Edges=[edge(), edge(target=10**30)]), "row 1, column 'Edges.target'"),
    (network(Edges=[edge(), 7]), "row 1, column 'Edges.source': the edge does not name two"),
    (network(Edges=7), "column 'Edges': the file is not an HIV-TRACE network"),
    (network(Nodes=[{"id": "A"}, {"id": None}]), "row 1, column 'Nodes.id': the node has no id"),
    (network(Nodes=[{"id": ["A"]}]), "row 0, column 'Nodes.id': the node has no id"),
    (network(Nodes=[{"id": 1.5}]), "row 0, column 'Nodes.id': the node has no id"),
    (network(Nodes=[{"id": "\ud800"}]), "row 0, column 'Nodes.id': the node has no id"),
    (network(Nodes=[{"id": "a\0"}]), "row 0, column 'Nodes.id': the node has no id"),
    (network(Singletons=[{"id": " "}]), "row 0, column 'Singletons.id': the node has no id"),
    (network(Nodes=[{"id": "A", "dx": {"y": 1}}]), r"row 0, column 'Nodes\.dx': the date is"),
    (network(Nodes=[{"id": "A", "dx": True}]), r"row 0, column 'Nodes\.dx': the date is"),
    (
        network(Nodes=[{"id": "A", "dx": "13/25/2021"}]),
        "row 0.*not said whether the day or the month comes first.*: '13/25/2021'.*day_first=",
    ),
    (
        network(Nodes=[{"id": "A", "dx": "2021-02-30 10:15 am"}]),
        "row 0.*there is no such date: '2021-02-30 10:15 am'",
    ),
    (
        network(Nodes=[{"id": "A"}], patient_attribute_schema={"Dx_date": {"type": "Date"}}),
        "column 'dx': there is no field of this name.*look like dates: Dx_date",
    ),
    (
        network(Nodes=[{"id": "A", "dx": "1", "DX": "2"}]),
        "row 0, .*'Nodes.dx': .* two of this name",
    ),
    (
        '{"Nodes": [{"id": 1,\n"dx": 1,\n"dx": 2}], "Edges": []}',
        "row 0, column 'Nodes.id': .*no id",
    ),
    (
        '{"Nodes": [],\n"Edges": [], "N\\u006fdes": [1]}',
        "an object of the JSON has the same key twice",
    ),
    ('{"nodes": []}', "column 'Nodes': the file is not an HIV-TRACE network"),
    (network(Nodes={"id": ["A", "B"], "dx": ["2001"]}), "column 'Nodes'.*different lengths"),
    (network(Nodes={"id": "A"}), r"column 'Nodes\.id': the file is not an HIV-TRACE network"),
    (
        network(Nodes={"id": {"keys": {"0": "A"}, "values": [0, 1]}}),
        r"row 1, column 'Nodes\.id'.*no id",
    ),
    ('{"Nodes": [], "Edges": [}', "row 1: the file is not valid JSON"),
    ('{"Nodes": [\n{"id": 1}', "row 2: the file is not valid JSON"),
    ('{"Nodes": [' + "9" * 5000 + "]}", "the file is not valid JSON"),
    ('{"Nodes": ' + "[" * 70 + "]" * 70 + "}", "nested more than 64 deep"),
    ('{"Nodes": ' + "[" * 99_999, "nested more than 64 deep"),
    ('{"trace_results": [1]}', "not an HIV-TRACE network"),
]
GRAPHS: list[tuple[str, str]] = [
    (graphml('<node id="a"/>\n<edge source="a"/>'), "row 4, column 'target': the element has no"),
    (graphml("<node/>"), "row 3, column 'id': the element has no id"),
    (
        graphml('<edge source="a" target="b"/>\n<edge directed="false" source="a" target="b"/>'),
        "row 4, column 'directed': the edge has another direction than edgedefault says",
    ),
    (
        graphml('<node id="a"><data key="time">1</data>\n<data key="time">2</data></node>'),
        "row 3: the element has two data of one key",
    ),
    (graphml("", '<key id="x"/>\n<key id="x"/>'), "row 2: two keys have one id"),
    (
        graphml("", '<key id="x" attr.name="time"/><key id="y" attr.name="Time "/>'),
        "column 'time': two attributes have this name",
    ),
    (graphml('<node id="a"><graph/></node>'), "row 3: several graphs, or graphs within graphs"),
    (graphml("<hyperedge/>"), "row 3: hyperedges"),
    ("<graphml/>", "there is no graph"),
    (graphml("<node id='a'>"), "row 4: the file is not well-formed XML"),
    (graphml("&lol;"), "row 3: the file is not well-formed XML"),
    ("<!DOCTYPE x [<!ENTITY a 'b'>]>" + graphml(""), "row 1: the file declares a document type"),
    ('<!DOCTYPE x SYSTEM "/etc/hostname">\n' + graphml(""), "declares a document type"),
    ('<?xml version="1.0" encoding="klingon"?>' + graphml(""), "well-formed|encoding"),
    (graphml("<a>" * 99 + "</a>" * 99), "row 3: elements are nested more than 64 deep"),
    (graphml('<node id="a"/>', ""), "no attribute was named as the date.*No attribute looks"),
    (
        graphml('<node id="a"><data key="d">2001</data></node>', '<key id="d" attr.name="dx"/>'),
        "no attribute was named as the date of a node.*look like dates: dx",
    ),
    (graphml('<node id="a"><data key="time">13/25/2021</data></node>'), "row 3, column 'time'"),
]
TABLES: list[tuple[str | bytes, str]] = [
    ("ID,Collection_Date\n1,7/8/2021\n", "no column was named.*look like dates: Collection_Date"),
    ("ID,name\n1,x\n", "no column was named as the date of a node.*No column looks like a date"),
    ("node,tme\n1,2001\n", "no column was named as the date.*time=.*look like dates: tme"),
    ("node,time\n1,2001,2002\n", "row 2: the row has more columns"),
    ("node,time\n1,2001\n2,\0\n", "row 3: the line cannot be read as UTF-8 text"),
    (b"node,time\n1,2001\n2,\xff\n", "row 3: the line cannot be read as UTF-8 text"),
    (b"node,time\n" + b"a,2001\n" * 20_000 + b"2,\xff\n", "row 20002: the line cannot be read"),
    ("case_id,seen,infector\n1,7/8/2021,\n", "no column was named.*look like dates: seen"),
    ("case_id,age,infector\n1,40,\n", "no column was named as the date.*No column looks like"),
    ("case_id,time,infector\n1,2001,,x\n", "row 2: the row has more columns"),
    (
        "case_id,time,infector\n1,2001,\n2,13/25/2021,1\n",
        "row 3, column 'time': it is not said .*: '13/25/2021'",
    ),
    (b"case_id,time,infector\n1,2001,\n2,2001,\xff\n", "row 3: the line cannot be read"),
    (b'case_id,time,infector\n"1,2001,"\n2,2001,\xff\n', "row 3: the line cannot be read"),
    (
        "1 2 1500000000\n1 2 1500000000000\n",
        "row 2, column 'time': the time is not a number of sec",
    ),
    ("1 2\n1 2 3\n", "row 2: the line has more or fewer values"),
    ("1 2\na b\n", "row 2: the line may be a header"),
    ("1 2\n3 2001-05-06\n", "row 2: some lines end with a date and some do not"),
    ("1 2001-05-06\n3 2001\n", "row 2: some lines end with a date and some do not"),
    ("1 2 1500000000\n1 2 5\n", "row 2: the last value is too small for a number of seconds"),
    ("case_id,case.id,time,infector\n", "row 1, column 'case_id': two columns have this name"),
    ("1 2\n" * 300 + "1 2 3\n", "row 301: the line has more or fewer values"),
    ("1 2\n" * 300 + "1\0 2\n", "not in a known format"),
    ("1 2\n" * 30_000 + "1\0 2\n", "row 30001: the line cannot be read as UTF-8"),
    (PACKED[:-4], "cannot be decompressed"),
    (PACKED + b"x", "cannot be decompressed"),
    (b"\x1f\x8bnonsense", "cannot be decompressed"),
    (b"PAR1 and nothing else", "cannot be read as Parquet"),
]


def refused(folder: Path, content: str | bytes, options: ReadingOptions, message: str) -> None:
    (folder / "file").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as told:
        read_records([folder / "file"], options=options)
    assert told.value.place is not None
    assert told.value.place.source == "file"
    assert len(str(told.value)) < LONGEST_MESSAGE


@pytest.mark.parametrize(("content", "message"), TRACES)
def test_bad_hiv_trace_results(tmp_path: Path, content: str, message: str) -> None:
    refused(tmp_path, content, DATED, message)


@pytest.mark.parametrize(("content", "message"), GRAPHS)
def test_bad_graphml(tmp_path: Path, content: str, message: str) -> None:
    refused(tmp_path, content, PLAIN, message)


@pytest.mark.parametrize(("content", "message"), TABLES)
def test_bad_tables(tmp_path: Path, content: str | bytes, message: str) -> None:
    refused(tmp_path, content, PLAIN, message)


@pytest.mark.parametrize(
    ("example", "options", "message"),
    [
        (PAIR, ReadingOptions(time="tim"), "column 'tim': there is no column.*mean 'time'"),
        (PAIR, ReadingOptions(edge_time="tme"), "column 'tme': there is no column.*mean 'time'"),
        (HIVTRACE, ReadingOptions(time="dx_dat"), "Did you mean 'dx_date'.*dx_date, sample_date"),
        (HIVTRACE, PLAIN, "no field was named.*dx_date, sample_date"),
        (GRAPHML, ReadingOptions(time="diagnose"), "Did you mean 'diagnosed'"),
        (GRAPHML, ReadingOptions(time="diagnosed", edge_time="meet"), "look like dates: met"),
        (
            EXAMPLES[3],
            ReadingOptions(time="Colection_Date", distance="none"),
            "Did you mean 'Collection_Date'",
        ),
        (EXAMPLES[3], ReadingOptions("ID", "x", distance="none"), "column 'x': there is no column"),
        (EXAMPLES[3], replace(EXAMPLES[3].options, day_first=True), "row 3.*day first"),
        (LINELIST, PLAIN, "no column was named.*look like dates: onset, confirmed"),
        (LINELIST, ReadingOptions(time="onsett"), "Did you mean 'onset'.*dates: onset, confirmed"),
        (LINELIST, ReadingOptions("onset", "contact"), "column 'contact': there is no column"),
        (EXAMPLES[4], ReadingOptions(time="date"), "columns of this file have no names"),
        (EXAMPLES[5], ReadingOptions(edge_time="date"), "columns of this file have no names"),
    ],
)
def test_named_dates_that_are_not_there(
    example: Example, options: ReadingOptions, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_records(example.paths, options=options)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("packed", [False, True])
def test_files_above_the_limit_are_refused(example: Example, packed: bool, tmp_path: Path) -> None:
    paths, sizes = example.paths, [path.stat().st_size for path in example.paths]
    if packed:
        paths = [tmp_path / path.name for path in example.paths]
        for path, original in zip(paths, example.paths, strict=True):
            path.write_bytes(gzip.compress(original.read_bytes()))
    most = max(*sizes, *(path.stat().st_size for path in paths))
    read_records(paths, options=replace(example.options, most_bytes=most))
    with pytest.raises(InputError, match=f"more than {most - 1:,} bytes"):
        read_records(paths, options=replace(example.options, most_bytes=most - 1))


def test_a_packed_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / "bomb").write_bytes(gzip.compress(b"node,time\n" + b"0" * 50_000_000))
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        read_records([tmp_path / "bomb"], options=ReadingOptions(most_bytes=1_000_000))


def test_gzip_in_several_members_is_one_file(tmp_path: Path) -> None:
    packed = gzip.compress(b"node,time\n1,2001\n") + gzip.compress(b"2,2002\n") + b"\0" * 100
    (tmp_path / "nodes").write_bytes(packed)
    found = read_records([tmp_path / "nodes"])
    assert found.records.nodes.frame["node"].to_list() == ["1", "2"]


def test_no_refusal_names_a_person(tmp_path: Path) -> None:
    secret = "canary7"
    nodes = [{"id": secret, "dx": "2001"}, {"id": f"{secret}b", "dx": "2001"}]
    for content in [
        network(Nodes=nodes, Edges=[edge(target=5)]),
        network(Nodes=[{"id": secret, "dx": []}]),
        network(Nodes=[*nodes, {"id": [secret]}]),
        graphml(f'<node id="{secret}"><data key="dx">13/25/2021</data></node>', '<key id="dx"/>'),
        f"{secret},{secret}\n{secret},x\n",
        f"ID,dx\n{secret},13/25/2021\n",
        f"case_id,dx,infector\n{secret},13/25/2021,{secret}\n",
        f"{secret} {secret} x1\n",
        f"{secret} {secret}1\n{secret}\n",
    ]:
        (tmp_path / "file").write_text(content)
        for format_name in (None, "snap", "pair", "microbetrace", "linelist"):
            with pytest.raises(InputError) as told:
                read_records([tmp_path / "file"], format=format_name, options=DATED)
            assert secret not in str(told.value)
