"""Rows that break a rule are left out one by one, and nobody's rows decide about another's."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graphveil.calendar.calendar import Calendar
from graphveil.graph.groups import NO_GROUPS, Groups, column_of
from graphveil.graph.intake.appending import Filtered, Intake, append, filtered
from graphveil.graph.intake.arrivals import Present, known_nodes, steps_of_labels
from graphveil.graph.intake.records import Records, Table
from graphveil.graph.intake.resolving import Resolved, dated_only, resolve, until_end
from graphveil.graph.intake.rules import RecordRules
from graphveil.graph.sequence import BACKWARD, BOTH, FORWARD, GraphSequence
from graphveil.records import from_rows
from tries import tries

CALENDAR = Calendar.from_dict({"every": 1, "unit": "number", "first": 0, "last": 3})
GROUPS = Groups.of(["region=North|South", "age=0,25"])
CELLS: dict[str, list[str | None]] = {
    "region": ["South", "north ", None, "Mars"],
    "age": ["7", "25.0", ""],
}
BAD_TIMES = ("soon", "1e3", 4, 99, 2**70, 0.5)
Row = tuple[Any, ...]


@dataclass(frozen=True)
class World:
    """What is sealed and what waits, both of which are sound, and the rules of the study.

    And whether records of after the end, or of people without a date, are left aside, and whether
    people have labels.
    """

    sealed_people: tuple[str, ...]
    sealed_links: tuple[Row, ...]
    waiting_people: tuple[Row, ...]
    waiting_links: tuple[Row, ...]
    oriented: bool
    rules: RecordRules
    ignores_after_end: bool = False
    drops_undated: bool = False
    groups: Groups = NO_GROUPS

    def without(self, gone: str) -> World:
        """The same if one person had never been there."""
        return replace(
            self,
            sealed_people=tuple(person for person in self.sealed_people if person != gone),
            sealed_links=tuple(link for link in self.sealed_links if gone not in link),
            waiting_people=tuple(row for row in self.waiting_people if row[0] != gone),
            waiting_links=tuple(link for link in self.waiting_links if gone not in link),
        )

    def take(self, nodes: list[Row], edges: list[Row]) -> Filtered[tuple[Resolved, Intake]]:
        """Sift a batch as a study does; the number of a row is what its place says."""
        sealed = GraphSequence.begin(CALENDAR, directed=True, oriented=self.oriented)
        if self.groups:
            sealed = replace(sealed, strata=np.empty(0, np.int32))
        people = from_rows([(person, 0) for person in self.sealed_people], self.sealed_links)
        first = resolve(self.labelled(people), CALENDAR, self.rules, groups=self.groups)
        sealed = append(sealed, first, late="refuse", upto=0).sequence
        waiting = self.waiting()

        def taken(records: Records) -> tuple[Resolved, Intake]:
            rules = RecordRules(undated="first") if self.drops_undated else self.rules
            beyond, groups = self.ignores_after_end, self.groups
            given_rows = resolve(records, CALENDAR, rules, beyond=beyond, groups=groups)
            if self.drops_undated:
                given_rows = dated_only(given_rows, is_known)
            if self.ignores_after_end:
                given_rows = until_end(given_rows, CALENDAR.last_step, is_known)
            return given_rows, append(sealed, given_rows, late="join", waiting=waiting)

        def is_known(ids: pl.Series) -> NDArray[np.bool_]:
            return known_nodes(Present.of(sealed), waiting.nodes, ids).rows

        return filtered(self.labelled(numbered(nodes, edges)), taken)

    def waiting(self) -> Resolved:
        """What waits."""
        known = from_rows(self.waiting_people, self.waiting_links)
        return resolve(self.labelled(known), CALENDAR, self.rules, groups=self.groups)

    def labelled(self, records: Records) -> Records:
        """The records with labels that go by the numbers of rows, if people have any."""
        numbers = records.nodes.row_numbers().tolist()
        labels = [
            pl.Series(
                column_of(each.name),
                [CELLS[each.name][n % len(CELLS[each.name])] for n in numbers],
                dtype=pl.String,
            )
            for each in self.groups.members
        ]
        frame = records.nodes.frame.with_columns(labels)
        return replace(records, nodes=replace(records.nodes, frame=frame))


def numbered(nodes: list[Row], edges: list[Row]) -> Records:
    """Rows (number, node, time) and (number, source, target, time), in two pieces each."""
    records = from_rows([row[1:] for row in nodes], [row[1:] for row in edges])
    return Records(_placed(records.nodes, nodes), _placed(records.edges, edges))


def _placed(table: Table, rows: list[Row]) -> Table:
    numbers = np.array([row[0] for row in rows], np.int64)
    half = len(rows) // 2
    pieces = (slice(half), slice(half, None))
    return Table.joined(
        [Table(table.frame[each], table.source, numbers=numbers[each]) for each in pieces]
    )


def bare(name: Any) -> str:
    """The person that an id means."""
    return "" if name is None else str(name).strip()


def plainly_bad(world: World, nodes: list[Row], edges: list[Row]) -> tuple[set[int], set[int]]:
    """Which rows break a rule, by the book: loops, and no more than that."""
    known = {*world.sealed_people, *(row[0] for row in world.waiting_people)}
    linked = {link[:2] for link in (*world.sealed_links, *world.waiting_links)}
    readable = [row for row in nodes if bare(row[1]) and row[2] not in BAD_TIMES]
    dates: dict[str, set[int]] = {}
    for _, name, time in readable:
        dates.setdefault(bare(name), set()).update([] if time is None else [time])
    refused = world.rules.undated == "refuse"
    good = {
        number
        for number, name, time in readable
        if (who := bare(name))
        and (dates[who] or not refused)
        and (who in known or time is None or time == min(dates[who]))
    }
    there = known | {bare(name) for number, name, _ in nodes if number in good}
    possible = [
        row for row in edges if {bare(row[1]), bare(row[2])} <= there and row[3] not in BAD_TIMES
    ]
    pairs = {(bare(row[1]), bare(row[2])) for row in possible}
    kept = set()
    for number, source, target, _ in possible:
        pair = bare(source), bare(target)
        against = pair[::-1] in pairs | linked and pair not in linked and pair[0] != pair[1]
        if not (world.oriented and against):
            kept.add(number)
    return {row[0] for row in nodes} - good, {row[0] for row in edges} - kept


def skipped(found: Filtered[Any], kind: str) -> Counter[tuple[int, str]]:
    """The numbers of the rows that were left out, each with the reason."""
    return Counter(
        (int(each.table.place(row, "node").row or 0), each.rule)
        for each in found.left_out
        if each.kind == kind
        for row in range(len(each))
    )


def people_and_links(sequence: GraphSequence) -> tuple[dict[str, tuple[int, int]], set[Row]]:
    """Everybody's step and stated step, and every link with its step."""
    names = [str(name) for name in sequence.ids.to_list()]
    steps = steps_of_labels(sequence.node_offsets, np.arange(len(names), dtype=np.int32))
    people = {
        name: (int(step), int(stated))
        for name, step, stated in zip(names, steps, sequence.stated, strict=True)
    }
    newer = np.repeat(np.arange(len(names)), np.diff(sequence.offsets))
    found = [(int(steps[a]), int(a), int(b)) for a, b in zip(newer, sequence.entries, strict=True)]
    late_steps = np.repeat(np.arange(sequence.steps), np.diff(sequence.late.offsets))
    late = zip(late_steps, sequence.late.newer, sequence.late.entries, strict=True)
    edges: set[Row] = set()
    for step, new, entry in [*found, *((int(a), int(b), int(c)) for a, b, c in late)]:
        old, direction = names[entry >> 2], entry & BOTH
        edges |= {(old, names[new], step)} if direction & FORWARD else set()
        edges |= {(names[new], old, step)} if direction & BACKWARD else set()
    return people, edges


