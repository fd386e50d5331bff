"""The chore that plants errors: tests that notice kill a mutant, and survivors are printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mutants import KILLED, SURVIVED, TIMEOUT, Trials, mutants, survey

MODULE = '''"""Ages."""


def is_adult(age: int = 0) -> bool:
    return age >= 18  # years
'''
TESTS = """
from people.ages import is_adult

def test_ages_far_from_the_border():
    assert is_adult(30) and not is_adult(3)
"""
ENDLESS = """
from people.ages import is_adult

def test_that_never_ends():
    while is_adult(30):
        pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src" / "people").mkdir(parents=True)
    (tmp_path / "src" / "people" / "__init__.py").touch()
    (tmp_path / "src" / "people" / "ages.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "test_ages.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "test_endless.py").write_text(ENDLESS, encoding="utf-8")
    (tmp_path / "test_nothing.py").write_text("def test_nothing(): pass", encoding="utf-8")
    return tmp_path


def test_survivors_are_printed_and_others_are_killed(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes = survey(project, [Path("people/ages.py")], ["test_ages.py"])
    assert capfd.readouterr().out.splitlines() == [
        "src/people/ages.py:4: 0 → 1",
        "src/people/ages.py:4: 0 → -1",
        "src/people/ages.py:5: age >= 18 → age > 18",
        "src/people/ages.py:5: 18 → 19",
        "src/people/ages.py:5: 18 → 17",
    ]
    assert outcomes == {SURVIVED: 5, KILLED: 2}  # `<`, and nothing returned
    assert (project / "src" / "people" / "ages.py").read_text(encoding="utf-8") == MODULE


def test_a_run_that_never_ends_is_ended(project: Path) -> None:
    assert Trials(project, project / "src", ["test_endless.py"]).outcome(1.0) == TIMEOUT


def test_tests_that_say_nothing_of_a_module_are_refused(project: Path) -> None:
    with pytest.raises(SystemExit, match=r"do not import src/people/ages\.py"):
        survey(project, [Path("people/ages.py")], ["test_nothing.py"])
    with pytest.raises(SystemExit, match="or there are none"):
        survey(project, [Path("people/ages.py")], ["test_missing.py"])


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("a < b", ["a < b → a <= b", "a < b → a >= b"]),
        ("a in b", ["a in b → a not in b"]),
        ("a and b", ["a and b → a or b"]),
        ("a + b", ["a + b → a - b"]),
        ("True", ["True → False"]),
        ("0.5", ["0.5 → 1.5", "0.5 → -0.5"]),
        ("if f(a): b", ["if f(a): → if not f(a):"]),
        ("while not a: b", ["while not a: → while a:"]),
        ("[a for a in b if c]", ["for a in b if c → for a in b"]),
        ("def f(): return a", ["return a → return None"]),
        ("def f(): return None", []),
        ("a: Literal[3]", []),
        ("raise ValueError(f'{a + 1}')", []),
    ],
)
def test_each_kind_of_error(line: str, changes: list[str]) -> None:
    assert [mutant.change for mutant in mutants(line)] == changes
