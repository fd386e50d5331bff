"""A study whose people have groups: from files to a page, and everything that can go wrong."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import polars as pl
import pytest
import xlsxwriter

from commands import graphveil
from graphveil import Study
from graphveil.errors import GraphveilError, ParameterError, StudyError, UnconfirmedError
from graphveil.graph.intake.records import Records
from graphveil.records import from_frames, from_rows
from graphveil.steward.reporting import write_report
from graphveil.study import Promise, StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import PublicPart
from graphveil.study.verification import verify
from steward import run, run_json
from studies import YEARS, freeze_noise, promise

REGIONS = ["North", "south ", "N", "", "Mars", "East", None, "North"]
LINKS = [("P0", "P1"), ("P1", "P2"), ("P0", "P2"), ("P3", "P4"), ("P4", "P5"), ("P6", "P1")]
GROUPS = {"region": {"labels": ["North", "South", "East"], "same": {"N": "North"}}}
AGREED = AddOptions(yes=True)
SERIES: list[dict[str, Any]] = [
    {"name": "people", "statistic": "nodes", "parameters": {"by": "region"}, "epsilon": "1/8"},
    {"name": "links", "statistic": "edges", "parameters": {"by": "region"}, "epsilon": "1/8"},
    {
        "name": "degrees",
        "statistic": "degree-ccdf",
        "parameters": {"by": "region"},
        "epsilon": "1/8",
    },
    {
        "name": "recent",
        "statistic": "edges",
        "parameters": {"by": "region", "cells": "alike", "window": 2},
        "epsilon": "1/8",
    },
]


def people(regions: list[str | None] = REGIONS) -> Records:
    nodes = pl.DataFrame(
        {"node": [f"P{n}" for n in range(8)], "time": [2001 + n // 2 for n in range(8)]}
    )
    nodes = nodes.with_columns(county=pl.Series(regions, dtype=pl.String))
    edges = pl.DataFrame(LINKS, schema=["source", "target"], orient="row")
    return from_frames(nodes, edges, groups={"region": "county"})


def grouped(**changed: Any) -> Promise:
    return promise(**({"groups": GROUPS, "series": SERIES} | changed))


def opened(root: Path, **changed: Any) -> StoredStudy:
    study = StoredStudy.create(root, grouped(**changed))
    study.add(people(), AGREED)  # somebody's region is on no list
    return study


def cells(study: StoredStudy, name: str, step: int) -> dict[tuple[Any, ...], int]:
    """What was published of a step, cell by cell, without the noise, which stands still."""
    (series,) = (each for each in study.ledger().series if each.series == name)
    raw = series.releases[step].raw
    return {
        (*cell.values(), *([] if degree is None else [degree])): value
        for (cell, degree), value in zip(series.places, raw, strict=True)
    }


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphveil.noise.release_noise import ReleaseNoise

    monkeypatch.setattr(ReleaseNoise, "draw", lambda self, law, count: [0] * count)


# What is published.


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.usefixtures("silent")
def test_every_person_and_every_link_is_in_its_cell(tmp_path: Path, together: bool) -> None:
    study = opened(tmp_path / "study")
    for last in [3] if together else range(4):
        study.publish(last, early=True)
    assert cells(study, "people", 3) == {
        ("North",): 3, ("South",): 1, ("East",): 1, ("other",): 1, ("unknown",): 2
    }  # fmt: skip
    links = {cell: count for cell, count in cells(study, "links", 3).items() if count}
    assert links == {
        ("North", "South"): 2, ("North", "North"): 1, ("other", "unknown"): 1,
        ("East", "other"): 1, ("South", "unknown"): 1,
    }  # fmt: skip
    assert cells(study, "degrees", 3)["North", 2] == 2
    assert cells(study, "recent", 1) == {("alike",): 1, ("mixed",): 2}
    assert list(verify(study)), "raises where something is wrong"


@pytest.mark.usefixtures("silent")
def test_labels_stay_as_they_were_first_and_a_change_is_told(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    study.publish(0, early=True)
    again = study.add(people(["South", *REGIONS[1:4], "East", *REGIONS[5:]]))
    assert again.findings.intake.relabelled_nodes == 2  # of one who is sealed, one who waits
    assert any("other labels" in line for line in again.findings.lines())
    told = again.findings.details.filter(pl.col("finding") == "other labels").rows()
    assert told == [
        ("other labels", "P0", "North", "South"),
        ("other labels", "P4", "other", "East"),
    ]
    nothing = study.add(people([None] * 8))
    assert nothing.findings.intake.relabelled_nodes == 0  # nothing says nothing
    study.publish(3, early=True)
    assert cells(study, "people", 3)["North",] == 3


@pytest.mark.usefixtures("silent")
def test_a_later_series_is_divided_by_labels_that_were_there_before(tmp_path: Path) -> None:
    study = opened(tmp_path / "study", series=SERIES[:1])
    study.publish(1, early=True)
    later = SeriesPromise(
        name="later", statistic="high-degree", parameters={"tau": 2, "by": "region"}, epsilon="1/8"
    )
    study.open_series(later)
    study.publish(3, early=True)
    (series,) = (each for each in study.ledger().series if each.series == "later")
    assert cells(study, "later", 0)["North",] == 2
    assert series.promise.counted().summary.endswith("by region")
    assert list(verify(study))


def test_neighbours_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one person, everybody else is in the same cells of people."""
    freeze_noise(monkeypatch)
    whole = opened(tmp_path / "whole")
    whole.publish(3, early=True)
    fewer = StoredStudy.create(tmp_path / "fewer", grouped())
    rest = people()
    nodes = replace(rest.nodes, frame=rest.nodes.frame.filter(pl.col("node") != "P2"))
    links = pl.col("source").eq("P2") | pl.col("target").eq("P2")
    edges = replace(rest.edges, frame=rest.edges.frame.filter(~links))
    fewer.add(replace(rest, nodes=nodes, edges=edges), AGREED)
    fewer.publish(3, early=True)
    one, other = (cells(each, "people", 3) for each in (whole, fewer))
    assert {cell: one[cell] - other[cell] for cell in one} == {
        ("North",): 1, ("South",): 0, ("East",): 0, ("other",): 0, ("unknown",): 0
    }  # fmt: skip


