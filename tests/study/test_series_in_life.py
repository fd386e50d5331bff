"""Series over the years: their shares, their noise, their beginning and their end."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BudgetError, ParameterError, StudyError
from graphveil.records import from_rows
from graphveil.report.wording import counted_things
from graphveil.study import SeriesPromise, StoredStudy
from graphveil.study import committed as clock
from graphveil.study.public_part import PublicPart
from plain_rules import DEGREES, EDGES, numbered, totals
from studies import freeze_noise, people, promise, released


def opened(root: Path, **changed: Any) -> StoredStudy:
    study = StoredStudy.create(root, numbered(**changed))
    study.add(from_rows([("a", 0), ("b", 1), ("c", 2)], [("a", "b"), ("a", "c"), ("b", "c")]))
    return study


def test_a_later_series_counts_everything_from_its_first_step_on(root: Path) -> None:
    study = opened(root)
    study.publish(1)
    later = study.open_series(SeriesPromise.model_validate(DEGREES | {"epsilon": "1/2"}))
    assert later.opened == "2"
    assert [each.first_step for each in study.ledger().series] == [0, 2]
    assert f'opened = "{later.opened}"' in study.folder.study_file.read_text()
    study.publish(3)
    three = [3, 3, 3, *[0] * 10]
    assert totals(study, "degrees") == [three, three]


def test_two_series_opened_later_are_both_versions_of_the_study_file(root: Path) -> None:
    study = opened(root)
    for name in ("one", "two"):
        study.publish()
        study.open_series(SeriesPromise.model_validate(EDGES | {"name": name}))
    assert [len(version.series) for version in study.ledger().versions] == [1, 2, 3]
    assert study.promise().budget_left() == (Fraction(1, 4), Fraction())
    with pytest.raises(ParameterError, match="'one' is already open"):
        study.open_series(SeriesPromise.model_validate(EDGES | {"name": "one"}))


def test_the_budget_is_split_in_exact_fractions(root: Path) -> None:
    thirds = [EDGES | {"name": f"s{n}", "epsilon": "1/3"} for n in range(2)]
    study = StoredStudy.create(root, numbered(series=thirds))
    study.publish()
    study.open_series(SeriesPromise.model_validate(EDGES | {"name": "s2", "epsilon": "1/3"}))
    assert study.promise().budget_left() == (Fraction(), Fraction())
    before = study.folder.public_ledger.read_bytes()
    tiny = SeriesPromise.model_validate(EDGES | {"name": "s3", "epsilon": "1e-9"})
    with pytest.raises(BudgetError, match=r"asks for 0\.000000001, and 0 is left"):
        study.open_series(tiny)
    assert study.folder.public_ledger.read_bytes() == before


def test_a_draft_that_overspends_is_refused(root: Path) -> None:
    greedy = [EDGES | {"epsilon": "1/2"}, DEGREES | {"epsilon": "3/4"}]
    with pytest.raises(BudgetError, match=r"asks for 0\.75, and 0\.5 is left"):
        StoredStudy.create(root, numbered(series=greedy))
    assert not root.exists()


def test_gaussian_noise_is_charged_to_delta(root: Path) -> None:
    budget = {"epsilon": "1", "delta": "1e-6", "justification": "an example"}
    noisy = EDGES | {"mechanism": "gaussian", "delta": "1e-6"}
    study = opened(root, budget=budget, series=[noisy])
    study.publish(2)
    (fact,) = [row.fact for row in study.ledger().public_rows if row.event == "series opened"]
    assert (fact["delta"], fact["noise"][0]["law"]) == ("0.000001", "discrete Gaussian")
    with pytest.raises(BudgetError, match=r"δ = 0\.000001.*0 is left"):
        study.open_series(SeriesPromise.model_validate(noisy | {"name": "more"}))


def test_a_projecting_series_counts_the_projected_graph(root: Path) -> None:
    projected = EDGES | {"mechanism": "sensseq-projection", "projection": 1}
    study = opened(root, series=[projected])
    study.publish(3)
    assert totals(study, "edges") == [[0], [1], [1], [1]]


def test_a_vector_is_published_whole(root: Path) -> None:
    study = opened(root, series=[DEGREES])
    study.publish(2)
    facts = [row.fact for row in study.ledger().public_rows if row.event == "release made"]
    assert {len(fact[key]) for fact in facts for key in ("raw", "processed", "low", "high")} == {13}


def test_an_open_calendar_goes_on_beyond_the_first_epoch(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze_noise(monkeypatch)
    calendar = {"every": 1, "unit": "number", "first": 0}
    unknown = EDGES | {"mechanism": "epochs"}
    study = opened(root, calendar=calendar, series=[unknown])
    study.publish(19)
    (stored,) = committed(study).values()
    assert '"epoch":0' not in stored.state
    assert sorted(step for _, step in released(study)) == list(range(20))
    assert totals(study, "edges")[-1] == [3]


def committed(study: StoredStudy) -> dict[str, Any]:
    with study.store.reading() as reading:
        return dict(reading.series())


def test_a_parameter_left_out_is_public_with_its_default(root: Path) -> None:
    series = [{"name": "groups", "statistic": "clusters", "epsilon": "1/2"}]
    study = opened(root, series=series)
    study.publish(0)
    (told,) = PublicPart.read(study.folder.public).series
    assert told.parameters == {"k": 2}
    assert counted_things(told) == "clusters: groups of at least 2 linked people"


def test_the_calendar_ends(root: Path) -> None:
    study = opened(root)
    study.publish(3)
    with pytest.raises(StudyError, match="every step of the calendar up to 3 is sealed"):
        study.publish()
    with pytest.raises(StudyError, match="every step of the calendar"):
        study.open_series(SeriesPromise.model_validate(DEGREES))
    assert study.publish(3).steps == []


def test_a_horizon_ends_an_open_study(root: Path) -> None:
    calendar = {"every": 1, "unit": "number", "first": 0}
    study = opened(root, calendar=calendar, series=[EDGES | {"horizon": 2}])
    with pytest.raises(StudyError, match="series 'edges' was planned for 2 releases"):
        study.publish(2)
    assert study.ledger().sealed == ()
    study.publish(1)
    with pytest.raises(StudyError, match="planned for 2 releases"):
        study.publish()


def test_a_horizon_shorter_than_the_calendar_is_refused(root: Path) -> None:
    with pytest.raises(ParameterError, match=r"horizon: series 'edges'.* 4 steps"):
        StoredStudy.create(root, numbered(series=[EDGES | {"horizon": 2}]))
    assert not root.exists()


def test_a_mechanism_that_does_not_fit_is_refused_before_a_study_is_made(root: Path) -> None:
    with pytest.raises(ParameterError, match="needs a δ"):
        StoredStudy.create(root, numbered(series=[EDGES | {"mechanism": "gaussian"}]))
    assert not root.exists()


class Clock(datetime):
    """A clock that stands in the middle of 2003."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Clock:
        return cls(2003, 6, 1, tzinfo=tz or UTC)


def test_a_step_that_has_not_ended_is_refused_unless_it_is_wanted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = StoredStudy.create(root, promise(series=[EDGES]))
    study.add(people())
    monkeypatch.setattr(clock, "datetime", Clock)
    assert clock.steps_ended(study.promise()) == 2
    with pytest.raises(StudyError, match="2003 has not ended yet"):
        study.publish(2)
    assert study.ledger().sealed == ()
    assert study.publish(1).steps == [0, 1]
    with pytest.raises(StudyError, match="2003 has not ended yet"):
        study.publish()
    assert study.publish(early=True).steps == [2]


def test_a_draft_cannot_claim_that_a_series_was_opened_later(root: Path) -> None:
    with pytest.raises(StudyError, match="'edges': 'opened'"):
        StoredStudy.create(root, numbered(series=[EDGES | {"opened": "2"}]))
