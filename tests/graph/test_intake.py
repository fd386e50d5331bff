"""Intake against a plain model of what a growing graph is."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError, ParameterError, PastStepError
from graphveil.graph.sequence import BACKWARD, FORWARD, GraphSequence
from graphveil.records import from_rows

STEPS = Calendar.every(1, first=0)
Rows = list[tuple[Any, ...]]
Content = tuple[dict[str, int], dict[tuple[str, str], int]]


def content(sequence: GraphSequence) -> Content:
    """What a sequence holds: the step of every node and of every edge."""
    ids = [str(node) for node in sequence.ids]
    steps = [s for s in range(sequence.steps) for _ in range(*sequence.node_offsets[s : s + 2])]
    edges: dict[tuple[str, str], int] = {}

    def enter(newer: int, entry: int, step: int) -> None:
        older = entry >> 2
        if entry & FORWARD:
            edges[ids[older], ids[newer]] = step
        if entry & BACKWARD:
            edges[ids[newer], ids[older]] = step

    for newer in range(sequence.nodes):
        for entry in sequence.entries[sequence.offsets[newer] : sequence.offsets[newer + 1]]:
            enter(newer, int(entry), steps[newer])
    late = sequence.late
    for step in range(sequence.steps):
        for i in range(*late.offsets[step : step + 2]):
            enter(int(late.newer[i]), int(late.entries[i]), step)
    return dict(zip(ids, steps, strict=True)), edges


def expected(nodes: Rows, edges: Rows, *, directed: bool) -> Content:
    """The model: an edge appears at the latest of its own and its endpoints' steps."""
    arrival = {str(node): time for node, time in nodes}
    appears: dict[tuple[str, str], int] = {}
    for source, target, *own in edges:
        u, v = str(source), str(target)
        if u == v:
            continue
        step = max(arrival[u], arrival[v], *[time for time in own if time is not None])
        for pair in [(u, v)] if directed else [(u, v), (v, u)]:
            appears[pair] = min(step, appears.get(pair, step))
    return arrival, appears


@st.composite
def growing_graphs(draw: st.DrawFn, *, own_times: bool | None = None) -> tuple[Rows, Rows]:
    count = draw(st.integers(1, 8))
    text = draw(st.booleans())
    names: list[Any] = [f"p{i}" if text else 7 * i - 9 for i in range(count)]
    nodes = [(name, draw(st.integers(0, 4))) for name in names]
    with_times = draw(st.booleans()) if own_times is None else own_times
    times = st.none() | st.integers(0, 6) if with_times else st.none()
    row = st.tuples(st.sampled_from(names), st.sampled_from(names), times)
    return nodes, draw(st.lists(row, max_size=25))


def begin(*, directed: bool = False, oriented: bool = False) -> GraphSequence:
    return GraphSequence.begin(STEPS, directed=directed, oriented=oriented)


