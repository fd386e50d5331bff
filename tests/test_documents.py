"""Every command and every piece of Python in README and docs is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT
from documents import DOCUMENTS, REFERENCE, blocks, printed, reference, sessions, words

SHOWN = [(path.name, *shown) for path in DOCUMENTS for shown in sessions(path)]
WITH_PYTHON = [path for path in DOCUMENTS if blocks(path, "python")]


@pytest.mark.parametrize(("document", "command", "output"), SHOWN)
def test_commands_print_what_the_document_shows(document: str, command: str, output: str) -> None:
    assert printed(command) == output, f"{document}: run `python tests/documents.py`"


@pytest.mark.parametrize("path", WITH_PYTHON, ids=lambda path: path.name)
def test_python_in_documents_runs(path: Path, tmp_path: Path) -> None:
    script = tmp_path / "document.py"
    script.write_text("\n".join(blocks(path, "python")))
    finished = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, f"{path.name}\n{finished.stderr}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


def test_the_reference_is_what_the_commands_say() -> None:
    assert words(REFERENCE.read_text()) == words(reference()), "run `python tests/documents.py`"


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "python3 tasks.py demo" in text
    assert "python3 tasks.py test" in text
    assert "python3 tasks.py test" in (ROOT / ".ci" / "run").read_text()
