"""The promised bound: who breaks it stops the step, and nobody outside learns of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import BoundError
from graphveil.noise.laws import Law
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.study import SeriesPromise, StoredStudy
from plain_rules import DEGREES, EDGES, numbered, sealed_steps, totals

BOUND = {"degree": 2, "justification": "an example"}
PROJECTED = EDGES | {"mechanism": "compose-projection", "projection": 2}


def crowded(root: Path, **changed: Any) -> StoredStudy:
    """At step 2 somebody gets a third link."""
    study = StoredStudy.create(
        root, numbered(**({"bound": BOUND, "series": [EDGES, DEGREES]} | changed))
    )
    study.add(from_rows([("a", 0), ("b", 0), ("c", 1)], [("a", "b"), ("a", "c")]))
    warned = study.add(from_rows([("d", 2)], [("a", "d")]))
    assert not warned.findings.keeps_bound
    assert "WARNING" in warned.findings.lines()[-1]
    return study


def public_bytes(study: StoredStudy) -> dict[str, bytes]:
    files = (path for path in study.folder.public.rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


def no_noise(self: ReleaseNoise, law: Law, count: int) -> list[int]:
    raise AssertionError("noise was drawn for a step that is refused")


def test_a_broken_bound_refuses_the_step_and_changes_nothing_public(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = crowded(root)
    study.publish(1)
    before, rows = public_bytes(study), study.ledger().rows
    monkeypatch.setattr(ReleaseNoise, "draw", no_noise)
    for _ in range(2):
        with pytest.raises(BoundError, match=r"2 cannot be sealed.*degree at most 2"):
            study.publish()
    assert public_bytes(study) == before
    new = study.ledger().rows[len(rows) :]
    assert [(row.event, row.public) for row in new] == [("refusal", None)] * 2
    assert len(study.ledger().sealed) == 2


def test_a_backfill_is_refused_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = crowded(root)
    before, told = public_bytes(study), list[int]()
    monkeypatch.setattr(ReleaseNoise, "draw", no_noise)
    monkeypatch.setattr("graphveil.study.stored_study.TOGETHER", 1)
    with pytest.raises(BoundError, match=r"2 cannot be sealed.*Nothing was published or spent"):
        study.publish(3, sealed=told.append)
    assert told == []
    assert public_bytes(study) == before
    assert list(study.folder.segments.iterdir()) == []
    assert study.ledger().sealed == ()
    assert study.ledger().rows[-1].secret == {"step": 2, "reason": "degree bound"}


def test_a_series_that_projects_is_sealed_or_refused_with_the_others(root: Path) -> None:
    both = [EDGES | {"epsilon": "1/8"}, PROJECTED | {"name": "projected", "epsilon": "1/8"}]
    study = crowded(root, series=both)
    with pytest.raises(BoundError):
        study.publish(3)
    assert study.ledger().sealed == ()
    assert study.publish(1).steps == [0, 1]


def test_records_that_come_while_steps_are_sealed_stop_only_those_that_are_left(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = StoredStudy.create(root, numbered(bound=BOUND, series=[EDGES]))
    study.add(from_rows([("a", 0), ("b", 0), ("c", 1)], [("a", "b"), ("a", "c")]))
    monkeypatch.setattr("graphveil.study.stored_study.TOGETHER", 2)

    def meanwhile(step: int) -> None:
        if step == 1:
            StoredStudy.at(root).add(from_rows([("d", 2)], [("a", "d")]))

    with pytest.raises(BoundError, match=r"2 cannot be sealed.*Nothing more was sealed"):
        study.publish(3, sealed=meanwhile)
    assert len(study.ledger().sealed) == 2
    assert not study.committed().is_behind


def test_a_bound_broken_at_the_first_step_is_told_as_well(root: Path) -> None:
    study = StoredStudy.create(root, numbered(bound=BOUND, series=[EDGES, DEGREES]))
    star = [("a", end) for end in "bcd"]
    study.add(from_rows([(person, 0) for person in "abcd"], star))
    with pytest.raises(BoundError, match="0 cannot be sealed"):
        study.publish(3)
    assert study.ledger().rows[-1].event == "refusal"
    assert study.ledger().sealed == ()


def test_publishing_goes_on_once_the_records_are_corrected(root: Path) -> None:
    study = crowded(root)
    with pytest.raises(BoundError):
        study.publish(3)
    study.withdraw(2)
    study.add(from_rows([("d", 2)], [("c", "d")]))
    assert study.publish(3).steps == [0, 1, 2, 3]
    assert totals(study, "edges")[-1] == [3]


def test_the_bound_of_a_directed_study_is_checked_both_ways(root: Path) -> None:
    bound = {"inward": 1, "outward": 2, "justification": "an example"}
    study = StoredStudy.create(root, numbered(directed=True, bound=bound))
    study.add(from_rows([(person, 0) for person in "abc"], [("a", "b"), ("a", "c")]))
    assert study.publish().steps == [0]
    study.add(from_rows([], [("b", "c")]))
    with pytest.raises(BoundError, match="in-degree at most 1, out-degree at most 2"):
        study.publish()


def test_series_that_project_need_no_bound(root: Path) -> None:
    study = StoredStudy.create(root, numbered(bound=BOUND, series=[PROJECTED]))
    study.add(from_rows([(person, 0) for person in "abcd"], [("a", end) for end in "bcd"]))
    assert study.publish(1).steps == [0, 1]
    assert totals(study, "edges") == [[2], [2]]
    assert len(sealed_steps(study)[0][1]) == 3


def test_a_series_that_counts_on_a_broken_bound_is_not_opened(root: Path) -> None:
    study = StoredStudy.create(root, numbered(bound=BOUND, series=[PROJECTED]))
    study.add(from_rows([(person, 0) for person in "abcd"], [("a", end) for end in "bcd"]))
    study.publish()
    before = public_bytes(study)
    with pytest.raises(BoundError, match="breaks its promised bound"):
        study.open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="1/4"))
    assert public_bytes(study) == before
    assert study.publish(3).steps == [1, 2, 3]


def test_a_series_that_counts_on_a_bound_is_opened_where_it_was_kept(root: Path) -> None:
    study = StoredStudy.create(root, numbered(bound=BOUND, series=[PROJECTED]))
    study.add(from_rows([(person, 0) for person in "abc"], [("a", end) for end in "bc"]))
    study.publish()
    study.open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="1/4"))
    assert [each.name for each in study.promise().series] == ["edges", "nodes"]
