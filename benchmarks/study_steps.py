"""A study of many steps: ``python benchmarks/study_steps.py``.

Ten years of days, five series: what a backfill, the page, one more step and a new study cost, by
the commands that a steward types, each in a process of its own. Writes a section of `STUDY.md`.
"""

from __future__ import annotations

import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in every command; read by NumPy

from graphveil.report.page import page
from graphveil.study.public_part import PublicPart

HERE = Path(__file__).resolve().parent
PAGE = HERE / "STUDY.md"
HEADING = "# A study of many steps"
SERIES = ("nodes", "edges", "components", "triangles", "high-degree:tau=5")
FIRST = date(2010, 1, 1)
YEAR, DECADE = 365, 3650
EARLY, LATE = 10, 3000
PEOPLE_A_DAY = 2

TEXT = """\
{heading}

{decade:,} days, {people} people a day, {series} series; steps are sealed without a page. Each
command is a process of its own, so about a second of each is starting Python and its libraries.
Seconds of one core, and on the clock in brackets. What grows with the steps that were published is
one pass over the ledger: every row's hash is computed and its fact read, about 45 µs a row, which
is the floor of a command that trusts nothing it has not checked. The less a start takes, the
larger it looks beside it. Written by `python benchmarks/study_steps.py`.

| | time | target |
|---|---|---|
{rows}

{date}; {cores} cores; {system}; load before the run {load:.1f}.
"""


@dataclass(frozen=True)
class Lap:
    """What a command took: of a processor, and on the clock."""

    cpu: float
    wall: float

    def __add__(self, other: Lap) -> Lap:
        return Lap(self.cpu + other.cpu, self.wall + other.wall)

    def __str__(self) -> str:
        return f"{self.cpu:.1f} s ({self.wall:.1f})"


def graphveil(*arguments: str) -> Lap:
    """Run a command in a fresh process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "graphveil", *arguments], capture_output=True, text=True, check=False
    )
    wall, after = perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(done.stderr)
    lap = Lap(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)
    print(arguments[0], arguments[2:4], lap, flush=True)
    return lap


def day(step: int) -> str:
    """The label of a step."""
    return str(FIRST + timedelta(days=step))


def written(folder: Path, steps: int) -> list[str]:
    """People who come day by day, each linked to somebody who came shortly before."""
    chance, people = random.Random(steps), PEOPLE_A_DAY * steps
    nodes = [f"p{person},{day(person // PEOPLE_A_DAY)}" for person in range(people)]
    edges = [f"p{one},p{max(0, one - 1 - chance.randrange(9))}" for one in range(1, people)]
    tables = {"nodes": ["node,time", *nodes], "edges": ["source,target", *edges]}
    for name, lines in tables.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [str(folder / f"{name}.csv") for name in tables]


def begun(folder: Path, steps: int) -> tuple[str, Lap]:
    """A study with all its records, of which nothing is sealed; and what making it took."""
    folder.mkdir()
    os.environ["GRAPHVEIL_STATE"] = str(folder / "machine")
    about = ["--title", "Days", "--population", "nobody", "--publisher", "a benchmark"]
    reasons = ["--bound-reason", "a benchmark", "--epsilon-reason", "a benchmark"]
    calendar = ["--every", "1", "--first", day(0), "--last", day(steps - 1)]
    series = [word for each in SERIES for word in ("--series", each)]
    study = str(folder / "study")
    lap = graphveil(
        "new", study, *about, *reasons, *calendar, "--bound", "20", "--epsilon", "1", *series
    )
    graphveil("add", study, *written(folder, steps))
    return study, lap


def sealed(study: str, steps: int) -> Lap:
    """Seal every step before this one."""
    return graphveil("publish", study, "--through", day(steps - 1), "--no-report")


def rows(folder: Path) -> list[tuple[str, str, str]]:
    """What is measured, what it took, and what was wished for."""
    year, _ = begun(folder / "year", YEAR)
    one_year = sealed(year, YEAR)
    decade, new = begun(folder / "decade", DECADE)
    sealed(decade, EARLY)
    early = graphveil("publish", decade, "--no-report")
    sealed(decade, LATE)
    late = graphveil("publish", decade, "--no-report")
    study = begun(folder / "whole", DECADE)[0]
    whole = sealed(study, DECADE)
    growth = whole.cpu / DECADE / (one_year.cpu / YEAR)
    return [
        (f"`graphveil new`, horizon {DECADE:,}", str(new), "5 s"),
        (f"{YEAR} steps sealed at once", str(one_year), "15 s"),
        (f"{DECADE:,} steps sealed at once", str(whole), "150 s"),
        ("cost of a step there, against that of the year", f"{growth:.2f} times", "1.3 times"),
        (f"one more publish at step {EARLY}", str(early), ""),
        (f"one more publish at step {LATE:,}", str(late), ""),
        ("the latter against the former", f"{late.cpu / early.cpu:.2f} times", "1.3 times"),
        *pages(study),
    ]


def pages(study: str) -> Iterator[tuple[str, str, str]]:
    """What the page of a decade takes, with all files, by itself, and in bytes."""
    written = graphveil("report", study)
    public = Path(study) / "public"
    start = process_time()
    part = PublicPart.read(public)
    read = process_time()
    size = len(page(part))
    yield f"`graphveil report` of {DECADE:,} steps, all files", str(written), ""
    yield "of that, reading and checking the public ledger", f"{read - start:.1f} s", ""
    yield "of that, the page", f"{process_time() - read:.1f} s", "3 s"
    yield "size of the page", f"{size / 1e6:.2f} MB", "1 MB"


def section() -> str:
    """The section as it was last written, which the other benchmark keeps."""
    page = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return HEADING + page.split(HEADING, 1)[1] if HEADING in page else ""


def main() -> None:
    load = os.getloadavg()[0]
    folder = Path(tempfile.mkdtemp(prefix="graphveil-steps-"))
    try:
        found = rows(folder)
    finally:
        shutil.rmtree(folder)
    text = TEXT.format(
        heading=HEADING,
        decade=DECADE,
        people=PEOPLE_A_DAY,
        series=len(SERIES),
        rows="\n".join(f"| {what} | {took} | {wish} |" for what, took, wish in found),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        cores=os.cpu_count(),
        system=f"{platform.system()}, Python {platform.python_version()}",
        load=load,
    )
    before = PAGE.read_text(encoding="utf-8").split(HEADING, 1)[0].rstrip() if PAGE.exists() else ""
    PAGE.write_text(f"{before}\n\n{text}".lstrip(), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
