"""Every command and every piece of Python in README and docs is run as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from commands import ROOT
from documents import (
    COMMANDS,
    DOCUMENTS,
    REFERENCE,
    Help,
    anchors,
    blocks,
    has_session,
    play,
    reference,
    settled,
    shortened,
    words,
)

WITH_COMMANDS = [path for path in DOCUMENTS if has_session(path)]
WITH_PYTHON = [path for path in DOCUMENTS if blocks(path, "python")]


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda path: path.name)
def test_commands_print_what_the_document_shows(path: Path) -> None:
    for each in play(path):
        shown = settled(each.shown)
        assert settled(each.printed) == shown, f"{each.command}: run `python3 tasks.py documents`"


# One process for all of them, since each would import the same libraries; each is a program.
RUN = "import runpy, sys; [runpy.run_path(path, run_name='__main__') for path in sys.argv[1:]]"


def test_python_in_documents_runs(tmp_path: Path) -> None:
    scripts = [tmp_path / f"{path.stem}.py" for path in WITH_PYTHON]
    for path, script in zip(WITH_PYTHON, scripts, strict=True):
        script.write_text("\n".join(blocks(path, "python")))
    finished = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, scripts)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr


def test_a_document_may_leave_out_lines_in_the_middle_of_an_output() -> None:
    printed = "one\ntwo\nthree\nfour"
    assert shortened(printed, "1\n…\n4") == "one\n…\nfour"
    assert shortened(printed, "1\n2\n…") == "one\ntwo\n…"
    assert shortened(printed, "1\n2") == printed
    assert shortened(printed, "1\n2\n…\n3\n4") == printed, "nothing is left out"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    text = path.read_text()
    shown = re.findall(r'<img src="([^"]+)"', text)
    for target in [*re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text), *shown]:
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_to_sections_lead_to_a_heading(path: Path) -> None:
    for target, section in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", path.read_text()):
        assert section in anchors(path.parent / target if target else path), (target, section)


def test_the_county_is_what_its_program_makes(tmp_path: Path) -> None:
    county = ROOT / "examples" / "county"
    subprocess.run([sys.executable, str(county / "make.py"), str(tmp_path)], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in county.glob("*.json")}
    assert made == kept


def test_the_reference_is_what_the_commands_say() -> None:
    assert words(REFERENCE.read_text()) == words(reference()), "run `python3 tasks.py documents`"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_names_every_option_of_a_command(name: str) -> None:
    above, *sections = re.split(r"^## ", REFERENCE.read_text(), flags=re.MULTILINE)[1:]
    (section,) = (each for each in sections if each.startswith(f"{name}\n"))
    for option in Help.of(name).options:
        assert option.key in "".join((section + above).split())
        assert option.name in section or option.name in ("--json", "--quiet", "--help")


def test_the_readme_names_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "python3 tasks.py demo" in text
    assert "python3 tasks.py test" in text
    assert "python3 tasks.py test" in (ROOT / ".ci" / "run").read_text()
