"""Trials of mutants: each in a process forked from one in which every test is collected.

First each test is run in such a process, to learn which functions it calls and how long it takes.
Then each mutant is planted in another, and the tests that call its function are run until one
fails. So a mutant costs no import, and mostly one short test.
"""

from __future__ import annotations

import ast
import gc
import json
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, TypeAlias

import pytest
from _pytest.runner import runtestprotocol

from forking import Tell, allow, told_by_child
from mutations import Identity, Mutant, mutants_of
from planting import Loaded, assigned, functions_and_caches, names_used, plant
from seen_tests import Called, Memory, Seen

STARTING = 0.01  # seconds that every test takes, however short
SLOWEST = 3.0  # seconds of computing; a longer test is left to the gate, unless asked for
COUNTING = (  # compared elsewhere with plain definitions
    "definition", "definition_arguments", "tally", "differences", "within", "values"
)  # fmt: skip
ENTERED = ("register", "window_field")  # run when modules are imported, so not to be changed
SWEPT = "examples"  # which members the check suites look at: that says nothing of any of them
UNFIT = "not postgresql and not crash and not races and not kill"  # servers, and many processes
THREADED = (  # they start threads when collected: a fork would hang
    "*/mechanisms/test_baselines_projected.py",
    "*/study/test_neighbours.py",
    "*/study/test_promise.py",
    "*/study/test_segments.py",
    "*/study/test_untidy.py",
)
DEAD = ("killed", "timeout")

Results: TypeAlias = dict[Identity, str]


@dataclass
class Survey:
    """What is known of the tests that pass.

    Attributes:
        seconds: how long each takes, by its number.
        callers: which of them call a function.
        runs: how often each was run on a mutant of a function, and
        kills: how often it noticed.
    """

    seconds: dict[int, float] = field(default_factory=dict)
    callers: dict[Called, set[int]] = field(default_factory=lambda: defaultdict(set))
    runs: Counter[tuple[str, int]] = field(default_factory=Counter)
    kills: Counter[tuple[str, int]] = field(default_factory=Counter)

    def order(self, tests: Iterable[int], patience: float, function: str) -> list[int]:
        """The tests that the patience is enough for: first those that notice most in a second."""
        chosen = []
        for test in sorted(tests, key=self.seconds.__getitem__):
            patience -= self.seconds[test]
            if patience >= 0:
                chosen.append(test)
        return sorted(chosen, key=lambda test: self._cost(test, function))

    def _cost(self, test: int, function: str) -> float:
        """The seconds that a test takes for each mutant that it will notice, as far as is known."""
        runs, kills = self.runs[function, test], self.kills[function, test]
        return (self.seconds[test] + STARTING) * (runs + 4) / (kills + 1)


