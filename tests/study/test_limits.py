"""Names and texts have limits, which are checked before anything is written or spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import graphveil
from graphveil.errors import StudyError
from graphveil.report.artefacts import file_name
from graphveil.study import StoredStudy, opening
from graphveil.study.promise import LONGEST_NAME
from graphveil.study.public_part import PublicPart
from steward import PROMISE, contents, opened
from studies import people, promise
from study_databases import new_database

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
        StoredStudy.create(root, promise(**REFUSED[what]))
    assert len(str(refusal.value)) < 300
    assert not root.exists()


def test_what_just_fits_is_published(root: Path) -> None:
    name = "x" * LONGEST_NAME
    study = StoredStudy.create(
        root, promise(title="می\u200cخواهم" * 20, series=[EDGES | {"name": name}])
    )
    study.add(people())
    assert study.publish().steps == [0]


def test_a_draft_that_was_edited_beyond_a_limit_is_not_opened(root: Path) -> None:
    study = StoredStudy.create(root, promise())
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
        study = StoredStudy.create(root, promise(title="t" * 500, series=[EDGES | {"name": name}]))
        study.add(people())
    for command in ("publish", "status", "releases", "report", "verify"):
        ended = graphveil(command, str(root))
        assert ended.code == 0, ended.err
    assert (root / "public" / "charts" / f"{file_name(name)}.svg").is_file()
    assert f"charts/{file_name(name)}.svg" in (root / "public" / "report.html").read_text()


# Where Python, JavaScript or a terminal may begin a new line.
SEPARATORS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_old_studies_with_any_separator_of_lines_go_on(
    root: Path, kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are opened, published, grown, reported and verified, and the texts stay as they were."""
    server = None if kind == "sqlite" else new_database(request.getfixturevalue("postgresql"))
    title = "".join(f"{place}{each}" for place, each in enumerate(SEPARATORS)) + "end"
    series = [EDGES | {"justification": title}]
    texts = {"title": title, "population": title, "publisher": title, "series": series}
    with monkeypatch.context() as patch:
        patch.setattr(opening, "require_limits", lambda *_: None)
        study = StoredStudy.create(root, promise(**texts), database=server)
        study.add(people())
    for command in (
        ("status",), ("publish",), ("series", "--open", "nodes", "--epsilon", "1/4"),
        ("publish", "--through", "2003"), ("releases",), ("report",), ("verify",),
    ):  # fmt: skip
        ended = graphveil(command[0], str(root), *command[1:])
        assert ended.code == 0, (command, ended.err)
    assert study.promise().title == title
    assert PublicPart.read(root / "public").promise.publisher == title
