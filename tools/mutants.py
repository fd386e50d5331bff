"""Mutation testing: plant small errors in a copy of the source, and list those no test notices.

    python3 tasks.py mutants src/graphveil/noise/laws.py --tests tests/noise/test_laws.py

Modules are files or folders below src; tests are whatever pytest takes. Each error (a *mutant*)
costs one run of these tests up to the first failure, and kernels are compiled anew for each, so
name tests that are short. A mutant that survives is either a gap in the tests or changes nothing
that matters: somebody has to look at it.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, Popen, TimeoutExpired
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
KILLED, TIMEOUT, SURVIVED = "killed", "timeout", "survived"
PATIENCE = 10.0  # seconds that a run may take beyond three times what it takes without an error
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
}  # fmt: skip
UNCHANGED_FIELDS = ("annotation", "returns", "decorator_list")  # types, and what makes classes
MESSAGES = (ast.JoinedStr, ast.Raise, ast.Assert)


@dataclass(frozen=True)
class Mutant:
    """A module with one small error: the line, the change, and the whole text."""

    line: int
    change: str
    text: str


def mutants(text: str) -> Iterator[Mutant]:
    """Every mutant of a module's text; messages, types and decorators are left as they are."""
    tree = ast.parse(text)
    for node in _nodes(tree):
        for field, value in _changes(node):
            line = getattr(node, "lineno", 0) or node.target.lineno  # type: ignore[attr-defined]
            before, right = _first_line(node), getattr(node, field)
            setattr(node, field, value)
            yield Mutant(line, f"{before} → {_first_line(node)}", ast.unparse(tree))
            setattr(node, field, right)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it that may be changed."""
    yield node
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            left_alone = field in UNCHANGED_FIELDS or isinstance(child, MESSAGES)
            if isinstance(child, ast.AST) and not left_alone:
                yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The fields of a node that may be wrong, each with a wrong value."""
    match node:
        case ast.Compare():
            yield from (("ops", others) for others in _other_comparisons(node.ops))
        case ast.BoolOp():
            yield "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            yield "op", ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        case ast.Constant(value=bool()):
            yield "value", not node.value
        case ast.Constant(value=int() | float() as number):
            yield from (("value", number + 1), ("value", number - 1))
        case ast.If() | ast.While() | ast.IfExp():
            yield from (("test", other) for other in _negated(node.test))
        case ast.comprehension(ifs=[_, *_]):
            yield "ifs", []
        case ast.Return(value=ast.expr() as result) if ast.unparse(result) != "None":
            yield "value", ast.Constant(None)


def _other_comparisons(operators: list[ast.cmpop]) -> Iterator[list[ast.cmpop]]:
    for place, operator in enumerate(operators):
        for other in COMPARISONS[type(operator)]:
            yield [*operators[:place], other(), *operators[place + 1 :]]


def _negated(test: ast.expr) -> Iterator[ast.expr]:
    """The opposite of a condition, unless it is a comparison, which has an opposite of its own."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield test.operand
    elif not (isinstance(test, ast.Compare) and len(test.ops) == 1):
        yield ast.UnaryOp(ast.Not(), test)


def _first_line(node: ast.AST) -> str:
    return ast.unparse(node).strip().splitlines()[0]


@dataclass(frozen=True)
class Trials:
    """Runs of some tests on a copy of a source tree."""

    root: Path  # the project's folder, in which the tests run
    copy: Path  # of its `src`, which the tests import instead
    tests: Sequence[str]  # what pytest is given

    def outcome(self, seconds: float | None) -> str:
        """What the tests say of the copy as it is, within so many seconds if any are given."""
        with TemporaryDirectory(prefix="mutant-") as scratch:
            run = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
            run += ["--hypothesis-seed=0", f"--basetemp={scratch}/tests", *self.tests]
            env = os.environ | {
                "PYTHONPATH": str(self.copy),
                # Compiled callers would go on with the right code of what they call.
                "NUMBA_CACHE_DIR": f"{scratch}/kernels",
                "HYPOTHESIS_STORAGE_DIRECTORY": f"{scratch}/examples",
            }
            # In a session of its own, so that what the tests start can be ended with them.
            process = Popen(
                run, cwd=self.root, env=env, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
            )
            try:
                return KILLED if process.wait(seconds) else SURVIVED
            except TimeoutExpired:
                return TIMEOUT
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def seconds_allowed(self) -> float:
        """How long a run may take, by how long it takes without an error."""
        before = time.monotonic()
        if self.outcome(None) != SURVIVED:
            sys.exit("These tests fail without any error, or there are none: run them by pytest.")
        return PATIENCE + 3 * (time.monotonic() - before)

    def write(self, module: Path, text: str, number: int) -> None:
        """Let a module of the copy have this text; the number differs from all before."""
        file = self.copy / module
        file.write_text(text, encoding="utf-8")
        os.utime(file, (number, number))  # Python compares whole seconds with what it compiled


def survey(root: Path, modules: Sequence[Path], tests: Sequence[str]) -> Counter[str]:
    """Try every mutant of some modules, given relative to `src`; print those that survive.

    Raises:
        SystemExit: the tests fail without an error, or do not import one of the modules.
    """
    outcomes: Counter[str] = Counter()
    with TemporaryDirectory(prefix="mutants-") as folder:
        trials, number = Trials(root, Path(folder) / "src", tests), count(1)
        shutil.copytree(root / "src", trials.copy, ignore=shutil.ignore_patterns("__pycache__"))
        texts = {module: (trials.copy / module).read_text(encoding="utf-8") for module in modules}
        for module, text in texts.items():  # mutants are written without comments, too
            trials.write(module, ast.unparse(ast.parse(text)), next(number))
        seconds = trials.seconds_allowed()
        for module, text in texts.items():
            trials.write(module, "raise ImportError", next(number))
            if trials.outcome(seconds) == SURVIVED:
                sys.exit(f"These tests do not import src/{module}: give others with --tests.")
            for mutant in mutants(text):
                trials.write(module, mutant.text, next(number))
                outcome = trials.outcome(seconds)
                outcomes[outcome] += 1
                if outcome == SURVIVED:
                    print(f"src/{module}:{mutant.line}: {mutant.change}", flush=True)
            trials.write(module, text, next(number))
    return outcomes


def main() -> None:
    """Try the mutants that the command line asks for, and print the figures."""
    parser = argparse.ArgumentParser(prog="tasks.py mutants", description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", type=Path, help="files or folders below src")
    parser.add_argument("--tests", nargs="+", required=True, help="tests that should notice")
    given = parser.parse_args()
    source, paths = ROOT / "src", [(ROOT / module).resolve() for module in given.modules]
    if not all(path.exists() and path.is_relative_to(source) for path in paths):
        parser.error("modules are files or folders below src, such as src/graphveil/noise")
    files = {file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])}
    outcomes = survey(ROOT, [file.relative_to(source) for file in sorted(files)], given.tests)
    figures = ", ".join(f"{outcomes[each]} {each}" for each in (KILLED, TIMEOUT, SURVIVED))
    print(f"{outcomes.total()} mutants: {figures}.")


if __name__ == "__main__":
    main()
