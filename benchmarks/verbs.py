"""How long every verb takes to start and to end: ``python benchmarks/verbs.py``.

Seconds of the processor, in a process of its own, and how many times those of `python -c pass`
in the same run. Writes `VERBS.md`.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere

LAPS = 5
LIBRARIES = (
    *("numpy", "numba", "polars", "scipy.special", "scipy.optimize", "opendp"),
    *("pydantic", "sqlalchemy", "jinja2", "rich", "starlette"),
)
RUN = "import sys; sys.argv[0] = 'graphveil'; from graphveil.cli import main; main()"
RUNS = [sys.executable, "-c", RUN]
SEEN = RUN.replace("main()", "\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)")
MOST_LOOKING, MOST_HELP, MOST_IMPORT = 25.0, 0.5, 0.03  # times `pass`; seconds
COUNT, PUBLISH = 1.0, 1.2  # seconds
# As the demo promises it, but nothing is published yet: a step for every time that one is.
STUDY = (
    *("new", "study", "--title", "T", "--population", "P", "--publisher", "P"),
    *("--bound", "15", "--bound-reason", "R", "--every", "year", "--first", "2013"),
    *("--last", "2024", "--epsilon", "4", "--epsilon-reason", "R", "--series", "nodes@1/4"),
    *("--series", "edges@1/2", "--series", "components@1/2", "--series", "degree-ccdf@1"),
    *("--series", "high-degree:tau=3@1/2=hubs", "--series", "triangles@1"),
)
EXPORTS = "demo/private/exports/nodes-2024.csv", "demo/private/exports/edges-2024.csv"

# What is run, and how much it may take: times `pass`, or seconds if that is what is promised.
COMMANDS: dict[str, tuple[float | None, str]] = {
    "status demo": (MOST_LOOKING, "×"),
    "releases demo": (MOST_LOOKING, "×"),
    "series demo": (MOST_LOOKING, "×"),
    "plan demo": (MOST_LOOKING, "×"),
    "plan edges --bound 15 --epsilon 1 --horizon 20": (MOST_LOOKING, "×"),
    "sensitivity triangles --bound 20": (MOST_LOOKING, "×"),
    "statistics": (None, ""),
    "formats": (None, ""),
    "datasets": (None, ""),
    "hand-over": (None, ""),
    "formats nodes.csv edges.csv": (None, ""),
    "count triangles nodes.csv edges.csv": (COUNT, "s"),
    "add demo demo/private/exports/nodes-2024.csv demo/private/exports/edges-2024.csv --dry-run": (
        None,
        "",
    ),
    "publish study": (PUBLISH, "s"),
    "report demo": (None, ""),
    "verify demo": (None, ""),
    "generate synthetic-1:years=3,yearly=50 drawn-{lap} --seed 1": (None, ""),
    "new draft-{lap} --title T --population P --publisher P --bound 4 --bound-reason R --every "
    "year --first 2001 --last 2004 --epsilon 1 --epsilon-reason R --series edges@1/4": (None, ""),
}
TEXT = """\
# What every verb takes

Seconds of the processor for a whole process, and how many times those of `python -c pass`
({nothing:.0f} ms) in the same run; the best of {laps} laps, in turns. Graph A and the demo study
of twelve years; `publish` seals one more step of a study like it, with its page. Written by
`python benchmarks/verbs.py`. What each verb may import is held by
`tests/cli/test_what_commands_import.py`. `plan` compares the errors of all mechanisms, which are
matrices: NumPy is about 5 times `pass`, and the mechanisms with their laws 4 times, beside
some 20 for a command that reads a study, so that it stays above 25.

| command | processor, s | × pass | at most | met | imports |
|---|--:|--:|--:|---|---|
{rows}

Help of the slowest verb: {slowest} ({help:.2f} s, at most {most:.1f} s). `import graphveil` takes
{imported:.0f} ms more than nothing (at most {most_import:.0f}). Load before the run:
{load:.1f}; times on a busy machine are longer than they need be, ratios hardly.
"""


@dataclass(frozen=True)
class Verb:
    """What one command takes."""

    command: str
    seconds: float
    imports: tuple[str, ...]

    def row(self, nothing: float) -> str:
        """The command as a line of the table."""
        most, unit = COMMANDS.get(self.command, (None, ""))
        times = self.seconds / nothing
        measured = times if unit == "×" else self.seconds
        said = "–" if most is None else f"{most:g} {unit}"
        met = "–" if most is None else "yes" if measured <= most else "**no**"
        shown = self.command if len(self.command) < 60 else self.command.split(" --")[0] + " …"
        libraries = ", ".join(self.imports) or "none of these"
        cells = (f"`{shown}`", f"{self.seconds:.2f}", f"{times:.1f}", said, met, libraries)
        return f"| {' | '.join(cells)} |"


def processor(arguments: list[str], place: Path) -> float:
    """The seconds of the processor that a process takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def words(command: str, lap: int) -> list[str]:
    """The command of one lap; what makes a folder makes another each time."""
    return command.replace("{lap}", str(lap)).split()


def imports(command: str, place: Path) -> tuple[str, ...]:
    """Which libraries a command imports."""
    asked = [sys.executable, "-c", SEEN, *words(command, LAPS)]
    done = subprocess.run(asked, cwd=place, capture_output=True, text=True, check=False)
    found = set(done.stderr.splitlines()[-1].split())
    return tuple(name for name in LIBRARIES if name in found)


def measured(commands: list[str], place: Path) -> Iterator[Verb]:
    """Every command, in turns with the others."""
    laps: dict[str, list[float]] = {command: [] for command in commands}
    for lap in range(LAPS):
        for command, taken in laps.items():
            taken.append(processor([*RUNS, *words(command, lap)], place))
    for command, taken in laps.items():
        print(f"{min(taken):6.3f} s  {command}", flush=True)
        yield Verb(command, min(taken), imports(command, place))


def prepared(place: Path) -> None:
    """The demo study, and graph A as a pair of files."""
    from benchmarks import graphs

    pair = graphs.files(graphs.grow("A", graphs.RECIPES["A"]), "csv")
    for path in (pair.nodes, pair.edges):
        (place / path.name).symlink_to(path)
    processor([*RUNS, "demo", "demo"], place)
    processor([*RUNS, *STUDY], place)
    processor([*RUNS, "add", "study", *EXPORTS], place)


def main() -> None:
    from graphveil.cli import VERBS

    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # as it is wherever graphveil is installed
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        os.environ["GRAPHVEIL_STATE"] = str(place / "state")
        prepared(place)
        nothing = min(processor([sys.executable, "-c", "pass"], place) for _ in range(20))
        verbs = list(measured(list(COMMANDS), place))
        imported = min(
            processor([sys.executable, "-c", "import graphveil"], place) for _ in range(LAPS)
        )
        helps = {verb: processor([*RUNS, verb, "--help"], place) for verb in VERBS}
        nothing = min(
            nothing, *(processor([sys.executable, "-c", "pass"], place) for _ in "." * 20)
        )
    slowest = max(helps, key=helps.__getitem__)
    text = TEXT.format(
        nothing=nothing * 1000,
        laps=LAPS,
        rows="\n".join(each.row(nothing) for each in verbs),
        slowest=f"`{slowest} --help`",
        help=helps[slowest],
        most=MOST_HELP,
        imported=(imported - nothing) * 1000,
        most_import=MOST_IMPORT * 1000,
        load=load,
    )
    (HERE / "VERBS.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
