"""Messages of the steward's functions, on the page: no option of the shell is left in them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from commands import ROOT
from graphveil.web.wording import LABELS, in_page_words

# Options of commands that the page does not have: a message may name them only with the command.
OF_COMMANDS = {
    "all", "cuts", "end", "every", "window", "mechanism", "horizon", "json", "list", "no-bound",
    "projection", "series", "step", "steps", "to", "minimise", "address", "password-file",
    "port", "tau", "edges", "engine", "pattern", "k", "newest", "steady", "weight", "no-report",
}  # fmt: skip


def options_in(folder: str) -> set[str]:
    """Every option that a text of a package names, but for its descriptions."""
    found: set[str] = set()
    for path in (ROOT / "src" / "graphveil" / folder).rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        described = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        texts = (
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in described
        )
        for text in texts:
            found |= set(re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text))
    return found


BELOW = ["records", "graph", "study", "steward", "mechanisms", "series", "calendar"]


@pytest.mark.parametrize("folder", BELOW)
def test_every_option_has_a_label(folder: str) -> None:
    assert (ROOT / "src" / "graphveil" / folder).is_dir()
    assert options_in(folder) <= LABELS.keys() | OF_COMMANDS


def test_labels_stand_on_the_page() -> None:
    templates = ROOT / "src" / "graphveil" / "web" / "templates"
    modules = ROOT / "src" / "graphveil" / "web"
    said = "".join(
        path.read_text(encoding="utf-8")
        for path in (*templates.iterdir(), *modules.rglob("*.py"))
        if path.name != "wording.py"
    )
    for label in LABELS.values():
        words = label.strip("“”")
        known = {"Day first": "day first", "Month first": "month first"}
        if label.startswith("“") and words != "Price":
            assert known.get(words, words) in said, label


def test_python_and_commands_are_put_into_the_words_of_the_page() -> None:
    told = "To leave such records out, use --ignore-after-end (in Python: ignore_after_end=True)."
    assert in_page_words(told) == (
        "To leave such records out, use “Leave out records dated after the last step”."
    )
    assert in_page_words("see `graphveil adopt`.") == "see “Safekeeping”."
    assert in_page_words("Name it: --time in the shell, time= in Python.") == (
        "Name it: “Date of a person”."
    )


def test_templates_are_in_the_package() -> None:
    folder = Path(__file__).parents[2] / "src" / "graphveil" / "web"
    assert {path.name for path in (folder / "static").iterdir()} == {"serve.css", "serve.js"}
    assert len(list((folder / "templates").glob("*.jinja"))) > 10
