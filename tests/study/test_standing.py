"""The witness as a table: how a study stands in every case, and what is remembered when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest

from graphveil.errors import IntegrityError
from graphveil.study.facts import Event
from graphveil.study.ledger import LedgerRow
from graphveil.study.machine import Mark, SeenRow
from graphveil.study.machine import Memory as Remembered
from graphveil.study.witness import (
    Lineage,
    WitnessVerdict,
    advance,
    require,
    verdict_of,
    writing,
)

HERE, THERE = "a" * 16, "b" * 16
OPENED, ADOPTED, HANDED = Event.STUDY_OPENED, Event.STUDY_ADOPTED, Event.STUDY_HANDED_OVER
SEALED, BATCH = Event.STEP_SEALED, Event.REFUSAL


def row(number: int, event: Event, *, to: str = "", told: bool = True, of: str = "") -> LedgerRow:
    private = '{"to": "' + to + '"}'
    public = "{}" if told else None
    return LedgerRow(number, "now", event.value, public, private, "salt", f"row {number}{of}")


@dataclass
class Store:
    """A ledger without a database, which notes when it is committed."""

    rows: list[LedgerRow] = field(default_factory=list)
    at_home: bool | None = None
    witnessed: bool = True
    notes: list[Any] = field(default_factory=list)

    def hash_of(self, number: int) -> str | None:
        return self.rows[number].hash if number < len(self.rows) else None

    def newest(self, *events: Event) -> LedgerRow | None:
        kinds = {event.value for event in events}
        return next((r for r in reversed(self.rows) if not events or r.event in kinds), None)

    def newest_told(self) -> LedgerRow | None:
        return next((r for r in reversed(self.rows) if r.public is not None), None)

    def is_at_home(self) -> bool | None:
        return self.at_home

    def is_witnessed(self) -> bool:
        return self.witnessed

    def settle(self) -> None:
        self.notes.append("settled")

    @contextmanager
    def transaction(self, at: str | None = None) -> Iterator[Store]:
        yield self
        self.notes.append("committed")


@dataclass
class Memory:
    """A machine without files, which notes when it remembers."""

    notes: list[Any] = field(default_factory=list)
    seen: dict[str, Mark] = field(default_factory=dict)
    handing: dict[str, LedgerRow] = field(default_factory=dict)
    copied: frozenset[str] = frozenset()

    def code(self) -> str:
        return HERE

    def known_code(self) -> str:
        return HERE

    def memory(self, study: str) -> Remembered:
        assert study == "row 0"
        return Remembered(dict(self.seen), dict(self.handing), self.copied)

    def remember(
        self, study: str, marks: dict[str, Mark], handing: Mapping[str, LedgerRow] | None
    ) -> None:
        assert study == "row 0"
        self.handing |= handing or {}
        self.notes.append({key: mark for key, mark in marks.items() if self.seen.get(key) != mark})
        self.seen = dict(marks)

    @contextmanager
    def holding(self, study: str) -> Iterator[None]:
        assert study == "row 0"
        self.notes.append("held")
        yield
        self.notes.append("let go")


def as_given(value: object) -> Any:
    return value


def marked(*rows: LedgerRow) -> Mark:
    return Mark(*(SeenRow(each.number, each.hash) for each in rows))


BEGINNINGS = [
    [row(0, OPENED)],
    [row(0, OPENED), row(1, SEALED), row(2, ADOPTED)],
    [row(0, OPENED), row(1, HANDED, to=HERE, told=False)],
    [row(0, OPENED), row(1, HANDED, to=THERE, told=False)],
]
CASES = [
    (beginning, after, at_home, witnessed)
    for beginning, after, at_home, witnessed in product(
        BEGINNINGS, (0, 1), (None, True, False), (True, False)
    )
]


def ledger(beginning: list[LedgerRow], after: int) -> list[LedgerRow]:
    first = len(beginning)
    return [*beginning, *(row(first + n, SEALED) for n in range(after))]


@pytest.mark.parametrize(("beginning", "after", "at_home", "witnessed"), CASES)
def test_at_first_sight_only_a_good_reason_lets_a_study_go_on(
    beginning: list[LedgerRow], after: int, at_home: bool | None, witnessed: bool
) -> None:
    store = Store(ledger(beginning, after), at_home, witnessed)
    handed = beginning[-1].event == HANDED.value
    offered = beginning == BEGINNINGS[2] and not after
    known = witnessed or beginning[-1].event != OPENED.value  # no older version did anything else
    if offered or at_home or not known:
        wanted = WitnessVerdict.NEW
    elif handed:
        wanted = WitnessVerdict.ELSEWHERE
    else:
        wanted = WitnessVerdict.UNKNOWN if at_home is None else WitnessVerdict.MOVED
    assert verdict_of(as_given(Memory()), as_given(store)) is wanted
    if wanted is WitnessVerdict.NEW:
        require(as_given(Memory()), as_given(store))
        return
    with pytest.raises(IntegrityError) as refused:
        require(as_given(Memory()), as_given(store))
    names = {
        WitnessVerdict.ELSEWHERE: {HERE, beginning[-1].secret["to"]},
        WitnessVerdict.UNKNOWN: {HERE},
    }
    assert all(name in str(refused.value) for name in names.get(wanted, {HERE}))


@pytest.mark.parametrize(("beginning", "after", "at_home", "witnessed"), CASES)
def test_what_was_seen_has_to_be_there(
    beginning: list[LedgerRow], after: int, at_home: bool | None, witnessed: bool
) -> None:
    store = Store(ledger(beginning, after), at_home, witnessed)
    begun, newest = beginning[-1], store.rows[-1]
    moved = at_home is False and (witnessed or begun.event != OPENED.value)
    for seen, wanted in (
        (newest, WitnessVerdict.IN_STEP),
        (begun, WitnessVerdict.IN_STEP),
        (row(newest.number + 1, SEALED), WitnessVerdict.BEHIND),
        (row(newest.number, SEALED, of=" of another copy"), WitnessVerdict.FORKED),
    ):
        memory = Memory(
            seen={begun.hash: marked(seen, begun), "another lineage": marked(begun, begun)}
        )
        found = verdict_of(as_given(memory), as_given(store))
        assert found is (WitnessVerdict.MOVED if moved else wanted)
        assert found.may_go_on == (found is WitnessVerdict.IN_STEP)
        if not found.may_go_on:
            with pytest.raises(IntegrityError):
                require(as_given(memory), as_given(store))
            with pytest.raises(IntegrityError):
                advance(as_given(memory), as_given(store))
        assert not memory.notes or found.may_go_on


@pytest.mark.parametrize(("beginning", "after", "at_home", "witnessed"), CASES)
def test_what_only_a_copied_memory_knows_does_not_go_on(
    beginning: list[LedgerRow], after: int, at_home: bool | None, witnessed: bool
) -> None:
    """Except with a server, which knows by itself where it is."""
    store = Store(ledger(beginning, after), at_home, witnessed)
    begun, newest = beginning[-1], store.rows[-1]
    memory = Memory(seen={begun.hash: marked(newest, begun)}, copied=frozenset([begun.hash]))
    found = verdict_of(as_given(memory), as_given(store))
    assert (found is WitnessVerdict.RESTORED) == (at_home is None)
    assert found.may_go_on or at_home is not True
    another = replace(memory, copied=frozenset(["another lineage"]))
    assert verdict_of(as_given(another), as_given(store)) is not WitnessVerdict.RESTORED


def test_a_draft_is_nobodys() -> None:
    assert verdict_of(as_given(Memory()), as_given(Store())) is WitnessVerdict.NEW
    assert Lineage.of(as_given(Store())) is None
    memory = Memory()
    advance(as_given(memory), as_given(Store()))
    assert memory.notes == []


def written(store: Store, added: list[LedgerRow], seen: dict[str, Mark], **given: Any) -> list[Any]:
    """What happens, in order, while rows are added to a study."""
    memory = Memory(store.notes, dict(seen))
    with writing(as_given(memory), as_given(store), **given) as transaction:
        as_given(transaction).rows.extend(added)
    return store.notes


FIRST, STEP = row(0, OPENED), row(1, SEALED)
QUIET = row(1, BATCH, told=False)


def test_a_beginning_is_remembered_before_it_is_committed() -> None:
    assert written(Store(), [FIRST], {}) == [{"row 0": marked(FIRST, FIRST)}, "committed"]


@pytest.mark.parametrize(("added", "told"), [(STEP, STEP), (QUIET, FIRST)])
def test_what_goes_on_is_remembered_once_it_is_committed(added: LedgerRow, told: LedgerRow) -> None:
    """While the study is held, so that of two copies the second is behind."""
    happened = written(Store([FIRST]), [added], {"row 0": marked(FIRST, FIRST)})
    assert happened == ["held", "committed", {"row 0": marked(added, told)}, "let go"]


def test_where_nothing_was_added_nothing_is_remembered() -> None:
    happened = written(Store([FIRST]), [], {"row 0": marked(FIRST, FIRST)})
    assert happened == ["held", "committed", "let go"]


def test_a_study_is_known_before_anything_is_entered() -> None:
    store = Store([FIRST], at_home=True)
    assert written(store, [STEP], {}) == [
        "held",
        {"row 0": marked(FIRST, FIRST)},
        "settled",
        "committed",
        {"row 0": marked(STEP, STEP)},
        "let go",
    ]


def test_one_that_was_not_witnessed_is_from_now_on() -> None:
    store = Store([FIRST], witnessed=False)
    happened = written(store, [], {"row 0": marked(FIRST, FIRST)})
    assert happened == ["held", "settled", "committed", "let go"]


def test_handing_over_closes_the_lineage_before_it_is_committed() -> None:
    handed = row(1, HANDED, to=THERE, told=False)
    happened = written(Store([FIRST]), [handed], {"row 0": marked(FIRST, FIRST)})
    assert happened == ["held", {"row 0": marked(handed, FIRST)}, "committed", "let go"]


def test_an_adoption_begins_a_lineage_before_it_is_committed() -> None:
    adopted = row(1, ADOPTED)
    seen = {"row 0": marked(FIRST, FIRST)}
    happened = written(Store([FIRST]), [adopted], seen, admit=lambda *_: None)
    assert happened == ["held", {"row 1": marked(adopted, adopted)}, "committed", "let go"]


def test_a_refused_study_is_neither_committed_nor_remembered() -> None:
    store = Store([FIRST])
    with pytest.raises(IntegrityError):
        written(store, [STEP], {"row 0": marked(STEP, STEP)})
    assert store.notes == ["held"]
    assert store.rows == [FIRST]


def test_what_fails_is_not_remembered() -> None:
    seen = {"row 0": marked(FIRST, FIRST)}
    memory = Memory(seen=dict(seen))

    def fail() -> None:
        with writing(as_given(memory), as_given(Store([FIRST]))) as entered:
            as_given(entered).rows.append(STEP)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert memory.seen == seen


def test_announcing_remembers_what_was_committed_before() -> None:
    memory = Memory(seen={"row 0": marked(FIRST, FIRST)})
    advance(as_given(memory), as_given(Store([FIRST, STEP])))
    assert memory.notes == [{"row 0": marked(STEP, STEP)}]
    advance(as_given(memory), as_given(Store([FIRST, STEP])))
    assert len(memory.notes) == 1


def test_only_the_newest_hand_over_counts() -> None:
    """What was handed over and adopted since is no longer with the machine that took it."""
    rows = [FIRST, row(1, HANDED, to=HERE, told=False), row(2, ADOPTED)]
    lineage = Lineage.of(as_given(Store(rows)))
    assert lineage is not None
    assert (lineage.taker, lineage.begun) == (None, rows[-1])
    assert not lineage.is_offered_to(as_given(Memory()))
    handed = Lineage.of(as_given(Store(rows[:2])))
    assert handed is not None
    assert handed.taker == HERE
    assert handed.is_offered_to(as_given(Memory()))
    another = replace(rows[1], private='{"to": "' + THERE + '"}')
    elsewhere = Lineage.of(as_given(Store([FIRST, another])))
    assert elsewhere is not None
    assert not elsewhere.is_offered_to(as_given(Memory()))
