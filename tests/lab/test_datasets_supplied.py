"""Loaders of the paper's real sources, on small files in exactly their published form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import InputError
from graphveil.lab.dataset_files import summarise
from graphveil.lab.datasets import Dataset, dataset

# The header of apat63_99.txt, and rows as that file has them.
PATENTS = """\
"PATENT","GYEAR","GDATE","APPYEAR","COUNTRY","POSTATE","ASSIGNEE","ASSCODE","CLAIMS","NCLASS",\
"CAT","SUBCAT","CMADE","CRECEIVE","RATIOCIT","GENERAL","ORIGINAL","FWDAPLAG","BCKGTLAG",\
"SELFCTUB","SELFCTLB","SECDUPBD","SECDLWBD"
3070801,1963,1096,,"BE","",,1,,269,6,69,,1,,0,,,,,,,
3858241,1975,5484,1974,"US","IL",,1,9,2,2,22,5,13,1,0.5,0,4.1,2.2,0,0,,
4500001,1985,9186,1982,"US","CA",12345,2,10,364,2,22,3,4,1,0.5,0.4,3,3,0,0,0,0
4600002,1986,9500,1984,"JP","",6789,3,,364,2,22,2,1,1,0,0.4,3,3,0,0,0,0
5000003,1991,11200,1989,"US","TX",,1,20,395,2,22,9,0,1,,0.6,,5,,,,
5000004,1991,11200,1989,"US","TX",,1,20,340,2,21,9,0,1,,0.6,,5,,,,
"""
CITATIONS = """\
"CITING","CITED"
4500001,3858241
4500001,3070801
4600002,4500001
4600002,956203
5000003,4500001
5000003,3858241
5000003,5000004
5000004,4500001
"""
FULL_HEADER_COLUMNS = 23


def edges_of(given: Dataset) -> set[tuple[Any, Any]]:
    return set(given.records.edges.frame.select("source", "target").iter_rows())


@pytest.fixture
def nber(tmp_path: Path) -> Path:
    (tmp_path / "apat63_99.txt").write_text(PATENTS)
    (tmp_path / "cite75_99.txt").write_text(CITATIONS)
    return tmp_path


def test_the_patent_rows_have_all_columns_of_the_original() -> None:
    assert {line.count(",") for line in PATENTS.splitlines()} == {FULL_HEADER_COLUMNS - 1}


def test_patents_of_the_subcategory_run_from_cited_to_citing(nber: Path) -> None:
    found = dataset(f"patents:{nber}")
    assert edges_of(found) == {
        (3858241, 4500001),
        (4500001, 4600002),
        (4500001, 5000003),
        (3858241, 5000003),
    }
    assert set(found.records.nodes.frame["node"]) == {3858241, 4500001, 4600002, 5000003}
    assert found.stand_in is None


def test_patents_are_published_from_1985_on_with_earlier_ones_folded(nber: Path) -> None:
    sequence = dataset(f"patents:{nber}").sequence(True)
    assert sequence.labels == [str(year) for year in range(1985, 1992)]
    assert sequence.node_offsets[1] == 2
    found = summarise(sequence)
    assert (found.max_degree, found.max_in_degree, found.max_out_degree) == (3, 2, 2)


def test_lines_may_end_as_in_the_original_archive(nber: Path) -> None:
    for name, text in (("apat63_99.txt", PATENTS), ("cite75_99.txt", CITATIONS)):
        (nber / name).write_bytes(text.replace("\n", "\r\n").encode())
    assert len(edges_of(dataset(f"patents:{nber}"))) == 4


@pytest.mark.parametrize(
    ("name", "columns"),
    [("cite75_99.txt", "CITING, CITED"), ("apat63_99.txt", "PATENT, GYEAR and SUBCAT")],
)
def test_a_missing_patent_file_is_described(nber: Path, name: str, columns: str) -> None:
    (nber / name).unlink()
    with pytest.raises(InputError) as refused:
        dataset(f"patents:{nber}")
    message = str(refused.value)
    assert f"the file {name} is missing" in message
    assert columns in message
    assert "Hall, Jaffe and Trajtenberg (2001)" in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cite75_99.txt", '"CITING","CITES"\n1,2\n', "column 'cited': there is no such column"),
        (
            "cite75_99.txt",
            '"CITING","CITED"\n4500001,3858241\n4600002,unknown\n',
            "cite75_99.txt, row 3, column 'CITED': a whole number is missing",
        ),
        (
            "apat63_99.txt",
            '"PATENT","GYEAR","SUBCAT"\n,1990,22\n',
            "apat63_99.txt, row 2, column 'PATENT': a whole number is missing",
        ),
        ("apat63_99.txt", '"PATENT","GYEAR","SUBCAT"\n1,1990,31\n', "no patent of subcategory 22"),
        ("apat63_99.txt", "", "cannot be read as text"),
    ],
)
def test_damaged_patent_files_are_refused(
    nber: Path, name: str, content: str, message: str
) -> None:
    (nber / name).write_text(content)
    with pytest.raises(InputError, match=message):
        dataset(f"patents:{nber}")


PAPERS = "paper,year\nA00-1001,2000\nP85-1002,1985\nC90-1003,1990\nW13-1004,2013\nX99-1005,\n"
SIGNED = """\
source,target,sign
A00-1001,P85-1002,+1
A00-1001,C90-1003,-1
A00-1001,C90-1003,1
W13-1004,A00-1001,positive
W13-1004,P85-1002,o
W13-1004,C90-1003,0
W13-1004,X99-1005, P
"""


@pytest.fixture
def acl(tmp_path: Path) -> Path:
    (tmp_path / "papers.csv").write_text(PAPERS)
    (tmp_path / "citations.csv").write_text(SIGNED)
    return tmp_path


def test_positive_citations_run_from_cited_to_citing(acl: Path) -> None:
    found = dataset(f"acl-signed:{acl}")
    assert edges_of(found) == {
        ("P85-1002", "A00-1001"),
        ("C90-1003", "A00-1001"),
        ("A00-1001", "W13-1004"),
        ("X99-1005", "W13-1004"),
    }
    sequence = found.sequence(True)
    assert sequence.labels == [str(year) for year in range(1990, 2014)]
    assert sequence.node_offsets[1] == 3, "1985 and the undated paper are folded into 1990"


def test_signs_may_be_numbers_only(acl: Path) -> None:
    (acl / "papers.csv").write_text("Paper,Year\n1,1999\n2,2001\n3,2002\n")
    (acl / "citations.csv").write_text("Source,Target,Sign\n2,1,0.25\n3,1,-0.5\n3,2,1\n")
    assert edges_of(dataset(f"acl-signed:{acl}")) == {("1", "2"), ("2", "3")}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("A00-1001,P85-1002,maybe", "citations.csv, row 2, column 'sign': the sign cannot be read"),
        ("A00-1001,P85-1002,", "citations.csv, row 2, column 'sign': the sign cannot be read"),
        ("A00-1001,P85-1002,nan", "citations.csv, row 2, column 'sign': the sign cannot be read"),
        ("A00-1001,Q,1", "citations.csv, row 2, column 'target': the citation names a paper"),
        (",A00-1001,1", "citations.csv, row 2, column 'source': the citation names a paper"),
    ],
)
def test_unclear_citations_are_refused(acl: Path, row: str, message: str) -> None:
    (acl / "citations.csv").write_text(f"source,target,sign\n{row}\nW13-1004,A00-1001,1\n")
    with pytest.raises(InputError, match=re.escape(message)):
        dataset(f"acl-signed:{acl}")


def test_an_unlisted_paper_matters_in_positive_citations_only(acl: Path) -> None:
    (acl / "citations.csv").write_text("source,target,sign\nA00-1001,Q,-1\nA00-1001,P85-1002,1\n")
    assert len(edges_of(dataset(f"acl-signed:{acl}"))) == 1


@pytest.mark.parametrize("name", ["papers", "citations"])
def test_a_missing_signed_file_is_described(acl: Path, name: str) -> None:
    (acl / f"{name}.csv").unlink()
    with pytest.raises(InputError, match=rf"{name}\.csv or .* is missing.*columns.*Kumar \(2016\)"):
        dataset(f"acl-signed:{acl}")


def trace(**changes: Any) -> dict[str, Any]:
    nodes = [
        {"id": "P1|a", "cluster": 1, "patient_attributes": {"dx": "2003-05-01T08:00:00.000Z"}},
        {"id": "P2", "cluster": 1, "patient_attributes": {"dx": "1999-02-01T08:00:00.000Z"}},
        {"id": "P1|b", "cluster": 1, "patient_attributes": {"dx": "2001-01-01T08:00:00.000Z"}},
        {"id": "P3", "cluster": 2, "patient_attributes": {"dx": None}},
        {"id": "P4", "cluster": 2, "patient_attributes": {}},
    ]
    pairs = [(0, 1), (2, 1), (0, 2), (1, 3), (3, 4)]
    edges: list[dict[str, Any]] = [
        {"source": a, "target": b, "directed": False, "removed": False, "length": 0.01}
        for a, b in pairs
    ]
    edges.append({"source": 0, "target": 4, "removed": True})
    network = {"Settings": {}, "Nodes": nodes, "Edges": edges, "Singletons": []}
    return {**network, **changes}


def written(folder: Path, data: Any) -> str:
    (folder / "network.json").write_text(json.dumps(data))
    return f"hiv-trace:{folder / 'network.json'},dx"


@pytest.mark.parametrize("wrapped", [False, True])
def test_hiv_trace_links_people_from_earlier_to_later(tmp_path: Path, wrapped: bool) -> None:
    data = {"trace_results": trace()} if wrapped else trace()
    found = dataset(written(tmp_path, data))
    assert edges_of(found) == {("P2", "P1"), ("P3", "P2"), ("P3", "P4")}
    times = dict(found.records.nodes.frame.iter_rows())
    assert times["P1"].startswith("2001-01-01"), "the earliest date of the person"
    assert times["P3"] is times["P4"] is None
    assert found.stand_in is not None
    assert not found.directed_by_nature
    assert found.sequence(True).nodes == 4


def test_singletons_are_people_too(tmp_path: Path) -> None:
    single = [{"id": "P9", "patient_attributes": {"dx": "2004-01-01"}}]
    found = dataset(written(tmp_path, trace(Singletons=single)))
    assert found.sequence(False).nodes == 5
    counted = dataset(written(tmp_path, trace(Singletons=17)))
    assert counted.sequence(False).nodes == 4


def test_dates_may_stand_in_the_node_as_a_list(tmp_path: Path) -> None:
    nodes = [
        {"id": "A", "dx": [2005, 1, 15, 0, 0, 0, 5, 15, -1]},
        {"id": "B", "dx": [1995, 11, 2, 0, 0, 0, 5, 15, -1]},
    ]
    edges = [{"source": 0, "target": 1}]
    found = dataset(written(tmp_path, {"Nodes": nodes, "Edges": edges}))
    assert edges_of(found) == {("B", "A")}
    assert found.sequence(True).labels == [str(year) for year in range(1995, 2006)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (trace(Nodes={"id": 1}), "column 'Nodes.id': the file is not an HIV-TRACE network"),
        (trace(Edges=None), "column 'Edges': the file is not an HIV-TRACE network"),
        ([1, 2], "not an HIV-TRACE network"),
        (trace(Nodes=[{"id": None, "dx": "2001"}]), "row 0, column 'Nodes.id': the node has no id"),
        (
            trace(Edges=[{"source": 0, "target": 9}]),
            "row 0, column 'Edges.target': the edge does not",
        ),
        (trace(Edges=["P1-P2"]), "row 0, column 'Edges.source': the edge does not"),
        (
            trace(Edges=[{"source": -1, "target": 1}]),
            "row 0, column 'Edges.source': the edge does not",
        ),
    ],
)
def test_other_json_is_refused(tmp_path: Path, data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dataset(written(tmp_path, data))


def test_a_date_attribute_that_nobody_has_is_refused(tmp_path: Path) -> None:
    place = written(tmp_path, trace())
    with pytest.raises(InputError, match="'dxx': nobody has a date in the field"):
        dataset(place + "x")


def test_text_that_is_no_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "network.json").write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        dataset(f"hiv-trace:{tmp_path / 'network.json'},dx")


def test_a_missing_network_is_described(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"network\.json is missing.*Nodes.*private"):
        dataset(f"hiv-trace:{tmp_path / 'network.json'},dx")


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("patents", "patents:FOLDER.*cite75_99.txt.*CITING, CITED.*apat63_99.txt.*PATENT"),
        ("acl-signed", "acl-signed:FOLDER.*citations.*sign.*papers.*year"),
        ("hiv-trace", "hiv-trace:FILE.json,DATE.*Nodes.*Edges.*private"),
    ],
)
def test_a_name_alone_says_which_files_are_needed(name: str, needed: str) -> None:
    with pytest.raises(InputError, match=f"not part of graphveil.*{needed}"):
        dataset(name)


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"no such folder\. Usage: patents:FOLDER"):
        dataset("patents:no/such/folder")


def test_no_message_names_a_person(tmp_path: Path) -> None:
    broken = trace(Edges=[{"source": 0, "target": 99}])
    with pytest.raises(InputError) as refused:
        dataset(written(tmp_path, broken))
    assert not re.search(r"\bP\d", str(refused.value).replace(str(tmp_path), ""))
