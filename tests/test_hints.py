"""What helps after a refusal: every code has words of its own in each face."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from string import Formatter

import numpy as np
import pytest
from typer.main import get_command

from commands import ROOT
from graphveil import ReadingOptions, Study
from graphveil.cli import VERBS, program
from graphveil.cli.ending import HINTS as OF_COMMANDS
from graphveil.errors import InputError, ParameterError, Place, RecordError, StudyError
from graphveil.hints import HINTS as OF_PYTHON
from graphveil.hints import IN_A_TERMINAL, Hint, in_words
from graphveil.web.wording import HINTS as OF_THE_PAGE
from graphveil.web.wording import refusal_of

SOURCES = ROOT / "src" / "graphveil"
FACES = {"commands": OF_COMMANDS, "Python": OF_PYTHON, "the page": OF_THE_PAGE}
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
COMMAND = re.compile(r"`graphveil ([a-z-]+)")
# A statistic says what its parameters are called; the lab is a program of its own; and the page
# has lines to copy into a terminal.
NAMING_OPTIONS = ("statistics", "lab/__main__.py", "hints.py", "web/wording.py", "cli")


def facts(words: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(words) if name}


def texts(path: Path) -> Iterator[str]:
    """Every text of a module, but for descriptions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in described:
            continue
        if isinstance(node.value, str):
            yield node.value


def given() -> Iterator[tuple[str, set[str] | None]]:
    """Every code that the sources name, with the facts that are given beside it."""
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id != "Hint" or not isinstance(node.args[0], ast.Constant):
                continue
            unpacked = any(word.arg is None for word in node.keywords)
            yield (
                str(node.args[0].value),
                None if unpacked else {str(word.arg) for word in node.keywords},
            )


@pytest.mark.parametrize("face", FACES)
def test_every_code_has_words(face: str) -> None:
    assert FACES[face].keys() == OF_PYTHON.keys()
    for code, words in FACES[face].items():
        assert words.endswith("."), code
        assert len(words) < 250, code
        assert facts(words) <= facts(OF_PYTHON[code]) | facts(OF_COMMANDS[code]), code


def test_every_code_is_known_used_and_gets_its_facts() -> None:
    used: set[str] = set()
    for code, named in given():
        used.add(code)
        for words in (table[code] for table in FACES.values()):
            assert named is None or facts(words) <= named, code
    everywhere = {text for path in SOURCES.rglob("*.py") for text in texts(path)}
    tables = {SOURCES / name for name in ("hints.py", "cli/ending.py", "web/wording.py")}
    others = {t for p in SOURCES.rglob("*.py") if p not in tables for t in texts(p)}
    assert used <= OF_PYTHON.keys() <= everywhere
    assert OF_PYTHON.keys() <= others, "some words are for no refusal"


def test_options_that_commands_are_told_of_exist() -> None:
    options = {option.lstrip("-") for verb in VERBS for option in options_of(verb)}
    for words in OF_COMMANDS.values():
        assert set(OPTION.findall(words)) <= options
    for table in FACES.values():
        for words in table.values():
            assert set(COMMAND.findall(words)) <= set(VERBS)


def options_of(verb: str) -> Iterator[str]:
    command = get_command(program(verb))
    for parameter in getattr(command, "commands", {}).get(verb, command).params:
        yield from (*parameter.opts, *parameter.secondary_opts)


def test_python_is_told_of_its_own_names() -> None:
    names = {
        name
        for function in (Study.create, Study.add, Study.publish, Study.open_series, ReadingOptions)
        for name in signature(function).parameters
    }
    names |= {"expected"}  # an entry of a series
    for code, words in OF_PYTHON.items():
        if code in IN_A_TERMINAL:
            continue
        assert not OPTION.findall(words), code
        assert set(re.findall(r"\b([a-z_]+)=", words)) <= names, code
        for method in re.findall(r"study\.([a-z_]+)", words):
            assert hasattr(Study, method)


def test_the_page_is_told_of_its_own_labels() -> None:
    said = "".join(
        path.read_text(encoding="utf-8")
        for path in (*(SOURCES / "web" / "templates").iterdir(), *SOURCES.glob("web/**/*.py"))
        if path.name != "wording.py"
    ).lower()
    for code, words in OF_THE_PAGE.items():
        outside = re.sub(r"`graphveil [^`]*`[^.]*", "", words)
        assert not OPTION.findall(outside), code
        for label in re.findall("“([^”]*)”", words):
            assert label.lower() in said, (code, label)


def test_nothing_below_the_faces_names_an_option() -> None:
    for path in SOURCES.rglob("*.py"):
        if path.relative_to(SOURCES).as_posix().startswith(NAMING_OPTIONS):
            continue
        named = [text for text in texts(path) if OPTION.search(text)]
        assert not named, path


NO_ROWS = np.zeros(0, np.int64)
SAYING: Mapping[str, str] = {"name-id": "Choose {id}."}


def test_a_hint_has_the_words_of_python_until_a_face_asks() -> None:
    hint = Hint("name-id", id="case {x}")
    assert hint == "Say id='case {x}'."
    assert in_words(hint, SAYING) == "Choose case {x}."
    assert in_words("plain {text}", SAYING) == "plain {text}"


def test_hints_keep_their_codes_together_and_elsewhere() -> None:
    both = Hint.joined("Before.", Hint("name-id", id=1), "", "After.")
    assert both == "Before. Say id='1'. After."
    for again in (both, pickle.loads(pickle.dumps(both)), copy.deepcopy(both)):
        assert in_words(Hint.joined("So:", again), SAYING) == "So: Before. Choose 1. After."


def test_errors_are_worded_whole() -> None:
    hint = Hint("name-id", id="case")
    row = RecordError(
        "what", place=Place("a.csv", 2), hint=hint, rule="r", kind="nodes", rows=NO_ROWS
    )
    for error, before in (
        (InputError("what", place=Place("a.csv"), hint=hint), "a.csv: what."),
        (ParameterError("id", "is unclear", hint=hint), "id: is unclear."),
        (pickle.loads(pickle.dumps(ParameterError("id", "is unclear", hint=hint))), "id: is un"),
        (StudyError("nothing.", hint=hint), "nothing."),
        (row.advising(hint), "a.csv, row 2: what. Choose case."),
    ):
        assert error.worded(SAYING).startswith(before)
        assert error.worded(SAYING).endswith(" Choose case.")
        assert str(error).endswith(" Say id='case'.")
        assert "“Person” may be case" in refusal_of(error)


def test_no_password_is_shown_in_any_words() -> None:
    error = StudyError("see postgresql://ann:secret@host/x.", hint=Hint("create", folder="a"))
    for words in FACES.values():
        assert "secret" not in error.worded(words)
