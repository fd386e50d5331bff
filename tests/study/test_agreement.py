"""Damaged plans, states and lists of releases: every writer refuses before it does anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from graphveil.errors import IntegrityError
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.study import SeriesPromise, StoredStudy, agreement, publishing
from graphveil.study.chain import canonical
from graphveil.study.extension import Further
from graphveil.study.ledger import Ledger
from graphveil.study.reading import Reading
from graphveil.study.verification import verify
from studies import opened, people, promise, released

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4", "mechanism": "bridged"}
NODES = {"name": "nodes", "statistic": "nodes", "epsilon": "1/4", "mechanism": "sensdiff"}
NEWCOMER = from_rows([("late", 2004)])


@pytest.fixture
def study(root: Path, database: str | None) -> StoredStudy:
    """A study with noise for steps to come, and a series that has no release yet."""
    found = opened(root, database, series=[EDGES, NODES])
    found.publish(1)
    found.open_series(SeriesPromise(name="late", statistic="triangles", epsilon="1/8"))
    return found


def state_of(study: StoredStudy, name: str) -> dict[str, Any]:
    with study.store.reading() as reading:
        found: dict[str, Any] = json.loads(reading.series()[name].state)
    return found


def execute(study: StoredStudy, statement: str, **values: Any) -> None:
    with study.store.engine.begin() as connection:
        connection.execute(sa.text(statement), values)


def put_state(study: StoredStudy, name: str, **changed: Any) -> None:
    text = canonical(state_of(study, name) | changed)
    execute(study, "UPDATE series SET state = :text WHERE name = :name", text=text, name=name)


def flat_noise(study: StoredStudy, used: int) -> None:
    """Noise of zeros from some step on; of ones, if chance has drawn zeros."""
    noise = state_of(study, "edges")["noise"]
    flat = [[[*each[:used], *[height] * (len(each) - used)] for each in noise] for height in (0, 1)]
    put_state(study, "edges", noise=flat[flat[0] == noise])


def no_noise(study: StoredStudy) -> None:
    flat_noise(study, 0)


def no_later_noise(study: StoredStudy) -> None:
    """What was used stays, so that only the future is without noise."""
    flat_noise(study, 2)


def nothing_carried(study: StoredStudy) -> None:
    chance = state_of(study, "nodes")["carried"] == ["0"]  # noise may come to nothing by itself
    put_state(study, "nodes", carried=["1" if chance else "0"])


def another_total(study: StoredStudy) -> None:
    put_state(study, "edges", totals=[7])


def a_first_state_with_noise(study: StoredStudy) -> None:
    put_state(study, "late", epoch=0, noise=[[0, 0]])


def exchanged_states(study: StoredStudy) -> None:
    """Both are sound by themselves."""
    one, other = state_of(study, "edges"), state_of(study, "nodes")
    put_state(study, "edges", **other)
    put_state(study, "nodes", **one)


def an_older_state(study: StoredStudy) -> None:
    put_state(study, "edges", step=1, totals=[1])


def half_the_noise(study: StoredStudy) -> None:
    """The plan is read well, and says a smaller law."""
    with study.store.reading() as reading:
        plan = json.loads(reading.series()["edges"].plan)
    plan["request"]["epsilon"] = "1/2"
    text = canonical(plan)
    execute(study, "UPDATE series SET plan = :text WHERE name = 'edges'", text=text)


def a_series_more(study: StoredStudy) -> None:
    execute(study, "INSERT INTO series SELECT 'more', plan, state FROM series WHERE name = 'late'")


def a_series_less(study: StoredStudy) -> None:
    execute(study, "DELETE FROM series WHERE name = 'late'")


def a_release_less(study: StoredStudy) -> None:
    execute(study, "DELETE FROM releases WHERE series = 'edges' AND step = 0")


def a_release_more(study: StoredStudy) -> None:
    execute(study, "INSERT INTO releases (series, step, \"row\") VALUES ('edges', 2, 5)")


def a_release_of_another_step(study: StoredStudy) -> None:
    execute(study, "UPDATE releases SET step = 9 WHERE series = 'edges' AND step = 1")


def a_release_in_another_row(study: StoredStudy) -> None:
    execute(study, "UPDATE releases SET \"row\" = 0 WHERE series = 'edges' AND step = 1")


DAMAGE = [
    no_noise, no_later_noise, nothing_carried, another_total, a_first_state_with_noise,
    exchanged_states, an_older_state, half_the_noise, a_series_more, a_series_less,
    a_release_less, a_release_more, a_release_of_another_step, a_release_in_another_row,
]  # fmt: skip
WRITERS: dict[str, Callable[[StoredStudy], object]] = {
    "publish": StoredStudy.publish,
    "add": lambda study: study.add(NEWCOMER),
    "withdraw": lambda study: study.withdraw(study.ledger().batches[-1].number),
    "series": lambda study: study.open_series(
        SeriesPromise(name="more", statistic="nodes", epsilon="1/16")
    ),
    "extend": lambda study: study.extend(Further(steps=2)),
    "adopt": lambda study: study.adopt("to try it"),
    "hand-over": lambda study: study.hand_over("0123456789abcdef"),
}


def content(study: StoredStudy) -> list[Any]:
    """All that a command could change, of the database and of the folder."""
    with study.store.engine.connect() as connection:
        tables = [
            connection.execute(sa.text(f"SELECT * FROM {name}")).all()
            for name in ("about", "ledger", "series", "releases")
        ]
    files = {
        path: path.read_bytes()
        for path in study.folder.root.rglob("*")
        if path.is_file() and "ledger.sqlite" not in path.name
    }
    return [[sorted(map(str, rows)) for rows in tables], files]


@pytest.mark.parametrize("damage", DAMAGE)
def test_every_writer_refuses_what_the_ledger_does_not_commit_to(
    study: StoredStudy, damage: Callable[[StoredStudy], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And before it counts or draws: neither is reached."""
    damage(study)
    before = content(study)
    for step in ("seal", "require_bound_so_far"):
        monkeypatch.setattr(publishing, step, _reached)
    for draw in ("draw", "draw_rest"):
        monkeypatch.setattr(ReleaseNoise, draw, _reached)
    for name, write in WRITERS.items():
        with pytest.raises(IntegrityError, match="Restore the newest backup") as refused:
            write(study)
        assert len(str(refused.value)) < 300, name
        assert content(study) == before, name
    with pytest.raises(IntegrityError):
        list(verify(study))


