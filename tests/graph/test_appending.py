"""Appending to what is sealed and to what waits: one report, and each node as it first stated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.errors import InputError
from graphveil.graph.intake import links
from graphveil.graph.intake.appending import append
from graphveil.graph.intake.resolving import Resolved, resolve
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import UNSTATED, GraphSequence
from graphveil.records import from_arrays, from_rows

STEPS = Calendar.every(1, first=0)
SEALED = 2  # steps
PEOPLE = "abcdef"
TIMES = st.none() | st.integers(0, 4)
Stated = dict[str, int | None]
Link = tuple[str, str, int | None]


def resolved(nodes: list[Any], edges: list[Any]) -> Resolved:
    return resolve(from_rows(nodes, edges), STEPS, RecordRules(undated="first"))


def edge(source: str, target: str, *, directed: bool) -> tuple[str, ...]:
    return (source, target) if directed else tuple(sorted((source, target)))


@st.composite
def lives(draw: st.DrawFn) -> tuple[bool, list[tuple[Stated, list[Link]]], list[Any], list[Link]]:
    """What is sealed, what waits, and a batch that repeats itself and both of them."""
    directed = draw(st.booleans())
    stated = draw(st.dictionaries(st.sampled_from(PEOPLE), TIMES, min_size=1))
    who = draw(st.lists(st.sampled_from(["sealed", "waiting", "new"]), min_size=6, max_size=6))
    part = dict(zip(PEOPLE, who, strict=True))
    seen: set[tuple[str, ...]] = set()
    before: list[tuple[Stated, list[Link]]] = []
    people: list[str] = []
    for name in ("sealed", "waiting"):
        here = {person: step for person, step in stated.items() if part[person] == name}
        if name == "sealed":
            here = {person: min(step or 0, SEALED - 1) for person, step in here.items()}
            stated |= here
        people += here
        links = draw(_links(people, TIMES if name == "waiting" else st.none()))
        links = [link for link in links if edge(*link[:2], directed=directed) not in seen]
        seen |= {edge(*link[:2], directed=directed) for link in links}
        before.append((here, links))
    rows = draw(st.lists(st.sampled_from(sorted(stated)), max_size=9))
    everybody = sorted({*people, *rows})
    return directed, before, [(row, stated[row]) for row in rows], draw(_links(everybody, TIMES))


def _links(people: list[str], times: st.SearchStrategy[int | None]) -> st.SearchStrategy[Any]:
    ends = st.sampled_from(people) if people else st.nothing()
    return st.lists(st.tuples(ends, ends, times), max_size=8 if people else 0)


def begun(directed: bool, sealed: tuple[Stated, list[Link]]) -> GraphSequence:
    empty = GraphSequence.begin(STEPS, directed=directed)
    batch = resolved(list(sealed[0].items()), sealed[1])
    return append(empty, batch, late="refuse", upto=SEALED - 1).sequence


@given(lives())
def test_every_row_is_new_or_known_or_a_repetition(life: Any) -> None:
    directed, (sealed, waiting), nodes, edges = life
    sequence = begun(directed, sealed)
    pending = resolved(list(waiting[0].items()), waiting[1])
    report = append(sequence, resolved(nodes, edges), late="join", waiting=pending).report

    known, given_nodes = {**sealed[0], **waiting[0]}, {person for person, _ in nodes}
    assert report.nodes_added == len(given_nodes - known.keys())
    assert report.known_nodes == len(given_nodes & known.keys())
    assert report.redated_nodes == 0
    assert report.undated_nodes == len(
        {person for person, step in nodes if step is None} - known.keys()
    )

    proper = [link for link in edges if link[0] != link[1]]
    mentioned = {edge(*link[:2], directed=directed) for link in proper}
    there = {
        edge(*link[:2], directed=directed)
        for link in (*sealed[1], *waiting[1])
        if link[0] != link[1]
    }
    assert report.edges_added == len(mentioned - there)
    assert report.known_edges == len(mentioned & there)
    assert report.self_links == len(edges) - len(proper)

    assert len(nodes) == report.nodes_added + report.known_nodes + report.repeated_nodes
    assert len(edges) == (
        report.edges_added + report.known_edges + report.repeated_edges + report.self_links
    )


@given(lives())
def test_what_waits_arrives_as_if_it_came_with_the_batch(life: Any) -> None:
    directed, (sealed, waiting), nodes, edges = life
    sequence = begun(directed, sealed)
    pending = resolved(list(waiting[0].items()), waiting[1])
    one = append(sequence, resolved(nodes, edges), late="join", waiting=pending).sequence
    together = resolved([*waiting[0].items(), *nodes], [*waiting[1], *edges])
    other = append(sequence, together, late="join").sequence
    assert one.ids.to_list() == other.ids.to_list()
    assert one.edges == other.edges
    for column in ("stated", "node_offsets", "offsets", "entries"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist(), column
    for column in ("offsets", "newer", "entries"):
        assert getattr(one.late, column).tolist() == getattr(other.late, column).tolist(), column


TRUNK = GraphSequence.begin(STEPS).extend(from_rows([("a", 0)]), upto=1).sequence


@pytest.mark.parametrize("names", [("b", "c", "d"), (1, 2, 3)])
def test_a_sequence_holds_the_steps_that_records_stated(names: tuple[Any, ...]) -> None:
    late, undated, prompt = names
    rows = from_rows([(prompt, 3), (late, 0), (undated, None)])
    grown = TRUNK.extend(rows, undated="first", late="join").sequence
    stated = dict(zip(map(str, grown.ids), grown.stated.tolist(), strict=True))
    assert stated == {"a": 0, str(late): 0, str(undated): UNSTATED, str(prompt): 3}
    assert grown.until(2).stated.tolist() == [0]


def test_a_late_record_that_comes_again_unchanged_is_known_and_not_redated() -> None:
    grown = TRUNK.extend(from_rows([("late", 1)]), late="join").sequence
    again = grown.extend(from_rows([("late", 1)]), late="join").report
    assert (again.known_nodes, again.redated_nodes, again.late_nodes) == (1, 0, 0)
    other = grown.extend(from_rows([("late", 0), ("late", 0)]), late="join").report
    assert (other.known_nodes, other.redated_nodes, other.repeated_nodes) == (1, 1, 1)


def test_a_date_for_an_undated_node_is_welcome_where_it_changes_nothing() -> None:
    grown = TRUNK.extend(from_rows([("b", None)]), undated="first").sequence
    assert grown.extend(from_rows([("b", 2)])).report.known_nodes == 1
    with pytest.raises(InputError, match="different step"):
        grown.extend(from_rows([("b", 3)]))


def test_only_an_earlier_date_redates_where_persons_grow() -> None:
    waiting = resolved([("b", 3)], [])
    for step, times in ((4, 0), (2, 1)):
        batch = resolved([("b", step)], [])
        report = append(TRUNK, batch, late="join", waiting=waiting, only_earlier=True).report
        assert report.redated_nodes == times
        assert append(TRUNK, batch, late="join", waiting=waiting).report.redated_nodes == 1


def test_an_edge_that_waits_is_told_as_late_once() -> None:
    trunk = GraphSequence.begin(STEPS).extend(from_rows([("a", 0), ("b", 0)]), upto=1).sequence
    batch = resolved([], [("a", "b", 0), ("b", "a", None)])
    assert append(trunk, batch, late="join").report.late_edges == 1
    late, later = resolved([], [("a", "b", 1)]), resolved([], [("a", "b", 4)])
    assert append(trunk, batch, late="join", waiting=late).report.late_edges == 0
    assert append(trunk, batch, late="join", waiting=later).report.late_edges == 1


@pytest.mark.parametrize("rows", [[("b", None), ("b", 2)], [("b", 2), ("b", None)]])
def test_a_row_without_a_time_gives_way_to_one_with_a_time(rows: list[Any]) -> None:
    assert TRUNK.extend(from_rows(rows)).sequence.stated.tolist() == [0, 2]


def test_late_rows_that_disagree_are_refused_by_their_place() -> None:
    rows = from_rows([("b", 0), ("c", 2), ("b", 1)])
    with pytest.raises(InputError, match=r"the nodes, row 2, column 'time'.*an earlier time"):
        TRUNK.extend(rows, late="join")


@pytest.mark.parametrize("directed", [False, True])
def test_however_rows_are_shared_among_threads_the_lists_are_the_same(
    directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        people, rows = int(rng.integers(1, 40)), int(rng.integers(0, 200))
        ends = rng.integers(0, people, (2, rows))  # repeated rows and self-links among them
        records = from_arrays(np.arange(people), rng.integers(1, 4, people), *ends)
        begun = GraphSequence.begin(Calendar.every(1, 1), directed=directed)
        monkeypatch.setattr(links, "_WORTH_A_THREAD", 1 << 14)
        expected, said = begun.extend(records)
        monkeypatch.setattr(links, "_WORTH_A_THREAD", 1)
        monkeypatch.setattr(links, "available_threads", lambda: 5)
        found, again = begun.extend(records)
        assert found.entries.tolist() == expected.entries.tolist()
        assert found.offsets.tolist() == expected.offsets.tolist()
        assert again == said
        monkeypatch.setattr(links, "_MOST_SMALL", 0)  # as if places needed 64 bits
        assert begun.extend(records)[0].entries.tolist() == expected.entries.tolist()
        monkeypatch.undo()
        pairs = {(max(a, b), min(a, b)) for a, b in ends.T.tolist() if a != b}
        assert len(found.entries) == len(pairs)
