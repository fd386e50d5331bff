"""Records dated after the last step: set aside or ignored, one by one, as the steward says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from commands import graphveil
from graphveil.calendar.calendar import Calendar
from graphveil.errors import RecordError
from graphveil.graph.intake.resolving import resolve, until_end
from graphveil.graph.intake.rules import RecordRules
from graphveil.records import from_rows
from graphveil.steward import adding
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from graphveil.study.verification import verify
from plain_rules import EDGES
from steward import drafted, run, run_json
from studies import promise

NODES = [("a", 2001), ("b", 2004), ("c", 2005), ("d", 2001), ("d", 2009), ("e", 9999)]
LINKS = [
    ("a", "b", None),
    ("a", "c", None),  # ends arrive after the last step
    ("c", "e", 2001),
    ("d", "a", 2002),
    ("d", "b", 2005),  # comes too late itself
    ("a", "d", None),
]


@pytest.fixture
def study(root: Path) -> StoredStudy:
    """From 2001 to 2004."""
    return StoredStudy.create(root, promise(series=[EDGES]))


def test_records_after_the_end_are_refused_without_a_word(
    study: StoredStudy, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match="after the end"):
        study.add(from_rows(NODES, LINKS), AddOptions(strict=True))
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("node,time\na,2005\n")
    with pytest.raises(RecordError, match="ignore_after_end=True"):
        adding.add(study.folder.root, [nodes], how=AddOptions(strict=True))


def test_they_are_ignored_and_counted(study: StoredStudy) -> None:
    found = study.add(from_rows(NODES, LINKS), AddOptions(ignore_after_end=True)).findings
    assert (found.intake.nodes_added, found.intake.edges_added) == (3, 2)
    assert (found.intake.nodes_after_end, found.intake.edges_after_end) == (3, 3)
    assert "3 rows of nodes from after the last step: ignored" in found.lines()
    assert "3 rows of edges from after the last step, or of such nodes: ignored" in found.lines()
    study.publish(3, early=True)
    assert [check.name for check in verify(study)]


def test_bad_rows_may_be_skipped_besides(study: StoredStudy) -> None:
    nodes = [*NODES, ("f", "soon")]
    found = study.add(from_rows(nodes, LINKS), AddOptions(ignore_after_end=True, yes=True)).findings
    assert (found.intake.nodes_added, found.intake.nodes_after_end) == (3, 3)
    assert [len(each) for each in found.skipped] == [1]


def test_who_is_known_stays_known(study: StoredStudy) -> None:
    study.add(from_rows([("a", 2001), ("b", 2002)], [("a", "b")]))
    again = from_rows([("a", 2007), ("b", 2002), ("c", 2007)], [("a", "b"), ("a", "c")])
    found = study.add(again, AddOptions(ignore_after_end=True, complete=True)).findings
    assert (found.vanished_nodes, found.vanished_edges) == (0, 0)
    assert (found.intake.known_nodes, found.intake.redated_nodes) == (2, 0)
    assert (found.intake.nodes_after_end, found.intake.edges_after_end) == (1, 1)


def test_other_faults_refuse_all_the_same(study: StoredStudy) -> None:
    for nodes, links in (
        ([("a", "soon")], []),
        ([("a", 2001), ("", 2002)], []),
        ([("a", 2001), ("b", 2005)], [("a", "nobody")]),
    ):
        with pytest.raises(RecordError):
            study.add(from_rows(nodes, links), AddOptions(ignore_after_end=True, strict=True))


@pytest.mark.parametrize(
    "calendar",
    [
        Calendar.yearly(2001, 2004),
        Calendar.daily("2001-01-01", "2004-12-31"),  # 9999 lies farther away than steps go
        Calendar.cuts(["2001-01-01", "2003-01-01"], end="2005-01-01"),
    ],
    ids=["years", "days", "cuts"],
)
def test_every_calendar_has_its_end(calendar: Calendar) -> None:
    times = ["2001-05-06", "2004-12-31", "2005-01-01", "9999-12-31", None]
    assert calendar.steps_of(times).trouble is not None
    placed = calendar.steps_of(times, beyond=True)
    assert calendar.last_step is not None
    assert placed.trouble is None
    late = [step > calendar.last_step for step in placed.steps.tolist()]
    assert late == [False, False, True, True, False]


def kept(
    nodes: list[tuple[str, int]], links: list[tuple[str, str, int | None]], known: set[str]
) -> tuple[set[object], set[object]]:
    """Which rows are left."""
    rules = RecordRules()
    found = resolve(from_rows(nodes, links), Calendar.yearly(2001, 2004), rules, beyond=True)
    left = until_end(found, 3, lambda ids: ids.is_in(sorted(known)).to_numpy())
    return set(left.nodes.frame.iter_rows()), set(left.edges.frame.iter_rows())


def test_removing_one_person_changes_nothing_about_others() -> None:
    draw = random.Random("after the end")
    for _ in range(25):
        people = [f"P{number}" for number in range(6)]
        nodes = [(draw.choice(people), draw.randint(2001, 2007)) for _ in range(9)]
        times = [None, 2001, 2004, 2005]
        links = [(*draw.sample(people, 2), draw.choice(times)) for _ in range(10)]
        known = set(draw.sample(people, 2))
        rows, edges = kept(nodes, links, known)  # type: ignore[arg-type]
        for gone in people:
            others = [row for row in nodes if row[0] != gone]
            left = [edge for edge in links if gone not in edge]
            assert kept(others, left, known - {gone}) == (  # type: ignore[arg-type]
                {row for row in rows if row[0] != gone},  # type: ignore[index]
                {edge for edge in edges if gone not in edge},  # type: ignore[operator]
            )


def test_the_command_counts_them_privately(tmp_path: Path) -> None:
    root, nodes = drafted(tmp_path / "study"), tmp_path / "nodes.csv"
    nodes.write_text("node,time\nP1,2001\nP2,2031\n")
    assert graphveil("add", str(root), str(nodes), "--strict").code == 3
    assert run_json("add", root, nodes, "--dry-run", "--ignore-after-end")["nodes_after_end"] == 1
    finished = run("add", root, nodes, "--ignore-after-end")
    assert "1 row of nodes from after the last step: ignored" in finished.err
    assert "ignored" not in finished.out
    run("publish", root)
    for path in (root / "public").rglob("*"):
        assert not path.is_file() or b"ignored" not in path.read_bytes()
