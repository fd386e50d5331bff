"""Records as life brings them: late, twice, corrected, vanished, in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphveil.errors import InputError, StudyError
from graphveil.graph.intake.records import Records, Table
from graphveil.records import from_rows
from graphveil.study import StoredStudy
from graphveil.study.backends import AddOptions
from plain_rules import numbered, sealed_steps, totals


def begun(root: Path, **changed: Any) -> StoredStudy:
    return StoredStudy.create(root, numbered(**changed))


def nodes_of(study: StoredStudy) -> list[set[str]]:
    return [set(nodes) for nodes, _ in sealed_steps(study)]


def both_of(study: StoredStudy) -> list[tuple[set[str], set[tuple[str, str]]]]:
    return list(zip(nodes_of(study), edges_of(study), strict=True))


def edges_of(study: StoredStudy) -> list[set[tuple[str, str]]]:
    return [set(edges) for _, edges in sealed_steps(study)]


def test_a_late_node_joins_the_next_open_step(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0)]))
    study.publish(1)
    added = study.add(from_rows([("late", 0)]))
    assert added.findings.intake.late_nodes == 1
    study.publish()
    assert nodes_of(study) == [{"a"}, set(), {"late"}]


@pytest.mark.parametrize("own", [None, 0, 1, 2])
def test_an_edge_between_old_nodes_joins_the_current_step(root: Path, own: int | None) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 0)]))
    study.publish(1)
    study.add(from_rows([], [("a", "b", own)]))
    study.publish()
    assert edges_of(study) == [set(), set(), {("a", "b")}]


def test_an_edge_waits_for_its_own_time_and_for_its_ends(root: Path) -> None:
    study = begun(root)
    nodes = [("a", 0), ("b", 1), ("c", 2)]
    added = study.add(from_rows(nodes, [("a", "b", 3), ("a", "c", 0), ("b", "a", None)]))
    assert added.findings.intake.raised_edges == 1
    study.publish(3)
    assert edges_of(study) == [set(), {("a", "b")}, {("a", "c")}, set()]


def test_an_edge_that_has_its_own_time_only_comes_then(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 1)], [("a", "b", 3)]))
    study.publish(3)
    assert edges_of(study) == [set(), set(), set(), {("a", "b")}]


def test_of_two_records_of_an_edge_the_earlier_time_counts(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 0)], [("a", "b", 3)]))
    study.add(from_rows([], [("b", "a", 1)]))
    study.publish(3)
    assert edges_of(study) == [set(), {("a", "b")}, set(), set()]


def test_duplicates_merge_within_a_file(root: Path) -> None:
    study = begun(root)
    added = study.add(from_rows([("a", 0), ("b", 1), ("a", 0)], [("a", "b"), ("b", "a")]))
    intake = added.findings.intake
    assert (intake.nodes_added, intake.edges_added) == (2, 1)
    assert (intake.repeated_nodes, intake.repeated_edges) == (1, 1)
    study.publish(3)
    assert totals(study, "edges") == [[0], [1], [1], [1]]


def test_duplicates_merge_over_files(root: Path) -> None:
    first = from_rows([("a", 0), ("b", 1)], [("a", "b")])
    second = from_rows([("b", 1), ("c", 1)], [("b", "a"), ("c", "a")])
    both = Records(
        Table.joined([first.nodes, second.nodes]), Table.joined([first.edges, second.edges])
    )
    study = begun(root)
    study.add(both)
    study.publish(3)
    assert nodes_of(study)[:2] == [{"a"}, {"b", "c"}]
    assert totals(study, "edges")[-1] == [2]


def test_duplicates_merge_over_batches_waiting_or_sealed(root: Path) -> None:
    study = begun(root)
    records = from_rows([("a", 0), ("b", 1), ("c", 2)], [("a", "b"), ("a", "c")])
    study.add(records)
    again = study.add(records).findings
    assert (again.intake.nodes_added, again.intake.edges_added) == (0, 0)
    assert (again.intake.known_nodes, again.intake.known_edges) == (3, 2)
    assert (again.intake.repeated_nodes, again.intake.repeated_edges) == (0, 0)
    study.publish(1)
    again = study.add(records).findings
    assert (again.intake.nodes_added, again.intake.edges_added) == (0, 0)
    assert (again.intake.known_nodes, again.intake.known_edges, again.intake.redated_nodes) == (
        3,
        2,
        0,
    )
    study.publish(3)
    assert totals(study, "edges") == [[0], [1], [2], [2]]


@pytest.mark.parametrize("sealed", [False, True])
def test_a_redated_record_stays_as_it_was_and_is_told(root: Path, sealed: bool) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 2)]))
    if sealed:
        study.publish(2)
    found = study.add(from_rows([("b", 1), ("a", 0)])).findings
    assert found.intake.redated_nodes == 1
    assert found.details.rows() == [("re-dated", "b", "2", "1")]
    study.publish(3)
    assert nodes_of(study) == [{"a"}, set(), {"b"}, set()]


def test_a_late_record_that_comes_again_unchanged_is_not_redated(root: Path) -> None:
    study = begun(root)
    study.publish(1)
    study.add(from_rows([("late", 0)]))
    waiting = study.add(from_rows([("late", 0)])).findings
    study.publish()
    sealed = study.add(from_rows([("late", 0)])).findings
    assert [each.intake.redated_nodes for each in (waiting, sealed)] == [0, 0]
    assert sealed.intake.known_nodes == 1
    assert study.add(from_rows([("late", 2)])).findings.details.rows() == [
        ("re-dated", "late", "0", "2")
    ]


def test_an_undated_record_that_comes_again_is_not_redated(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", None)]))
    assert study.add(from_rows([("a", None)])).findings.intake.redated_nodes == 0
    study.publish(1)
    assert study.add(from_rows([("a", None)])).findings.intake.redated_nodes == 0
    now = study.add(from_rows([("a", 3)])).findings
    assert now.details.rows() == [("re-dated", "a", "", "3")]
    assert nodes_of(study) == [{"a"}, set()]


def test_what_a_complete_file_lacks_is_kept_and_told(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 0), ("c", 2)], [("a", "b"), ("b", "c"), ("a", "c")]))
    study.publish()
    fewer = from_rows([("a", 0), ("c", 2)], [("c", "a")])
    assert study.add(fewer).findings.vanished_nodes == 0
    found = study.add(fewer, AddOptions(complete=True)).findings
    assert (found.vanished_nodes, found.vanished_edges) == (1, 2)
    assert found.details.rows() == [("no longer listed", "b", "", "")]
    study.publish(3)
    assert nodes_of(study) == [{"a", "b"}, set(), {"c"}, set()]
    assert totals(study, "edges")[-1] == [3]


def test_what_a_complete_file_lacks_is_counted_by_direction(root: Path) -> None:
    bound = {"inward": 5, "outward": 5, "justification": "x"}
    series = [{"name": "edges", "statistic": "edges", "epsilon": "1"}]
    study = begun(root, directed=True, bound=bound, series=series)
    study.add(from_rows([("a", 0), ("b", 0)], [("a", "b"), ("b", "a", 2)]))
    found = study.add(
        from_rows([("a", 0), ("b", 0)], [("b", "a")]), AddOptions(complete=True)
    ).findings
    assert (found.vanished_nodes, found.vanished_edges) == (0, 1)


def test_sequences_of_one_person_are_one_node_with_the_earliest_date(root: Path) -> None:
    study = begun(root, records={"person_separator": "|"})
    nodes = [("p|s2", 2), ("p |s1", 1), ("q|s1", 0), ("r", 3), (" p|s3", 3)]
    edges = [("p|s1", "p|s2"), ("p|s2", "q|s1"), ("q|s1", "p |s3"), ("r", "p")]
    added = study.add(from_rows(nodes, edges)).findings.intake
    assert (added.nodes_added, added.edges_added, added.self_links) == (3, 2, 1)
    study.publish(3)
    assert nodes_of(study) == [{"q"}, {"p"}, set(), {"r"}]
    assert edges_of(study) == [set(), {("p", "q")}, set(), {("p", "r")}]


def test_a_later_sequence_of_a_known_person_is_no_new_node(root: Path) -> None:
    study = begun(root, records={"person_separator": "|"})
    study.add(from_rows([("7|x", 0), ("8|x", 0)], [("7|x", "8|x")]))
    study.publish()
    added = study.add(from_rows([("7|y", 0), ("7", 0)], [("7|y", "7|x"), ("8|x", "7|y")]))
    assert (added.findings.intake.nodes_added, added.findings.intake.edges_added) == (0, 0)
    study.publish(3)
    assert totals(study, "edges")[-1] == [1]


def test_case_is_kept_or_folded_as_the_study_says(tmp_path: Path) -> None:
    records = from_rows([("Ann", 0), ("ann ", 0), ("BOB", 1)], [("ANN", "bob")])
    kept, folded = begun(tmp_path / "k"), begun(tmp_path / "f", records={"case": "fold"})
    with pytest.raises(InputError, match="row 0, column 'source'"):
        kept.add(records, AddOptions(strict=True))
    folded.add(records)
    folded.publish(1)
    assert nodes_of(folded) == [{"ann"}, {"bob"}]
    assert edges_of(folded) == [set(), {("ann", "bob")}]


def test_blanks_around_ids_do_not_make_a_second_person(root: Path) -> None:
    study = begun(root)
    added = study.add(from_rows([(" a", 0), ("a\t", 0), ("b", 0)], [("a ", "b"), ("a", " b")]))
    assert (added.findings.intake.nodes_added, added.findings.intake.trimmed_ids) == (2, 4)
    study.publish()
    assert both_of(study) == [({"a", "b"}, {("a", "b")})]


def test_an_undated_node_goes_into_the_first_open_step_where_the_study_says_so(root: Path) -> None:
    study = begun(root)
    study.publish(1)
    added = study.add(from_rows([("a", None), ("b", 3)], [("a", "b")]))
    assert added.findings.intake.undated_nodes == 1
    study.publish(3)
    assert both_of(study)[2:] == [({"a"}, set()), ({"b"}, {("a", "b")})]


@pytest.mark.parametrize("rows", [[("a", None), ("a", 2)], [("a", 2), ("a", None)]])
def test_a_row_without_a_time_gives_way_to_one_with_a_time(root: Path, rows: Sequence[Any]) -> None:
    study = begun(root)
    study.add(from_rows(rows))
    assert study.add(from_rows([("a", 2)])).findings.intake.redated_nodes == 0
    study.publish(3)
    assert nodes_of(study) == [set(), set(), {"a"}, set()]


def test_self_links_are_left_out(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 1)], [("a", "a"), ("a", "b"), ("b", "b", 2)]))
    study.publish(1)
    study.add(from_rows([], [("a", "a"), ("b", " b")]))
    study.publish(3)
    assert totals(study, "edges")[-1] == [1]


def test_an_edge_joins_nodes_of_different_batches(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 1)]))
    study.add(from_rows([("b", 2)]))
    study.add(from_rows([], [("b", "a")]))
    study.publish(3)
    assert edges_of(study) == [set(), set(), {("a", "b")}, set()]


def test_numbers_and_texts_name_the_same_people(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([(7, 0), (10, 1)], [(7, 10)]))
    study.publish()
    study.add(from_rows([("x", 1), ("7", 0), ("07", 1)], [("x", "7"), ("10", " 7"), ("07", "x")]))
    study.publish(1)
    study.add(from_rows([(8, 2)], [(8, 7)]))
    study.publish(3)
    assert nodes_of(study) == [{"7"}, {"10", "x", "07"}, {"8"}, set()]
    assert edges_of(study)[1:3] == [{("10", "7"), ("7", "x"), ("07", "x")}, {("7", "8")}]


def test_a_withdrawn_batch_makes_room_for_a_corrected_one(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0)]))
    study.add(from_rows([("b", 3), ("wrong", 0)], [("wrong", "a"), ("a", "b")]))
    study.withdraw(2)
    corrected = study.add(from_rows([("b", 1)], [("a", "b")]))
    assert (corrected.batch, corrected.findings.intake.redated_nodes) == (3, 0)
    study.publish(3)
    assert both_of(study)[:2] == [({"a"}, set()), ({"b"}, {("a", "b")})]


def test_what_is_sealed_cannot_be_withdrawn(root: Path) -> None:
    study = begun(root)
    with pytest.raises(StudyError, match="no batch"):
        study.withdraw(1)
    study.add(from_rows([("a", 0)]))
    study.publish()
    with pytest.raises(StudyError, match="sealed"):
        study.withdraw(1)


@pytest.mark.parametrize("last", [0, 3])
def test_no_record_decides_whether_a_batch_can_be_withdrawn(root: Path, last: int) -> None:
    """One person of a later step used to let a batch go that was otherwise sealed."""
    study = begun(root)
    study.add(from_rows([("a", 0), ("b", 0)]))
    study.add(from_rows([("c", 0), ("d", last)]))
    study.publish()
    for batch in (2, 1, 2):
        with pytest.raises(StudyError, match=r"batch [12] (was added before|cannot be withdrawn)"):
            study.withdraw(batch)
    study.add(from_rows([("e", 3)]))
    with pytest.raises(StudyError, match="the latest is batch 3"):
        study.withdraw(2)
    study.withdraw(3)
    study.publish(3)
    assert set().union(*nodes_of(study)) == {"a", "b", "c", "d"}


def test_steps_without_any_record_are_published_all_the_same(root: Path) -> None:
    study = begun(root)
    assert study.publish(1).steps == [0, 1]
    study.add(from_rows([("a", 3)]))
    study.publish(3)
    assert nodes_of(study) == [set(), set(), set(), {"a"}]
    assert len(totals(study, "edges")) == 4


def test_nodes_from_before_the_first_step_count_into_it(root: Path) -> None:
    study = begun(root)
    added = study.add(from_rows([("a", -7), ("b", 0)]))
    assert added.findings.intake.folded_nodes == 1
    study.publish()
    study.add(from_rows([("old", -7)]))
    study.publish()
    assert nodes_of(study) == [{"a", "b"}, {"old"}]


def directed(root: Path, *, oriented: bool) -> StoredStudy:
    bound = {"inward": 4, "outward": 4, "oriented": oriented, "justification": "x"}
    series = [{"name": "edges", "statistic": "edges", "epsilon": "1", "mechanism": "sensdiff"}]
    return begun(root, directed=True, bound=bound, series=series)


def test_a_directed_study_tells_an_edge_from_its_reverse(root: Path) -> None:
    study = directed(root, oriented=False)
    study.add(from_rows([("a", 0), ("b", 1)], [("b", "a"), ("b", "a")]))
    study.publish(1)
    study.add(from_rows([], [("a", "b"), ("b", "a")]))
    study.publish(3)
    assert edges_of(study) == [set(), {("b", "a")}, {("a", "b")}, set()]
    assert totals(study, "edges") == [[0], [1], [2], [2]]


@pytest.mark.parametrize("sealed", [False, True])
def test_an_oriented_study_refuses_the_reverse_of_an_edge(root: Path, sealed: bool) -> None:
    study = directed(root, oriented=True)
    study.add(from_rows([("a", 0), ("b", 1), ("c", 1)], [("a", "b")]))
    if sealed:
        study.publish(1)
    rows = len(study.ledger().rows)
    with pytest.raises(InputError, match=r"the edges, row 1, column 'target'.*oriented"):
        study.add(from_rows([], [("a", "c"), ("b", "a")]), AddOptions(strict=True))
    assert len(study.ledger().rows) == rows
    study.add(from_rows([], [("a", "b"), ("c", "b")]))
    study.publish(3)
    assert totals(study, "edges")[-1] == [2]


def test_a_dry_run_tells_the_same_and_changes_nothing(root: Path) -> None:
    study = begun(root)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    tried = study.add(from_rows([("a", 0), ("b", 0)], [("a", "b")]), AddOptions(dry_run=True))
    assert (tried.batch, tried.findings.intake.edges_added) == (None, 1)
    after = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert after == before


def test_places_point_into_the_file_that_was_given(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 0)]))
    records = from_rows([("b", 0)], [("a", "b"), ("a", "nobody")])
    named = replace(records, edges=replace(records.edges, source="links.csv", first_row=2))
    with pytest.raises(InputError, match=r"links\.csv, row 3, column 'target'"):
        study.add(named, AddOptions(strict=True))


@pytest.mark.parametrize("times", [(0, 1), (1, 0), (1, 2), (3, 0)])
def test_of_two_times_of_a_new_node_the_earlier_counts_also_where_it_is_late(
    root: Path, times: tuple[int, int]
) -> None:
    study = begun(root)
    study.publish(1)
    rows = from_rows([("a", times[0]), ("b", 0), ("a", times[1])])
    with pytest.raises(InputError, match=r"the nodes, row [02], column 'time'.*an earlier time"):
        study.add(rows, AddOptions(strict=True))
    found = study.add(rows, AddOptions(yes=True)).findings
    assert [len(each) for each in found.skipped] == [1]
    again = study.add(from_rows([("a", min(times)), ("b", 0)])).findings
    assert (again.intake.known_nodes, again.intake.redated_nodes) == (2, 0)


def test_of_several_other_dates_the_earliest_is_told(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("a", 1)]))
    for rows in ([("a", 3), ("a", 2)], [("a", 2), ("a", 3)]):
        found = study.add(from_rows(rows)).findings
        assert found.details.rows() == [("re-dated", "a", "1", "2")]
        assert found.intake.redated_nodes == 1


def test_the_reverse_of_a_waiting_edge_is_refused_by_its_own_row(root: Path) -> None:
    study = directed(root, oriented=True)
    study.add(from_rows([(person, 0) for person in "abc"], [("a", "b", 2), ("c", "a", 3)]))
    with pytest.raises(InputError, match=r"the edges, row 1, column 'target'.*oriented"):
        study.add(
            from_rows([], [("c", "b", 1), ("b", "a", 3), ("a", "c", 1)]), AddOptions(strict=True)
        )


def test_a_later_sequence_of_a_known_person_is_not_redated(root: Path) -> None:
    study = begun(root, records={"person_separator": "|"})
    study.add(from_rows([("a|1", 1)]))
    study.publish(1)
    later = study.add(from_rows([("a|2", 3)])).findings
    assert (later.intake.known_nodes, later.intake.redated_nodes) == (1, 0)
    earlier = study.add(from_rows([("a|3", 0)])).findings
    assert earlier.details.rows() == [("re-dated", "a", "1", "0")]
    rerun = study.add(from_rows([("a|2", 3)]), AddOptions(complete=True)).findings
    assert rerun.details.rows() == [("re-dated", "a", "1", "3")]


def test_a_late_record_is_told_once(root: Path) -> None:
    study = begun(root)
    study.publish(1)
    assert study.add(from_rows([("late", 0), ("late", 0)])).findings.intake.late_nodes == 1
    assert study.add(from_rows([("late", 0)])).findings.intake.late_nodes == 0


def test_ids_that_look_alike_are_reported_also_over_batches(root: Path) -> None:
    study = begun(root)
    study.add(from_rows([("Ann", 0), ("bob", 0), ("Zo\u00eb", 0)]))
    found = study.add(from_rows([("ann", 0), ("Zoe\u0308", 0), ("dan", 0)])).findings
    assert (found.intake.nodes_added, found.intake.known_nodes) == (2, 1)
    assert (found.intake.respelled_ids, found.alike_ids) == (1, 1)
    assert "1 id looking like another one, as Ann and ann: different people" in found.lines()
