"""Adoption, part by part: what it costs, what it needs, and what is written down about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from graphveil.errors import IntegrityError, ParameterError
from graphveil.graph.promises import DegreeBound
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.planner import plan
from graphveil.statistics.statistic import statistic
from graphveil.study import SeriesPromise, StoredStudy, adoption
from graphveil.study.adoption import (
    Renewal,
    admit,
    enter,
    pool_again,
    renewals,
    require_reason,
)
from graphveil.study.chain import canonical, digest
from graphveil.study.facts import DIGITS, StudyAdopted
from graphveil.study.machine import Machine, Mark, SeenRow
from graphveil.study.reading import StoredSeries
from graphveil.study.sql import Transaction
from graphveil.study.witness import Lineage
from studies import opened


def planned(mechanism: str, horizon: int | None = 6) -> Plan:
    return plan(
        statistic("edges"), DegreeBound(3), epsilon="1/3", horizon=horizon, mechanism=mechanism
    )


@pytest.mark.parametrize(
    ("mechanism", "releases", "times"),
    [
        ("moves", 0, 1),
        ("moves", 1, 2),
        ("moves", 6, 2),
        ("sensdiff", 0, 1),
        ("sensdiff", 3, 1),
        ("bridged", 3, 1),
    ],
)
def test_another_copy_costs_as_much_again_and_twice_where_noise_is_resumed(
    mechanism: str, releases: int, times: int
) -> None:
    """What was drawn before the copies parted is in both: docs/mechanisms.md#adoption."""
    before = planned(mechanism)
    assert Renewal("edges", releases, before, before).again == times * Fraction(1, 3)


def pooled(epsilon: str) -> Renewal:
    made = plan(
        statistic("edges"),
        DegreeBound(3),
        epsilon=epsilon,
        delta=Fraction(1, 10**6),
        pool_share=Fraction(1, 2),
        horizon=6,
    )
    return Renewal("edges", 2, made, made)


def test_another_copy_costs_a_pool_once_more_for_all_its_series_together() -> None:
    own, shared = planned("sensdiff"), pooled("1/4")
    assert shared.again == Fraction()
    alone = Renewal("edges", 2, own, own)
    assert pool_again([alone]) == 0
    assert pool_again([alone, shared, shared]) == Fraction(1, 4)
    assert pool_again([shared, pooled("1/2"), shared]) == Fraction(1, 2)


@pytest.mark.parametrize("length", [1, 2, 1000])
def test_a_reason_is_taken_in_one_line(length: int) -> None:
    assert require_reason(f" \n{'x' * length}\t ") == "x" * length
    assert require_reason("the disk\n  broke") == "the disk broke"


@pytest.mark.parametrize("reason", ["", " \n", "x" * 1001])
def test_without_a_reason_of_some_length_nothing_is_adopted(reason: str) -> None:
    with pytest.raises(ParameterError, match="1 to 1000 characters"):
        require_reason(reason)


@dataclass
class Rows:
    """A ledger of which only the hashes are looked at."""

    hashes: list[str]

    def hash_of(self, number: int) -> str | None:
        return self.hashes[number] if number < len(self.hashes) else None


def admitted(tmp_path: Path, hashes: list[str], *marks: Mark) -> None:
    machine = Machine(tmp_path / "state")
    machine.remember("opening", {f"lineage {n}": mark for n, mark in enumerate(marks)})
    admit(machine, cast(Transaction, Rows(hashes)), cast(Lineage, None))


def mark(told: int, by: str) -> Mark:
    return Mark(SeenRow(99, "a row that was never told"), SeenRow(told, by))


def test_a_copy_that_has_all_that_was_told_is_admitted(tmp_path: Path) -> None:
    admitted(tmp_path, ["opening", "first", "second"])
    admitted(tmp_path, ["opening", "first", "second"], mark(1, "first"), mark(2, "second"))


@pytest.mark.parametrize("lost", [mark(3, "third"), mark(2, "another"), mark(1, "second")])
def test_a_copy_that_lacks_something_told_is_not(tmp_path: Path, lost: Mark) -> None:
    for marks in ([lost], [mark(1, "first"), lost], [lost, mark(1, "first")]):
        with pytest.raises(IntegrityError, match="releases of this study that this copy lacks"):
            admitted(tmp_path, ["opening", "first", "second"], *marks)


@dataclass
class Noted:
    """A transaction that only notes what it is asked to do."""

    facts: list[tuple[Any, dict[str, Any]]] = field(default_factory=list)
    stored: dict[str, StoredSeries] = field(default_factory=dict)
    settled: bool = False

    def append(self, fact: Any, *, private: dict[str, Any]) -> None:
        self.facts.append((fact, private))

    def renew_series(self, name: str, stored: StoredSeries) -> None:
        self.stored[name] = stored

    def settle(self) -> None:
        self.settled = True