class Trials:
    """A plugin of pytest that tries mutants instead of running tests.

    Attributes:
        package: the folder of the package.
        modules: which are mutated, such as `noise/laws`.
        known: what is known already; only what is not is tried.
        patience: how many seconds of tests one mutant is given.
        done: is told what became of the mutants of a module.
        slowest: how many seconds a test may compute; a longer one is not asked.
        memory: what was seen of the tests in earlier runs.
    """

    def __init__(
        self,
        package: Path,
        modules: list[str],
        known: Results,
        patience: float,
        done: Callable[[str, Results], None],
        slowest: float = SLOWEST,
        memory: Memory | None = None,
    ) -> None:
        self.package, self.modules, self.known = package, modules, known
        self.patience, self.done, self.slowest = patience, done, slowest
        self.memory = memory or Memory()
        self.survey = Survey()
        self.items: list[pytest.Item] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self) -> None:
        """Let properties be tried on the same examples each time, and on fewer than in the gate."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutants",
            derandomize=True,
            database=None,
            deadline=None,
            max_examples=30,
            phases=[Phase.explicit, Phase.generate],  # the first failure is enough
            suppress_health_check=list(HealthCheck),
        )

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Survey the tests, then try every mutant."""
        self.items = session.items
        loaded = {module: import_module(self._dotted(module)) for module in self.modules}
        sources = {module: mutants_of(self._path(module), f"{module}.py") for module in loaded}
        self.functions, self.caches = functions_and_caches(self.package)
        gc.freeze()  # or every child copies what it looks through
        self._ask_tests()
        for module, (tree, mutants) in sources.items():
            path = self._path(module)
            place = Loaded(path, loaded[module], self.functions[path], self.caches)
            self.done(module, self._try_all(mutants, tree, place))
        return True

    def _ask_tests(self) -> None:
        """Learn how long each test takes and what it calls; what fails as it is, is left out."""
        for number, item in enumerate(self.items):
            seen = self.memory.recall(item.nodeid) or self._seen(item)
            if seen is None or seen.seconds > self.slowest:
                print(f"  left out: {item.nodeid}", flush=True)
                continue
            self.survey.seconds[number] = seen.seconds
            for each in seen.called:
                self.survey.callers[each].add(number)
        self.memory.keep()
        print(f"{len(self.survey.seconds)} of {len(self.items)} tests are asked.", flush=True)

    def _seen(self, item: pytest.Item) -> Seen | None:
        """What a test does, as one sees by running it; nothing if it does not pass in time."""
        told = list(told_by_child(partial(self._watch, item)))
        if not told or not told[-1].startswith("{"):
            return None
        found = json.loads(told[-1])
        seen = Seen(found["seconds"], tuple((path, name) for path, name in found["called"]))
        self.memory.note(item.nodeid, item.path, seen)
        return seen

    def _watch(self, item: pytest.Item, tell: Tell) -> None:
        """Run a test and tell which functions of the package were called."""
        called: set[Called] = set()
        package = str(self.package)

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(package):
                called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

        allow(self.slowest)
        for each in self.caches:
            each.cache_clear()
        threading.setprofile(note)
        sys.setprofile(note)
        start = time.process_time()
        passed = passes(item)
        sys.setprofile(None)
        seconds = time.process_time() - start
        tell(json.dumps({"seconds": seconds, "called": list(called)}) if passed else "fails")

    def _try_all(self, mutants: list[Mutant], tree: ast.Module, loaded: Loaded) -> Results:
        results = {}
        for mutant in asked(mutants):
            result = self.known.get(mutant.identity) or self._try(mutant, tree, loaded)
            results[mutant.identity] = result
            if result not in ("killed", "equivalent"):
                print(f"  {result}: {mutant}", flush=True)
        return results

    def _try(self, mutant: Mutant, tree: ast.Module, loaded: Loaded) -> str:
        """What becomes of a mutant."""
        survey, callers = self.survey, self._tests_of(mutant, loaded.path)
        tests = survey.order(callers, self.patience, mutant.where)
        if not tests:
            return "never run"
        last, test = "", -1
        for last in told_by_child(partial(self._live, mutant, tree, loaded, tests)):
            if last.isdigit():
                test = int(last)
                survey.runs[mutant.where, test] += 1
        if last not in ("survivor", "timeout") and not last.startswith("cannot"):
            survey.kills[mutant.where, test] += 1
            return "killed"  # by a test, or it took its process with it
        return last

    def _live(
        self, mutant: Mutant, tree: ast.Module, loaded: Loaded, tests: list[int], tell: Tell
    ) -> None:
        """The life of a mutant, in a process of its own."""
        try:
            plant(mutant, tree, loaded)
        except Exception as error:
            return tell(f"cannot be planted: {error}")
        for test in tests:
            tell(str(test))
            allow(2 + 10 * self.survey.seconds[test])
            if not passes(self.items[test]):
                return tell("killed")
        return tell("survivor")

    def _dotted(self, module: str) -> str:
        return f"{self.package.name}.{module.replace('/', '.')}"

    def _path(self, module: str) -> Path:
        return self.package / f"{module}.py"

    def _tests_of(self, mutant: Mutant, path: Path) -> set[int]:
        """The tests that call its function; for a constant, those that call what looks it up."""
        callers = self.survey.callers
        if mutant.function:
            return callers[str(path), mutant.function]
        name = assigned(mutant.around.statement)
        if not name:
            return set()
        users = list(self._users[name])
        if mutant.around.scope:  # what reads it may also be made by `dataclass`
            users += [each for each in list(callers) if each[0] == str(path)]
        return set().union(*(callers[user] for user in users))

    @cached_property
    def _users(self) -> dict[str, set[Called]]:
        """For every global name, the functions that look it up."""
        users: dict[str, set[Called]] = defaultdict(set)
        for function in [each for group in self.functions.values() for each in group]:
            for name in names_used(function):
                users[name].add((function.__code__.co_filename, function.__code__.co_qualname))
        return users


def asked(mutants: Iterable[Mutant]) -> list[Mutant]:
    """Those that tests are asked about."""
    left_out = (*COUNTING, *ENTERED, SWEPT)
    return [mutant for mutant in mutants if mutant.where.split(".")[-1] not in left_out]


def passes(item: pytest.Item) -> bool:
    """Whether a test passes, or is skipped."""
    reports = runtestprotocol(item, log=False, nextitem=None)
    return not any(report.failed for report in reports)


def run(trials: Trials, tests: Iterable[Path]) -> None:
    """Hold the trials, on some files or folders of tests."""
    with TemporaryDirectory(prefix="mutants-") as folder:
        options = ["-s", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += ["--hypothesis-profile=mutants", f"--basetemp={folder}/tests", "-k", UNFIT]
        options += [f"--ignore-glob={each}" for each in THREADED]
        code = pytest.main([*options, *map(str, tests)], plugins=[trials])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"pytest ended with {code!r}")
