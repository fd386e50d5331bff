"""`graphveil demo`: a steward's years of work in one command, on a made-up network."""

from __future__ import annotations

import csv
import io
import random
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from graphveil.cli.options import Json
from graphveil.cli.output import print_json
from graphveil.errors import StudyError

FIRST_YEAR, YEARS, PER_YEAR = 2013, 12, 1000
LAST_YEAR = FIRST_YEAR + YEARS - 1
SHOWN = 12  # lines of a command's output
WIDTH = 160  # of a command
OWNER_ONLY_FOLDER, OWNER_ONLY_FILE = 0o700, 0o600
NOTE = "Made up by `graphveil demo`, which creates this whole folder again on its next run.\n"


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Where to create the demo study.")
    ] = Path("graphveil-demo"),
    as_json: Json = False,
) -> None:
    """Run twelve years of a steward's work on a made-up network, and keep the study to look at.

    Creates a study, plans it, adds records as they come in, publishes year by year, opens a
    series later, writes the report and verifies everything, with the commands shown.

    Example: graphveil demo
    """
    started = perf_counter()
    _make_room(folder)
    exports = _Exports(folder / "private" / "exports")
    ran = []
    for scene in _scenes(folder, exports):
        ran.append(scene.command)
        if as_json:
            _output(scene)
        else:
            print(f"\n{scene.tale}")
            print(f"$ {_typed(scene.command)}", flush=True)
            _show(scene)
    page = (folder / "public" / "report.html").resolve()
    if as_json:
        print_json({"folder": str(folder), "page": str(page), "commands": ran})
        return
    print(f"\nDone in {perf_counter() - started:.0f} s. Everybody in it is made up.")
    print(f"Open the report: {page}")


@dataclass(frozen=True)
class _Scene:
    """A command, and why the steward runs it now."""

    tale: str
    command: tuple[str, ...]
    shown: int = SHOWN


@dataclass(frozen=True)
class _Exports:
    """The files that come in over the years."""

    folder: Path

    def files(self, year: int) -> tuple[str, str]:
        """The nodes and edges that are known by the end of a year."""
        return str(self.folder / f"nodes-{year}.csv"), str(self.folder / f"edges-{year}.csv")

    def write(self, year: int, network: MadeUp) -> None:
        """Write both files of a year."""
        nodes, edges = self.files(year)
        labelled = [(person, came, _region(person)) for person, came in network.people]
        _write_csv(Path(nodes), [("node", "time", "region"), *labelled])
        _write_csv(Path(edges), [("source", "target"), *network.links])


def _make_room(folder: Path) -> None:
    """Refuse a folder that the demo did not make; empty the one that it did."""
    marker = folder / "private" / "exports" / "README.txt"
    if marker.is_file() and marker.read_text(encoding="utf-8") == NOTE:
        shutil.rmtree(folder)
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StudyError(
            f"'{folder}' already exists and was not made by the demo. Name another folder: "
            "graphveil demo FOLDER."
        )
    marker.parent.mkdir(parents=True)
    marker.parent.chmod(OWNER_ONLY_FOLDER)
    marker.write_text(NOTE, encoding="utf-8")
    marker.chmod(OWNER_ONLY_FILE)


