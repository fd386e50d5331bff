"""The project's chores, each one command, from nothing but Python 3.11 or newer.

    python3 tasks.py demo        show graphveil at work
    python3 tasks.py test        run every check: style, types, import order, tests
    python3 tasks.py audit       run the long attacks as well (minutes)
    python3 tasks.py benchmark   measure speed against peers (minutes)

The first use makes a virtual environment in .venv and installs what is needed into it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
HOME = ROOT / ".venv"
BIN = HOME / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")

EXTRAS = {"demo": "", "test": "[test]", "audit": "[test]", "benchmark": "[benchmark]"}
COMMANDS = {
    "demo": [["-m", "graphveil", "demo"]],
    "test": [
        ["-m", "ruff", "check"],
        ["-m", "ruff", "format", "--check"],
        ["-m", "mypy"],
        ["-c", "from importlinter.cli import lint_imports_command as lint; lint()"],
        ["-m", "pytest", "-n", "2", "--dist", "worksteal"],
    ],
    "audit": [["-m", "pytest", "-m", "slow"]],
    "benchmark": [["benchmarks/study_step.py"], ["benchmarks/run.py"]],
}


def install(extra: str) -> None:
    """Make the environment if need be, and install the project as it now is."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this is where an old Python is told
        sys.exit("graphveil needs Python 3.11 or newer.")
    stamp = HOME / f"installed{extra or '[]'}"
    wanted = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return
    if not Path(PYTHON).exists():
        print("Making a virtual environment in .venv …", flush=True)
        venv.create(HOME, with_pip=True)
    print("Installing; this takes a minute the first time …", flush=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", f".{extra}"], cwd=ROOT, check=True)
    stamp.write_text(wanted, encoding="utf-8")


def main() -> None:
    """Run one chore; more arguments go to its last command."""
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    chore, more = sys.argv[1], sys.argv[2:]
    install(EXTRAS[chore])
    *before, last = COMMANDS[chore]
    for command in [*before, [*last, *more]]:
        finished = subprocess.run([PYTHON, *command], cwd=ROOT, check=False)
        if finished.returncode:
            sys.exit(finished.returncode)


if __name__ == "__main__":
    main()
