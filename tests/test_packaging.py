"""What a newcomer finds at the root agrees with the package: versions, chores, public names."""

from __future__ import annotations

import re
import runpy
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

import graphveil
import version
from commands import ROOT
from environments import QUICK_TESTS, floors

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOW = (ROOT / ".github" / "workflows" / "gate.yml").read_text(encoding="utf-8")
CHORES = runpy.run_path(str(ROOT / "tasks.py"))
PYTHONS = re.findall(r'"(3\.\d+)"', WORKFLOW)


def test_the_version_moves_with_the_code(tmp_path: Path) -> None:
    assert "version" not in PROJECT["project"]
    assert ROOT / PROJECT["tool"]["hatch"]["version"]["path"] == Path(str(version.__file__))
    assert re.match(rf"{version.NEXT}(\.dev\d+(\+g[0-9a-f]{{8}})?)?$", graphveil.__version__)
    assert version.version(tmp_path) == f"{version.NEXT}.dev0"
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=b")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
    assert re.fullmatch(rf"{version.NEXT}\.dev1\+g[0-9a-f]{{8}}", version.version(tmp_path))
    subprocess.run([*git, "tag", f"v{version.NEXT}"], check=True)
    assert version.version(tmp_path) == version.NEXT
    (tmp_path / "PKG-INFO").write_text("Name: graphveil\nVersion: 0.2.0.dev7+gabc\n")
    assert version.version(tmp_path) == "0.2.0.dev7+gabc"


def test_the_citation_names_the_newest_release_of_the_changes() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, newest, *_ = re.findall(r"^## (\S+)", changes, re.MULTILINE)
    assert first == "Unreleased"
    assert f"\nversion: {newest}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = re.findall(r"^::: graphveil\.(\w+)$", page, re.MULTILINE)
    assert sorted(named) == sorted(graphveil.__all__)


def test_the_gate_builds_the_site_so_that_a_dead_link_stops_it() -> None:
    build = next(each for each in CHORES["COMMANDS"]["test"] if "properdocs" in each)
    assert "--strict" in build
    assert "--quiet" not in build, "properdocs counts the warnings that it shows, and no others"


def test_every_chore_is_explained() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for chore in CHORES["COMMANDS"]:
        assert f"python3 tasks.py {chore} " in CHORES["__doc__"]
        assert f"`{chore}`" in page


def test_quick_checks_need_nothing_but_python() -> None:
    *_, tests = CHORES["COMMANDS"]["quick"]
    assert tests[-1] == QUICK_TESTS, "one list for both chores"
    lines = (ROOT / QUICK_TESTS.removeprefix("@")).read_text(encoding="utf-8").splitlines()
    left_out = {ROOT / each.removeprefix("--ignore=") for each in lines if each[0] == "-"}
    paths = [ROOT / each for each in lines if each[0] != "-"]
    files = {
        file for path in paths for file in ([path] if path.is_file() else path.glob("**/*.py"))
    }
    assert left_out < files
    for file in files - left_out:
        needed = re.findall(
            r"\b(?:postgresql|database): str|require_browser|spark_sessions|SIGKILL|\.kill\(\)",
            file.read_text(encoding="utf-8"),
        )
        assert not needed, file


def test_the_gate_is_run_on_every_python_that_is_supported() -> None:
    said = [each for each in PROJECT["project"]["classifiers"] if "Python :: 3." in each]
    assert [each.rsplit(" ", 1)[1] for each in said] == PYTHONS
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"


@pytest.mark.parametrize("python", PYTHONS)
def test_locks_hold_versions_and_nothing_else(python: str) -> None:
    lock = ROOT / "requirements" / f"gate-{python}.lock"
    head, *lines = lock.read_text(encoding="utf-8").splitlines()
    assert head.startswith(f"# Versions for the gate on Python {python}.")
    pins = re.split(r"\n(?! )", "\n".join(lines))
    assert all(
        re.fullmatch(r"[\w.-]+==[\w.+]+( \\\n    --hash=sha256:[0-9a-f]{64})+", pin) for pin in pins
    )
    locked = {pin.split("==")[0].lower().replace("_", "-") for pin in pins}
    assert {each.split("==")[0] for each in floors()} <= locked


def test_every_dependency_of_users_has_a_floor_to_try() -> None:
    optional = PROJECT["project"]["optional-dependencies"]
    wanted = [
        *PROJECT["project"]["dependencies"], *optional["interchange"], *optional["postgresql"],
    ]  # fmt: skip
    assert len(floors()) == len(wanted)


def test_the_source_archive_names_only_what_is_there() -> None:
    for each in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / each.removeprefix("/")).exists(), each


def test_every_action_is_pinned_by_its_commit() -> None:
    for workflow in (ROOT / ".github" / "workflows").iterdir():
        for used in re.findall(r"uses: (.*)", workflow.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}  # v[\d.]+", used), (
                f"{workflow.name}: {used}"
            )


def test_container_and_recipe_ask_for_what_the_project_needs() -> None:
    project = PROJECT["project"]
    recipe = (ROOT / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    _, run, *_ = re.findall(r"^  (?:host|run):\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    needed = {each.replace(" ", "") for each in re.findall(r"- (.*)", run)}
    assert needed == {*project["dependencies"], f"python{project['requires-python']}"}
    container = (ROOT / "packaging" / "Dockerfile").read_text(encoding="utf-8")
    extras = re.search(r'"\$1\[([\w,]+)\]"', container)
    assert extras is not None
    assert set(extras[1].split(",")) < set(project["optional-dependencies"])
    assert "USER 10001" in container
    assert "GRAPHVEIL_STATE=/state" in container
    assert '"/state"' in container, "a volume, or every container looks like a copy"
