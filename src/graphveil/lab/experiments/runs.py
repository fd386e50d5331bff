"""Runs: one reproduction, from request to pages; each cell is stored when it is done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from graphveil.backends import Engine, LocalEngine
from graphveil.calendar.calendar import Calendar
from graphveil.calendar.times import Unit
from graphveil.errors import ParameterError
from graphveil.lab.dataset_files import AS_THEY_ARE, HowToRead
from graphveil.lab.datasets import Dataset, dataset
from graphveil.lab.experiments import page
from graphveil.lab.experiments.comparison import (
    WRONG_BY_TWO,
    OwnContender,
    outcomes,
    own_contenders,
)
from graphveil.lab.experiments.page import write_figure
from graphveil.lab.experiments.protocol import (
    EDITION,
    THRESHOLDS,
    Protocol,
    release_steps,
    stride_for,
    strides,
)
from graphveil.lab.experiments.results import (
    Row,
    in_order,
    read_rows,
    row,
    write_content,
    write_rows,
)
from graphveil.lab.experiments.subjects import (
    PAPER,
    DatasetVersion,
    RequestedStatistic,
    Subject,
    Truth,
    true_values,
)
from graphveil.lab.experiments.trial import Trial
from graphveil.threads import available_threads

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
        own: the user's own candidate that is simulated; None for all others together.
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
        """The seed of this cell's noise: the same for every candidate and in every run."""
        return self.seed, int(replace(self, own=None).key[:32], 16)

    def has_found(self, row: Row) -> bool:
        """Whether a stored row is one of this cell, as far as it says what it is."""
        subject = self.subject
        stated = (row.place, row.epsilon, row.every, row.runs, row.seed)
        place = (subject.dataset, subject.version, subject.asked)
        return stated == (place, float(Fraction(self.epsilon)), self.every, self.runs, self.seed)

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


# One reproduction: what is asked for, checked before any computing, then computed and written.


EPSILON_FIGURE, TIME_FIGURE = "epsilon", "time"
FIGURES = (EPSILON_FIGURE, TIME_FIGURE)
TITLE = "The paper's experiments, reproduced"

Progress = Callable[[int, int], None]  # cells done, cells in all


@dataclass(frozen=True)
class ReproduceRequest:
    """A part of the paper's experiments, or all of it.

    Attributes:
        datasets: names, or paths of native pairs; with ``@1990`` behind, releases begin in
            1990, and what came before counts into the first.
        statistics: names, with a parameter after a colon where one is wanted.
        directed: only this version; None takes each in which a statistic is defined.
        figures: which of the two figures.
        releases: the numbers of releases in the figure of time; none means 1, 2, 4, … steps apart.
        protocol: runs, seed and the grid of ε.
        contenders: the user's own candidates, as module:object.
        reading: how files are read.
    """

    datasets: tuple[str, ...]
    statistics: tuple[str, ...] = PAPER
    directed: bool | None = None
    figures: tuple[str, ...] = FIGURES
    releases: tuple[int, ...] = ()
    protocol: Protocol = field(default_factory=Protocol)
    contenders: tuple[str, ...] = ()
    reading: HowToRead = AS_THEY_ARE

    def __post_init__(self) -> None:
        if self.releases and TIME_FIGURE not in self.figures:
            raise ParameterError(
                "releases", "has no meaning for the figure of ε, which publishes every step"
            )

    def asked(self) -> list[tuple[RequestedStatistic, bool]]:
        """Each statistic in each version that is wanted, directed first; refuses what is not.

        What is connected has nothing to do with directions, and is counted once.
        """
        versions = [
            (RequestedStatistic(text), directed)
            for text in dict.fromkeys(self.statistics)
            for directed in (True, False)
            if self.directed in (None, directed)
        ]
        for asked, directed in versions:
            if self.directed is not None:
                asked.statistic(None, directed=directed)
        return [
            (asked, directed)
            for asked, directed in versions
            if asked.defined(directed=directed)
            and (asked.directions_matter or self.directed or not directed)
        ]

    def rhythms(self, steps: int) -> list[int]:
        """How many steps lie between releases, in the figure of time."""
        if not self.releases:
            return strides(steps)
        return list(dict.fromkeys(stride_for(steps, releases) for releases in self.releases))

    def cells(self, subject: Subject) -> dict[Cell, tuple[str, ...]]:
        """The cells of a subject, each with the figures that it belongs to."""
        protocol, competing = self.protocol, (None, *own_contenders(self.contenders))
        wanted: dict[tuple[str, int], tuple[str, ...]] = {}
        if EPSILON_FIGURE in self.figures:
            wanted |= {(epsilon, 1): (EPSILON_FIGURE,) for epsilon in protocol.epsilons}
        if TIME_FIGURE in self.figures:
            for every in self.rhythms(subject.steps):
                point = protocol.time_epsilon, every
                wanted[point] = (*wanted.get(point, ()), TIME_FIGURE)
        return {
            Cell(subject, epsilon, every, protocol.runs, protocol.seed, own): figures
            for (epsilon, every), figures in wanted.items()
            for own in competing
        }


