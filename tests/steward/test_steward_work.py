"""A steward's work through the functions that every face calls: no command, no terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BoundError, BudgetError, IntegrityError, ParameterError, StudyError
from graphveil.steward import adding, drafting, outlook, publishing, series, verifying
from graphveil.steward.drafting import calendar_of_cuts
from graphveil.steward.publishing import Progress, PublishRequest, Stage
from graphveil.steward.reporting import published, report
from graphveil.steward.requests import SeriesRequest
from graphveil.steward.status import status
from graphveil.study.backends import AddOptions
from graphveil.study.ledger import Ledger
from graphveil.study.public_part import PublicPart
from graphveil.study.reading import Reading
from steward import contents, opened, people
from study_requests import EDGES, REQUEST


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A draft."""
    drafting.create(tmp_path / "study", REQUEST)
    return tmp_path / "study"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return people(tmp_path / "files")


def test_the_whole_work(study: Path, files: tuple[Path, Path]) -> None:
    before = contents(study)
    tried = adding.add(study, files, how=AddOptions(dry_run=True))
    assert tried.batch is None
    assert tried.as_data()["nodes_added"] == 8
    assert contents(study) == before
    assert not status(study).is_open
    assert adding.add(study, files).batch == 1

    told: list[Progress] = []
    made = publishing.publish(study, PublishRequest(through="2002"), told.append)
    assert told == [
        Progress(Stage.SEALING, 0, 2),
        Progress(Stage.SEALING, 1, 2),
        Progress(Stage.SEALING, 2, 2),
        Progress(Stage.REPORTING, 2, 2),
    ]
    assert (made.steps, made.labels, made.finished) == ((0, 1), ("2001", "2002"), False)
    assert {row.label for row in made.newest} == {"2002"}
    assert made.page == (study / "public" / "report.html").resolve()

    stands = status(study)
    assert (stands.is_open, stands.is_current, stands.private.batches_waiting) == (True, True, 1)
    assert (stands.steps.last_sealed, stands.steps.next_step) == ("2002", "2003")
    assert stands.page == made.page
    assert verifying.verify(study).failure is None

    before = contents(study)
    wish = SeriesRequest("high-degree", {"tau": 2}, epsilon="1/4")
    opening = series.open_series(study, wish, dry_run=True)
    assert (opening.opened, opening.outlook.first_label) == (False, "2003")
    assert opening.budget.epsilon_left == "0.25"
    assert contents(study) == before
    assert series.open_series(study, wish).outlook.promise == opening.outlook.promise
    assert [each.name for each in series.series_of(study).series][-1] == "high-degree-2"
    assert status(study).is_current


def test_results_are_data_for_programs(study: Path, files: tuple[Path, Path]) -> None:
    results: list[Any] = [
        adding.add(study, files),
        publishing.publish(study, PublishRequest(report=False)),
        outlook.study_outlook(study),
        status(study),
        series.series_of(study),
        series.open_series(study, SeriesRequest("stars", {"k": 2}, epsilon="1/8"), dry_run=True),
        verifying.verify(study),
    ]
    for each in results:
        data = each.as_data()
        assert json.loads(json.dumps(data)).keys() == data.keys()


def test_what_is_private_is_not_in_a_repr(study: Path, files: tuple[Path, Path]) -> None:
    tried = adding.add(study, files, how=AddOptions(dry_run=True))
    assert repr(tried).startswith("<Records tried, not stored. What was found is private")
    assert not any(character.isdigit() for character in repr(tried))


def test_a_draft_is_tried_out_without_a_folder(tmp_path: Path) -> None:
    generous = replace(
        REQUEST, epsilon="4", series=(SeriesRequest("edges"), SeriesRequest("nodes"))
    )
    promise = drafting.drafted(generous)
    assert [each.epsilon for each in promise.series] == ["2", "2"]
    assert all(each.mechanism != "auto" for each in promise.series)
    frugal = drafting.drafted(replace(generous, epsilon="1"))
    less, more = outlook.outlooks(promise)[0], outlook.outlooks(frugal)[0]
    assert less.plan.mean_std < more.plan.mean_std
    assert list(tmp_path.iterdir()) == []


def test_what_is_wrong_with_a_wish_is_a_parameter() -> None:
    with pytest.raises(ParameterError, match=r"the new study: .*'inward' and 'outward'"):
        drafting.drafted(replace(REQUEST, directed=True))
    with pytest.raises(ParameterError, match="at least one"):
        drafting.drafted(replace(REQUEST, series=(), delta="1e-6"))
    with pytest.raises(BudgetError, match="leave nothing of ε = 1 for nodes"):
        drafting.drafted(
            replace(REQUEST, series=(SeriesRequest("edges", epsilon="1"), SeriesRequest("nodes")))
        )


def test_expected_sizes_warn(study: Path) -> None:
    found = outlook.study_outlook(study).expecting({"edges": 3, "nodes": 10**9})
    assert set(found.warnings) == {"edges"}
    assert [each["warning"] is None for each in found.as_data()["series"]] == [False, True]


