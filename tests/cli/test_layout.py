"""What is printed fits the screen: broken between words, and nothing is lost on the way."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphveil.cli.layout import folded, table, width_of
from steward import PROMISE, SERIES, opened, people, run

words = st.text(st.sampled_from("abZ 09,.-–…ετδ×±é漢字"), max_size=9).map(str.strip)


def drawn(header: list[str], rows: list[list[str]], text_columns: int) -> list[str]:
    made = Table(box=box.SIMPLE_HEAD)
    for place, name in enumerate(header):
        justify = "left" if place < text_columns else "right"
        made.add_column(Text(name), justify=justify, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        made.add_row(*map(Text, row))
    page = io.StringIO()
    Console(file=page, width=200, markup=False, highlight=False).print(made)
    return page.getvalue().splitlines()


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int]:
    columns = draw(st.integers(1, 5))
    line = st.lists(words, min_size=columns, max_size=columns)
    return draw(line), draw(st.lists(line, max_size=4)), draw(st.integers(0, columns))


@given(tables())
def test_a_table_that_fits_is_the_one_that_rich_draws(
    made: tuple[list[str], list[list[str]], int],
) -> None:
    assert table(*made) == drawn(*made)


@given(tables(), st.integers(20, 60))
def test_a_narrow_table_fits_and_loses_no_word(
    made: tuple[list[str], list[list[str]], int], width: int
) -> None:
    header, rows, _ = made
    lines = table(*made, width)
    assert all(width_of(line) <= width for line in lines)
    printed = " ".join(lines).split()
    for cell in (cell for row in rows for cell in row):
        assert all(word in " ".join(printed) for word in cell.split())
    assert header


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=30), max_size=40), st.integers(40, 120))
def test_sentences_are_broken_between_words(text: list[str], width: int) -> None:
    sentence = " ".join(text)
    lines = folded(sentence, width).split("\n")
    assert " ".join(lines) == sentence
    assert all(len(line) <= width for line in lines)


def test_lines_that_go_on_are_indented_deeper() -> None:
    assert folded("  one two three", 9) == "  one two\n    three"
    assert folded("graphveil: one two", 14) == "graphveil: one\ntwo"


def at_a_terminal(columns: int, *command: object) -> str:
    """What a command shows on a screen of so many columns."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "dumb"}
    program = subprocess.Popen(
        [sys.executable, "-m", "graphveil", *map(str, command)],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # on Linux, the end of a pseudo-terminal is an error
            break
        if not part:
            break
        shown += part
    program.wait()
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def commands_of(place: Path) -> list[tuple[object, ...]]:
    """What people look at on a screen, refusals among it."""
    study = opened(place / "study")
    run("publish", study, "--through", "2003", "--early")
    sizes = ("--expected", "edges=6000", "--expected", "degrees=400", "--yes")
    return [
        ("new", place / "another", *PROMISE, *SERIES, *sizes),
        ("plan", study),
        ("plan", "edges", "--bound", "15", "--epsilon", "1", "--horizon", "20", "--all"),
        ("promise", *people(place / "files"), "--epsilon", "1"),
        ("add", study, *people(place / "files"), "--dry-run"),
        ("publish", study, "--early"),
        ("status", study),
        ("releases", study),
        ("series", study),
        ("statistics",),
        ("formats",),
        ("datasets",),
        ("verify", study),
        ("sensitivity", "edges", "--bound", "3"),
        ("rehearse", study, "--people", "40", "--links", "30", "--epsilon", "1", "--epsilon", "2",
         "--to", place),
        ("plan", "nothing", "--epsilon", "1"),
        ("add", study, place / "missing.csv"),
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_every_verb_fits_the_screen(columns: int, tmp_path: Path) -> None:
    for command in commands_of(tmp_path):
        shown = at_a_terminal(columns, *command)
        wide = [line for line in shown.splitlines() if width_of(line.rstrip()) > columns]
        broken = [line for line in wide if len(line.split()) > 1]
        assert not broken, (command, broken)  # a path may be longer than a line
        assert not re.search(r"\w…$", shown, re.MULTILINE), command
        assert "Traceback" not in shown
