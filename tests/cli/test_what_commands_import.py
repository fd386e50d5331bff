"""What makes commands start fast, said so that no timer is needed: what each imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graphveil.cli import VERBS
from steward import opened, people, run

DRAWING = {"vl_convert", "jinja2", "starlette", "rich"}
COUNTING = {"numba", "polars", "duckdb", "pyarrow", "networkx", "pandas"}
NUMBERS = {
    "numpy",
    "scipy",
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "opendp",
}
DATABASES = {"sqlalchemy", "psycopg"}
AT_WORK = {"graphveil.study.stored_study", "graphveil.series.planner", "graphveil.noise.noise_sum"}
EVERYTHING = DRAWING | COUNTING | NUMBERS | DATABASES | AT_WORK

# In a process of its own; Python's own modules and the small ones are nobody's concern.
PROBE = """
import sys
sys.argv[0] = "graphveil"
from graphveil.cli import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""
HELP = """
import sys
from graphveil.cli import program
for verb in sys.argv[1:]:
    program(verb)([verb, "--help"], standalone_mode=False)
program()(["--help"], standalone_mode=False)
print(*sys.modules, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of which something is published, and files."""
    place = tmp_path_factory.mktemp("imports")
    run("publish", opened(place / "study"), "--through", "2002")
    people(place / "files")
    return place


def imported(probe: str, *arguments: str, place: Path | None = None) -> set[str]:
    """Which of the heavy libraries, and of the modules that plan and count, a command imports."""
    asked = [sys.executable, "-c", probe, *arguments]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=place)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split()) & EVERYTHING


LOOKING = {
    "status study": {"graphveil.study.stored_study"},
    "releases study": set(),
    "series study": {"graphveil.study.stored_study"},
    "sensitivity triangles --bound 20": set(),
    "statistics": {"rich"},  # whose table has to be folded
    "plan edges --bound 15 --epsilon 1 --horizon 20": {"numpy"} | AT_WORK,
    "plan study": {"numpy"} | AT_WORK,
}  # what each may import
WORKING = {
    "count edges files/nodes.csv files/edges.csv": DRAWING | DATABASES | NUMBERS - {"numpy"},
    "add study files/nodes.csv files/edges.csv --dry-run": DRAWING | NUMBERS - {"numpy"},
    "publish study --no-report": DRAWING | {"scipy"},
    "report study": COUNTING
    | {"vl_convert", "starlette", "rich", "scipy.optimize", "scipy.special"},
}  # what each may not import


@pytest.mark.parametrize("command", LOOKING)
def test_who_only_looks_imports_nothing_that_counts(command: str, place: Path) -> None:
    assert imported(PROBE, *command.split(), place=place) <= LOOKING[command]


@pytest.mark.parametrize("command", WORKING)
def test_who_counts_draws_nothing(command: str, place: Path) -> None:
    assert not imported(PROBE, *command.split(), place=place) & WORKING[command]


def test_a_command_that_ends_looks_through_nothing(place: Path) -> None:
    """A third of a short one went into collecting what its end frees at once."""
    asked = "import atexit, gc, sys\natexit.register(lambda: print(gc.get_freeze_count()))"
    done = subprocess.run(
        [sys.executable, "-c", asked + PROBE, "status", "study"],
        capture_output=True, text=True, check=True, cwd=place,
    )  # fmt: skip
    assert int(done.stdout.splitlines()[-1]) > 10_000


def test_help_of_every_verb_imports_nothing_heavy() -> None:
    assert imported(HELP, *VERBS) == set()


def test_the_probe_sees_what_is_imported(place: Path) -> None:
    planted = PROBE.replace("try:", "import numba, sqlalchemy\ntry:")
    assert imported(planted, "status", "study", place=place) >= {"numba", "sqlalchemy"}