# The promise.


def test_a_study_file_says_the_groups_and_only_then_has_another_format() -> None:
    stated = grouped()
    assert stated.to_data()["format"] == 4
    assert Promise.from_toml(stated.to_toml()) == stated
    assert "groups" not in promise().to_data()
    assert promise().to_data()["format"] == 1


def test_numbers_are_cut() -> None:
    stated = grouped(groups={"region": {"cuts": [0, 25, 50]}})
    assert stated.groups.members[0].labels == ("0–24", "25–49", "50 and more")
    assert Promise.from_toml(stated.to_toml()) == stated


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        ({"labels": ["North", "north"]}, "twice"),
        ({"labels": ["North", "Other"]}, "twice"),
        ({"labels": ["North", " "]}, "empty label"),
        ({"labels": []}, "empty label"),
        ({}, "either 'labels' or 'cuts'"),
        ({"labels": ["a"], "cuts": [0, 1]}, "either 'labels' or 'cuts'"),
        ({"cuts": [5, 5]}, "must rise"),
        ({"labels": ["a"], "same": {"x": "b"}}, "not on the list"),
        ({"labels": ["a", "b"], "weights": [1]}, "one weight for every label"),
        ({"labels": ["x" * 61]}, "60 characters"),
        ({"labels": [str(n) for n in range(20)]}, "cells, and 200 are allowed"),
        ({"labels": ["a"], "colour": "red"}, "colour"),
    ],
)
def test_a_list_that_nobody_could_use_is_refused(group: dict[str, Any], problem: str) -> None:
    with pytest.raises(StudyError, match=problem):
        grouped(groups={"region": group})


@pytest.mark.parametrize("name", ["Region", "label", "re gion", "region_2", "x" * 70])
def test_a_group_with_an_impossible_name_is_refused(name: str) -> None:
    with pytest.raises(StudyError, match="group"):
        grouped(groups={name: {"labels": ["a"]}}, series=promise().model_dump()["series"])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"groups": {}}, "not a group of the study"),
        (
            {"series": [{"name": "x", "statistic": "clusters", "epsilon": "1/8",
                         "parameters": {"by": "region"}}]},
            "cannot be divided",
        ),
        (
            {"series": [{"name": "x", "statistic": "edges", "epsilon": "1/8", "projection": 3,
                         "parameters": {"by": "region"}}]},
            "after a projection",
        ),
    ],
)  # fmt: skip
def test_a_series_that_cannot_be_divided_is_refused_before_anything_is_spent(
    changed: dict[str, Any], problem: str
) -> None:
    with pytest.raises(StudyError, match=problem):
        grouped(**changed)