def test_calendars_of_cuts() -> None:
    cuts = calendar_of_cuts(["2001-01-01", " 2003-01-01"], "2006-01-01")
    assert cuts.labels(2) == ["2001-01-01", "2003-01-01"]


def test_the_latest_batch_is_taken_back(study: Path, files: tuple[Path, Path]) -> None:
    adding.add(study, files)
    adding.withdraw(study, 1)
    assert status(study).private.batches_waiting == 0
    with pytest.raises(ParameterError, match="at least one file"):
        adding.add(study, [])


@pytest.mark.parametrize("asked", [PublishRequest(), PublishRequest(report=False)])
def test_the_public_part_is_not_parsed_again(
    study: Path, files: tuple[Path, Path], asked: PublishRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    adding.add(study, files)
    read, readings = PublicPart.of.__func__, []  # type: ignore[attr-defined]

    def counted(*given: Any) -> Any:
        readings.append(given)
        return read(*given)

    monkeypatch.setattr(PublicPart, "of", classmethod(counted))
    assert publishing.publish(study, asked).releases
    assert readings == []  # it is what was just made from the ledger


def test_an_interrupted_run_is_finished_first(study: Path, files: tuple[Path, Path]) -> None:
    adding.add(study, files)
    assert publishing.publish(study, PublishRequest(report=False)).page is None
    assert not status(study).is_current
    told: list[Progress] = []
    made = publishing.publish(study, PublishRequest(), told.append)
    assert (made.finished, made.steps, made.releases) == (True, (), ())
    assert [each.stage for each in told] == [Stage.REPORTING]
    assert status(study).is_current


def test_a_step_again_is_nothing_new(study: Path, files: tuple[Path, Path]) -> None:
    adding.add(study, files)
    publishing.publish(study, PublishRequest(step="2001"))
    before = contents(study)
    made = publishing.publish(study, PublishRequest(step="2001"))
    assert (made.steps, made.finished) == ((), False)
    assert contents(study) == before
    with pytest.raises(ParameterError, match="give only one of"):
        PublishRequest(step="2001", everything=True)


def test_a_refused_step_leaves_the_public_part_as_it_was(tmp_path: Path) -> None:
    study = tmp_path / "strict"
    drafting.create(study, replace(REQUEST, if_broken="refuse"))
    star = "source,target\n" + "".join(f"P0,P{number}\n" for number in range(1, 6))
    adding.add(study, people(tmp_path / "star", edges=star))
    with pytest.raises(BoundError, match="2003 cannot be sealed"):
        publishing.publish(study, PublishRequest(everything=True))
    assert status(study).steps.steps_sealed == 0
    assert not (study / "public" / "report.html").exists()


def test_a_series_too_many(study: Path, files: tuple[Path, Path]) -> None:
    with pytest.raises(StudyError, match="is a draft"):
        series.open_series(study, SeriesRequest("stars", {"k": 2}, epsilon="1/4"))
    adding.add(study, files)
    for dry_run in (True, False):
        with pytest.raises(BudgetError, match=r"0\.5 is left"):
            series.open_series(study, SeriesRequest("components", epsilon="0.6"), dry_run=dry_run)
        with pytest.raises(ParameterError, match="is already open"):
            series.open_series(study, EDGES, dry_run=dry_run)
        with pytest.raises(ParameterError, match=r"the new series: .*lower-case letters"):
            series.open_series(study, replace(EDGES, name="A B"), dry_run=dry_run)
    publishing.publish(study, PublishRequest(everything=True, report=False))
    for dry_run in (True, False):
        with pytest.raises(StudyError, match="every step of the calendar"):
            series.open_series(study, replace(EDGES, name="late"), dry_run=dry_run)


def test_a_failure_comes_with_what_held(study: Path, files: tuple[Path, Path]) -> None:
    adding.add(study, files)
    publishing.publish(study, PublishRequest())
    assert report(study).page.name == "report.html"
    (study / "public" / "card.json").write_text("{}")
    found = verifying.verify(study)
    assert isinstance(found.failure, IntegrityError)
    assert "card.json" in str(found.failure)
    assert found.checks
    assert found.as_data()["verified"] is False


def test_releases_of_one_series(study: Path, files: tuple[Path, Path]) -> None:
    adding.add(study, files)
    publishing.publish(study, PublishRequest(report=False))
    assert [each.series for each in published(study, "nodes").series] == ["nodes"]
    with pytest.raises(ParameterError, match="There are: edges, nodes"):
        published(study, "node")


@pytest.mark.parametrize("dry_run", [False, True])
def test_adding_reads_the_ledger_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    """However long a study lives, nothing of it is read twice by one command."""
    root = opened(tmp_path / "study")
    read: list[str] = []
    plain = Reading.ledger

    def counted(self: Reading) -> Ledger:
        read.append(type(self).__name__)
        return plain(self)

    monkeypatch.setattr(Reading, "ledger", counted)
    later = tmp_path / "later.csv"
    later.write_text("node,time\nzoe,2003\n")
    adding.add(root, [later], how=AddOptions(dry_run=dry_run))
    assert len(read) == 1
