"""Every public name has an example, which is run, and the reference shows it."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import polars as pl
import pytest

import graphveil

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
KNOWN: dict[str, Any] = {"nx": nx, "pl": pl, "Path": Path}
KNOWN |= {name: getattr(graphveil, name) for name in graphveil.__all__}
OTHERS = [name for name in graphveil.__all__ if name != "Study"]


def examples(of: object, name: str) -> list[doctest.DocTest]:
    """The examples of a name and, if it is a class, of its methods, as they stand in the source."""
    found = doctest.DocTestFinder(exclude_empty=True).find(of, name, globs={})
    order = [name, *(f"{name}.{member}" for member in vars(of))]
    return sorted(
        (each for each in found if each.examples), key=lambda each: order.index(each.name)
    )


def run(tests: list[doctest.DocTest], known: dict[str, Any]) -> None:
    """Run examples one after the other, each in the world that the one before left behind."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for each in tests:
        each.globs = known
        runner.run(each, out=said.append, clear_globs=False)
    assert not runner.failures, "".join(said)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Examples write files and studies where they are."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", OTHERS)
def test_examples_of_public_names(name: str) -> None:
    found = examples(KNOWN[name], name)
    assert name in {each.name for each in found}, f"{name} has no example"
    run(found, dict(KNOWN))


def methods(kind: type[Any]) -> Iterator[str]:
    """What users call."""
    for name, member in vars(kind).items():
        callable_ = inspect.isfunction(member) or isinstance(member, classmethod | property)
        if callable_ and not name.startswith("_"):
            yield name


def test_examples_of_the_study_tell_one_story() -> None:
    found = examples(graphveil.Study, "Study")
    assert {each.name for each in found} == {
        "Study",
        *(f"Study.{name}" for name in methods(graphveil.Study)),
    }
    run(found, dict(KNOWN))
