"""What the public was told against what was committed: which is ahead, and which is believed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from fault_runs import let_memory_move
from graphveil.errors import IntegrityError, StudyError
from graphveil.records import from_rows
from graphveil.study import SeriesPromise, StoredStudy, public_part
from graphveil.study.committed import Announced, Committed
from graphveil.study.ledger import Ledger
from graphveil.study.machine import Machine
from graphveil.study.public_part import (
    PublicPart,
    PublishedText,
    Shown,
    announce,
    published_text,
    require_agreeing_file,
    require_newest,
)
from graphveil.whole_files import write_bytes
from studies import opened, promise

EDGES = {"name": "edges", "statistic": "edges", "epsilon": "1/4", "mechanism": "sensdiff"}
DEGREES = EDGES | {"name": "degrees", "statistic": "degree-ccdf"}
MORE = {"name": "more", "statistic": "nodes", "epsilon": "1/4"}


@pytest.fixture
def study(tmp_path: Path) -> StoredStudy:
    """Two years are published, and somebody is waiting for the third."""
    machine = Machine(tmp_path / "state")
    study = opened(tmp_path / "study", machine=machine, series=[EDGES, DEGREES])
    study.publish(through=1)
    study.add(from_rows([("late", 2003)], []))
    return study


def lines_of(study: StoredStudy) -> list[str]:
    return study.folder.public_ledger.read_text().splitlines(keepends=True)


def told_only(found: Committed, lines: list[str]) -> Committed:
    return replace(found, public=replace(found.public, text="".join(lines)))


def test_the_public_is_behind_until_it_is_told_of_every_step(study: StoredStudy) -> None:
    """What is told later than a step, its releases, comes with it."""
    found, lines = study.committed(), lines_of(study)
    newest = max(n for n, line in enumerate(lines) if '"step sealed"' in line)
    assert len(lines) == newest + 3
    for known in range(len(lines) + 1):
        assert told_only(found, lines[:known]).is_behind == (known <= newest)


def test_what_is_announced_is_what_a_reader_finds(study: StoredStudy) -> None:
    """The head is the newest row that is told, whatever was entered since."""
    ledger = study.ledger()
    assert ledger.rows[-1].public is None
    made, read = Announced([0, 1], ledger).public_part, PublicPart.read(study.folder.public)
    assert made.head == read.head
    assert made.head.rows == len(lines_of(study))
    last = [row for row in ledger.rows if row.public][-1]
    assert (made.head.hash, made.head.at) == (ledger.public_lines[-1].hash, last.at)
    assert made.opened_at == read.opened_at == ledger.rows[0].at
    assert (made.promise, made.series) == (read.promise, read.series)
    rows = tuple(replace(row, at=f"at {row.number}") for row in ledger.rows)
    apart = Announced([0, 1], Ledger(rows)).public_part  # as if each had a time of its own
    assert (apart.opened_at, apart.head.at) == ("at 0", f"at {last.number}")


def test_a_chain_that_was_told_is_a_beginning_in_whole_lines(study: StoredStudy) -> None:
    ledger, text = study.ledger(), "".join(lines_of(study))
    assert text == ledger.public_text
    for known in range(len(lines_of(study)) + 1):
        assert PublishedText("".join(lines_of(study)[:known]), "").is_told_by(ledger)
    for wrong in (text[:-1], text[:40], text + "\n", text[1:], "\n"):
        assert not PublishedText(wrong, "").is_told_by(ledger)


def test_what_is_told_is_read_from_the_public_folder(study: StoredStudy) -> None:
    found = published_text(study.folder)
    assert found.text == "".join(lines_of(study))
    assert found.study_file == study.folder.study_file.read_text()
    assert len(found.rows) == len(lines_of(study))
    study.folder.public_ledger.unlink()
    assert published_text(study.folder).text == ""


def test_only_what_differs_is_written_the_chain_first(
    study: StoredStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def write(path: Path, content: bytes) -> None:
        written.append(path)
        write_bytes(path, content)

    monkeypatch.setattr(public_part, "write_bytes", write)
    chain, file, ledger = study.folder.public_ledger, study.folder.study_file, study.ledger()
    announce(study.folder, ledger)
    assert written == []
    chain.unlink()
    announce(study.folder, ledger)
    assert written == [chain]
    file.write_text("another")
    chain.write_bytes(chain.read_bytes()[:-1])
    announce(study.folder, ledger)
    assert written == [chain, chain, file]
    assert (chain.read_text(), file.read_text()) == (
        ledger.public_text,
        ledger.versions[-1].to_toml(),
    )


def test_a_study_file_from_before_the_newest_series_agrees(study: StoredStudy) -> None:
    before = study.folder.study_file.read_text()
    study.open_series(SeriesPromise.model_validate(MORE))
    ledger, after = study.ledger(), study.folder.study_file.read_text()
    assert before != after
    for text in (before, after):
        require_agreeing_file(PublishedText("", text), ledger)
    study.folder.study_file.write_text(before)
    announce(study.folder, ledger)
    assert study.folder.study_file.read_text() == after
    assert Announced([], ledger).public_part.promise.to_toml() == after
    with pytest.raises(StudyError, match=r"public/study\.toml disagrees with the ledger"):
        require_agreeing_file(PublishedText("", promise(title="Another").to_toml()), ledger)
    require_agreeing_file(PublishedText("", promise(title="A draft").to_toml()), Ledger(()))
    require_agreeing_file(PublishedText("", "not even a study file"), Ledger(()))


def test_a_ledger_that_lacks_what_was_told_is_an_older_copy(study: StoredStudy) -> None:
    ledger, lines = study.ledger(), lines_of(study)
    public = [n for n, row in enumerate(ledger.rows) if row.public is not None]
    for known in (1, 4, len(lines) - 1):
        older = Ledger(ledger.rows[: public[known]])
        require_newest(PublishedText("".join(lines[:known]), ""), older)
        for more in (known + 1, len(lines)):
            with pytest.raises(IntegrityError, match=f"lacks row {known} of public/ledger.jsonl"):
                require_newest(PublishedText("".join(lines[:more]), ""), older)
    require_newest(PublishedText("".join(lines), ""), ledger)
    for known in (4, len(lines)):  # the same rows
        require_newest(PublishedText("".join(lines[:known]).replace("\n", "\r\n"), ""), ledger)


def test_a_page_or_a_table_that_shows_more_than_the_ledger_has_is_noticed(
    study: StoredStudy,
) -> None:
    ledger, text = study.ledger(), "".join(lines_of(study))
    head = ledger.public_lines[-1].hash
    require_newest(
        PublishedText(text, "", Shown((("card.json", head),), (("releases.csv", 2),))), ledger
    )
    for shown, file in (
        (Shown(heads=(("card.json", "0" * 64),)), "card.json"),
        (Shown(steps=(("releases.csv", 3),)), "releases.csv"),
    ):
        with pytest.raises(IntegrityError, match=f"public/{file} shows more than the ledger"):
            require_newest(PublishedText(text, "", shown), ledger)


def test_a_ledger_that_went_another_way_is_refused_at_the_first_row_that_differs(
    study: StoredStudy, tmp_path: Path
) -> None:
    copytree(study.folder.root, tmp_path / "copy")
    known = len(lines_of(study))
    other = StoredStudy.at(tmp_path / "copy", machine=study.machine)
    (tmp_path / "state").rename(tmp_path / "lost")
    copytree(tmp_path / "lost", tmp_path / "state")
    let_memory_move(tmp_path / "state")
    study.publish()
    (tmp_path / "state").rename(tmp_path / "gone")
    (tmp_path / "lost").rename(tmp_path / "state")
    other.publish()
    found = PublishedText(study.folder.public_ledger.read_text(), "")
    with pytest.raises(IntegrityError, match=f"lacks row {known} "):
        require_newest(found, other.ledger())


def test_what_was_committed_is_read_only_if_it_agrees(study: StoredStudy) -> None:
    """The chain, the study file and whatever else the public has."""
    ledger = study.ledger()
    study.folder.study_file.write_text(promise(title="Another").to_toml())
    with pytest.raises(StudyError, match="disagrees"):
        study.committed()
    announce(study.folder, ledger)
    assert study.committed().ledger == ledger
    with study.folder.public_ledger.open("a") as chain:
        chain.write("more\n")
    with pytest.raises(IntegrityError):
        study.committed()
