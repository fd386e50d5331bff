"""Publishing, part by part: what a sealed step leaves, and from which state it goes on."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from graphveil.calendar.calendar import Calendar
from graphveil.errors import BoundError, IntegrityError
from graphveil.graph.promises import DegreeBound
from graphveil.mechanisms.planning.change import Change
from graphveil.mechanisms.planning.intervals import half_widths
from graphveil.series.counting import SeriesTerms
from graphveil.series.planner import plan
from graphveil.series.postprocessing import Processing
from graphveil.statistics.statistic import statistic
from graphveil.study import SeriesPromise, StoredStudy
from graphveil.study.chain import canonical, digest
from graphveil.study.facts import DIGITS
from graphveil.study.ledger import LedgerRow
from graphveil.study.machine import Machine
from graphveil.study.publishing import (
    Ongoing,
    Prepared,
    _asked,
    predicted,
    prepare,
    require_bound,
    require_bound_so_far,
    seal,
    terms_of,
)
from graphveil.study.sql import Transaction
from plain_rules import DEGREES, EDGES
from studies import opened

LATER = EDGES | {"name": "later", "statistic": "nodes", "mechanism": "bridged"}


@pytest.fixture
def study(tmp_path: Path) -> StoredStudy:
    """Two series from the first year on, one from the second; two years are still to come."""
    machine = Machine(tmp_path / "state")
    study = opened(tmp_path / "study", machine=machine, series=[EDGES, DEGREES])
    study.publish()
    study.open_series(SeriesPromise.model_validate(LATER))
    study.publish()
    return study


def prepared(study: StoredStudy, through: int = 3) -> Prepared:
    found = study.committed()
    return prepare(study.stored(found.ledger), found.stored_series, through, study.backend)


def rows_since(study: StoredStudy, number: int) -> list[LedgerRow]:
    return list(study.ledger().rows[number:])


def test_steps_that_are_sealed_together_keep_the_last_state_only(study: StoredStudy) -> None:
    before = len(study.ledger().rows)
    assert study.publish(through=3).steps == [2, 3]
    rows, kept = rows_since(study, before), study.committed().stored_series
    assert [row.event for row in rows] == ["step sealed", *["release made"] * 3] * 2
    first, last = rows[:4], rows[4:]
    parts = ({part: row[0].secret[part] for part in ("nodes", "edges")} for row in (first, last))
    assert next(parts) == next(parts)  # one segment holds both
    assert all(set(row[0].secret) == {"nodes", "edges"} for row in (first, last))
    assert json.loads(study.ledger().beside["local"])["row"] == last[0].hash
    assert {Path(first[0].secret[part]["name"]).name[:4] for part in ("nodes", "edges")} == {"0002"}
    for row in (*first[1:], *last[1:]):
        assert set(row.secret) - {"state"} == {"differences", "noise"}
    assert not any("state" in row.secret for row in first)
    for row in last[1:]:
        stored = kept[row.fact["series"]].state
        assert row.secret["state"] == digest(stored)
        assert json.loads(stored)["step"] == (3 if row.fact["series"] == "later" else 4)
    for row, step in ((first[0], 2), (last[0], 3)):
        assert (row.fact["step"], row.fact["label"]) == (step, f"{2001 + step}")


def test_a_release_is_the_truth_and_its_noise_and_its_interval_lies_around_it(
    study: StoredStudy,
) -> None:
    study.publish(through=3)
    truth = {"edges": [1, 3, 5, 6], "later": [4, 6, 8]}  # as `people` has them
    rows = [row for row in study.ledger().rows if row.event == "release made"]
    for name, counts in truth.items():
        own = [row for row in rows if row.fact["series"] == name]
        plan = terms_of(study.ledger(), study.committed().stored_series)[name].plan
        widths = half_widths(plan, range(len(own)), "0.95")
        total = 0
        for row, width, std in zip(own, widths, plan.predicted, strict=True):
            (raw,), (change,) = row.fact["raw"], row.secret["differences"]
            total += change
            assert (row.fact["low"], row.fact["high"]) == ([raw - width], [raw + width])
            assert row.fact["std"] == round(std, DIGITS)
            assert row.fact["level"] == "0.95"
            assert row.fact["processed"][0] >= 0
        assert total == counts[-1]


def test_widths_are_foreseen_for_each_series_from_its_own_beginning(study: StoredStudy) -> None:
    ready = prepared(study)
    ahead = predicted(ready, range(2, 4))
    for name, first in (("edges", 0), ("later", 1)):
        own = half_widths(ready.series[name].terms.plan, range(2 - first, 4 - first), "0.95")
        assert ahead.widths[name] == own
    assert ahead.steps == range(2, 4)


@pytest.mark.parametrize(
    ("calendar", "spans"),
    [
        (Calendar.yearly(2001), (1, 5)),
        (Calendar.monthly("2001-01"), (1, 12)),
        (Calendar.cuts([2001, 2004, 2005]), (1,)),
    ],
)
def test_readers_ask_what_is_new_in_a_step_and_in_a_usual_time(
    calendar: Calendar, spans: tuple[int, ...]
) -> None:
    asked = {Change(over, against) for over in spans for against in (False, True)}
    assert set(_asked(calendar)) == asked
    assert len(_asked(calendar)) == len(asked)


def test_of_a_recent_network_only_the_newest_step_is_compared() -> None:
    """Its values are no totals: what is new over two steps is not the sum of two news."""
    asked = [Change(1), Change(1, against=True), Change(5)]
    edges, bound = statistic("edges"), DegreeBound(4)
    for chosen, told in ((edges, asked), (edges.recent(2), asked[:1])):
        made = plan(chosen, bound, epsilon=1, horizon=12)
        terms = SeriesTerms(chosen, bound, made)
        ongoing = Ongoing(terms, *cast(Any, (None, None, None)))
        (found,) = ongoing.changes(range(11, 12), "0.95", asked)
        assert [Change(each.over, each.against) for each in found] == told


def test_what_is_prepared_is_what_was_committed(study: StoredStudy) -> None:
    ready, ledger = prepared(study), study.ledger()
    assert ready.last_hash == ledger.rows[-1].hash
    assert [each.name for each in ready.promise.series] == ["edges", "degrees", "later"]
    assert ready.breaks_at is None
    assert ready.counted is not None
    assert ready.counted.steps == 4
    assert list(ready.series) == ["edges", "degrees", "later"]
    assert [each.terms.first_step for each in ready.series.values()] == [0, 0, 1]
    assert {each.terms.bound for each in ready.series.values()} == {
        ledger.versions[-1].degree_bound
    }


@pytest.mark.parametrize("step", [1, 3])
def test_a_state_of_another_step_is_refused(study: StoredStudy, step: int) -> None:
    for name, each in prepared(study).series.items():
        each.require_fitting(name, 2)
        with pytest.raises(IntegrityError, match=f"'{name}': the state in the ledger database"):
            each.require_fitting(name, step)


def test_nothing_is_prepared_from_a_state_that_was_restored(study: StoredStudy) -> None:
    before = study.committed().stored_series
    study.publish(through=2)
    with pytest.raises(IntegrityError, match="the state in the ledger database does not belong"):
        prepare(study.stored(study.ledger()), before, 3, study.backend)


def test_recent_values_are_counted_from_the_one_that_was_published_last(tmp_path: Path) -> None:
    """Those before are 0 by now: what is kept of the last one must be found again, and is."""
    recent = {"name": "r", "statistic": "edges", "parameters": {"window": 2}, "epsilon": "1/4"}
    study = opened(tmp_path / "study", series=[recent])
    values = [1, 3, 2, 1]  # links among those of the last two years
    for made in range(3):
        (each,) = prepared(study).series.values()
        assert isinstance(each.counted, np.ndarray)
        assert each.counted.cumsum(axis=0)[made:, 0].tolist() == values[made:]
        each.require_fitting("r", made)
        study.publish(through=made)


def test_a_state_of_another_past_is_refused(study: StoredStudy) -> None:
    """The sealed graph has one more link than what was counted when it was sealed."""
    for name, each in prepared(study).series.items():
        assert isinstance(each.counted, np.ndarray)
        changed = each.counted.copy()
        changed[1] += 1
        with pytest.raises(IntegrityError, match="does not belong to the sealed steps"):
            replace(each, counted=changed).require_fitting(name, 2)


def test_a_broken_promise_stops_before_anything_is_counted(tmp_path: Path) -> None:
    tight = {"degree": 2, "justification": "P1 has three links from 2004 on"}
    study = opened(tmp_path / "study", bound=tight, series=[EDGES])
    assert prepared(study, 2).breaks_at is None
    late = prepared(study, 3)
    assert (late.breaks_at, dict(late.series)) == (3, {})
    study.publish(through=1)
    assert prepared(study, 3).breaks_at == 3


@pytest.mark.parametrize(
    ("begun", "told"), [(False, "Nothing was published or spent."), (True, "Nothing more was")]
)
def test_the_operator_is_told_of_a_broken_promise(
    study: StoredStudy, begun: bool, told: str
) -> None:
    ready = prepared(study)
    require_bound(ready, begun=begun)
    with pytest.raises(BoundError, match=r"2004 cannot be sealed.*degree at most 4") as refused:
        require_bound(replace(ready, breaks_at=3), begun=begun)
    assert told in str(refused.value)
    assert ready.promise.calendar.label(3) == "2004"


def test_one_series_that_counts_on_the_promise_is_enough_to_stop(tmp_path: Path) -> None:
    tight = {"degree": 2, "justification": "P1 has three links from 2004 on"}
    projected = EDGES | {"name": "p", "mechanism": "compose-projection", "projection": 2}
    study = opened(tmp_path / "study", bound=tight, series=[projected, EDGES])
    assert prepared(study, 3).breaks_at == 3
    assert prepared(study, 2).breaks_at is None


def test_a_promise_that_does_not_refuse_stops_nothing(tmp_path: Path) -> None:
    going_on = {"degree": 2, "hubs": 1, "if_broken": "continue", "justification": "an example"}
    study = opened(tmp_path / "study", bound=going_on, series=[EDGES])
    ready = prepared(study, 3)
    assert (ready.breaks_at, list(ready.series)) == (None, ["edges"])


def test_no_series_begins_that_counts_on_a_promise_which_is_broken(tmp_path: Path) -> None:
    """Those that project do not count on it, so they were published all the same."""
    tight = {"degree": 2, "justification": "P1 has three links from 2004 on"}
    projected = EDGES | {"mechanism": "compose-projection", "projection": 2}
    study = opened(tmp_path / "study", bound=tight, series=[projected])
    study.publish(through=2)
    require_bound_so_far(study.stored(study.ledger()), study.backend)
    study.publish()
    with pytest.raises(BoundError, match="breaks its promised bound"):
        require_bound_so_far(study.stored(study.ledger()), study.backend)
    assert prepared(study, 3).breaks_at is None


def test_a_promise_that_does_not_refuse_keeps_no_series_from_being_opened(tmp_path: Path) -> None:
    going_on = {"degree": 1, "hubs": 1, "if_broken": "continue", "justification": "an example"}
    projected = EDGES | {"mechanism": "compose-projection", "projection": 1}
    study = opened(tmp_path / "study", bound=going_on, series=[projected])
    study.publish(through=3)
    require_bound_so_far(study.stored(study.ledger()), study.backend)


@dataclass
class Noted:
    """A transaction that only notes what it is asked to do."""

    rows: list[Any] = field(default_factory=list)
    entered: list[tuple[str, int, str]] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)
    beside: dict[str, str] = field(default_factory=dict)

    def append(self, fact: Any, *, private: dict[str, Any]) -> Any:
        self.rows.append(SimpleNamespace(hash=f"row {len(self.rows)}", fact=fact, private=private))
        return self.rows[-1]

    def enter_release(self, series: str, step: int, row: Any) -> None:
        self.entered.append((series, step, row.hash))

    def keep_beside(self, engine: str, entry: str) -> None:
        self.beside[engine] = entry

    def keep_state(self, series: str, state: str) -> None:
        assert series not in self.kept
        self.kept[series] = state


def test_what_was_sealed_is_where_the_next_steps_go_on_from(study: StoredStudy) -> None:
    ready, noted = prepared(study), Noted()
    ahead = predicted(ready, range(2, 4))
    made = seal(cast(Transaction, noted), ready, ahead)
    assert list(made.rows) == noted.rows
    assert made.prepared.last_hash == noted.rows[-1].hash == "row 7"
    names = ["edges", "degrees", "later"]
    places = [(name, 2, f"row {n}") for n, name in enumerate(names, 1)]
    assert noted.entered == [*places, *((name, 3, f"row {n}") for n, name in enumerate(names, 5))]
    assert list(noted.kept) == names
    for name, each in made.prepared.series.items():
        assert noted.kept[name] == canonical(each.state.to_dict())
        assert each.state.step == ready.series[name].state.step + 2
        each.require_fitting(name, 4)
        row = noted.rows[5 + names.index(name)]
        first = noted.rows[1 + names.index(name)]
        begun = ready.series[name].processing
        assert isinstance(begun, Processing)
        values, processing = begun.take(first.fact.raw)
        assert first.fact.processed == pytest.approx(values)
        assert each.processing == processing.take(row.fact.raw)[1]
        assert (row.fact.step, row.fact.label) == (3, "2004")
        assert first.fact.changes == ahead.changes[name][0]
        assert row.fact.changes == ahead.changes[name][1]
        assert row.fact.changes


def test_the_price_is_what_was_promised(study: StoredStudy) -> None:
    """Opening a series later, and sealing several steps at once, charges nothing twice."""
    study.publish(through=3)
    assert study.promise().budget_left() == (Fraction(1, 4), Fraction())