def _write_csv(path: Path, rows: Sequence[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    path.chmod(OWNER_ONLY_FILE)


def _write_exports(exports: _Exports) -> None:
    """Three exports; the first lacks people who are found later, the others some who vanish."""
    network = made_up("graphveil demo", FIRST_YEAR, YEARS, PER_YEAR)
    late = {f"P{number}" for number in range(5500, 5520)}
    vanished = {f"P{number}" for number in range(2000, 2003)}
    exports.write(LAST_YEAR - 4, network.until(LAST_YEAR - 4).without(late))
    exports.write(LAST_YEAR - 2, network.until(LAST_YEAR - 2).without(vanished))
    exports.write(LAST_YEAR, network.without(vanished))


def _scenes(folder: Path, exports: _Exports) -> Iterator[_Scene]:
    """The steward's work in its order; each file is there when it is needed."""
    study, early, middle, late = str(folder), LAST_YEAR - 4, LAST_YEAR - 2, LAST_YEAR
    yield _Scene("A study begins with a promise. Nothing is spent yet.", _new(study))
    sizes = ("--expected", "edges=10000", "--expected", "hubs=3000")
    yield _Scene("How large will the noise be?", ("plan", study, *sizes))
    _write_exports(exports)
    yield _Scene(
        f"The first export comes in, with everybody until {early}. What is printed about it is "
        "private.",
        ("add", study, *exports.files(early), "--group", "region=region"),
    )
    backfill = ("publish", study, "--through", str(early), "--no-report")
    yield _Scene("The past is published year by year, in one command.", backfill)
    listed = str(exports.folder / "look-into.csv")
    yield _Scene(
        f"Two years later: the next export. Some people of {early - 2} are found only now, and "
        "three have vanished.",
        ("add", study, *exports.files(middle), "--complete", "--list", listed),
    )
    yield _Scene(
        "The board asks for triangles, too: a new series, paid for from what is left.",
        ("series", study, "--open", "triangles", "--epsilon", "1"),
    )
    yield _Scene("The next two years.", ("publish", study, "--through", str(middle)))
    yield _Scene(
        "Two more years later, the last export.",
        ("add", study, *exports.files(late), "--complete"),
    )
    yield _Scene("Every year that has ended is due.", ("publish", study, "--all"))
    yield _Scene("Where does the study stand?", ("status", study), 20)
    yield _Scene("What was published?", ("releases", study, "--series", "edges"), 20)
    yield _Scene("Page, charts, card and table can be made again at any time.", ("report", study))
    yield _Scene("And is everything consistent?", ("verify", study), 20)


def _new(study: str) -> tuple[str, ...]:
    return (
        "new", study,
        "--title", "A made-up transmission network",
        "--population", "made-up people of a made-up country",
        "--publisher", "graphveil demo",
        "--bound", "15", "--bound-reason", "the model creates nobody with more links",
        "--every", "year", "--first", str(FIRST_YEAR), "--last", str(LAST_YEAR),
        "--epsilon", "4", "--epsilon-reason", "generous, since everybody is made up",
        "--group", "region=North|South|East",
        "--series", "nodes@1/4", "--series", "edges@1/2", "--series", "edges:by=region@1/4=regions",
        "--series", "components@1/2",
        "--series", "high-degree:tau=3@1/2=hubs", "--series", "degree-ccdf@1=degrees",
        "--ratio", "links per person = 2*edges/nodes",
        "--ratio", "people with at least 3 links, in percent = 100*hubs/nodes",
        "--ratio", "people per group = nodes/components",
    )  # fmt: skip


def _show(scene: _Scene) -> None:
    """Print the beginning of what a command prints."""
    lines = _output(scene)
    for line in lines[: scene.shown]:
        print(f"  {line}")
    if len(lines) > scene.shown:
        print(f"  … and {len(lines) - scene.shown} more")


def _output(scene: _Scene) -> list[str]:
    """What a command prints that is run as a user would."""
    from graphveil.cli import program

    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        program(scene.command[0])(list(scene.command), prog_name="graphveil", standalone_mode=False)
    return [line.rstrip() for line in output.getvalue().splitlines() if line.strip()]


def _typed(command: tuple[str, ...]) -> str:
    """The command as it would be typed; a long one is broken before its options."""
    line = shlex.join(["graphveil", *command])
    return line if len(line) <= WIDTH else line.replace(" --", " \\\n    --")


# A made-up network, whose people come year by year.


DEGREE_BOUND = 15


@dataclass(frozen=True)
class MadeUp:
    """People with the year in which they come, and the links between them."""

    people: list[tuple[str, int]]
    links: list[tuple[str, str]]

    def until(self, year: int) -> MadeUp:
        """What is known by the end of a year."""
        return self.without({person for person, came in self.people if came > year})

    def without(self, missing: set[str]) -> MadeUp:
        """The same without some people, and without their links."""
        return MadeUp(
            [each for each in self.people if each[0] not in missing],
            [(a, b) for a, b in self.links if a not in missing and b not in missing],
        )


def made_up(seed: str, first_year: int, years: int, per_year: int) -> MadeUp:
    """The same seed makes the same network; nobody has more links than the bound."""
    from graphveil.lab.rehearsal import ContactHabits, drawn

    number = years * per_year
    links = drawn(number, ContactHabits(_few, 0.7, DEGREE_BOUND), seed)
    return MadeUp(
        [(_name(person), first_year + person // per_year) for person in range(number)],
        [(_name(a), _name(b)) for a, b in links],
    )


def _region(person: str) -> str:
    """Where somebody lives: neither few nor as many everywhere."""
    return ("North", "North", "North", "South", "South", "East")[int(person[1:]) * 7 % 6]


def _few(chance: random.Random) -> int:
    return chance.choice([1, 1, 2, 3])


def _name(person: int) -> str:
    return f"P{person:04}"
