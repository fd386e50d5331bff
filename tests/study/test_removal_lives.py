"""The rule of removal over commands, on some lives; `removal_lives.py` runs many."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import StudyError, UnconfirmedError
from graphveil.graph.intake import appending
from graphveil.graph.intake.rules import RecordRules
from graphveil.records import ReadingOptions
from graphveil.steward import adding
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.facts import Event
from graphveil.study.records import attempts
from removal_cases import Case, Node
from removal_lives import Script, run, violations
from studies import promise

SOME = ("v", "a0", "a11", "b1")  # of a crowd, all of whom are alike
CROWD = tuple(Node(f"a{number}", "2001") for number in range(12))
LATER = tuple(Node(f"b{number}", "2002") for number in range(3))
FIRST = Case("rows", LATER, (), ReadingOptions(), RecordRules(), skip=True)
UNREADABLE, TWICE = (Node("v", "soon"),), (Node("v", "2001"), Node("v", "2003"))
ASKED: Script = (("add --yes", 0), ("publish", 0), ("add", 1), ("publish", 0))
AGREED: Script = (("add --yes", 0), ("publish", 0), ("add --yes", 1), ("publish", 0))


def test_nobody_decides_what_becomes_of_others_whatever_a_script_does() -> None:
    assert run(12, seed=3).broken == []


@pytest.mark.slow
def test_the_same_in_many_lives() -> None:
    assert run(5_000, seed=4).broken == []


@pytest.mark.parametrize(
    ("rows", "script"),
    [
        (UNREADABLE, ASKED),
        (TWICE, AGREED),
        ((Node("v", ""),), ASKED),
        ((Node("v", "2031"),), AGREED),
    ],
)
def test_one_persons_rows_withhold_nobody(rows: Any, script: Script, tmp_path: Path) -> None:
    """Found from outside: 300 people were published a step later, permanently."""
    batches = [FIRST, replace(FIRST, nodes=(*CROWD, *rows))]
    assert violations(batches, script, tmp_path / "life", SOME) == ([], 0)


@pytest.mark.parametrize("few", [3, 9])
def test_where_a_tenth_is_set_aside_the_study_waits(few: int, tmp_path: Path) -> None:
    batches = [FIRST, replace(FIRST, nodes=(*CROWD[:few], *UNREADABLE))]
    found, waited = violations(batches, ASKED, tmp_path / "life")
    assert found == []
    assert waited == (1 if few == 3 else few)  # one row more, and a tenth is not too much


def _nothing(*_: object, **__: object) -> None:
    """Nothing is refused."""


def _strictly(add: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given, how: add(*given, how=replace(how, strict=True))


def test_the_property_notices_planted_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A schedule that publishes without the batch of a person with an unreadable date."""
    batches = [FIRST, replace(FIRST, nodes=(*CROWD, *UNREADABLE))]
    monkeypatch.setattr(adding, "add_records", _strictly(adding.add_records))
    found, waited = violations(batches, AGREED, tmp_path / "life")
    assert (found, waited) == ([], 1)  # the study waits
    monkeypatch.setattr(attempts, "require_settled", _nothing)
    assert violations(batches, AGREED, tmp_path / "life")[0] != []


