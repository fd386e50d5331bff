"""The page of findings: every table and number in it comes from the stored results."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from commands import ROOT
from graphveil.errors import ParameterError
from graphveil.lab.experiments.comparison import CONTENDERS, PROJECTION
from graphveil.lab.experiments.page import LOOKS, chart, filled_in, require_page, tables
from graphveil.lab.experiments.protocol import CHOSEN_ON, EPSILONS
from graphveil.lab.experiments.results import Row, read_rows
from headline_picture import PICTURE, drawn

SVG = "{http://www.w3.org/2000/svg}"
PAGE = ROOT / "docs" / "findings.md"
QUOTING = [ROOT / "README.md", ROOT / "docs" / "planning.md"]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(ROOT / "docs" / "data" / "findings.csv")


def test_the_page_says_what_the_results_say(rows: list[Row]) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert filled_in(text, rows) == text, "run `graphveil reproduce … --page docs/findings.md`"
    assert "<!-- table summary -->" in text
    assert text.count("<!-- value ") >= 12


@pytest.mark.parametrize("path", QUOTING, ids=lambda path: path.name)
def test_other_pages_quote_the_results(path: Path, rows: list[Row]) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("<!-- value ") >= 2
    assert filled_in(text, rows) == text, "run `graphveil reproduce … --page README.md`"


def test_the_picture_of_the_readme_shows_the_results(rows: list[Row]) -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawn(rows), "run tools/headline_picture.py"


def test_another_result_would_change_the_page(rows: list[Row]) -> None:
    from dataclasses import replace

    text = PAGE.read_text(encoding="utf-8")
    changed = [
        replace(each, error=2 * each.error) if each.mechanism == "hubs+post" else each
        for each in rows
    ]
    assert filled_in(text, changed) != text


def test_the_results_cover_what_the_issue_asks_for(rows: list[Row]) -> None:
    panels = {row.place for row in rows}
    datasets = {dataset for dataset, _, _ in panels}
    assert {"synthetic-1", "synthetic-2"} < datasets
    assert {"covid-korea-kcdc", "collegemsg", "hiv-crf02ag-lanl"} < datasets
    assert set(CHOSEN_ON) < datasets
    assert len(datasets) == 12
    assert len(panels) == 12 * (2 * 2 + 2), "what is connected has no directions"
    assert {row.mechanism for row in rows} == set(CONTENDERS)
    assert {row.epsilon for row in rows if row.figure == "epsilon"} == set(map(float, EPSILONS))
    assert {row.epsilon for row in rows if row.figure == "time"} == {5.0}
    assert {row.runs for row in rows} == {50}


def test_pictures_of_the_page_are_there_and_carry_every_dataset(rows: list[Row]) -> None:
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8")):
        drawn = (PAGE.parent / target).read_text(encoding="utf-8")
        for dataset in {row.dataset for row in rows}:
            assert dataset in drawn


def test_charts_are_valid_and_show_all_mechanisms(rows: list[Row]) -> None:
    some = [row for row in rows if row.dataset == "synthetic-1"]
    for figure in ("epsilon", "time"):
        drawn = ElementTree.fromstring(chart(some, figure).svg)
        assert len(list(drawn.iter(f"{SVG}svg"))) == 1 + 6, "itself, and its six panels"
        texts = {each.text for each in drawn.iter(f"{SVG}text")}
        assert texts & set(CONTENDERS) == set(LOOKS)
    assert set(LOOKS) < set(CONTENDERS)


def test_a_missing_mechanism_leaves_a_dash(rows: list[Row]) -> None:
    without = [row for row in rows if row.mechanism != PROJECTION or row.dataset != "synthetic-1"]
    for table in tables(without).values():
        assert all(len(cells) == len(table.header) for cells in table.rows)
    assert "–" in tables(without)["gains"].rows[0]


def test_unknown_marks_and_missing_pages_are_refused(rows: list[Row], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="Did you mean 'gains'"):
        filled_in("<!-- table gain --><!-- end -->", rows)
    with pytest.raises(ParameterError, match="no such file"):
        require_page(tmp_path / "nothing.md")


def test_no_path_of_a_machine_stands_in_what_is_published() -> None:
    published = [PAGE, PAGE.parent / "data" / "findings.csv"]
    published += sorted((PAGE.parent / "images" / "experiments").iterdir())
    for path in published:
        text = path.read_text(encoding="utf-8")
        assert "/work" not in text
        assert "/tmp" not in text


def test_wrong_parameters_have_a_table_with_losses(rows: list[Row]) -> None:
    wrong = tables(rows)["wrong"]
    losses = {cells[0]: cells[-1] for cells in wrong.rows}
    assert losses["hubs-doubled"] == losses["following-guess-halved"] == "1.00"
    assert float(losses["hubs-halved"].split(" to ")[1]) > 2
    assert not {"hubs-halved", "hubs-doubled"} & {
        cells[0] for cells in tables(rows)["summary"].rows
    }


def test_held_out_networks_are_not_among_the_others(rows: list[Row]) -> None:
    known = [row for row in rows if row.dataset in CHOSEN_ON]
    assert tables(known)["summary"].rows == tables(rows)["summary"].rows
    assert "held-out" not in tables(known)
    unknown = [row for row in rows if row.dataset not in CHOSEN_ON]
    assert tables(unknown)["summary"].rows == tables(rows)["held-out"].rows
