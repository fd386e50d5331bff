"""Which field dates people is the steward's choice, made once and kept; the file never decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import InputError, ParameterError
from graphveil.records import ReadingOptions, read_records
from graphveil.steward.adding import add, withdraw
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.promise import Promise
from plain_rules import sealed_steps
from studies import promise

DX, SEEN = ReadingOptions(time="dx"), ReadingOptions(time="seen")


def begun(folder: Path, **changed: Any) -> Path:
    told: Promise = promise(records={"undated": "first"}, **changed)
    StoredStudy.create(folder / "study", told)
    return folder / "study"


def person(name: str, **dates: Any) -> dict[str, Any]:
    return {"id": name, "patient_attributes": dates}


def results(folder: Path, *people: dict[str, Any], **more: Any) -> Path:
    path = folder / "results.json"
    path.write_text(json.dumps({"Nodes": people, "Edges": [], "Singletons": [], **more}))
    return path


def steps(study: Path) -> list[set[str]]:
    StoredStudy.at(study).publish(3, early=True)
    return [set(nodes) for nodes, _ in sealed_steps(StoredStudy.at(study))]


@pytest.mark.parametrize("odd", [{"edi": [2001, 1, 1]}, {"DX": "2001"}, {"baseline": [2001, 1, 1]}])
def test_one_person_with_another_field_dates_nobody_else(
    tmp_path: Path, odd: dict[str, Any]
) -> None:
    study = begun(tmp_path)
    people = [person(f"P{year}", dx=str(year)) for year in (2001, 2002, 2003, 2004)]
    add(study, [results(tmp_path, *people, {"id": "odd", **odd})], options=DX)
    assert steps(study) == [{"P2001", "odd"}, {"P2002"}, {"P2003"}, {"P2004"}]


def test_without_a_name_the_file_is_refused_whatever_it_holds(tmp_path: Path) -> None:
    study = begun(tmp_path)
    with pytest.raises(InputError, match="no field was named"):
        add(study, [results(tmp_path, {"id": "a", "edi": [2001, 1, 1]})])


def test_the_choice_is_kept_and_later_files_are_read_alike(tmp_path: Path) -> None:
    study = begun(tmp_path)
    add(study, [results(tmp_path, person("a", dx="2001", seen="2003"))], options=DX)
    add(study, [results(tmp_path, person("b", dx="2002", seen="2003"))])
    add(study, [results(tmp_path, person("c", DX="2002", seen="2003"))], options=DX)
    assert steps(study) == [{"a"}, {"b", "c"}, set(), set()]


def test_another_field_needs_to_be_meant(tmp_path: Path) -> None:
    study = begun(tmp_path)
    add(study, [results(tmp_path, person("a", dx="2001", seen="2003"))], options=DX)
    later = results(tmp_path, person("b", dx="2002", seen="2003"))
    with pytest.raises(ParameterError, match="was 'dx' when hivtrace files were added before"):
        add(study, [later], options=SEEN)
    with pytest.raises(ParameterError, match=r"edge_time.*was not given"):
        add(study, [later], options=ReadingOptions(edge_time="met"))
    add(study, [later], options=SEEN, change_reading=True)
    add(study, [results(tmp_path, person("c", dx="2001", seen="2004"))])
    assert steps(study) == [{"a"}, set(), {"b"}, {"c"}]


def test_a_withdrawn_batch_and_a_dry_run_choose_nothing(tmp_path: Path) -> None:
    study = begun(tmp_path)
    file = results(tmp_path, person("a", dx="2001", seen="2003"))
    add(study, [file], options=DX, how=AddOptions(dry_run=True))
    add(study, [file], options=SEEN)
    withdraw(study, 1)
    add(study, [file], options=DX)
    assert steps(study)[0] == {"a"}


def test_formats_have_choices_of_their_own(tmp_path: Path) -> None:
    study = begun(tmp_path)
    (tmp_path / "nodes.csv").write_text("node,time\nn,2004\n")
    add(study, [results(tmp_path, person("a", dx="2001")), tmp_path / "nodes.csv"], options=DX)
    (tmp_path / "nodes.csv").write_text("node,time\nm,2003\n")
    add(study, [tmp_path / "nodes.csv"])
    assert steps(study) == [{"a"}, set(), {"m"}, {"n"}]


def test_studies_that_kept_no_choice_go_on(tmp_path: Path) -> None:
    study = begun(tmp_path)
    records = read_records([results(tmp_path, person("a", dx="2001"))], options=DX).records
    StoredStudy.at(study).add(records)  # as the first versions did
    add(study, [results(tmp_path, person("b", seen="2002"))], options=SEEN)
    assert steps(study)[:2] == [{"a"}, {"b"}]


@pytest.mark.parametrize("more", [{"Singletons": 5}, {"Singletons": None}])
def test_people_who_are_listed_for_their_links_only_are_refused(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    study = begun(tmp_path)
    linked = [{"source": 0, "target": 1}]
    file = results(tmp_path, person("a", dx="2001"), person("b", dx="2002"), Edges=linked, **more)
    with pytest.raises(InputError, match=r"results\.json: this lists only people who") as told:
        add(study, [file], options=DX)
    assert len(str(told.value)) < 300
    (tmp_path / "nodes.csv").write_text("node,time\nalone,2003\n")
    add(study, [file, tmp_path / "nodes.csv"], options=DX, how=AddOptions(dry_run=True))
    add(study, [file], options=ReadingOptions(time="dx", all_listed=True))
    assert steps(study)[:2] == [{"a"}, {"b"}]


def test_a_temporal_network_gives_a_study_links_and_nobody(tmp_path: Path) -> None:
    """One person's first message must not be what brings others in, or dates them."""
    study = begun(tmp_path)
    messages = tmp_path / "messages.txt"
    messages.write_text("1 2 1000000000\n2 3 1050000000\n")
    with pytest.raises(InputError, match="this lists only people who have links"):
        add(study, [messages])
    (tmp_path / "nodes.csv").write_text("node,time\n1,2001\n2,2001\n3,2002\n")
    add(study, [messages, tmp_path / "nodes.csv"])
    assert steps(study)[:2] == [{"1", "2"}, {"3"}]


