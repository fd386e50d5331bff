"""Whatever is not as it was committed is found, and the first row that fails is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from graphveil.errors import IntegrityError, StudyError
from graphveil.study import StoredStudy
from graphveil.study.chain import GENESIS, canonical
from graphveil.study.facts import Event, SeriesOpened
from graphveil.study.ledger import LedgerRow
from graphveil.study.verification import verify
from studies import opened, released

Change = Callable[[LedgerRow], LedgerRow]


@pytest.fixture
def study(root: Path) -> StoredStudy:
    made = opened(root)
    made.publish(2)
    return made


def execute(study: StoredStudy, statement: str, **values: object) -> None:
    """Meddle with the database by hand."""
    with study.store.engine.begin() as connection:
        connection.execute(sa.text(statement), values)


def forge(study: StoredStudy, number: int, change: Change) -> None:
    """Change a row and mend the whole chain after it, as someone who knows how would."""
    previous = GENESIS
    execute(study, "UPDATE ledger SET hash = 'old ' || hash")
    for row in rows_of(study):
        forged = change(row) if row.number == number else row
        forged = replace(forged, hash=forged.computed_hash(previous))
        values = {"hash": forged.hash, "public": forged.public, "private": forged.private}
        execute(
            study,
            "UPDATE ledger SET hash = :hash, public = :public, private = :private "
            "WHERE number = :number",
            number=row.number,
            **values,
        )
        previous = forged.hash
    study.folder.public_ledger.unlink()


def rows_of(study: StoredStudy) -> list[LedgerRow]:
    with study.store.engine.connect() as connection:
        found = connection.execute(sa.text("SELECT * FROM ledger ORDER BY number"))
        return [LedgerRow(*row) for row in found]


def told(**changed: Any) -> Change:
    return lambda row: replace(row, public=canonical(row.fact | changed))


def kept(**changed: Any) -> Change:
    return lambda row: replace(row, private=canonical(row.secret | changed))


def number_of(study: StoredStudy, event: Event, last: bool = True) -> int:
    numbers = [row.number for row in rows_of(study) if row.event == event]
    return numbers[-1 if last else 0]


def problem(study: StoredStudy) -> str:
    with pytest.raises(IntegrityError) as caught:
        list(verify(study))
    return str(caught.value)


def test_a_sound_study_passes_every_check(root: Path, database: str | None) -> None:
    study = opened(root, database)
    assert next(check.name for check in verify(study)) == "the ledger's chain"
    study.publish(3)
    names = [check.name for check in verify(study)]
    assert len(names) == 13
    assert len(set(names)) == 13


def test_a_draft_has_nothing_to_verify(root: Path) -> None:
    from studies import promise

    draft = StoredStudy.create(root, promise())
    assert len(list(verify(draft))) == 2


@pytest.mark.parametrize("column", ["at", "event", "public", "private", "salt", "hash"])
def test_every_changed_column_breaks_the_chain_at_its_row(study: StoredStudy, column: str) -> None:
    number = number_of(study, Event.STEP_SEALED)
    value = {"event": "refusal", "public": None}.get(column, "x")
    execute(
        study,
        f"UPDATE ledger SET {column} = :value WHERE number = :number",
        value=value,
        number=number,
    )
    assert f"the ledger, row {number} (" in problem(study)


@pytest.mark.parametrize("state", ['{"step":', "[" * 100_000, "null", "{}"], ids=range(4))
def test_a_first_state_of_any_other_form_is_named(root: Path, state: str) -> None:
    study = opened(root)
    execute(study, "UPDATE series SET state = :state WHERE name = 'edges'", state=state)
    assert "the stored state of series 'edges' is not the one" in problem(study)


@pytest.mark.parametrize("loss", ["DROP TABLE releases", "ALTER TABLE releases RENAME TO others"])
def test_a_table_that_is_gone_is_named(study: StoredStudy, loss: str) -> None:
    execute(study, loss)
    assert "table 'releases' is not as graphveil makes it" in problem(study)


def test_a_removed_row_is_named(study: StoredStudy) -> None:
    execute(study, "DELETE FROM releases WHERE row = 5")
    execute(study, "DELETE FROM ledger WHERE number = 5")
    assert "the ledger, row 5 (" in problem(study)


def test_a_removed_last_row_is_noticed(study: StoredStudy) -> None:
    last = len(rows_of(study)) - 1
    execute(study, "DELETE FROM releases WHERE row = :number", number=last)
    execute(study, "DELETE FROM ledger WHERE number = :number", number=last)
    assert "older copy was restored" in problem(study)


def test_a_price_that_was_lowered_afterwards(study: StoredStudy) -> None:
    number = number_of(study, Event.SERIES_OPENED)
    forge(study, number, told(epsilon="7/8"))
    assert f"row {number} (series opened" in problem(study)
    assert "another price than its plan" in problem(study)


def test_a_raw_value_that_was_changed(study: StoredStudy) -> None:
    number = number_of(study, Event.RELEASE_MADE, last=False)
    forge(study, number, lambda row: told(raw=[row.fact["raw"][0] + 1])(row))
    assert f"row {number} (release made" in problem(study)


def test_a_count_that_was_changed(study: StoredStudy) -> None:
    number = number_of(study, Event.RELEASE_MADE, last=False)
    forge(study, number, kept(differences=[99]))
    assert f"row {number} (release made" in problem(study)
    assert "gives a different count" in problem(study)


def test_a_step_that_was_renumbered(study: StoredStudy) -> None:
    number = number_of(study, Event.STEP_SEALED)
    forge(study, number, told(step=7))
    assert f"row {number} (step sealed" in problem(study)


def test_a_release_that_was_made_twice(study: StoredStudy) -> None:
    number = number_of(study, Event.RELEASE_MADE)
    forge(study, number, told(step=0))
    assert f"row {number} (release made" in problem(study)


def test_another_plan_than_was_told_is_found(study: StoredStudy) -> None:
    number = number_of(study, Event.SERIES_OPENED)
    plan = next(row.fact["plan"] for row in rows_of(study) if row.number == number)
    forge(study, number, told(plan=plan | {"subject": "something else"}))
    assert f"row {number}" in problem(study)
    assert "the public was told another plan" in problem(study)


def test_a_series_of_which_no_plan_was_told_is_as_sound(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So were all of older versions, whose studies go on."""
    now = SeriesOpened.to_data
    with monkeypatch.context() as before:
        before.setattr(
            SeriesOpened, "to_data", lambda fact: now(fact.model_copy(update={"plan": None}))
        )
        study = opened(root)
    study.publish(2)
    assert not any("plan" in row.fact for row in rows_of(study) if row.event == Event.SERIES_OPENED)
    assert {each.name for each in verify(study)} >= {"plans and states", "the public chain"}


