"""Every module, folder and dotted name that a document mentions exists."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from commands import ROOT
from documents import DOCUMENTS

PAGES = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]  # it may name what is gone
HOMES = (ROOT, ROOT / "src" / "graphveil")  # documents name packages without their root
MADE = {"site/"}  # by a command, in the reader's clone
_MODULE = re.compile(r"(?<![\w./-])[\w./-]*\w\.py\b")
_FOLDER = re.compile(r"`((?:[\w.-]+/)+)`")
_DOTTED = re.compile(r"(?<![\w./-])graphveil(?:\.\w+)+")

GROUPS = {"graphveil.formats"}  # of entry points, which need not be called as packages are


def missing_paths(text: str) -> set[str]:
    named = {*_MODULE.findall(text), *_FOLDER.findall(text)} - MADE
    return {path for path in named if not any((home / path).exists() for home in HOMES)}


def missing_names(text: str) -> set[str]:
    return {name for name in set(_DOTTED.findall(text)) - GROUPS if not _is_there(name)}


def _is_there(name: str) -> bool:
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_modules_and_folders_of_a_document_exist(path: Path) -> None:
    assert missing_paths(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_dotted_names_of_a_document_exist(path: Path) -> None:
    assert missing_names(path.read_text(encoding="utf-8")) == set()


def test_what_is_gone_is_noticed() -> None:
    text = "`lab/audit_cases.py`, testing/audit_cases.py, `backends/local/` and `local/`"
    assert missing_paths(text) == {"testing/audit_cases.py", "local/"}
    text = "graphveil.Series, graphveil.Published, graphveil.series.release.Series, graphveil.gone"
    assert missing_names(text) == {"graphveil.Published", "graphveil.gone"}
