"""The chore that plants errors: what is noticed is killed, what is not is told."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import seen_tests
from commands import ROOT
from mutants import FATES, PACKAGE, SCOPE, entries, equivalents, modules_in_scope, searches, told
from mutations import mutants_of
from seen_tests import Memory, Seen

MODULE = '''
from dataclasses import dataclass
from functools import lru_cache

LIMIT = 10
STEP = 1000


def shifted(number, by=STEP):
    return number + by


def total(first, second=1):
    """A sum."""
    return first + second


@lru_cache
def capped(number):
    return min(number, LIMIT)


@dataclass(frozen=True)
class Box:
    side: int = 2

    @property
    def area(self):
        if self.side < 0:
            raise ValueError("negative")
        return self.side * self.side


class Cube(Box):
    @property
    def area(self):
        return 6 * super().area


def until(number):
    while number > 0:
        number -= 1
    return number


def forgotten():
    return 1
'''
TESTS = """
from planted.sums import Box, Cube, capped, shifted, total, until

capped(12)  # so that a stale cache would hide a mutant


def test_sums():
    assert total(2) == 3 and capped(12) == 10 and shifted(1) == 1001


def test_boxes():
    assert Box().area == 4 and Cube().area == 24


def test_until():
    assert until(3) == 0
"""
TRIAL = """
import json, sys
from pathlib import Path
from mutant_trials import Trials, run
folder, found = Path(sys.argv[1]), []
done = lambda _, results: found.extend(results.items())
run(Trials(folder / "planted", ["sums"], {}, 30.0, done), [folder / "test_sums.py"])
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def fates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What became of the mutants of a small module, by the change."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "planted").mkdir()
    (folder / "planted" / "__init__.py").touch()
    (folder / "planted" / "sums.py").write_text(MODULE, encoding="utf-8")
    (folder / "test_sums.py").write_text(TESTS, encoding="utf-8")
    paths = {"PYTHONPATH": f"{folder}:{ROOT / 'tools'}", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", TRIAL, str(folder)]
    done = subprocess.run(
        command, env=paths, cwd=folder, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout.splitlines()[-1])
    return {f"{where}: {change}": fate for (_, where, _, change), fate in found}


@pytest.mark.parametrize(
    "change",
    [
        "total: first + second → first - second",
        "total: 1 → 2",  # a default
        ": 10 → 11",  # a constant of the module
        ": 1000 → 1001",  # one that is a default
        "capped: min(number, LIMIT) → max(number, LIMIT)",  # in a function with a cache
        "Box: 2 → 3",  # what a dataclass takes if nothing is given
        "Box.area: return self.side * self.side → return None",
        "Box.area: self.side < 0 → self.side >= 0",
        "Cube.area: return 6 * super().area → return None",
        "until: return number → return None",
    ],
)
def test_a_planted_error_that_a_test_notices_is_killed(fates: dict[str, str], change: str) -> None:
    assert fates[change] == "killed"


def test_one_that_no_test_notices_is_told(fates: dict[str, str]) -> None:
    assert fates["Box.area: self.side * self.side → self.side + self.side"] == "survivor"
    assert fates["Box.area: raise ValueError('negative') → pass"] == "survivor"
    assert fates["forgotten: return 1 → return None"] == "never run"


def test_one_that_never_ends_is_ended(fates: dict[str, str]) -> None:
    assert fates["until: number -= 1 → number += 1"] == "timeout"
    assert set(fates.values()) <= set(FATES)


def test_what_was_seen_of_a_test_holds_until_something_that_it_runs_changes(tmp_path: Path) -> None:
    test, source, kept = tmp_path / "test_a.py", tmp_path / "a.py", tmp_path / "build" / "seen.json"
    test.write_text("1", encoding="utf-8")
    source.write_text("2", encoding="utf-8")
    memory = Memory(kept)
    assert memory.recall("a") is None
    seen = Seen(0.5, ((str(source), "f"),))
    memory.note("a", test, seen)
    memory.keep()
    assert Memory(kept).recall("a") == seen
    source.write_text("3", encoding="utf-8")
    seen_tests._digest.cache_clear()  # of one run
    assert Memory(kept).recall("a") is None


def test_the_list_of_mutants_that_change_nothing_fits_the_source() -> None:
    for module in {entry["module"] for entry in entries()}:
        _, found = mutants_of(PACKAGE / module, module)
        listed = {mutant for mutant in equivalents() if mutant[0] == module}
        assert listed <= {mutant.identity for mutant in found}
        assert module.removesuffix(".py") in modules_in_scope()


def test_each_has_its_reason_and_stands_once() -> None:
    changes = [
        (*map(e.get, ("module", "where", "line")), c) for e in entries() for c in e["changes"]
    ]
    assert len(changes) == len(set(changes)) == len(equivalents())
    assert all(len(entry["reason"]) > 20 and entry["reason"].endswith(".") for entry in entries())


def test_what_only_searches_is_there_and_is_not_asked() -> None:
    for module, reason in searches().items():
        assert (PACKAGE / module).is_file()
        assert any(module.startswith(part) for part in SCOPE)
        assert module.removesuffix(".py") not in modules_in_scope()
        assert len(reason) > 20
        assert reason.endswith(".")


def test_the_page_shows_the_list() -> None:
    assert told() in Path(ROOT / "docs" / "mutants.md").read_text(encoding="utf-8")
