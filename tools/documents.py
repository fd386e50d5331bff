"""README and docs as programs: the commands they show, with what those commands print.

``python3 tasks.py documents`` runs every command and writes its output into the documents;
``python3 tasks.py documents planning.md`` into that one.
The tables of figures that are simulated are written by the same task.

The commands of one document are one session: they share a folder, which holds the examples, and
run in the order in which they stand there. Chance stands still, and so does the clock, which a
document can set by ``<!-- clock: 2022-01-17 -->``. Of a long output a document may show the first
and the last lines alone, with a line ``…`` for those between.
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import postprocessing_errors
from commands import ROOT, graphveil, run_line
from frozen import World, frozen

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = ROOT / "docs" / "command-line.md"
COMMANDS = (
    "demo", "new", "plan", "rehearse", "memo", "promise", "add", "publish", "status", "releases",
    "series", "report", "verify", "extend", "hand-over", "adopt", "serve", "formats", "statistics",
    "sensitivity", "count", "audit", "datasets", "generate", "reproduce",
)  # fmt: skip
HOME = "/home/steward"  # what documents call the folder of a session
GAP = "…"  # the line of a document that stands for lines of an output

_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK_OR_CLOCK = re.compile(
    rf"{_BLOCK.pattern}|^<!-- clock: (?P<date>[\d-]+) -->$", re.MULTILINE | re.DOTALL
)
_COMMAND = re.compile(
    r"^\$ (?P<command>(?:[^\n]*\\\n)*[^\n]*)\n(?P<output>(?:(?!\$ |```).*\n)*)", re.MULTILINE
)


@dataclass(frozen=True)
class Played:
    """A command of a document: the output that is shown, and the one that comes."""

    command: str
    shown: str
    printed: str


@dataclass(frozen=True)
class Session:
    """A folder with the examples, in a world that stands still."""

    folder: Path
    world: World

    def printed(self, command: str) -> str:
        """What a command prints, messages first."""
        finished = run_line(command, folder=self.folder)
        return tidy(finished.err + finished.out).replace(str(self.folder), HOME)


def blocks(path: Path, kind: str) -> list[str]:
    """The fenced blocks of one kind, in order."""
    return [text for language, text in _BLOCK.findall(path.read_text()) if language == kind]


def anchors(path: Path) -> set[str]:
    """What links to the headings of a document are called."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


def has_session(path: Path) -> bool:
    """Whether a document shows commands."""
    return bool(blocks(path, "console"))


def play(path: Path) -> list[Played]:
    """Run every command of a document."""
    played: list[Played] = []

    def note(session: Session, found: re.Match[str]) -> str:
        shown = tidy(found["output"])
        printed = shortened(session.printed(found["command"]), shown)
        played.append(Played(found["command"], shown, printed))
        return found[0]

    with session(path) as running:
        _through(path, running, note)
    return played


def settled(output: str) -> str:
    """Output without hashes: they cover the versions of the libraries that are installed."""
    return re.sub(r"\b[0-9a-f]{16,64}\b", "HASH", output)


@contextmanager
def session(path: Path) -> Iterator[Session]:
    """A fresh folder for the commands of a document."""
    with TemporaryDirectory() as made, frozen(path.name) as world:
        folder = Path(made).resolve()
        shutil.copytree(ROOT / "examples", folder / "examples")
        yield Session(folder, world)


def refreshed(path: Path, running: Session) -> str:
    """A document with the output that its commands have in a fresh session."""

    def renew(session: Session, found: re.Match[str]) -> str:
        printed = shortened(session.printed(found["command"]), tidy(found["output"]))
        return f"$ {found['command']}\n{printed}\n"

    return _through(path, running, renew)


def _through(path: Path, running: Session, each: Callable[[Session, re.Match[str]], str]) -> str:
    """The text of a document, with something done to every command, and the clock set."""

    def block(found: re.Match[str]) -> str:
        if found["date"]:
            running.world.set_date(found["date"])
        if found[1] != "console":
            return found[0]
        return f"```console\n{_COMMAND.sub(lambda shown: each(running, shown), found[2])}```"

    return _BLOCK_OR_CLOCK.sub(block, path.read_text())


def shortened(printed: str, shown: str) -> str:
    """An output with as many first and last lines as a document shows around its gap."""
    lines, every = shown.splitlines(), printed.splitlines()
    if GAP not in lines:
        return printed
    first = lines.index(GAP)
    last = len(every) - (len(lines) - first - 1)
    return "\n".join([*every[:first], GAP, *every[last:]]) if first < last else printed


def tidy(text: str) -> str:
    """Text without blanks at the ends of lines and without blank lines around it."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


def reference() -> str:
    """The page of all commands, from their own help."""
    intro = REFERENCE.read_text().split("\n## ")[0].rstrip()
    pages = (f"## {name}\n\n```\n{tidy(graphveil(name, '--help').out)}\n```" for name in COMMANDS)
    return "\n\n".join([intro, *pages]) + "\n"


def words(text: str) -> list[str]:
    """What a help page says, whatever the layout of the library that prints it."""
    return re.findall(r"[\w>≥τ-]+", re.sub(r"<[^>\n]*>|[{}]", " ", text))


def refresh(only: Sequence[str] = ()) -> None:
    """Write what commands print now into every document, or only into some, by name."""
    if not only or REFERENCE.name in only:
        REFERENCE.write_text(reference())
    for path in filter(has_session, DOCUMENTS):
        if not only or path.name in only:
            with session(path) as running:
                path.write_text(refreshed(path, running))
    if not only:
        postprocessing_errors.refresh()


if __name__ == "__main__":
    refresh(sys.argv[1:])