def test_a_batch_that_one_record_lets_go_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As it was: the latest batch went, if the latest step of any of its records was open."""

    def withdraw(root: Path, _: int) -> None:
        study = StoredStudy.at(root)
        ledger = study.ledger()
        if ledger.batches and ledger.batches[-1].last_step >= len(ledger.sealed):
            with study.writing() as transaction:
                entry = {"batch": ledger.batches[-1].number}
                transaction.append(Event.RECORDS_WITHDRAWN, private=entry)

    later = tuple(replace(each, time="2003") for each in CROWD[:5])
    mixed = (Node("c", "2001"), Node("v", "2004"))
    batches = [replace(FIRST, nodes=later), replace(FIRST, nodes=mixed)]
    seal, gone = [("publish", 0)] * 3, [("withdraw", 1)] * 2
    script = (("add --yes", 0), ("add --yes", 1), ("publish", 0), *gone, *seal)
    assert violations(batches, script, tmp_path / "life") == ([], 0)
    monkeypatch.setattr(adding, "withdraw", withdraw)
    assert violations(batches, script, tmp_path / "life")[0] != []


def test_what_is_set_aside_by_anothers_row_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    divided = appending._divided

    def wrong(records: Any, refused: Any) -> Any:
        refused.rows = refused.rows // 2  # rows of others
        return divided(records, refused)

    batches = [FIRST, replace(FIRST, nodes=(*CROWD, *UNREADABLE))]
    monkeypatch.setattr(appending, "_divided", wrong)
    assert violations(batches, AGREED, tmp_path / "life")[0] != []


FILES = ("nodes.csv", "edges.csv")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """With two people, of whom one step is published."""
    root = tmp_path / "study"
    StoredStudy.create(root, promise(bound={"degree": 9, "justification": "x"}))
    (tmp_path / "nodes.csv").write_text("node,time\na,2001\nb,2001\n")
    adding.add(root, [tmp_path / "nodes.csv"])
    StoredStudy.at(root).publish(early=True)
    return root


def test_a_link_waits_for_a_person_who_comes_later(study: Path, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target\na,late\na,never\na,b\n")
    with pytest.raises(UnconfirmedError):
        adding.add(study, [tmp_path / "edges.csv"])
    found = adding.add(study, [tmp_path / "edges.csv"], how=AddOptions(yes=True)).added.findings
    assert (found.intake.edges_added, found.awaiting) == (1, 2)
    (tmp_path / "more.csv").write_text("node,time\nlate,2002\n")
    found = adding.add(study, [tmp_path / "more.csv"]).added.findings
    assert (found.intake.nodes_added, found.intake.edges_added, found.awaiting) == (1, 1, 1)
    assert found.intake.awaited_edges == 1
    latest = StoredStudy.at(study).ledger().batches[-1].number
    adding.withdraw(study, latest)  # the link waits again
    found = adding.add(study, [tmp_path / "more.csv"]).added.findings
    assert (found.intake.edges_added, found.awaiting) == (1, 1)
    StoredStudy.at(study).publish(early=True)
    again = adding.add(study, [tmp_path / "more.csv"]).added.findings
    assert (again.awaiting, again.intake.awaited_edges) == (1, 0)


def test_publishing_waits_until_a_refused_batch_is_settled(study: Path, tmp_path: Path) -> None:
    bad = tmp_path / "week.csv"
    bad.write_text("nod,tim\nc,2002\n")
    with pytest.raises(Exception, match="column"):
        adding.add(study, [bad])
    for _ in range(2):
        with pytest.raises(StudyError, match=r"week\.csv.*abandon") as told:
            StoredStudy.at(study).publish(early=True)
        assert len(str(told.value)) < 300
    (tmp_path / "other.csv").write_text("node,time\nd,2002\n")
    with pytest.raises(StudyError, match=r"week\.csv.*in order.*abandon") as told:
        adding.add(study, [tmp_path / "other.csv"])  # other files do not stand for these
    assert len(str(told.value)) < 300
    bad.write_text("node,time\nc,2002\n")
    assert adding.add(study, [bad]).batch == 4, "one sealed, two attempts that failed"
    with pytest.raises(StudyError, match="held up") as told:
        adding.add(study, [tmp_path / "other.csv"])  # not in time for the step that waited
    assert len(str(told.value)) < 300
    with pytest.raises(StudyError, match=r"other\.csv"):
        StoredStudy.at(study).publish(2, early=True)
    assert StoredStudy.at(study).publish(early=True).steps == [1]
    with pytest.raises(StudyError, match=r"other\.csv"):
        StoredStudy.at(study).publish(early=True)
    adding.add(study, [tmp_path / "other.csv"])
    assert StoredStudy.at(study).publish(early=True).steps == [2]


@pytest.mark.parametrize("bound", [b"", b"\xff"])
def test_a_damaged_note_of_a_held_up_step_lets_nothing_pass(
    study: Path, tmp_path: Path, bound: bytes
) -> None:
    bad = tmp_path / "week.csv"
    bad.write_text("nod,tim\nc,2002\n")
    with pytest.raises(Exception, match="column"):
        adding.add(study, [bad])
    (study / "private" / "attempts" / "1.publish").write_bytes(bound)
    with pytest.raises(StudyError, match=r"week\.csv"):
        StoredStudy.at(study).publish(early=True)
    adding.abandon(study)
    assert StoredStudy.at(study).publish(early=True).steps == [1]


def test_late_records_are_not_in_time_for_a_step_that_waited(tmp_path: Path) -> None:
    """Found by lives of commands: without one person there was nothing to add."""
    alone, late = (Node("v", "2001"),), (Node("b2", "2001"),)
    batches = [replace(FIRST, nodes=alone), replace(FIRST, nodes=late)]
    script = (("add", 0), ("publish", 0), ("add --yes", 1), ("add --yes", 0), ("add", 1),
              ("publish", 0), ("publish", 0))  # fmt: skip
    assert violations(batches, script, tmp_path / "life", ["v"]) == ([], 1)


BEHIND = "without a step's name, a publication that waited leaves the study a step behind"


@pytest.mark.parametrize(
    "publish",
    [
        "publish through",
        pytest.param("publish", marks=pytest.mark.xfail(strict=True, reason=BEHIND)),
    ],
)
def test_a_schedule_that_names_the_step_catches_up(publish: str, tmp_path: Path) -> None:
    """Found with 40,635 removals: what came between two publications fell into an earlier step."""
    first = replace(FIRST, nodes=(*CROWD[:3], *UNREADABLE))
    later = replace(FIRST, nodes=(*CROWD[:3], Node("p", "2001")))
    script = (("add", 0), (publish, 0), ("add --yes", 0), (publish, 1), ("add", 1),
              (publish, 2), (publish, 3))  # fmt: skip
    assert violations([first, later], script, tmp_path / "life", ["v"])[0] == []


def test_files_are_missing_again_once_their_batch_is_withdrawn(study: Path, tmp_path: Path) -> None:
    """Another world added them at once, and again as a batch that may go without harm."""
    week = tmp_path / "week.csv"
    week.write_text("nod,tim\nc,2002\n")
    with pytest.raises(Exception, match="column"):
        adding.add(study, [week])
    week.write_text("node,time\nc,2002\n")
    batch = adding.add(study, [week]).batch
    assert batch is not None
    adding.withdraw(study, batch)
    with pytest.raises(StudyError, match=r"week\.csv"):
        StoredStudy.at(study).publish(early=True)
    adding.add(study, [week])
    assert StoredStudy.at(study).publish(early=True).steps == [1]


def test_a_batch_that_was_refused_is_still_the_latest(tmp_path: Path) -> None:
    """Found with 16,000 removals: an earlier batch went, since one person stopped a later one."""
    later = replace(FIRST, nodes=(Node("b1", "2002"), *UNREADABLE))
    batches = [replace(FIRST, nodes=CROWD), later]
    for gone in (0, 1):
        script = (("add --yes", 0), ("add", 1), ("withdraw", gone), ("publish", 0),
                  ("add --yes", 1), ("publish", 0), ("publish", 0))  # fmt: skip
        assert violations(batches, script, tmp_path / "life", SOME)[0] == []


def test_a_batch_that_held_up_a_step_is_not_withdrawn(study: Path, tmp_path: Path) -> None:
    """Found with 3,432 removals: without one person it was in, and its step was sealed."""
    batches = [replace(FIRST, nodes=(*CROWD[:3], *UNREADABLE)), replace(FIRST, nodes=CROWD[:3])]
    script = (("add", 0), ("publish", 0), ("withdraw", 0), ("add --yes", 1), ("publish", 0),
              ("publish", 0))  # fmt: skip
    assert violations(batches, script, tmp_path / "life", SOME)[0] == []
    bad = tmp_path / "week.csv"
    bad.write_text("nod,tim\nc,2002\n")
    with pytest.raises(Exception, match="column"):
        adding.add(study, [bad])
    with pytest.raises(StudyError, match=r"week\.csv"):
        StoredStudy.at(study).publish(early=True)
    with pytest.raises(StudyError, match=r"batch 2 cannot be withdrawn.*abandon") as told:
        adding.withdraw(study, 2)
    assert len(str(told.value)) < 300
    assert adding.abandon(study) == 1
    assert StoredStudy.at(study).publish(early=True).steps == [1]


@pytest.mark.parametrize("settled", ["withdraw", "abandon"])
def test_what_was_refused_is_given_up_under_its_number(
    study: Path, tmp_path: Path, settled: str
) -> None:
    bad = tmp_path / "week.csv"
    bad.write_text("nod,tim\nc,2002\n")
    with pytest.raises(Exception, match="column"):
        adding.add(study, [bad])
    with pytest.raises(StudyError, match=r"batch 1 cannot be withdrawn.*week\.csv") as told:
        adding.withdraw(study, 1)
    assert len(str(told.value)) < 300
    if settled == "withdraw":
        adding.withdraw(study, 2)
    else:
        assert adding.abandon(study) == 1
    assert StoredStudy.at(study).publish(early=True).steps == [1]
    (tmp_path / "more.csv").write_text("node,time\nc,2002\n")
    assert adding.add(study, [tmp_path / "more.csv"]).batch == 3, "the second was used up"


def test_batches_come_in_the_order_in_which_they_were_first_tried(tmp_path: Path) -> None:
    """Found with 494 lives: of two dates the one that came first counts."""
    early = replace(FIRST, nodes=(*CROWD, Node("p", "2002")))
    late = replace(FIRST, nodes=(*CROWD[:8], Node("p", "2004"), *UNREADABLE))
    script: Script = (
        ("add", 1),
        ("add --yes", 0),
        ("add --yes", 1),
        ("publish", 0),
        ("publish", 0),
    )
    assert violations([early, late], script, tmp_path / "life")[0] == []


def test_a_killed_add_holds_publishing_up_unless_it_was_committed(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "more.csv").write_text("node,time\nc,2002\n")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StoredStudy, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            adding.add(study, [tmp_path / "more.csv"])
    with pytest.raises(StudyError):
        StoredStudy.at(study).publish(early=True)
    assert adding.abandon(study) == 1
    with monkeypatch.context() as patch:
        patch.setattr(attempts, "_noted", killed)  # behind the commit
        with pytest.raises(KeyboardInterrupt):
            adding.add(study, [tmp_path / "more.csv"])
    assert StoredStudy.at(study).publish(early=True).steps == [1]


def test_a_note_that_was_damaged_still_holds_publishing_up(study: Path) -> None:
    home = study / "private" / "attempts"
    (home / "x.json").write_bytes(b"\xff{")
    with pytest.raises(StudyError, match="unknown files"):
        StoredStudy.at(study).publish(early=True)
    assert adding.abandon(study) == 1
