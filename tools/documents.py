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
import textwrap
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
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
SEVERAL = 3  # commands that share an option, from which on it is explained once
ABOVE = """## Options of several commands

`--json`, `--quiet` and `--help` belong to every command; each command names which of the others it
takes."""
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


@dataclass(frozen=True)
class Option:
    """An option of a command, as its help shows it."""

    shown: str

    @property
    def key(self) -> str:
        """What is said, whatever the layout."""
        return "".join(self.shown.split())

    @property
    def name(self) -> str:
        """How it is written, without its value."""
        return self.parts[0].split(", ")[-1].split()[0]

    @property
    def parts(self) -> tuple[str, str]:
        """The option with its value, and its meaning."""
        head, *meaning = re.split(r" {2,}|\n\s*", self.shown.strip())
        return head, " ".join(meaning)


@dataclass(frozen=True)
class Help:
    """The help of a command: what it does, and its options."""

    name: str
    about: str
    options: tuple[Option, ...]

    @classmethod
    def of(cls, name: str) -> Help:
        """What a command says of itself."""
        about, options = tidy(graphveil(name, "--help").out).split("\nOptions:\n")
        return cls(name, about, tuple(map(Option, re.split(r"\n(?=  -)", options))))

    def page(self, shared: Collection[str], everywhere: Collection[str]) -> str:
        """Its section of the reference, which names the shared options and explains its own."""
        own = [each.shown for each in self.options if each.key not in shared]
        named = [
            each.name for each in self.options if each.key in shared and each.key not in everywhere
        ]
        also = textwrap.fill(
            f"As above: {', '.join(named)}.", 78, initial_indent="  ", subsequent_indent="  ",
            break_on_hyphens=False,
        )  # fmt: skip
        parts = [*(["Options:", *own] if own else []), *(["", also] if named else [])]
        said = tidy("\n".join([self.about, *parts]))
        return f"## {self.name}\n\n```\n{said}\n```"


def reference() -> str:
    """The page of all commands, from their own help; what several share is explained once."""
    intro = REFERENCE.read_text().split("\n## ")[0].rstrip()
    commands = [Help.of(name) for name in COMMANDS]
    options = [each for command in commands for each in command.options]
    times = Counter(each.key for each in options)
    everywhere = {key for key, count in times.items() if count == len(commands)}
    shared = {each.key: each for each in options if times[each.key] >= SEVERAL}
    explained = "\n".join(_laid_out(*each.parts) for each in shared.values())
    pages = (command.page(shared, everywhere) for command in commands)
    return "\n\n".join([intro, f"{ABOVE}\n\n```\n{explained}\n```", *pages]) + "\n"


def _laid_out(head: str, meaning: str) -> str:
    """An option and its meaning, below each other where the option is long."""
    lines = textwrap.wrap(meaning, 46, break_on_hyphens=False)
    first = [f"  {head:<30}{lines.pop(0)}"] if len(head) < 30 else [f"  {head}"]
    return "\n".join([*first, *(f"{'':32}{line}" for line in lines)])


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
