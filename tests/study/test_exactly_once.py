"""A step of a series has one value forever, on every kind of store."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from graphveil.errors import BudgetError, StudyError
from graphveil.study import SeriesPromise, StoredStudy, store, stored_study
from graphveil.study.backends import AddOptions
from graphveil.study.ledger import LedgerRow
from graphveil.study.public_part import PublicPart
from graphveil.study.sql import Transaction
from graphveil.study.verification import verify
from studies import freeze_noise, opened, people, promise, released


def test_publishes_step_by_step(root: Path, database: str | None) -> None:
    study = opened(root, database)
    assert study.publish().steps == [0]
    assert study.publish(2).steps == [1, 2]
    assert set(released(study)) == {
        (name, step) for name in ("edges", "degrees") for step in (0, 1, 2)
    }


def test_publishing_again_gives_the_same_bytes(root: Path, database: str | None) -> None:
    study = opened(root, database)
    study.publish(1)
    before = study.folder.public_ledger.read_bytes()
    study.folder.public_ledger.unlink()
    assert study.publish(1).steps == []
    assert study.publish(0).steps == []
    assert study.folder.public_ledger.read_bytes() == before


def test_what_was_sealed_is_announced_before_anything_else(
    root: Path, database: str | None
) -> None:
    study = opened(root, database)
    behind = study.folder.public_ledger.read_bytes()
    study.publish()
    study.folder.public_ledger.write_bytes(behind)
    assert study.publish().steps == []
    assert study.publish().steps == [1]


def test_a_later_series_begins_with_everything(root: Path, database: str | None) -> None:
    study = opened(root, database)
    study.publish(1)
    study.open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="1/2"))
    study.publish(3)
    made = [key for key in released(study) if key[0] == "nodes"]
    assert made == [("nodes", 2), ("nodes", 3)]
    secret = next(
        row.secret
        for row in study.ledger().rows
        if row.fact.get("series") == "nodes" and "raw" in row.fact
    )
    assert secret["differences"] == [6]


def test_overspending_says_what_is_left(root: Path, database: str | None) -> None:
    study = opened(root, database)
    with pytest.raises(BudgetError, match=r"0\.5 is left"):
        study.open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="0.51"))
    assert len(study.promise().series) == 2


def test_a_second_study_is_refused(root: Path, database: str | None) -> None:
    opened(root, database)
    with pytest.raises(StudyError, match="already holds a study"):
        StoredStudy.create(root, promise(), database=database)


def test_adding_everything_again_changes_nothing(root: Path, database: str | None) -> None:
    study = opened(root, database)
    study.publish(1)
    added = study.add(people(), AddOptions(complete=True))
    assert (added.findings.intake.nodes_added, added.findings.intake.edges_added) == (0, 0)
    study.publish(3)
    totals: dict[str, int] = {}
    for row in study.ledger().rows:
        if row.fact.get("series") == "edges" and "raw" in row.fact:
            totals["edges"] = totals.get("edges", 0) + row.secret["differences"][0]
    assert totals == {"edges": 6}


def test_rows_of_one_command_carry_one_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How long counting takes depends on the data, so no row tells when it was over."""
    ticks = count()
    monkeypatch.setattr(store, "now", lambda: f"tick {next(ticks)}")
    monkeypatch.setattr(stored_study, "now", store.now)
    made = StoredStudy.create(root, promise())
    made.publish(2)
    assert {row.at for row in made.ledger().rows} == {"tick 0"}
    made.publish(3)
    assert {row.at for row in made.ledger().rows} == {"tick 0", "tick 1"}


def test_lines_are_those_of_the_rows_and_an_announced_part_is_what_anybody_reads(
    root: Path,
) -> None:
    study = opened(root, title='A \\ title \u00a0 with "quotes", ä and /')
    announced = study.publish(2)
    ledger = study.ledger()
    assert ledger.public_text == "".join(row.line() for row in ledger.public_rows)
    assert [line.hash for line in ledger.public_lines] == [row.hash for row in ledger.public_rows]
    assert study.folder.public_ledger.read_text(encoding="utf-8") == ledger.public_text
    assert announced.public_part == PublicPart.read(study.folder.public)


def test_steps_are_the_same_however_many_are_sealed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    freeze_noise(monkeypatch)
    facts = []
    for together in (1, 2, 3, 64):
        monkeypatch.setattr("graphveil.study.stored_study.TOGETHER", together)
        study = opened(tmp_path / str(together))
        told: list[int] = []
        assert study.publish(3, sealed=told.append).steps == [0, 1, 2, 3] == told
        list(verify(study))
        facts.append([(row.event, row.fact) for row in study.ledger().public_rows])
    assert all(each == facts[0] for each in facts)


@pytest.mark.parametrize("fails_at", range(8))
def test_a_backfill_that_fails_anywhere_leaves_whole_steps(
    root: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Two steps together, of two series: a transaction enters four releases."""
    study, entered, plain = opened(root), count(), Transaction.enter_release
    monkeypatch.setattr(stored_study, "TOGETHER", 2)

    def failing(self: Transaction, name: str, step: int, row: LedgerRow) -> None:
        if next(entered) == fails_at:
            raise KeyboardInterrupt
        plain(self, name, step, row)

    with monkeypatch.context() as broken:
        broken.setattr(Transaction, "enter_release", failing)
        with pytest.raises(KeyboardInterrupt):
            study.publish(3)
    before = released(study)
    assert len(study.ledger().sealed) == fails_at // 4 * 2
    study.publish(3)
    assert released(study).items() >= before.items()
    list(verify(study))