def tables(folder: Path, *, distance: str = "Distance") -> list[Path]:
    nodes, links = folder / "nodes.csv", folder / "links.csv"
    nodes.write_text("ID,dx,type\na,2001,person\nb,2002,person\nv,2001,venue\nc,2003,person\n")
    links.write_text(f"ID1,ID2,{distance}\na,b,0.01\na,v,0.001\nb,c,0.3\na,c,0.014\n")
    return [nodes, links]


NEAR = ReadingOptions(time="dx", max_distance="0.015", where=("type=person",))


def kept(study: Path) -> Any:
    return dict(StoredStudy.at(study).ledger().read_as["microbetrace"])


def test_thresholds_and_conditions_are_kept_for_later_files(tmp_path: Path) -> None:
    study = begun(tmp_path)
    added = add(study, tables(tmp_path), options=NEAR)
    assert added.added.findings.intake.edges_added == 2
    assert kept(study)["max_distance"] == "0.015"
    assert kept(study)["where"] == ["nodes:type=person"]
    again = add(study, tables(tmp_path))
    assert (again.added.findings.intake.nodes_added, again.added.findings.intake.known_edges) == (
        0,
        2,
    )
    same = ReadingOptions(max_distance="0.0150 tn93", where=("type = person",))
    add(study, tables(tmp_path), options=same, how=AddOptions(dry_run=True))
    for other in (ReadingOptions(max_distance="0.02"), ReadingOptions(where=("type!=venue",))):
        with pytest.raises(ParameterError, match="files were added before"):
            add(study, tables(tmp_path), options=other)
    add(study, tables(tmp_path), options=ReadingOptions(time="dx", max_distance="0.5"),
        change_reading=True)  # fmt: skip
    assert steps(study)[0] == {"a", "v"}


def test_the_unit_of_a_threshold_is_kept_as_the_column_says_it(tmp_path: Path) -> None:
    study = begun(tmp_path)
    add(study, tables(tmp_path, distance="tn93"), options=NEAR)
    assert kept(study)["max_distance"] == "0.015 tn93"
    with pytest.raises(InputError, match="counted in snps, and the threshold in tn93"):
        add(study, tables(tmp_path, distance="SNPs"))


def test_links_that_come_later_bring_their_threshold(tmp_path: Path) -> None:
    study = begun(tmp_path)
    nodes, links = tables(tmp_path)
    add(study, [nodes], options=DX)
    with pytest.raises(InputError, match="these are distances"):
        add(study, [links])
    add(study, [links], options=ReadingOptions(max_distance="0.02"))
    with pytest.raises(ParameterError, match=r"was '0\.02' when microbetrace"):
        add(study, [links], options=ReadingOptions(max_distance="0.5"))


def test_studies_of_earlier_versions_read_slashes_as_they_did(tmp_path: Path) -> None:
    study = begun(tmp_path)
    (tmp_path / "nodes.csv").write_text("ID,dx\na,7/8/2001\n")
    before = {"microbetrace": {
        "time": "dx", "edge_time": None, "day_first": False, "all_listed": False,
    }}  # fmt: skip
    first = read_records([tmp_path / "nodes.csv"], options=ReadingOptions("dx", day_first=False))
    StoredStudy.at(study).add(first.records, read_as=before)
    add(study, [tmp_path / "nodes.csv"])
    with pytest.raises(ParameterError, match="day_first"):
        add(study, [tmp_path / "nodes.csv"], options=ReadingOptions(day_first=True))