def adopted(study: StoredStudy) -> tuple[Noted, tuple[Renewal, ...], StudyAdopted]:
    noted = Noted()
    renewed = enter(cast(Transaction, noted), study.committed(), "the disk broke")
    ((fact, private),) = noted.facts
    assert private == {
        "plans": {name: digest(each.plan) for name, each in noted.stored.items()},
        "states": {name: digest(each.state) for name, each in noted.stored.items()},
    }
    assert noted.settled
    assert set(noted.stored) == {each.series for each in renewed} == {"edges", "degrees"}
    return noted, renewed, fact


SERIES = [
    {"name": "edges", "statistic": "edges", "epsilon": "1/4", "mechanism": "bridged"},
    {"name": "degrees", "statistic": "degree-ccdf", "epsilon": "1/2", "mechanism": "moves"},
]


LATER = SeriesPromise(name="later", statistic="nodes", epsilon="1/8", mechanism="sensdiff")


@pytest.fixture
def study(tmp_path: Path) -> StoredStudy:
    return opened(tmp_path / "study", machine=Machine(tmp_path / "state"), series=SERIES)


def test_before_the_first_step_an_adoption_names_none(study: StoredStudy) -> None:
    noted, renewed, fact = adopted(study)
    assert (fact.step, fact.label, fact.reason) == (0, None, "the disk broke")
    assert [each.again for each in fact.series] == [Fraction(1, 4), Fraction(1, 2)]
    assert [each.releases for each in renewed] == [0, 0]
    assert dict(noted.stored) == dict(study.committed().stored_series)  # no noise was drawn yet


def test_an_adoption_speaks_of_the_study_as_it_is_by_now(
    study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.publish(through=0)
    study.open_series(LATER)
    noted = Noted()
    monkeypatch.setattr(
        adoption, "label_of", lambda promise, step: f"{step}: {promise.series[-1].name}"
    )
    enter(cast(Transaction, noted), study.committed(), "the disk broke")
    ((fact, _),) = noted.facts
    assert fact.label == "0: later"
    assert [each.series for each in fact.series] == ["edges", "degrees", "later"]


def test_an_adoption_tells_what_it_can_cost_a_pool(
    study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adoption, "pool_again", lambda renewed: Fraction(len(renewed), 7))
    assert adopted(study)[2].pool_again == Fraction(2, 7)


def test_an_adoption_tells_what_follows_and_keeps_it(study: StoredStudy) -> None:
    study.publish(through=1)
    before = study.committed()
    noted, renewed, fact = adopted(study)
    assert (fact.step, fact.label) == (2, "2002")
    assert renewed == renewals(before.ledger, before.stored_series)
    for each, told in zip(renewed, fact.series, strict=True):
        assert (each.series, each.releases) == (told.series, 2)
        assert canonical(each.before.to_dict()) == before.stored_series[each.series].plan
        assert canonical(each.after.to_dict()) == noted.stored[each.series].plan
        assert told.predicted_std == tuple(round(std, DIGITS) for std in each.after.outlook(2))
        assert len(told.predicted_std) == 2
        assert sum(noise.steps for noise in told.noise) == 2
    assert [each.again for each in fact.series] == [Fraction(1, 4), 2 * Fraction(1, 2)]
    for name, stored in noted.stored.items():
        old, new = (json.loads(each.state) for each in (before.stored_series[name], stored))
        assert new["noise"] != old["noise"]
        assert new["step"] == old["step"] == 2


def test_prices_are_paid_from_what_is_left_by_now(
    study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = study.committed()
    with pytest.raises(ParameterError, match="there is no series 'later'"):
        renewals(found.ledger, found.stored_series, {"later": Fraction(1, 100)})
    study.open_series(LATER)
    found = study.committed()
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(adoption, "require_payable", lambda *given: asked.append(given))
    renewals(found.ledger, found.stored_series)
    assert asked == [(study.promise(), dict.fromkeys(("edges", "degrees", "later"), 0), {})]
    assert study.promise().series[-1].name == "later"


def test_a_step_that_was_sealed_and_not_told_stands_in_the_way(study: StoredStudy) -> None:
    study.publish(through=0)
    lines = study.folder.public_ledger.read_text().splitlines(keepends=True)
    study.folder.public_ledger.write_text("".join(lines[:-3]))
    with pytest.raises(IntegrityError, match="sealed a step that was never announced"):
        enter(cast(Transaction, Noted()), study.committed(), "the disk broke")
    study.folder.public_ledger.write_text("".join(lines[:-1]))  # a release is told with its step
    assert enter(cast(Transaction, Noted()), study.committed(), "the disk broke")
