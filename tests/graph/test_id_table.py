"""The table of ids that is kept: the same people as the index that is made anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.graph.intake.id_table import IdTable, Numbers, Texts
from graphveil.graph.intake.identity import PIECE, IdIndex, shortest_form

NUMBERS = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text("añ7-0", min_size=1, max_size=5) | NUMBERS.map(str)
LONG = st.text("aañ7", min_size=6, max_size=27)  # of one word of the processor, and of several
COLUMNS = st.one_of(
    st.lists(NUMBERS, unique=True, max_size=30).map(lambda ids: pl.Series(ids, dtype=pl.Int64)),
    st.lists(TEXTS | LONG, unique=True, max_size=30).map(
        lambda ids: shortest_form(pl.Series(ids, dtype=pl.String))
    ),
)


def table_of(ids: pl.Series) -> IdTable:
    return IdTable.of(Numbers.of(ids) if ids.dtype == pl.Int64 else Texts.of(ids))


def by_text(known: pl.Series, asked: pl.Series) -> list[int]:
    """Labels by the definition: two ids are one person if they are the same text."""
    places = {str(each): label for label, each in enumerate(known)}
    return [places.get(str(each), -1) for each in asked]


@given(known=COLUMNS, asked=COLUMNS)
def test_ids_are_found_by_their_text(known: pl.Series, asked: pl.Series) -> None:
    mixed = pl.concat([known.cast(pl.String), asked.cast(pl.String)])
    for ids in (asked, known, mixed):
        assert IdIndex.of(known).labels(ids).tolist() == by_text(known, ids)
        assert table_of(known).labels(ids).tolist() == by_text(known, ids)


REPEATED = st.one_of(
    st.lists(st.integers(0, 30), max_size=8).map(lambda ids: pl.Series(ids, dtype=pl.Int64)),
    st.lists(st.sampled_from([2**61, -5, 3, 2**40]), max_size=4).map(
        lambda ids: pl.Series(ids, dtype=pl.Int64)
    ),
    st.lists(st.text("ab", max_size=3) | LONG, max_size=8).map(
        lambda ids: pl.Series(ids, dtype=pl.String)
    ),
)


@given(ids=REPEATED)
def test_it_is_known_whether_somebody_has_two_labels(ids: pl.Series) -> None:
    distinct = ids.n_unique() == len(ids)
    assert IdIndex.of(ids).are_distinct() == distinct
    assert table_of(ids).maybe_alike != distinct


def test_texts_of_the_same_hash_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table_of(pl.Series(["ann", "bob"]))
    monkeypatch.setattr(IdTable, "for_now", lambda ids: replace(made, maybe_alike=True))
    assert IdIndex.of(pl.Series(["ann", "bob"])).are_distinct()


def test_many_texts_are_found_in_pieces() -> None:
    known = pl.Series([f"person {7 * number}" for number in range(PIECE + 10)])
    asked = pl.concat(
        [known.reverse(), pl.Series(["person 1", "person", "a longer text than all"])]
    )
    labels = IdIndex.of(known).labels(asked)
    assert labels.tolist() == [*range(PIECE + 9, -1, -1), -1, -1, -1]


@given(known=COLUMNS, more=COLUMNS, asked=COLUMNS)
def test_it_finds_whom_the_index_finds(known: pl.Series, more: pl.Series, asked: pl.Series) -> None:
    table, index = table_of(known), IdIndex.of(known)
    assert table.labels(asked).tolist() == index.labels(asked).tolist()
    new = more.filter(pl.Series(index.labels(more) < 0, dtype=pl.Boolean))
    longer, expected = table.extended(new), index.extended(new)
    for ids in (asked, more, known):
        assert longer.labels(ids).tolist() == expected.labels(ids).tolist()
    assert table.labels(asked).tolist() == index.labels(asked).tolist()  # it stays as it was


@pytest.mark.parametrize("texts", [False, True])
def test_tables_that_share_slots_do_not_see_each_other(texts: bool) -> None:
    """Two ways to go on from one table, as when an add is tried several times."""

    def ids(*numbers: int) -> pl.Series:
        found = pl.Series(numbers, dtype=pl.Int64)
        return pl.Series([f"p{each}" for each in numbers]) if texts else found

    first = table_of(ids(5, 6))
    one, other = first.extended(ids(7, 8)), first.extended(ids(9))
    assert one.labels(ids(5, 6, 7, 8, 9)).tolist() == [0, 1, 2, 3, -1]
    assert other.labels(ids(5, 6, 7, 8, 9)).tolist() == [0, 1, -1, -1, 2]
    assert first.labels(ids(5, 6, 7, 8, 9)).tolist() == [0, 1, -1, -1, -1]


def test_a_table_that_fills_up_is_made_anew_and_searches_end() -> None:
    table: IdTable | IdIndex = table_of(pl.Series(range(3)))
    assert isinstance(table, IdTable)
    slots = len(table.slots.places)
    for first in range(3, 6 * slots, slots // 3):
        table = table.extended(pl.Series(range(first, first + slots // 3)))
    assert isinstance(table, IdTable)
    assert (table.slots.places > 0).sum() <= 0.75 * len(table.slots.places)
    everybody = table.ids
    assert isinstance(everybody, pl.Series)
    assert table.labels(everybody).tolist() == list(range(len(everybody)))
    assert table.labels(pl.Series([-1, 10**18])).tolist() == [-1, -1]


def test_texts_are_cut_where_they_end() -> None:
    texts = Texts.of(pl.Series(["a", "añ", "b", "70"]))
    assert texts.slice(1, 2).to_list() == ["añ", "b"]
    assert texts.slice(4, 0).to_list() == []
    assert texts.head(2).series().to_list() == ["a", "añ"]
    assert len(texts.head(0)) == 0
    assert texts.dtype == pl.String
    assert Texts.of(pl.Series([], dtype=pl.String)).series().to_list() == []


def test_who_writes_into_free_slots_and_never_ends_changes_nothing() -> None:
    table = table_of(pl.Series([10, 20]))
    free = np.flatnonzero(table.slots.places == 0)[:50]
    table.slots.places[free] = np.arange(1, 51)
    assert table.labels(pl.Series([10, 20, 30])).tolist() == [0, 1, -1]
    longer = table.extended(pl.Series([30]))
    assert longer.labels(pl.Series([10, 20, 30, 40])).tolist() == [0, 1, 2, -1]
