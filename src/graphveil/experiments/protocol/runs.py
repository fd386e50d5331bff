"""Runs: the cells of a reproduction, computed side by side, each stored as soon as it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from graphveil.engines import Engine
from graphveil.experiments.contenders.comparison import outcomes
from graphveil.experiments.contenders.own import OwnContender
from graphveil.experiments.contenders.trial import Trial
from graphveil.experiments.protocol.protocol import EDITION, THRESHOLDS, release_steps
from graphveil.experiments.protocol.results import Row, read_rows, row, write_rows
from graphveil.experiments.protocol.subjects import DatasetVersion, Subject, Truth, true_values

CELLS_A_PROCESS = 4  # fewer are not worth the start of another process


@dataclass(frozen=True)
class Cell:
    """One subject under one ε at one rhythm of releases: the unit of work.

    Attributes:
        subject: what is published.
        epsilon: the privacy loss of the whole series, as text.
        every: how many steps lie between two releases.
        runs: how often each mechanism is simulated.
        seed: the seed of the whole run.
        own: the user's own contender that is simulated; None for all others together.
    """

    subject: Subject
    epsilon: str
    every: int
    runs: int
    seed: int
    own: OwnContender | None = None

    @property
    def key(self) -> str:
        """A digest of everything that the results depend on; other parameters, another key."""
        subject = self.subject
        described = {
            "edition": EDITION,
            "thresholds": THRESHOLDS,
            "data": subject.fingerprint,
            "dataset": subject.dataset,
            "version": subject.version,
            "asked": subject.asked,
            "statistic": str(subject.statistic),
            "bound": str(subject.bound),
            "epsilon": self.epsilon,
            "every": self.every,
            "runs": self.runs,
            "seed": self.seed,
        }
        if self.own is not None:
            described["own"] = [self.own.address, self.own.digest]
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()

    @property
    def entropy(self) -> tuple[int, ...]:
        """The seed of this cell's noise: the same whoever competes or computes it, and when."""
        return self.seed, int(replace(self, own=None).key[:32], 16)

    def has_found(self, row: Row) -> bool:
        """Whether a stored row is one of this cell, as far as it says what it is."""
        subject = self.subject
        said = (row.place, row.epsilon, row.every, row.runs, row.seed)
        place = (subject.dataset, subject.version, subject.asked)
        return said == (place, float(Fraction(self.epsilon)), self.every, self.runs, self.seed)

    def trial(self, truth: Truth) -> Trial:
        """What is to be simulated, with the true values at the releases."""
        steps = release_steps(self.subject.steps, self.every)
        epsilon = Fraction(self.epsilon)
        return Trial(self.subject, truth.at(steps), epsilon, self.runs, self.entropy)


@dataclass(frozen=True, eq=False)
class SharedCells:
    """The cells of one version of a dataset, which share its graph."""

    version: DatasetVersion
    cells: tuple[Cell, ...]


def stored_rows(cell: Cell, folder: Path) -> list[Row] | None:
    """What was found for a cell in an earlier run; None if nothing readable was stored."""
    from polars.exceptions import PanicException, PolarsError

    try:
        rows = read_rows(_file(folder, cell))
    except (OSError, ValueError, PolarsError, PanicException):  # the last where a file is damaged
        return None
    return rows if rows and all(map(cell.has_found, rows)) else None


def compute(
    work: Sequence[SharedCells],
    folder: Path,
    workers: int,
    engine: Engine,
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Compute cells and store each of them; what they come to does not depend on `workers`.

    True values are counted here, one version after the other, while the workers simulate.

    Args:
        work: what to compute.
        folder: where cells are stored.
        workers: how many processes simulate side by side; 1 simulates in this one.
        engine: where true values are counted.
        tick: called after each cell.
    """
    with _executor(workers, sum(len(each.cells) for each in work)) as executor:
        futures: list[Future[None]] = []
        try:
            for each in work:
                for trial, cell in _trials(each, engine):
                    future = executor.submit(_simulate_and_store, trial, cell, folder)
                    future.add_done_callback(lambda _: tick())
                    futures.append(future)
            for future in as_completed(futures):
                future.result()
        except BaseException:
            executor.shutdown(wait=True, cancel_futures=True)
            raise


class _ThisProcess(Executor):
    """Does at once what it is given."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


def _executor(workers: int, cells: int) -> Executor:
    """Processes that start afresh: a copy of this one would share its threads' locks."""
    useful = min(workers, cells // CELLS_A_PROCESS)
    if useful <= 1:
        return _ThisProcess()
    return ProcessPoolExecutor(useful, mp_context=get_context("spawn"))


def _trials(work: SharedCells, engine: Engine) -> list[tuple[Trial, Cell]]:
    subjects = list(dict.fromkeys(cell.subject for cell in work.cells))
    truths = dict(zip(subjects, true_values(work.version, subjects, engine), strict=True))
    return [(cell.trial(truths[cell.subject]), cell) for cell in work.cells]


def _simulate_and_store(trial: Trial, cell: Cell, folder: Path) -> None:
    rows = [
        row(
            cell.subject,
            outcome,
            epsilon=float(trial.epsilon),
            releases=trial.releases,
            every=cell.every,
            runs=cell.runs,
            seed=cell.seed,
            zero_error=trial.zero_error,
        )
        for outcome in outcomes(trial, cell.own)
    ]
    write_rows(_file(folder, cell), rows)


def _file(folder: Path, cell: Cell) -> Path:
    return folder / f"{cell.key[:32]}.parquet"