@pytest.mark.parametrize("column", ["plan", "state"])
def test_a_stored_series_that_was_changed(study: StoredStudy, column: str) -> None:
    found = study.store
    with found.reading() as committed:
        stored = vars(committed.series()["edges"])[column]
    changed = canonical(json.loads(stored) | {"extra": 1})
    execute(study, f"UPDATE series SET {column} = :text WHERE name = 'edges'", text=changed)
    assert f"the stored {column} of series 'edges'" in problem(study)


@pytest.mark.parametrize("part", ["batches", "segments"])
@pytest.mark.parametrize("deed", ["change", "remove"])
def test_a_private_table_that_was_touched(study: StoredStudy, part: str, deed: str) -> None:
    path = sorted((study.folder.private / part).iterdir())[-1]
    if deed == "remove":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    event = "records added" if part == "batches" else "step sealed"
    assert event in problem(study)
    assert path.name in problem(study)


def test_the_public_chain_is_compared(study: StoredStudy) -> None:
    lines = study.folder.public_ledger.read_text().splitlines(keepends=True)
    study.folder.public_ledger.write_text("".join([*lines[:3], lines[3].replace("2", "3", 1)]))
    assert "public/ledger.jsonl, row 3" in problem(study)


def test_the_study_file_is_compared(study: StoredStudy) -> None:
    text = study.folder.study_file.read_text()
    study.folder.study_file.write_text(text.replace("degree = 4", "degree = 3"))
    with pytest.raises(StudyError, match="bound"):
        list(verify(study))


def test_an_older_database_is_not_gone_on_from(root: Path, database: str | None) -> None:
    """The backup trap: the public part knows steps that the restored database does not."""
    study = opened(root, database)
    study.publish()
    tables = {name: dump(study, name) for name in ("ledger", "series", "releases")}
    study.publish()
    before = released(study)
    restore(study, tables)
    for attempt in (study.publish, study.ledger, study.announce):
        with pytest.raises(IntegrityError, match="Restore the newest private folder"):
            attempt()
    public = study.folder.public_ledger.read_text()
    assert all(f'"raw":{canonical(raw)}' in public for raw in before.values())


def dump(study: StoredStudy, table: str) -> list[dict[str, Any]]:
    with study.store.engine.connect() as connection:
        return [dict(row._mapping) for row in connection.execute(sa.text(f"SELECT * FROM {table}"))]


def restore(study: StoredStudy, tables: dict[str, list[dict[str, Any]]]) -> None:
    for table in ("releases", "ledger", "series"):
        execute(study, f"DELETE FROM {table}")
    for table in ("series", "ledger", "releases"):
        for row in tables[table]:
            columns = ", ".join(row)
            places = ", ".join(f":{column}" for column in row)
            execute(study, f"INSERT INTO {table} ({columns}) VALUES ({places})", **row)
