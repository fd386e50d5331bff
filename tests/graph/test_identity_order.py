"""Whoever is absent, everybody else keeps their place: ids have one order in any column."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.formats import from_rows
from graphveil.graph.sequence import GraphSequence

numbers = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.integers(-30, 30), st.integers(10**17, 10**25)
)
texts = st.sampled_from(["x", "07", "1.5", "-", "-0", "9" * 18 + "a", "é", "P|1"])
ids = st.lists(st.one_of(numbers.map(str), texts), min_size=2, max_size=12, unique=True)


def labelled(people: list[str]) -> list[str]:
    """The ids in label order; a column of whole numbers comes as numbers, as from Parquet."""
    whole = all(re.fullmatch("0|-?[1-9][0-9]*", person) for person in people)
    fits = whole and all(-(2**63) <= int(person) < 2**63 for person in people)
    given = [int(person) if fits else person for person in people]
    begun = GraphSequence.begin(Calendar.yearly(2001))
    sequence, _ = begun.extend(from_rows([(person, 2001) for person in given], []))
    return [str(person) for person in sequence.ids.to_list()]


@given(ids, st.randoms(use_true_random=False))
def test_removing_one_person_moves_nobody_else(people: list[str], chance: random.Random) -> None:
    gone = chance.choice(people)
    kept = [person for person in labelled(people) if person != gone]
    assert labelled([person for person in people if person != gone]) == kept


@given(st.lists(numbers, min_size=1, max_size=12, unique=True), st.booleans())
def test_whole_numbers_come_by_value_whatever_their_length(values: list[int], text: bool) -> None:
    people = [str(value) for value in values] + ["text"] * text
    assert labelled(people) == [str(value) for value in sorted(values)] + ["text"] * text


@pytest.mark.parametrize("other", ["x", "1" * 30])
def test_long_numbers_keep_their_order_beside_any_id(other: str) -> None:
    """The one text id, or the one that 64 bits cannot hold, makes the whole column text."""
    people = ["5", "-1000000000000000000", "-7", "1000000000000000000", "999999999999999999"]
    assert [person for person in labelled([*people, other]) if person != other] == labelled(people)
