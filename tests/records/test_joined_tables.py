"""Joined tables: every row keeps the place it had."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import Place
from graphveil.graph.intake.records import Table


def table(name: str, rows: int, first: int, gap: int | None) -> Table:
    frame = pl.DataFrame({"node": [f"{name}{row}" for row in range(rows)]}, {"node": pl.String})
    numbers = None if gap is None else np.arange(rows, dtype=np.int64) * gap + first
    return Table(frame, name, first, {"node": f"id of {name}"}, numbers)


PIECES = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 9), st.none() | st.integers(1, 3)),
    min_size=1,
    max_size=6,
)


@given(PIECES)
def test_rows_keep_their_places(pieces: list[tuple[int, int, int | None]]) -> None:
    tables = [table(f"f{number}", *piece) for number, piece in enumerate(pieces)]
    joined = Table.joined(tables)
    expected = [
        (value, each.place(row, "node"))
        for each in tables
        for row, value in enumerate(each.frame["node"])
    ]
    places = [joined.place(row, "node") for row in range(len(joined.frame))]
    assert list(zip(joined.frame["node"], places, strict=True)) == expected
    assert joined.row_numbers().tolist() == [place.row for place in places]


def test_numbers_of_rows_count_as_the_user_does() -> None:
    given_numbers = Table(pl.DataFrame({"node": [1, 2]}), "f", numbers=np.array([3, 8]))
    assert given_numbers.place(1, "node") == Place("f", 8, "node")


def test_a_joined_table_can_be_given_another_frame() -> None:
    joined = Table.joined([table("a", 2, 1, None), table("b", 2, 5, None)])
    changed = replace(joined, frame=joined.frame.with_columns(node=pl.lit("x")))
    assert changed.place(3, "node") == Place("b", 6, "id of b")
    assert joined.source == "a, b"


def test_tables_may_be_joined_again() -> None:
    inner = Table.joined([table("a", 1, 1, None), table("b", 2, 1, None)])
    outer = Table.joined([inner, table("c", 1, 9, None)])
    assert [outer.place(row, "node").source for row in range(4)] == ["a", "b", "b", "c"]
    assert outer.place(3, "node").row == 9
