"""`graphveil reproduce`: the paper's experiments, on its models and on your networks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from graphveil.cli.options import Json
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.lab.experiments.claims import ResultTable
    from graphveil.lab.experiments.results import Row


class Figure(StrEnum):
    """Which figures of the paper to reproduce."""

    epsilon = "epsilon"
    time = "time"
    both = "both"


class Version(StrEnum):
    """Which version of each dataset."""

    directed = "directed"
    undirected = "undirected"


@taking_reading_options
def reproduce(
    out: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Folder for results; continues an earlier run."),
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset",
            metavar="NAME|PATH",
            help="A name from `graphveil datasets`, a folder with nodes and edges, or files with "
            "commas between them; "
            "PATH@1990 publishes from 1990 on. May be repeated. Default: both models.",
        ),
    ] = None,
    statistics: Annotated[
        list[str] | None,
        typer.Option(
            "--statistic",
            metavar="NAME[:PARAMETER]",
            help="A name from `graphveil statistics`, such as stars:3. May be repeated. "
            "Default: high-degree and edges.",
        ),
    ] = None,
    version: Annotated[
        Version | None,
        typer.Option("--version", help="Only this version; default: all that fit."),
    ] = None,
    figure: Annotated[Figure, typer.Option("--figure", help="Which figure.")] = Figure.both,
    releases: Annotated[
        list[int] | None,
        typer.Option(
            "--releases",
            metavar="T",
            help="A number of releases for the time figure. May be repeated. "
            "Default: publish every 1, 2, 4, … steps.",
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", metavar="N", help="Runs per mean.")] = 100,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the run.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Processes; results do not depend on it."),
    ] = None,
    contenders: Annotated[
        list[str] | None,
        typer.Option(
            "--contender",
            metavar="MODULE:OBJECT",
            help="A mechanism of your own that competes as well. May be repeated.",
        ),
    ] = None,
    pages: Annotated[
        list[Path] | None,
        typer.Option(
            "--page",
            metavar="FILE",
            help="Also fill in the tables and numbers of this page. May be repeated; "
            "pictures and results stand beside the first.",
        ),
    ] = None,
    as_json: Json = False,
    *,
    reading: Reading,
) -> None:
    """Reproduce the paper's experiments: error against ε, and against the number of releases.

    The paper's three mechanisms and ours are compared at equal privacy. An experiment
    looks at true values and reads its parameters off the data, so what it writes is private,
    unless the data are public.

    Example: graphveil reproduce --dataset synthetic-1 --figure epsilon --out results
    """
    from graphveil.lab.dataset_files import HowToRead
    from graphveil.lab.experiments.page import require_page
    from graphveil.lab.experiments.protocol import Protocol
    from graphveil.lab.experiments.runs import FIGURES, Agenda, ReproduceRequest, write_report
    from graphveil.lab.experiments.runs import reproduce as compute
    from graphveil.lab.experiments.subjects import PAPER

    started = perf_counter()
    if workers is not None and workers < 1:
        raise ParameterError("workers", "must be at least 1")
    for page in pages or ():
        require_page(page)
    _look_here(contenders or [])
    request = ReproduceRequest(
        datasets=tuple(datasets or ("synthetic-1", "synthetic-2")),
        statistics=tuple(statistics or PAPER),
        directed=None if version is None else version is Version.directed,
        figures=FIGURES if figure is Figure.both else (figure.value,),
        releases=tuple(releases or ()),
        protocol=Protocol(runs=runs, seed=seed),
        contenders=tuple(contenders or ()),
        reading=HowToRead(reading.format, reading.options),
    )
    _require_folder(out)
    agenda = Agenda.of(request)
    with _progress() as progress:
        rows = compute(agenda, out, workers, progress)
    written = write_report(out, rows)
    _fill(pages or [], rows)
    files = [out / "results.parquet", out / "results.csv", *written]
    if as_json:
        _print_json(rows, files)
    else:
        _print(rows, files, started)


def _look_here(addresses: list[str]) -> None:
    """Let a module of one's own be found in the folder of the caller."""
    here = str(Path.cwd())
    if addresses and here not in sys.path:
        sys.path.append(here)


def _fill(pages: list[Path], rows: list[Row]) -> None:
    """Fill in pages; pictures and results stand beside the first."""
    from graphveil.lab.experiments.page import fill_page, write_findings

    for page in pages[:1]:
        write_findings(page, rows)
    for page in pages[1:]:
        fill_page(page, rows)


def _require_folder(out: Path) -> None:
    """Refuse a place that cannot hold results, before anything is computed."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError("out", f"cannot be a folder: {error.strerror}") from error


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar of finished cells on a terminal; nothing elsewhere."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from graphveil.cli.output import console

    shown_on = console()
    columns = ("Simulating", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown_on, disable=not shown_on.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, cells: bar.update(task, completed=done, total=cells)


def _print_json(rows: list[Row], written: list[Path]) -> None:
    from graphveil.cli.output import print_json

    shown = _summary(rows)
    print_json(
        {
            "results": len(rows),
            "title": shown.title,
            "table": [dict(zip(shown.header, row, strict=True)) for row in shown.rows],
            "written": [str(path) for path in written],
        }
    )


def _summary(rows: list[Row]) -> ResultTable:
    """The one table that says most."""
    from graphveil.lab.experiments.page import tables

    by_name = tables(rows)
    return by_name.get("gains", by_name["settings"])


def _print(rows: list[Row], written: list[Path], started: float) -> None:
    from graphveil.cli.output import print_table

    shown = _summary(rows)
    print_table(shown.title, shown.header, shown.rows, text_columns=3)
    print(shown.note)
    print(f"{len(rows):,} results in {perf_counter() - started:.0f} s. Written:")
    for path in written:
        print(f"  {path}")