@given(growing_graphs(), st.booleans())
def test_intake_agrees_with_the_model(graph: tuple[Rows, Rows], directed: bool) -> None:
    nodes, edges = graph
    sequence, report = begin(directed=directed).extend(from_rows(nodes, edges))
    arrival, appears = expected(nodes, edges, directed=directed)
    assert content(sequence) == (arrival, appears)
    assert report.nodes_added == len(arrival)
    assert report.edges_added == (len(appears) if directed else len(appears) // 2)
    assert report.self_links == sum(1 for row in edges if row[0] == row[1])
    assert report.edges_added + report.repeated_edges + report.self_links == len(edges)


@given(growing_graphs(), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(
    graph: tuple[Rows, Rows], directed: bool, chance: random.Random
) -> None:
    nodes, edges = graph
    first = begin(directed=directed).extend(from_rows(nodes, edges)).sequence
    chance.shuffle(nodes)
    chance.shuffle(edges)
    other = begin(directed=directed).extend(from_rows(nodes, edges)).sequence
    assert_same_columns(first, other)


def assert_same_columns(one: GraphSequence, other: GraphSequence) -> None:
    assert [str(x) for x in one.ids] == [str(x) for x in other.ids]
    for column in ("node_offsets", "offsets", "entries"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
    for column in ("offsets", "newer", "entries"):
        assert getattr(one.late, column).tolist() == getattr(other.late, column).tolist()


@given(growing_graphs(), st.booleans())
def test_batch_by_batch_equals_all_at_once(graph: tuple[Rows, Rows], directed: bool) -> None:
    nodes, edges = graph
    whole = begin(directed=directed).extend(from_rows(nodes, edges)).sequence
    arrival = {str(node): time for node, time in nodes}
    grown, snapshots = begin(directed=directed), []
    for step in range(whole.steps):
        batch_nodes = [row for row in nodes if row[1] == step]
        batch_edges = [row for row in edges if _appears(row, arrival) == step]
        grown = grown.extend(from_rows(batch_nodes, batch_edges), upto=step).sequence
        snapshots.append((grown, content(grown)))
    assert_same_columns(grown, whole)
    for step, (snapshot, then) in enumerate(snapshots):
        assert content(snapshot) == then, "an older value changed"
        assert content(whole.until(step + 1)) == then


def _appears(row: tuple[Any, ...], arrival: dict[str, int]) -> int:
    own = row[2] if row[2] is not None else 0
    return max(arrival[str(row[0])], arrival[str(row[1])], own)


@given(growing_graphs())
def test_repeating_a_batch_adds_nothing(graph: tuple[Rows, Rows]) -> None:
    nodes, edges = graph
    once = begin().extend(from_rows(nodes, edges)).sequence
    twice, report = once.extend(from_rows(nodes, edges))
    assert_same_columns(twice, once)
    assert (report.nodes_added, report.edges_added) == (0, 0)
    assert (report.known_nodes, report.repeated_nodes) == (len(nodes), 0)


@given(growing_graphs())
def test_dropping_directions_merges_pairs(graph: tuple[Rows, Rows]) -> None:
    nodes, edges = graph
    directed = begin(directed=True).extend(from_rows(nodes, edges)).sequence
    assert content(directed.undirected()) == expected(nodes, edges, directed=False)


def test_two_branches_from_one_sequence_do_not_disturb_each_other() -> None:
    trunk = begin().extend(from_rows([(i, 0) for i in range(5)], [(0, 1)])).sequence
    left = trunk.extend(from_rows([(10, 1)], [(10, 0)])).sequence
    right = trunk.extend(from_rows([(11, 1), (12, 1)], [(11, 2), (12, 3)])).sequence
    assert content(left)[0].keys() == {"0", "1", "2", "3", "4", "10"}
    assert content(right)[1].keys() == {
        *[("0", "1"), ("1", "0"), ("2", "11"), ("11", "2"), ("3", "12"), ("12", "3")]
    }


def test_numbers_and_their_text_are_one_person_but_leading_zeros_are_not() -> None:
    trunk = begin().extend(from_rows([(7, 0), (8, 0)], [(7, 8)])).sequence
    grown, report = trunk.extend(from_rows([(" 7 ", 0), ("07", 1)], [("07", "7")]))
    assert report.nodes_added == 1
    assert report.trimmed_ids == 1
    assert content(grown)[1].keys() == {("7", "8"), ("8", "7"), ("07", "7"), ("7", "07")}


@given(st.lists(st.integers(-5, 120), unique=True, min_size=1, max_size=12), st.booleans())
@settings(max_examples=50)
def test_labels_do_not_depend_on_which_other_ids_exist(numbers: list[int], text: bool) -> None:
    """A column of text sorts numbers as a column of numbers does, and other text behind."""
    strangers = ["x1", "009", "a"] if text else []
    nodes = [(n, 0) for n in [*strangers, *numbers]]
    sequence = begin().extend(from_rows(nodes)).sequence
    assert [str(x) for x in sequence.ids] == [*map(str, sorted(numbers)), *sorted(strangers)]


def test_untidy_records_are_merged_by_rule_and_counted() -> None:
    nodes = [("a", -3), ("b", 0), ("b", 0), (" c", 2)]
    edges = [("a", "b"), ("b", "a"), ("a", "a"), ("c", "a", 0), ("c ", "b", 5)]
    sequence, report = begin().extend(from_rows(nodes, edges))
    assert (report.folded_nodes, report.repeated_nodes, report.trimmed_ids) == (1, 1, 2)
    assert (report.repeated_edges, report.self_links, report.raised_edges) == (1, 1, 1)
    assert report.edges_added == 3
    assert content(sequence)[1]["c", "a"] == 2
    assert content(sequence)[1]["c", "b"] == 5
    assert any("left out" in line for line in report.lines())


def test_undated_nodes_join_the_first_open_step_if_the_rule_says_so() -> None:
    sequence, report = begin().extend(from_rows([("a", None), ("b", 1)]), undated="first")
    assert content(sequence)[0] == {"a": 0, "b": 1}
    assert report.undated_nodes == 1


def test_late_records_join_the_open_step_if_the_rule_says_so() -> None:
    trunk = begin().extend(from_rows([("a", 0), ("b", 1)])).sequence
    rows = from_rows([("a", 1), ("c", 0), ("d", 2)], [("a", "b"), ("c", "d"), ("a", "c", 1)])
    grown, report = trunk.extend(rows, late="join")
    assert content(grown)[0] == {"a": 0, "b": 1, "c": 2, "d": 2}
    assert content(grown)[1]["a", "b"] == 2
    assert (report.late_nodes, report.redated_nodes, report.late_edges) == (1, 1, 1)


NODES: Rows = [("a", 0), ("b", 1), ("c", 1)]


@pytest.mark.parametrize(
    ("nodes", "edges", "where"),
    [
        (NODES, [("a", "nobody")], "the edges, row 0, column 'target'"),
        (NODES, [("a", "b"), ("nobody", "b")], "the edges, row 1, column 'source'"),
        (NODES, [("a", None)], "the edges, row 0, column 'target'"),
        (NODES, [("a", "b", "soon")], "the edges, row 0, column 'time'"),
        ([*NODES, ("d", None)], [], "the nodes, row 3, column 'time'"),
        ([*NODES, ("d", "soon")], [], "the nodes, row 3, column 'time'"),
        ([*NODES, ("d", 2**70)], [], "the nodes, row 3, column 'time'"),
        ([*NODES, ("", 1)], [], "the nodes, row 3, column 'node'"),
        ([*NODES, ("  ", 1)], [], "the nodes, row 3, column 'node'"),
        ([*NODES, (None, 1)], [], "the nodes, row 3, column 'node'"),
        ([*NODES, ("a", 2)], [], "the nodes, row 3, column 'time'"),
        ([*NODES, ("d",)], [], "the nodes, row 3"),
        (NODES, ["ab"], "the edges, row 0"),
    ],
)
def test_bad_records_are_refused_with_their_place(nodes: Rows, edges: Rows, where: str) -> None:
    sequence = begin()
    with pytest.raises(InputError) as refusal:
        sequence.extend(from_rows(nodes, edges))
    assert where in str(refusal.value)
    assert "nobody" not in str(refusal.value)


def test_integers_beyond_64_bits_are_ids_like_any_other() -> None:
    big = 2**64 + 1
    sequence = begin().extend(from_rows([(big, 0), (big + 1, 0)], [(big, big + 1)])).sequence
    assert content(sequence)[1].keys() == {(str(big), str(big + 1)), (str(big + 1), str(big))}


@pytest.mark.parametrize(
    "edges",
    [
        [("a", "b"), ("b", "a")],
        [("a", "b"), ("b", "a", 4)],
        [("a", "b", 3), ("b", "a", 4)],
        [("a", "b", 3), ("b", "a", 3)],
    ],
)
def test_oriented_sequences_refuse_reciprocal_edges(edges: Rows) -> None:
    with pytest.raises(InputError, match="declared oriented"):
        begin(directed=True, oriented=True).extend(from_rows(NODES, edges))
    assert begin(directed=True).extend(from_rows(NODES, edges)).report.edges_added == 2


def test_oriented_sequences_refuse_reciprocal_edges_across_batches() -> None:
    trunk = begin(directed=True, oriented=True).extend(from_rows(NODES, [("a", "b")])).sequence
    with pytest.raises(InputError, match="declared oriented"):
        trunk.extend(from_rows([("d", 2)], [("b", "a", 2)]))


def test_closed_steps_are_closed() -> None:
    trunk = begin().extend(from_rows(NODES, [("a", "b")]), upto=3).sequence
    before = content(trunk)
    with pytest.raises(PastStepError, match=r"the nodes, row 0.*first open one is 4"):
        trunk.extend(from_rows([("d", 2)]))
    with pytest.raises(PastStepError, match="the edges, row 0"):
        trunk.extend(from_rows([("d", 4)], [("a", "c")]))
    with pytest.raises(InputError, match="different step"):
        trunk.extend(from_rows([("a", 4)]))
    assert content(trunk) == before


def test_records_behind_the_last_step_to_close_are_refused() -> None:
    with pytest.raises(InputError, match="after 1"):
        begin().extend(from_rows([("a", 2)]), upto=1)


def test_only_directed_sequences_can_be_oriented() -> None:
    with pytest.raises(ParameterError, match="directed"):
        GraphSequence.begin(STEPS, oriented=True)


def test_empty_batches_are_batches() -> None:
    sequence, report = begin().extend(from_rows([]), upto=4)
    assert (sequence.steps, sequence.nodes) == (5, 0)
    assert report.nodes_added == 0
