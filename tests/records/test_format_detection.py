"""Every example is recognised as itself, by its content, and by no other format."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import ROOT
from format_examples import EXAMPLES, Example
from graphveil.errors import InputError, ParameterError
from graphveil.records import ReadingOptions, read_records
from graphveil.records.detection import found_files
from graphveil.records.format import Format, register, registered

FORMATS = registered()
PLAIN = ReadingOptions()
# Formats that read others' lists of people, if one insists.
ALSO = {("linelist", "contacts"), ("godata", "microbetrace")}


def test_there_are_examples_of_every_format() -> None:
    assert {example.format for example in EXAMPLES} == set(FORMATS)
    assert len(FORMATS) == 13


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_a_set_is_recognised_by_its_own_format_only(example: Example, format_name: str) -> None:
    files = found_files(example.paths)
    claims = [FORMATS[format_name].claims(file, False, PLAIN) for file in files]
    claims = [claim for claim in claims if claim and not claim.question]
    if (example.format, format_name) not in ALSO:
        assert (len(claims) == len(files)) == (format_name == example.format)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: each.name)
@pytest.mark.parametrize("format_name", sorted(FORMATS))
def test_insisting_on_another_format_is_refused(example: Example, format_name: str) -> None:
    if format_name != example.format and (example.format, format_name) not in ALSO:
        with pytest.raises((InputError, ParameterError)):
            read_records(example.paths, format=format_name, options=example.options)


def test_a_link_list_goes_with_its_node_list(tmp_path: Path) -> None:
    (tmp_path / "links").write_text("source,target\nx,y\n")
    (tmp_path / "native").write_text("node,time\nx,2001\n")
    (tmp_path / "other").write_text("ID,date\ny,2001\n")
    for names, time, formats in [
        (("links", "native"), None, ["pair", "pair"]),
        (("links", "other"), "date", ["microbetrace", "microbetrace"]),
        (("links", "native", "other"), "date", ["pair", "pair", "microbetrace"]),
        (("links",), None, ["pair"]),
    ]:
        options = ReadingOptions(time=time)
        found = read_records([tmp_path / name for name in names], options=options)
        assert [file.format for file in found.report.files] == formats


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("patient_id,age,infected_by", "patient_id and infected_by"),
        ("Case ID\tInfected.By", "Case ID and Infected.By"),
        ("ID,SourceCase", "ID and SourceCase"),
        ("node;infector", "node and infector"),
        (" ,infector_id,case_id,person_id", "person_id and infector_id"),
    ],
)
def test_an_infector_column_makes_a_list_of_people_a_line_list(
    tmp_path: Path, header: str, columns: str
) -> None:
    (tmp_path / "file").write_text(f"{header}\n")
    (tmp_path / "dates").write_text("1 2001-05-01\n")
    (tmp_path / "links").write_text("source,target\n")
    names = ["file", "dates", "links"]
    report = read_records([tmp_path / name for name in names]).report
    assert [file.format for file in report.files] == ["linelist", "snap", "pair"]
    assert report.files[0].why == f"a header row with {columns}"


def test_a_node_list_with_infectors_is_one_if_the_user_insists(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("ID,infector,time\na,b,2001\n")
    found = read_records([tmp_path / "file"], format="microbetrace").records
    assert (len(found.nodes.frame), len(found.edges.frame)) == (1, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty file"),
        ("case_id,infectd_by\na,b\n", "may the column 'infectd_by' say who infected.*source="),
        (
            "case_id,patient_id\na,b\n",
            "several columns may name a person: case_id, .*id='case_id'",
        ),
        ("id,case_id\na,b\n", "fits several.*id=: case_id or id"),
        ("id,infector,infectee\n1,a,b\n", "people or links may be meant.*source='infector'"),
        ("id,from,to\n1,a,b\n", "may be meant: from and to, id. Say source='from'.*id='id'"),
        ("infector,time\na,2001\n", "known names: infector, time"),
        ("id,case_id,infector\n", "fits several formats: linelist, microbetrace"),
        ("id,infector,source,target\n", "fits several formats: linelist, microbetrace, pair"),
        ("nod,time\na,2001\n", "Is the column 'nod' meant to be 'node'"),
        ("sorce,taget\na,b\n", "'sorce' meant to be 'source'.*'taget' meant to be 'target'"),
        ("vom,bis\na,b\n", "first line has 2 columns, none with a known name"),
        ("node,time,source,target\na,2001,b,c\n", "known names: node, time, source, target"),
        ("<html></html>", "Seen: XML"),
        ("\0\1\2", "bytes that are not text"),
        (b"caf\xe9,time\n", "bytes that are not UTF-8 text"),
        ("from to\na b\n", "not in a known format"),
        ("1 2 5\n3 4 6\n", "not in a known format"),
        ("1 2 3 4\n", "not in a known format"),
        ("ID,node,time\na,b,2001\n", "fits several formats: microbetrace, pair"),
    ],
)
def test_unclear_content_is_refused_with_what_was_seen(
    tmp_path: Path, text: str | bytes, message: str
) -> None:
    (tmp_path / "file").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=message):
        read_records([tmp_path / "file"])


def test_the_refusal_says_where_formats_are_listed_and_no_ids(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("P0017,P0018\nP0019,P0020\n")
    with pytest.raises(InputError) as refused:
        read_records([tmp_path / "file.csv"])
    assert "P00" not in str(refused.value)
    assert "id= of people" in str(refused.value)
    assert "graphveil formats" in str(refused.value)


def test_the_refusal_shows_columns_where_they_are_surely_names(tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_text("Fall,Ort,Datum\nP17,hier,2014-03-02\n")
    with pytest.raises(InputError, match=r"Columns: Fall, Ort, Datum.*id='Fall', time='Datum'"):
        read_records([tmp_path / "file.csv"])


def test_weights_are_not_taken_for_times_unless_the_user_insists(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("1 2 5\n3 4 6\n")
    found = read_records([tmp_path / "file"], format="snap-temporal")
    assert found.records.nodes.frame["time"].dt.year().to_list() == [1970] * 4


def test_two_formats_cannot_have_one_name() -> None:
    with pytest.raises(ValueError, match="kind format are called 'pair'"):
        register(Format("pair", "", "", lambda *_: None, lambda *_: []))


def test_the_document_shows_lines_of_the_examples_and_every_format() -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    shown = "".join(re.findall(r"```text\n(.*?)```", text, re.DOTALL)).splitlines()
    files = [path for example in EXAMPLES for path in example.paths]
    held = {line for path in files for line in path.read_text().splitlines()}
    assert len(shown) > 10
    assert set(shown) <= held
    assert set(re.findall(r"^## ([a-z-]+)$", text, re.MULTILINE)) == set(FORMATS)