def _reached(*_: object, **__: object) -> None:
    raise AssertionError("something was counted, drawn or sealed")


@pytest.mark.parametrize("damage", DAMAGE[:8])
def test_a_state_is_compared_before_it_is_counted_with(
    study: StoredStudy, damage: Callable[[StoredStudy], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(study)
    monkeypatch.setattr(publishing, "prepare", _reached)
    with pytest.raises(IntegrityError, match="is not the one that this row commits to"):
        study.publish()


@pytest.mark.parametrize("damage", [no_noise, exchanged_states, a_release_less])
def test_damage_between_counting_and_sealing_is_noticed(
    study: StoredStudy, damage: Callable[[StoredStudy], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look inside the transaction, since what was read before it may be of a sound moment."""
    plain = publishing.predicted

    def foreseen(*given: Any) -> Any:
        damage(study)
        return plain(*given)

    monkeypatch.setattr(publishing, "predicted", foreseen)
    before = released(study)
    with pytest.raises(IntegrityError, match="Restore the newest backup"):
        study.publish()
    assert released(study) == before


@pytest.mark.parametrize("damage", [no_noise, no_later_noise])
def test_noise_that_was_exchanged_is_found_afterwards(
    study: StoredStudy, damage: Callable[[StoredStudy], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An earlier version has published with it, and written a digest that agrees."""
    damage(study)
    with monkeypatch.context() as earlier:
        earlier.setattr(agreement, "require_agreement", lambda _: None)
        earlier.setattr(agreement, "require_series", lambda *_: None)
        study.publish()
    problem = "the noise is not the one|had other noise after this release"
    with pytest.raises(IntegrityError, match=problem):
        list(verify(study))


def test_a_sound_study_goes_on_through_everything(study: StoredStudy) -> None:
    """Each writer commits to what the next one compares, whatever came before."""
    for name in ("add", "withdraw", "publish", "extend", "adopt", "series", "publish", "add"):
        WRITERS[name](study)
        agreement_of(study)
    study.adopt("once more")
    study.publish(5)
    agreement_of(study)
    assert list(verify(study))


def agreement_of(study: StoredStudy) -> None:
    with study.store.reading() as reading:
        agreement.require_agreement(reading)


def test_what_a_transaction_knows_is_not_read_again(
    study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more step does not read the ledger twice, however long it is."""
    plain, reads = Reading.ledger, []

    def ledger(reading: Reading) -> Any:
        reads.append(reading)
        return plain(reading)

    monkeypatch.setattr(Reading, "ledger", ledger)
    StoredStudy.at(study.folder.root, machine=study.machine).publish()
    assert len(reads) == 1


def test_a_row_that_does_not_say_what_was_stored_is_refused(study: StoredStudy) -> None:
    study.adopt("to try it")
    ledger = study.ledger()
    plans, stated = agreement.committed_plans, agreement.committed_states
    for event, of in (
        ("study adopted", plans),
        ("study adopted", stated),
        ("series opened", plans),
    ):
        for private in ("{}", "[]", '{"plans": 1, "states": 1}'):
            rows = [replace(r, private=private) if r.event == event else r for r in ledger.rows]
            with pytest.raises(IntegrityError):
                of(Ledger(tuple(rows)))


def test_a_draft_with_a_series_in_it_is_not_opened(root: Path) -> None:
    draft = StoredStudy.create(root, promise())
    execute(draft, "INSERT INTO series VALUES ('edges', '{}', '{}')")
    for act in (draft.publish, partial(draft.add, people())):
        with pytest.raises(IntegrityError, match="but not both"):
            act()
    assert not draft.ledger().is_open
