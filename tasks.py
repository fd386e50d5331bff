"""The project's chores, each one command, from nothing but Python 3.11 or newer.

    python3 tasks.py demo        show graphveil at work
    python3 tasks.py quick       run what one runs before each commit (two minutes on two cores)
    python3 tasks.py test        run every check: style, types, import order, site, tests
    python3 tasks.py audit       run the long attacks as well (minutes)
    python3 tasks.py mutants     plant small errors in a module and list those no test notices
    python3 tasks.py benchmark   measure speed against peers (minutes)
    python3 tasks.py docs        build the documentation's site into site/
    python3 tasks.py documents   write what commands print into README and docs
    python3 tasks.py pictures    photograph the published page (needs Chromium)
    python3 tasks.py lock        write down the versions that the gate is run with
    python3 tasks.py floors      run the quick tests with the oldest libraries allowed

The first use makes a virtual environment in .venv and installs what is needed into it, in the
versions of requirements/ where these can be had.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
LOCK = ROOT / "requirements" / f"gate-{sys.version_info.major}.{sys.version_info.minor}.lock"

# All that others need is [test]; whoever has seen the demo goes on with Excel and `serve`.
EXTRAS = {"demo": "[excel,web]", "benchmark": "[benchmark]", "docs": "[docs]"}
SITE = ["-m", "properdocs", "build", "--strict"]  # --quiet would silence what --strict counts
STYLE_AND_TYPES = [
    ["-m", "ruff", "check"],
    ["-m", "ruff", "format", "--check"],
    ["-m", "mypy"],
    ["-c", "from importlinter.cli import lint_imports_command as lint; lint()"],
]
PYTEST = ["-m", "pytest", "-n", "2", "--dist", "worksteal"]
COMMANDS = {
    "demo": [["-m", "graphveil", "demo"]],
    "quick": [*STYLE_AND_TYPES, [*PYTEST, "@tests/quick.txt"]],
    "test": [*STYLE_AND_TYPES, SITE, PYTEST],
    "audit": [
        ["-m", "pytest", "-m", "hypothesis and not slow", "--hypothesis-profile", "audit"],
        ["-m", "pytest", "-m", "slow"],
    ],
    "mutants": [["tools/mutants.py"]],
    "benchmark": [
        ["benchmarks/study_step.py"],
        ["benchmarks/study_steps.py"],
        ["benchmarks/run.py"],
    ],
    "docs": [SITE],
    "documents": [["tools/documents.py"]],
    "pictures": [["tools/pictures.py"]],
    "lock": [["tools/environments.py", "lock"]],
    "floors": [["tools/environments.py", "floors"]],
}
FRESH = ("lock", "floors")  # these have environments of their own, with the Python that runs this
# Tables and matrices are small in the tests, and workers share the cores: threads only wait.
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
QUIET = {"NO_MKDOCS_2_WARNING": "1"}  # or the site's theme advertises its successor


def install(extra: str) -> None:
    """Make the environment if need be, and install the project as it now is."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this is where an old Python is told
        sys.exit("graphveil needs Python 3.11 or newer.")
    stamp = HOME / f"installed{extra or '[]'}"
    sources = [path for path in (ROOT / "pyproject.toml", LOCK) if path.exists()]
    wanted = "".join(path.read_text(encoding="utf-8") for path in sources)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    if not Path(PYTHON).exists():
        print("Making a virtual environment in .venv …", flush=True)
        venv.create(HOME, with_pip=True)
    print("Installing; this takes a minute the first time …", flush=True)
    if not (LOCK.exists() and (installs_files(extra) or installs_versions(extra))):
        print("The tested versions cannot be had here: taking the newest instead …", flush=True)
        if not pip_installs("--editable", f".{extra}"):
            sys.exit("The libraries cannot be installed: see what pip says above.")
    stamp.write_text(wanted, encoding="utf-8")


def installs_files(extra: str) -> bool:
    """Whether the very files could be installed whose hashes are locked, then the project."""
    if extra != "[test]":  # of which the lock has all libraries, and no others
        return False
    locked = pip_installs("--require-hashes", "--requirement", str(LOCK))
    if not locked:
        print("Not all files have the hashes of the lock: taking its versions …", flush=True)
    return locked and pip_installs("--no-deps", "--editable", ".")


def installs_versions(extra: str) -> bool:
    """Whether the project could be installed with the locked versions, whatever their files."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    pins = "".join(f"{line.rstrip(' ' + chr(92))}\n" for line in lines if "==" in line)
    with TemporaryDirectory() as folder:
        versions = Path(folder) / "versions.txt"
        versions.write_text(pins, encoding="utf-8")
        return pip_installs("--constraint", str(versions), "--editable", f".{extra}")


def pip_installs(*arguments: str) -> bool:
    """Whether pip could install what these arguments ask for."""
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return not subprocess.run([*pip, *arguments], cwd=ROOT, check=False).returncode


def main() -> None:
    """Run one chore; more arguments go to its last command."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    chore, more = sys.argv[1], sys.argv[2:]
    python = sys.executable if chore in FRESH else PYTHON
    if chore not in FRESH:
        install(EXTRAS.get(chore, "[test]"))
    *before, last = COMMANDS[chore]
    environment = {**os.environ, **QUIET, **(ONE_THREAD if chore in ("quick", "test") else {})}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process compiles all it imports
    for command in [*before, [*last, *more]]:
        finished = subprocess.run([python, *command], cwd=ROOT, env=environment, check=False)
        if finished.returncode:
            sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
