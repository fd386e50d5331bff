"""Names and texts have limits, which are checked before anything is written or spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from graphveil.errors import StudyError
from graphveil.report.chart_files import chart_file
from graphveil.study import Study, opening
from graphveil.study.limits import LONGEST_NAME
from steward import PROMISE, contents, opened
from studies import people, promise

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4"}
REFUSED: dict[str, dict[str, Any]] = {
    "title": {"title": "x" * 201},
    "population": {"population": "x" * 201},
    "publisher": {"publisher": "a\nb"},
    "bound.justification": {"bound": {"degree": 4, "justification": "x" * 2001}},
    "budget.justification": {"budget": {"epsilon": "1", "justification": "\x1b[2J"}},
    "records.person_separator": {"records": {"person_separator": "x" * 17}},
    "series 'con'": {"series": [EDGES | {"name": "con"}]},
    "series 'lpt1'": {"series": [EDGES | {"name": "lpt1"}]},
    "justification": {"series": [EDGES | {"justification": "x" * 2001}]},
    "has 300 characters": {"series": [EDGES | {"name": "x" * 300}]},
    "visible": {"title": "a\u202eb"},
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_study_beyond_a_limit_is_refused_before_there_is_one(root: Path, what: str) -> None:
    with pytest.raises(StudyError, match=what) as refusal:
        Study.create(root, promise(**REFUSED[what]))
    assert len(str(refusal.value)) < 300
    assert not root.exists()


def test_what_just_fits_is_published(root: Path) -> None:
    name = "x" * LONGEST_NAME
    study = Study.create(root, promise(title="می\u200cخواهم" * 20, series=[EDGES | {"name": name}]))
    study.add(people())
    assert study.publish().steps == [0]


def test_a_draft_that_was_edited_beyond_a_limit_is_not_opened(root: Path) -> None:
    study = Study.create(root, promise())
    file = study.folder.study_file
    file.write_text(file.read_text().replace('name = "edges"', f'name = "{"x" * 300}"'))
    with pytest.raises(StudyError, match=r"study.toml, series 'x+': has 300 characters"):
        study.add(people())
    assert not study.ledger().is_open


def test_a_series_beyond_a_limit_spends_nothing(tmp_path: Path) -> None:
    root = opened(tmp_path / "study")
    before = contents(root)
    for name in ("x" * 300, "aux"):
        for more in ((), ("--dry-run",)):
            ended = graphveil(
                "series", str(root), "--open", "nodes", "--epsilon", "1/4", "--name", name, *more
            )
            assert ended.code == 2, ended.err
            assert "the new series" in ended.err
    assert {**contents(root), "db": ""} == {**before, "db": ""}


def test_a_new_study_says_so_at_once(tmp_path: Path) -> None:
    ended = graphveil("new", str(tmp_path / "s"), *PROMISE, "--series", f"edges={'x' * 65}")
    assert ended.code == 2
    assert "has 65 characters, and 64 are allowed" in ended.err


def test_studies_from_before_the_limits_go_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "x" * 300
    with monkeypatch.context() as patch:
        patch.setattr(opening, "require_limits", lambda *_: None)
        study = Study.create(root, promise(title="t" * 500, series=[EDGES | {"name": name}]))
        study.add(people())
    for command in ("publish", "status", "releases", "report", "verify"):
        ended = graphveil(command, str(root))
        assert ended.code == 0, ended.err
    assert (root / "public" / "charts" / f"{chart_file(name)}.svg").is_file()
    assert f"charts/{chart_file(name)}.svg" in (root / "public" / "report.html").read_text()