# Records without what they should have.


def test_people_without_a_column_of_a_group_are_refused(tmp_path: Path) -> None:
    study = StoredStudy.create(tmp_path / "study", grouped())
    with pytest.raises(GraphveilError, match="no column was named for the group 'region'"):
        study.add(from_rows([("P0", 2001)]))
    assert not study.ledger().batches


def test_labels_of_a_group_that_the_study_has_not_are_refused(tmp_path: Path) -> None:
    study = StoredStudy.create(tmp_path / "study", promise())
    with pytest.raises(ParameterError, match="'region' is not a group"):
        study.add(people())


MAPPED = GROUPS | {"region": GROUPS["region"] | {"same": {"N": "North", "Mars": "other"}}}


def test_labels_on_no_list_are_shown_privately_and_many_of_them_stop_the_first_files(
    tmp_path: Path,
) -> None:
    """Files that write N for North would otherwise turn everybody into `other`, silently."""
    study = StoredStudy.create(tmp_path / "study", grouped())
    few = people([*REGIONS[:4], "North", "East", None, "Mars"])
    with pytest.raises(UnconfirmedError, match=r"region.*not on its list.*other.*same") as stopped:
        study.add(few)
    assert len(str(stopped.value)) < 300
    assert "Mars" not in str(stopped.value)
    assert not study.ledger().is_open
    found = study.add(few, AGREED).findings
    assert found.unlisted == (("region", 1, (("Mars", 1),)),)
    assert "1 row whose region is not on its list: counted as other ('Mars')" in found.lines()
    assert study.add(few).findings.doubt == "", "the lists are fixed"


def test_what_is_said_to_be_other_is_on_the_list(tmp_path: Path) -> None:
    study = StoredStudy.create(tmp_path / "study", grouped(groups=MAPPED))
    found = study.add(people([*REGIONS[:6], "Other ", None])).findings
    assert (found.unlisted, found.doubt) == ((), "")


