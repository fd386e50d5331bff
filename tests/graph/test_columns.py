"""Append-only columns: old values stay, new ones cost what is new."""

from __future__ import annotations

import threading
import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphveil.graph.columns import Column

PARTS = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20)


def column_of(values: list[int]) -> Column[np.int32]:
    return Column.of(np.array(values, np.int32))


@given(first=PARTS, extensions=st.lists(st.tuples(st.integers(0, 1000), PARTS), max_size=30))
def test_any_tree_of_extensions_keeps_every_value(
    first: list[int], extensions: list[tuple[int, list[int]]]
) -> None:
    columns, expected = [column_of(first)], [first]
    for which, extra in extensions:
        parent = which % len(columns)
        columns.append(columns[parent].extended(np.array(extra, np.int32)))
        expected.append(expected[parent] + extra)
    for column, wanted in zip(columns, expected, strict=True):
        assert column.values.tolist() == wanted
        assert len(column) == len(wanted)
        assert column.values.dtype == np.int32


def test_the_first_allocation_has_no_slack_and_is_not_copied() -> None:
    values = np.arange(1000)
    column = Column.of(values)
    assert np.shares_memory(column.values, values)
    assert column.values.base is values


def test_the_second_extension_happens_in_place() -> None:
    grown = column_of(list(range(800))).extended(np.arange(10, dtype=np.int32))
    again = grown.extended(np.arange(10, dtype=np.int32))
    assert np.shares_memory(grown.values, again.values)
    sibling = grown.extended(np.zeros(10, np.int32))
    assert not np.shares_memory(grown.values, sibling.values)
    assert again.values[-10:].tolist() == list(range(10))


def test_an_empty_column_grows_to_what_it_needs_and_an_eighth() -> None:
    loaded = column_of([]).extended(np.arange(1000, dtype=np.int32))
    memory = loaded.values.base
    assert memory is not None
    assert memory.nbytes == 4500
    longer = loaded.extended(np.arange(125, dtype=np.int32))
    assert np.shares_memory(loaded.values, longer.values)


def test_many_extensions_copy_little() -> None:
    copied = 0
    column = column_of([])
    for number in range(20_000):
        longer = column.extended(np.array([number], np.int32))
        if not len(column) or not np.may_share_memory(longer.values, column.values):
            copied += len(column)
        column = longer
    assert column.values.tolist() == list(range(20_000))
    assert copied < 12 * 20_000


def test_threads_that_extend_one_column_do_not_meet() -> None:
    base = column_of(list(range(800))).extended(np.zeros(1, np.int32))
    start = threading.Barrier(8)
    results: list[Column[np.int32]] = []

    def extend(mark: int) -> None:
        start.wait()
        column = base
        for _ in range(50):
            column = column.extended(np.full(2, mark, np.int32))
            time.sleep(0)
        results.append(column)

    threads = [threading.Thread(target=extend, args=(mark,)) for mark in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tails = sorted(column.values[801:].tolist() for column in results)
    assert tails == [[mark] * 100 for mark in range(8)]