PEOPLE = st.sampled_from(list("abcdefg"))
IDS = st.one_of(PEOPLE, PEOPLE, PEOPLE.map(" {} ".format), st.sampled_from([None, "", "stranger"]))
TIMES = st.one_of(st.integers(0, 3), st.none(), st.sampled_from(BAD_TIMES))
PAIRS = st.sampled_from([(a, b) for a in "abcd" for b in "abcd" if a < b])


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Up to two people are sealed and two wait, some of them linked."""
    sealed = draw(st.sets(st.sampled_from("ab")))
    waiting = draw(st.dictionaries(st.sampled_from("cd"), st.integers(1, 3)))
    pairs = draw(st.sets(PAIRS))
    turned = [pair[::-1] if draw(st.booleans()) else pair for pair in sorted(pairs)]
    inside = [pair for pair in turned if set(pair) <= sealed]
    others = [pair for pair in turned if set(pair) <= sealed | waiting.keys()]
    return World(
        tuple(sorted(sealed)),
        tuple(inside),
        tuple(sorted(waiting.items())),
        tuple(
            (*pair, draw(st.sampled_from([None, 2, 3]))) for pair in others if pair not in inside
        ),
        draw(st.booleans()),
        RecordRules(undated=draw(st.sampled_from(["refuse", "first"]))),
    )


def rows(*cells: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Row]]:
    """Rows with their numbers before them."""
    found = st.lists(st.tuples(*cells), max_size=14)
    return found.map(lambda made: [(number, *row) for number, row in enumerate(made)])


FEW = st.sampled_from(list("abe"))  # of whom one is sealed, waits or is new
NODES = rows(st.one_of(FEW, IDS), st.one_of(st.just(1), TIMES))
EDGES = rows(st.one_of(FEW, FEW, IDS), st.one_of(FEW, FEW, IDS), st.one_of(st.none(), TIMES))


@tries(40)
@given(worlds(), NODES, EDGES)
def test_what_is_left_out_is_what_breaks_a_rule(
    world: World, nodes: list[Row], edges: list[Row]
) -> None:
    found = world.take(nodes, edges)
    bad_nodes, bad_edges = plainly_bad(world, nodes, edges)
    left_nodes, left_edges = skipped(found, "nodes"), skipped(found, "edges")
    assert {number for number, _ in left_nodes} == bad_nodes
    assert {number for number, _ in left_edges} == bad_edges
    report = found.taken[1].report
    taken = report.nodes_added + report.known_nodes + report.repeated_nodes
    assert taken + left_nodes.total() == len(nodes)
    taken = report.edges_added + report.known_edges + report.repeated_edges + report.self_links
    assert taken + left_edges.total() == len(edges)


@tries(60)
@given(
    worlds(), NODES, EDGES, PEOPLE, st.randoms(use_true_random=False), st.booleans(), st.booleans()
)
def test_nobody_decides_about_the_rows_of_another(
    world: World,
    nodes: list[Row],
    edges: list[Row],
    gone: str,
    chance: Any,
    ignores_after_end: bool,
    drops_undated: bool,
) -> None:
    world = replace(world, ignores_after_end=ignores_after_end, drops_undated=drops_undated)
    whole = world.take(nodes, edges)
    others = [row for row in nodes if bare(row[1]) != gone]
    between = [row for row in edges if gone not in (bare(row[1]), bare(row[2]))]
    chance.shuffle(others)
    chance.shuffle(between)
    rest = world.without(gone).take(others, between)
    for kind, left in (("nodes", others), ("edges", between)):
        numbers = {row[0] for row in left}
        mine = Counter({key: n for key, n in skipped(whole, kind).items() if key[0] in numbers})
        assert mine == skipped(rest, kind)
    people, linked = people_and_links(whole.taken[1].sequence)
    people.pop(gone, None)
    assert people_and_links(rest.taken[1].sequence) == (
        people,
        {link for link in linked if gone not in link},
    )


def test_a_known_link_may_be_listed_again_beside_its_reverse() -> None:
    sealed, waiting = ("a", "b"), (("c", 1),)
    world = World(sealed, (("a", "b"),), waiting, (("c", "a"),), True, RecordRules())
    edges = [(0, "a", "b"), (1, "b", "a"), (2, "c", "a"), (3, "a", "c"), (4, "b", "c")]
    found = world.take([], edges)
    assert {number for number, _ in skipped(found, "edges")} == {1, 3}
    assert found.taken[1].report.known_edges == 2


@pytest.mark.parametrize(("ignores", "drops"), [(True, False), (False, True), (True, True)])
def test_rows_are_left_out_where_they_stand_though_others_were_left_aside_before(
    ignores: bool, drops: bool
) -> None:
    """Found from outside: with both, rows of other people were left out instead."""
    world = World((), (), (), (), False, RecordRules(), ignores, drops)
    aside = [(0, "v", 99)] * ignores + [(1, "w", None)] * drops
    nodes = [*aside, (2, "a", 2), (3, "b", 1), (4, "a", 1), (5, "c", 1)]
    gone = [(0, "v", "b", None)] * ignores + [(1, "w", "c", None)] * drops
    edges = [*gone, (2, "b", "c", None), (3, "b", "nobody", None), (4, "c", "b", None)]
    found = world.take(nodes, edges)
    assert {number for number, _ in skipped(found, "nodes")} == {2}
    assert {number for number, _ in skipped(found, "edges")} == {3}
    people, linked = people_and_links(found.taken[1].sequence)
    assert people.keys() == {"a", "b", "c"}
    assert linked == {("b", "c", 1), ("c", "b", 1)}
