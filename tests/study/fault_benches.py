"""Benches: places where many faults are tried out, two at a time, each on its own copy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import Queue
from shutil import rmtree
from typing import TypeVar

from fault_runs import Processes, Template, processes
from faults import Fault
from graphveil.study import StoredStudy

Case = TypeVar("Case")
AT_ONCE = 1 if "PYTEST_XDIST_WORKER" in os.environ else 2  # two workers are two already


@dataclass(frozen=True)
class Bench:
    """Fresh processes, a study to copy, and room for the copies."""

    processes: Processes
    template: Template
    room: Path

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """A copy of the study, for as long as it is needed."""
        place = self.template.copy(self.room / "copy")
        try:
            yield place
        finally:
            rmtree(place)


@contextmanager
def sources() -> Iterator[list[Processes]]:
    """As many sources of fresh processes as there are benches."""
    with ExitStack() as stack:
        yield [stack.enter_context(processes()) for _ in range(AT_ONCE)]


def benches(made: list[Processes], room: Path, study: Callable[[Path], StoredStudy]) -> list[Bench]:
    """One bench for each source, every one with a study of its own."""
    numbers = count()

    def bench(each: Processes) -> Bench:
        own = room / f"bench-{next(numbers)}"
        own.mkdir()
        return Bench(each, Template.of(study(own / "template")), own)

    return [bench(each) for each in made]


def troubles(
    places: list[Bench], cases: Iterable[Case], trial: Callable[[Bench, Case], str | None]
) -> list[str]:
    """Try every case on whichever bench is free; what went wrong."""
    free: Queue[Bench] = Queue()
    for place in places:
        free.put(place)

    def tried(case: Case) -> str | None:
        place = free.get()
        try:
            trouble = trial(place, case)
        finally:
            free.put(place)
        return trouble and f"{case}: {trouble}"

    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        return [trouble for trouble in pool.map(tried, cases) if trouble]
    finally:
        pool.shutdown(cancel_futures=True)  # who interrupts the tests need not wait for all


def every_fault(effects: list[str], error: int = 0, *, lasts: bool = False) -> Iterator[Fault]:
    """A fault before and after each effect, and in the middle of each write."""
    for point, name in enumerate(effects):
        yield Fault(point, "before", error, lasts)
        if name.startswith("write"):
            yield Fault(point, "during", error, lasts)
        yield Fault(point, "after", error, lasts)
