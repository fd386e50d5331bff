"""Whoever is absent, everybody else keeps their place: ids have one order in any column."""

from __future__ import annotations

import random
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.calendar.calendar import Calendar
from graphveil.graph.intake.identity import identity_order
from graphveil.graph.sequence import GraphSequence
from graphveil.records import from_rows

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


# ------------------------------------------------ texts are sorted as one would compare them

awkward = st.text(st.sampled_from("09a-é\U0001f600\0\x7f"), min_size=1, max_size=24)
spelled = st.one_of(numbers.map(str), texts, awkward, awkward.map(lambda text: "P0000000" + text))
rows = st.lists(st.tuples(st.integers(-1, 2), spelled), min_size=1, max_size=40)


def plainly(step: int, text: str) -> tuple[int, bool, int, bytes]:
    """By step; then whole numbers by value, then other text by its bytes."""
    if re.fullmatch(r"0|-?[1-9][0-9]*", text, re.ASCII):
        return step, False, int(text), b""
    return step, True, 0, text.encode()


def assert_in_order(people: list[tuple[int, str]]) -> None:
    steps, names = zip(*people, strict=True)
    found = identity_order(pl.Series(names), np.array(steps, np.int32)).tolist()
    assert found == sorted(range(len(people)), key=lambda row: plainly(*people[row]))


@given(rows)
def test_texts_are_sorted_as_one_would_compare_them(people: list[tuple[int, str]]) -> None:
    assert_in_order(people)


def test_many_awkward_texts_are_sorted_as_one_would_compare_them() -> None:
    """More than one thread sorts: with prefixes of each other, numbers and texts of any length."""
    chance = random.Random(8)
    people = [
        (
            chance.choice([-(2**31), 0, 7, 300, 70_000, 2**31 - 1]),
            chance.choice(["", "-", "P", "é" * 9, "1" * 18]) + "".join(
                chance.choices(["0", "9", "z", "\0", "\U0010ffff"], [40, 40, 1, 1, 1], k=length)
            ),
        )
        for length in chance.choices([1, 6, 7, 8, 13, 14, 15, 40, 1000], [9] * 8 + [1], k=20_000)
    ]  # fmt: skip
    assert_in_order(people)


def test_rows_that_are_alike_stay_in_their_order() -> None:
    assert_in_order([(1, "b"), (1, "a"), (0, "b"), (1, "a"), (1, "b"), (0, "-12"), (0, "-12")])
