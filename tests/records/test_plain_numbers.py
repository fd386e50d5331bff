"""Tables of plain numbers: what the words of eight bytes say is what Python reads in the text."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from graphveil.records.plain_numbers import parse_plain_numbers

PLAIN = re.compile(r"0|-?[1-9][0-9]{0,17}")
NUMBERS = st.integers(-(10**18) + 1, 10**18 - 1) | st.integers(-100, 10**9)
ROWS = st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=40)


def parsed(text: str) -> list[list[int]] | None:
    found = parse_plain_numbers(np.frombuffer(text.encode("latin-1"), np.uint8), 2)
    return None if found is None else found.T.tolist()


def defined(text: str) -> list[list[int]] | None:
    """The same by the definition, line by line."""
    lines = text.removesuffix("\n").split("\n")
    values = [line.split(",") for line in lines]
    plain = all(len(row) == 2 and all(map(PLAIN.fullmatch, row)) for row in values)
    return [[int(value) for value in row] for row in values] if plain else None


@given(ROWS, st.sampled_from(["", "\n"]))
@example([(10**k - 1, -(10**k) + 1) for k in range(1, 19)], "")
@example([(10**k, -(10**k)) for k in range(18)], "\n")
def test_plain_numbers_are_read_as_python_does(rows: list[tuple[int, int]], end: str) -> None:
    text = "\n".join(f"{a},{b}" for a, b in rows) + end
    assert parsed(text) == [list(row) for row in rows]


@given(ROWS, st.data())
def test_a_byte_that_is_anything_else_is_left_to_the_general_reader(
    rows: list[tuple[int, int]], data: st.DataObject
) -> None:
    text = "\n".join(f"{a},{b}" for a, b in rows) + "\n"
    place = data.draw(st.integers(0, len(text) - 1))
    byte = data.draw(st.sampled_from('0123456789-+ ,\n\r":;/\0\x7f\xf0\xff\xfa'))
    changed = text[:place] + byte + text[place + 1 :]
    assert parsed(changed) == defined(changed)


@given(st.text("0123456789,-\n", min_size=1, max_size=60))
@example("1234567890123456789,1\n")
@example("00000000000000000000,1\n")
@example("12345678,12345678")
@example("1234567812345678,-0\n")
def test_any_text_of_digits_is_read_by_its_definition(text: str) -> None:
    assert parsed(text) == defined(text)
