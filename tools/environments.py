"""Versions of libraries: what the gate is run with is written down, and floors are tried.

    python3 tasks.py lock      write requirements/gate-<this Python>.lock
    python3 tasks.py floors    run the quick tests with the oldest versions allowed

Both work with the Python that runs them: repeat them with each Python that is supported.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / f"gate-{sys.version_info.major}.{sys.version_info.minor}.lock"
FOR_USERS = ("interchange", "postgresql")  # extras whose floors are promised, too
QUICK_TESTS = "@tests/quick.txt"  # the list that `python3 tasks.py quick` runs, too


@contextmanager
def fresh(*requirements: str) -> Iterator[str]:
    """The Python of an environment that holds nothing but what is asked for."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder) / "bin" / "python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], cwd=ROOT, check=True)
        yield python


def floors() -> list[str]:
    """Every lower bound that a user's environment may stand on, as an exact version."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = [project["optional-dependencies"][extra] for extra in FOR_USERS]
    wanted = [each for some in [project["dependencies"], *promised] for each in some]
    found = (re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", each) for each in wanted)
    return [f"{each[1]}=={each[2]}" for each in found if each]


def resolved(extra: str) -> list[str]:
    """The newest versions that fit together, as pip would install them on its own."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        dry = ["--dry-run", "--ignore-installed", "--report", str(report)]
        subprocess.run([*pip, *dry, f".[{extra}]"], cwd=ROOT, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    named = [each["metadata"] for each in found if each["metadata"]["name"] != "graphveil"]
    return sorted(f"{each['name'].lower().replace('_', '-')}=={each['version']}" for each in named)


def hashed(pins: Sequence[str], python: str) -> list[str]:
    """Each version with the hashes of its files that the index lists, for one Python.

    Files of every system count, so that one lock serves all of them; those of other Pythons do
    not. pip has no public way to ask for this, so that its own parts are used.
    """
    from pip._internal.commands.download import DownloadCommand
    from pip._internal.index.collector import parse_links
    from pip._internal.models.link import Link

    command, found = DownloadCommand("download", ""), []
    options, _ = command.parse_args([])
    with command.main_context():
        session = command.get_default_session(options)
        collector = command._build_package_finder(options, session)._link_collector
        for pin in pins:
            name, _, version = pin.partition("==")
            page = collector.fetch_response(Link(f"{options.index_url.rstrip('/')}/{name}/"))
            links = [] if page is None else list(parse_links(page))
            sums = {each.hash for each in links if _is_of(each.filename, version, python)}
            lines = [f"    --hash=sha256:{each}" for each in sorted(filter(None, sums))]
            found.append(" \\\n".join([pin, *lines]))
    return found


def _is_of(file: str, version: str, python: str) -> bool:
    """Whether a file is one of a version that a Python can use, on whatever system."""
    from pip._vendor.packaging.version import InvalidVersion, Version

    stem = re.sub(r"\.(whl|tar\.gz|zip)$", "", file)
    if stem == file:
        return False
    parts = stem.split("-") if file.endswith(".whl") else ["", stem.rpartition("-")[2]]
    try:
        same = Version(parts[1]) == Version(version)
    except InvalidVersion:
        return False
    if not file.endswith(".whl"):
        return same
    interpreters, abi = parts[-3].split("."), parts[-2]
    ours = f"cp{python.replace('.', '')}"
    return same and ("py3" in interpreters or ours in interpreters or abi == "abi3")


def write_lock() -> None:
    """Write down the versions that the gate is to be run with, and the hashes of their files."""
    version = sys.version.split()[0]
    head = f"# Versions for the gate on Python {version}. Written by `python3 tasks.py lock`.\n"
    pins = hashed(resolved("test"), f"{sys.version_info.major}.{sys.version_info.minor}")
    LOCK.parent.mkdir(exist_ok=True)
    LOCK.write_text(head + "".join(f"{pin}\n" for pin in pins), encoding="utf-8")


def try_floors() -> None:
    """Run the quick tests with the lowest versions; old libraries may warn about new ones."""
    with TemporaryDirectory() as folder:
        pins = Path(folder) / "floors.txt"
        pins.write_text("\n".join(floors()) + "\n", encoding="utf-8")
        with fresh("--constraint", str(pins), "--editable", ".[test]") as python:
            tests = [python, "-m", "pytest", "-o", "filterwarnings=default", QUICK_TESTS]
            subprocess.run([*tests, *sys.argv[2:]], cwd=ROOT, check=True)


if __name__ == "__main__":
    {"lock": write_lock, "floors": try_floors}[sys.argv[1]]()