@dataclass(frozen=True, eq=False)
class Agenda:
    """Everything that a request leads to, admissible throughout.

    Attributes:
        datasets: the data.
        versions: each dataset in each version that is needed.
        figures: every cell with its figures, in the order of the figures' panels.
    """

    datasets: tuple[Dataset, ...]
    versions: tuple[DatasetVersion, ...]
    figures: dict[Cell, tuple[str, ...]]

    @classmethod
    def of(cls, request: ReproduceRequest) -> Agenda:
        """Load the data and refuse all that can be refused; nothing is counted or simulated."""
        asked = request.asked()
        own_contenders(request.contenders)
        datasets = _loaded(request.datasets, request.protocol.seed, request.reading)
        versions = {
            (each.name, directed): DatasetVersion.of(each, directed=directed)
            for each in datasets
            for directed in dict.fromkeys(directed for _, directed in asked)
        }
        figures: dict[Cell, tuple[str, ...]] = {}
        for each in datasets:
            for statistic, directed in asked:
                figures |= request.cells(versions[each.name, directed].subject(statistic))
        return cls(datasets, tuple(versions.values()), figures)

    def work(self, cells: Iterable[Cell]) -> Iterator[SharedCells]:
        """Some cells, by the graph that they share."""
        wanted = set(cells)
        for version in self.versions:
            here = [
                cell
                for cell in self.figures
                if cell in wanted
                and cell.subject.dataset == version.dataset.name
                and cell.subject.directed == version.directed
            ]
            if here:
                yield SharedCells(version, tuple(here))


def reproduce(
    agenda: Agenda,
    out: Path,
    workers: int | None = None,
    progress: Progress = lambda done, cells: None,
    engine: Engine | None = None,
) -> list[Row]:
    """Compute what is not yet stored in `out`, and write all rows there, as Parquet and CSV.

    Args:
        agenda: what to compute.
        out: the folder of results, where an interrupted run goes on.
        workers: how many processes simulate; None takes every core.
        progress: called with how many cells are done, of how many.
        engine: where true values are counted; None takes this machine.
    """
    folder = out / "cells"
    stored = {cell: stored_rows(cell, folder) for cell in agenda.figures}
    missing = [cell for cell, rows in stored.items() if rows is None]
    done = len(stored) - len(missing)
    progress(done, len(stored))

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done, len(stored))

    work, here = list(agenda.work(missing)), engine or LocalEngine()
    compute(work, folder, workers or available_threads(), here, tick)
    stored |= {cell: stored_rows(cell, folder) for cell in missing}
    rows = in_order(_in_figures(agenda, stored))
    for name in ("results.parquet", "results.csv"):
        write_rows(out / name, rows)
    return rows


def write_report(out: Path, rows: Sequence[Row]) -> list[Path]:
    """Figures as SVG, and a page of tables as Markdown and as one HTML file."""
    figures = [name for name in FIGURES if any(row.figure == name for row in rows)]
    svgs = [write_figure(out, rows, figure) for figure in figures]
    found = list(page.tables(rows).values())
    texts = {
        "report.md": page.markdown(TITLE, found, [path.name for path in svgs]),
        "report.html": page.html(TITLE, found, [path.read_text("utf-8") for path in svgs]),
    }
    for name, text in texts.items():
        write_content(out / name, text.encode())
    return [*svgs, *(out / name for name in texts)]


def _in_figures(agenda: Agenda, stored: dict[Cell, list[Row] | None]) -> Iterator[Row]:
    """Each row in each figure that it belongs to; wrong parameters are compared by ε alone."""
    for cell, figures in agenda.figures.items():
        for each in stored[cell] or ():
            for figure in figures:
                if figure == EPSILON_FIGURE or not each.mechanism.startswith(WRONG_BY_TWO):
                    yield replace(each, figure=figure)


def _loaded(wanted: Iterable[str], seed: int, reading: HowToRead) -> tuple[Dataset, ...]:
    loaded = [_dataset(each, seed, reading) for each in dict.fromkeys(wanted)]
    names = [each.name for each in loaded]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError("dataset", f"two are called '{name}'", hint="Rename a folder.")
    if not loaded:
        raise ParameterError("dataset", "name at least one")
    return tuple(loaded)


def _dataset(text: str, seed: int, reading: HowToRead) -> Dataset:
    """A dataset, from a step on if one is given after an @."""
    name, mark, since = text.rpartition("@")
    if not mark or not since.replace("-", "").isdigit():
        return dataset(text, seed=seed, reading=reading)
    loaded = dataset(name, seed=seed, reading=reading)
    numbered = loaded.calendar.unit == Unit.NUMBER and since.isdigit()
    calendar = Calendar.every(1, int(since) if numbered else since)
    if (calendar.unit, calendar.width) != (loaded.calendar.unit, loaded.calendar.width):
        raise ParameterError(
            "dataset", f"the steps of '{loaded.name}' are not written like '{since}'"
        )
    return replace(loaded, calendar=calendar)
