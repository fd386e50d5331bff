"""One reproduction: what is asked for, checked before any computing, then computed and written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from graphveil.calendar.calendar import Calendar
from graphveil.calendar.units import Unit
from graphveil.engines import Engine, LocalEngine
from graphveil.errors import ParameterError
from graphveil.experiments.contenders.comparison import own_contenders
from graphveil.experiments.datasets import Dataset, dataset
from graphveil.experiments.datasets.native import AS_THEY_ARE, HowToRead
from graphveil.experiments.findings import page
from graphveil.experiments.findings.figures import write_figure
from graphveil.experiments.protocol.protocol import Protocol, stride_for, strides
from graphveil.experiments.protocol.results import Row, in_order, write_content, write_rows
from graphveil.experiments.protocol.runs import Cell, SharedCells, compute, stored_rows
from graphveil.experiments.protocol.subjects import PAPER, AskedStatistic, DatasetVersion, Subject
from graphveil.kernels.threads import available_threads

EPSILON_FIGURE, TIME_FIGURE = "epsilon", "time"
FIGURES = (EPSILON_FIGURE, TIME_FIGURE)
TITLE = "The paper's experiments, reproduced"

Progress = Callable[[int, int], None]  # cells done, cells in all


@dataclass(frozen=True)
class Wish:
    """A part of the paper's experiments, or all of it.

    Attributes:
        datasets: names, or paths of native pairs; with ``@1990`` behind, releases begin in
            1990, and what came before counts into the first.
        statistics: names, with a parameter after a colon where one is wanted.
        directed: only this version; None takes each in which a statistic is defined.
        figures: which of the two figures.
        releases: the numbers of releases in the figure of time; none means 1, 2, 4, … steps apart.
        protocol: runs, seed and the grid of ε.
        contenders: the user's own, as module:object.
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

    def asked(self) -> list[tuple[AskedStatistic, bool]]:
        """Each statistic in each version that is wanted, directed first; refuses what is not."""
        found = [
            (AskedStatistic(text), directed)
            for text in dict.fromkeys(self.statistics)
            for directed in (True, False)
            if self.directed in (None, directed)
        ]
        for asked, directed in found:
            if self.directed is not None:
                asked.statistic(None, directed=directed)
        return [pair for pair in found if pair[0].defined(directed=pair[1])]

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
    """Everything that a wish comes to, admissible throughout.

    Attributes:
        datasets: the data.
        versions: each dataset in each version that is needed.
        figures: every cell with its figures, in the order of the figures' panels.
    """

    datasets: tuple[Dataset, ...]
    versions: tuple[DatasetVersion, ...]
    figures: dict[Cell, tuple[str, ...]]

    @classmethod
    def of(cls, wish: Wish) -> Agenda:
        """Load the data and refuse all that can be refused; nothing is counted or simulated."""
        asked = wish.asked()
        own_contenders(wish.contenders)
        datasets = _loaded(wish.datasets, wish.protocol.seed, wish.reading)
        versions = {
            (each.name, directed): DatasetVersion.of(each, directed=directed)
            for each in datasets
            for directed in dict.fromkeys(directed for _, directed in asked)
        }
        figures: dict[Cell, tuple[str, ...]] = {}
        for each in datasets:
            for statistic, directed in asked:
                figures |= wish.cells(versions[each.name, directed].subject(statistic))
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
        progress: told how many cells are done, of how many.
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
    """Figures as SVG and PNG, and a page of tables as Markdown and as one HTML file."""
    figures = [name for name in FIGURES if any(row.figure == name for row in rows)]
    drawn = [path for figure in figures for path in write_figure(out, rows, figure)]
    svgs = [path for path in drawn if path.suffix == ".svg"]
    found = list(page.tables(rows).values())
    texts = {
        "report.md": page.markdown(TITLE, found, [path.name for path in svgs]),
        "report.html": page.html(TITLE, found, [path.read_text("utf-8") for path in svgs]),
    }
    for name, text in texts.items():
        write_content(out / name, text.encode())
    return [*drawn, *(out / name for name in texts)]


def _in_figures(agenda: Agenda, stored: dict[Cell, list[Row] | None]) -> Iterator[Row]:
    """Each row once for each figure that it belongs to."""
    for cell, figures in agenda.figures.items():
        for row in stored[cell] or ():
            for figure in figures:
                yield replace(row, figure=figure)


def _loaded(wanted: Iterable[str], seed: int, reading: HowToRead) -> tuple[Dataset, ...]:
    found = [_dataset(each, seed, reading) for each in dict.fromkeys(wanted)]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError("dataset", f"two are called '{name}'", hint="Rename a folder.")
    if not found:
        raise ParameterError("dataset", "name at least one")
    return tuple(found)


def _dataset(text: str, seed: int, reading: HowToRead) -> Dataset:
    """A dataset, from a step on if one stands behind an @."""
    name, mark, since = text.rpartition("@")
    if not mark or not since.replace("-", "").isdigit():
        return dataset(text, seed=seed, reading=reading)
    found = dataset(name, seed=seed, reading=reading)
    numbered = found.calendar.unit == Unit.NUMBER and since.isdigit()
    calendar = Calendar.every(1, int(since) if numbered else since)
    if (calendar.unit, calendar.width) != (found.calendar.unit, found.calendar.width):
        raise ParameterError(
            "dataset", f"the steps of '{found.name}' are not written like '{since}'"
        )
    return replace(found, calendar=calendar)