def test_links_alone_need_no_labels(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    study.add(from_rows([], [("P0", "P5")]))
    assert len(study.ledger().batches) == 2


# What readers get.


def test_tables_and_page_say_the_groups(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    study.publish(3, early=True)
    write_report(study.folder.public)
    public = study.folder.public
    rows = list(csv.DictReader(io.StringIO((public / "releases.csv").read_text())))
    named = {(row["series"], row["region"], row["region_2"], row["degree"]) for row in rows}
    assert ("people", "North", "", "") in named
    assert ("links", "North", "South", "") in named
    assert ("degrees", "unknown", "", "4") in named
    assert ("recent", "mixed", "", "") in named
    dictionary = (public / "dictionary.csv").read_text()
    assert "releases.csv,region_2," in dictionary
    page = (public / "report.html").read_text()
    assert "links within and between groups" in page
    assert "lists of groups, not who is in them" in page
    card = json.loads((public / "card.json").read_text())
    divided = next(each for each in card["series"] if each["series"] == "links")["divided_by"]
    assert divided["groups"] == {"region": ["North", "South", "East", "other", "unknown"]}
    assert (public / "charts" / "links.svg").read_text().startswith("<svg")
    part = PublicPart.read(public)
    assert part.series[0].places[0] == ({"region": "North"}, None)


def test_python_frames_have_columns_of_groups(tmp_path: Path) -> None:
    study = Study.create(
        tmp_path / "study",
        title="A",
        population="B",
        publisher="C",
        bound=4,
        bound_reason="D",
        first=2001,
        steps=4,
        epsilon=1,
        epsilon_reason="E",
        groups={"region": ["North", "South", "East"], "age": [0, 25, 50]},
        series=["nodes:by=region", "edges:by=region@1/4", "nodes:by=age"],
    )
    graph: nx.Graph[str] = nx.Graph()
    for number, region in enumerate(REGIONS):
        graph.add_node(f"P{number}", time=2001 + number // 2, county=region, years=10.0 * number)
    graph.add_edges_from(LINKS)
    study.add(graph, groups={"region": "county", "age": "years"}, yes=True)
    study.publish(through="2004")
    frame = study.frame("edges-by-region")
    assert {"region", "region_2", "age"} <= set(frame.columns)
    assert frame.filter(pl.col("label") == "2004").height == 15
    assert frame["revised"].null_count() == 0
    ages = study.frame("nodes-by-age").filter(pl.col("label") == "2004")["age"].to_list()
    assert ages == ["0–24", "25–49", "50 and more", "other", "unknown"]


# By command, from a workbook.


def workbook(path: Path) -> Path:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("People")
        for column, name in enumerate(("ID", "Seen", "County")):
            sheet.write(0, column, name)
        for row, region in enumerate(REGIONS, 1):
            sheet.write(row, 0, f"P{row - 1}")
            sheet.write(row, 1, 2001 + (row - 1) // 2)
            sheet.write(row, 2, region or "")
        links = book.add_worksheet("Links")
        for row, (one, other) in enumerate([("source", "target"), *LINKS]):
            links.write(row, 0, one)
            links.write(row, 1, other)
    return path


def drafted(root: Path, *more: str) -> Path:
    run(
        *("new", root, "--title", "A", "--population", "B", "--publisher", "C", "--bound", "4"),
        *("--bound-reason", "D", "--every", "year", "--first", YEARS[0], "--last", YEARS[-1]),
        *("--epsilon", "1", "--epsilon-reason", "E", "--group", "region=North|South|East"),
        *("--series", "nodes:by=region", "--series", "edges:by=region@1/4=links", *more),
    )
    return root


def test_from_a_workbook_to_a_page_by_command(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study", "--expected", "links=1200")
    book = workbook(tmp_path / "book.xlsx")
    read = ("--id", "ID", "--time", "Seen", "--group", "region=County")
    run("add", root, f"{book}#People", f"{book}#Links", *read, "--yes")
    published = run_json("publish", root, "--through", YEARS[-1])
    cells_of_links = [row for row in published["releases"] if row["series"] == "links"]
    assert {"region": "North", "region_2": "South"}.items() <= cells_of_links[1].items()
    assert "North and South" in run("releases", root).out
    card = json.loads((root / "public" / "card.json").read_text())
    stated = next(each["expected"] for each in card["series"] if "expected" in each)
    assert (stated["size"], stated["largest"]) == (1200, 267)
    again = run("add", root, f"{book}#People", f"{book}#Links", "--dry-run")  # read as before
    assert "says nothing about region" not in again.err
    assert run("verify", root).code == 0


def test_an_outlook_says_which_cells_would_be_too_noisy(tmp_path: Path) -> None:
    root = drafted(
        tmp_path / "study", "--expected", "links=1200", "--expected", "nodes-by-region=9000"
    )
    told = run("plan", root).out
    assert "of 6 cells would be too noisy to tell" in told
    assert "merge labels" in told
    links = run_json("plan", root)["series"][1]
    assert {"cell": "North and South", "expected": 267, "usefulness": "rough"} in links["cells"]


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("region=Conty", "no list of people has the column 'Conty'"),
        ("county=County", "'county' is not a group of the study"),
        ("region", "cannot be understood"),
    ],
)
def test_a_group_that_cannot_be_read_is_refused_and_nothing_is_lost(
    tmp_path: Path, option: str, problem: str
) -> None:
    root, book = drafted(tmp_path / "study"), workbook(tmp_path / "book.xlsx")
    read = (f"{book}#People", f"{book}#Links", "--id", "ID", "--time", "Seen", "--group")
    refused = graphveil("add", str(root), *read, option)
    assert refused.code
    assert problem in refused.err
    assert len(refused.err) < 400
    run("add", root, *read, "region=County", "--yes")


def test_a_file_of_several_without_the_column_is_told(tmp_path: Path) -> None:
    root = drafted(tmp_path / "study")
    (tmp_path / "a.csv").write_text("node,time,County\nP0,2001,North\n")
    (tmp_path / "b.csv").write_text("node,time\nP1,2001\n")
    done = run("add", root, tmp_path / "a.csv", tmp_path / "b.csv", "--group", "region=County")
    assert "b.csv says nothing about region" in done.err
