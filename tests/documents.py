"""README and docs as programs: the commands they show, with what those commands print.

``python tests/documents.py`` runs every command and writes its output into the documents.
"""

from __future__ import annotations

import re
from pathlib import Path

from commands import ROOT, graphveil, run_line

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = ROOT / "docs" / "command-line.md"
COMMANDS = (
    "demo", "statistics", "sensitivity", "count", "plan", "audit", "datasets", "generate",
    "reproduce",
)  # fmt: skip

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SESSION = re.compile(r"^\$ (?P<command>[^\n]*)\n(?P<output>(?:(?!\$ |```).*\n)*)", re.MULTILINE)


def blocks(path: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind, in order."""
    return [text for language, text in _BLOCK.findall(path.read_text()) if language == kind]


def sessions(path: Path) -> list[tuple[str, str]]:
    """Each command that a document shows, with the output it shows."""
    return [
        (found["command"], tidy(found["output"]))
        for text in blocks(path, "console")
        for found in _SESSION.finditer(text)
    ]


def printed(command: str) -> str:
    """What a command prints, messages first."""
    finished = run_line(command)
    return tidy(finished.err + finished.out)


def tidy(text: str) -> str:
    """Text without blanks at the ends of lines and without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def refreshed(path: Path) -> str:
    """A document with the output of its commands as it is now."""

    def block(found: re.Match[str]) -> str:
        if found[1] != "console":
            return found[0]
        renewed = (
            f"$ {each['command']}\n{printed(each['command'])}\n"
            for each in _SESSION.finditer(found[2])
        )
        return f"```console\n{''.join(renewed)}```"

    return _BLOCK.sub(block, path.read_text())


def reference() -> str:
    """The page of all commands, from their own help."""
    intro = REFERENCE.read_text().split("\n## ")[0].rstrip()
    pages = (f"## {name}\n\n```\n{tidy(graphveil(name, '--help').out)}\n```" for name in COMMANDS)
    return "\n\n".join([intro, *pages]) + "\n"


def words(text: str) -> list[str]:
    """What a help page says, whatever the layout of the library that prints it."""
    return re.findall(r"[\w>≥τ-]+", re.sub(r"<[^>\n]*>|[{}]", " ", text))


def refresh() -> None:
    """Write what commands print now into every document."""
    REFERENCE.write_text(reference())
    for path in DOCUMENTS:
        path.write_text(refreshed(path))


if __name__ == "__main__":
    refresh()
