"""A plain table is the table that `rich` draws, wherever it is plain."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphveil.cli.output import plain_table

WIDTH = 60
words = st.text(st.sampled_from("abZ 09,.-–…ετδ×±é漢字🙂\u0301"), max_size=9).map(str.strip)


def drawn(header: list[str], rows: list[list[str]], text_columns: int) -> list[str]:
    table = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(header):
        left = place < text_columns
        table.add_column(Text(name), justify="left" if left else "right", no_wrap=place == 0)
    for row in rows:
        table.add_row(*map(Text, row))
    page = io.StringIO()
    Console(file=page, width=WIDTH, markup=False, highlight=False).print(table)
    return page.getvalue().splitlines()


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int]:
    columns = draw(st.integers(1, 5))
    line = st.lists(words, min_size=columns, max_size=columns)
    return draw(line), draw(st.lists(line, max_size=4)), draw(st.integers(0, columns))


@given(tables())
def test_plain_lines_are_those_that_rich_draws(
    table: tuple[list[str], list[list[str]], int],
) -> None:
    plain = plain_table(*table, WIDTH)
    assert plain is None or plain == drawn(*table)


def test_what_is_plain_is_taken_and_nothing_else() -> None:
    assert plain_table(["series", "ε"], [["edges", "1/2"]], 1, WIDTH) is not None
    assert plain_table(["series"], [["漢字"]], 1, WIDTH) is None
    assert plain_table(["series"], [["e\u0301"]], 1, WIDTH) is None
    assert plain_table(["series"], [["x" * WIDTH]], 1, WIDTH) is None
