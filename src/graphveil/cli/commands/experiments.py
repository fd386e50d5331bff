"""`datasets`, `generate`, `reproduce`: graphs for experiments, and the experiments of the paper."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from graphveil.cli.commands.measuring import PRIVATE
from graphveil.cli.options import Json
from graphveil.cli.output import console, print_json, print_note, print_table, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.lab.experiments.claims import ResultTable
    from graphveil.lab.experiments.results import Row

if TYPE_CHECKING:
    from graphveil.lab.dataset_files import Summary
    from graphveil.lab.datasets import Dataset

    Measured: TypeAlias = tuple[Dataset, Summary, list[str]]

ANY_PAIR = "any graph of your own"
ANY_PAIR_USAGE = "FOLDER with nodes.* and edges.* (.csv, .csv.gz, .parquet), or NODES,EDGES"
DRAWN = ("synthetic-1", "synthetic-2")


def datasets(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Your data, named as the list shows."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the two models.")] = 0,
    as_json: Json = False,
) -> None:
    """List the datasets of the experiments, with sizes and degrees beside the paper's.

    Draws the two models once. With paths, shows your data in the table instead of the list.

    Example: graphveil datasets examples/clinic
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.lab.datasets import dataset

    with working("Reading and drawing …"):
        load_kernels_without_blas()
        measured = [_measured(dataset(name, seed=seed)) for name in [*DRAWN, *(paths or [])]]
    if as_json:
        print_json(_as_data(measured))
    else:
        if paths:
            print_note(PRIVATE)
        else:
            _print_list()
        _print_sizes(measured, seed)


def _measured(given: Dataset) -> Measured:
    from graphveil.lab.dataset_files import summarise

    sequence = given.sequence(directed=True)
    return given, summarise(sequence), sequence.labels


def _print_list() -> None:
    from graphveil.lab.datasets import entries

    listed = [(entry.name, entry.title) for entry in entries()]
    print_table("Datasets", ("name", "what it is"), [*listed, ("FOLDER", ANY_PAIR)], text_columns=2)
    print("How to name them:")
    for usage in [*(entry.usage for entry in entries()), ANY_PAIR_USAGE]:
        print(f"  {usage}")
    print("\nWhat to know:")
    for entry in entries():
        print(f"  {entry.name}: {entry.note}")
    print()


def _print_sizes(measured: list[Measured], seed: int) -> None:

    print_table(
        f"Sizes and degrees; models drawn with seed {seed}",
        ("dataset", "of", "steps", "nodes", "edges", "max degree", "max in", "max out"),
        _lines(measured),
        text_columns=3,
    )
    for given, _, _ in measured:
        if given.stand_in:
            print(f"{given.name}: {given.stand_in}")


def _lines(measured: list[Measured]) -> Iterator[tuple[object, ...]]:
    """Each dataset, followed by the paper's line for it; then the paper's other lines."""
    from graphveil.lab.dataset_files import PAPER

    shown = set()
    for given, found, labels in measured:
        yield _line(given.name, "this one", found, labels)
        counterpart = _counterpart(given)
        if counterpart is not None:
            shown.add(counterpart)
            yield _line(counterpart, "the paper", PAPER[counterpart], [])
    for name, figures in PAPER.items():
        if name not in shown:
            yield _line(name, "the paper", figures, [])


def _line(name: str, whose: str, found: Summary, labels: list[str]) -> tuple[object, ...]:
    span = f" ({labels[0]}–{labels[-1]})" if labels else ""
    degrees = (found.max_degree, found.max_in_degree, found.max_out_degree)
    return name, whose, f"{found.steps}{span}", found.nodes, found.edges, *degrees


def _counterpart(given: Dataset) -> str | None:
    """The paper's dataset that this one is, or replaces."""
    from graphveil.lab.dataset_files import PAPER
    from graphveil.lab.dataset_sources import STAND_INS

    if given.name in STAND_INS:
        return STAND_INS[given.name].stands_for
    return given.name if given.name in PAPER else None


def _as_data(measured: list[Measured]) -> dict[str, Any]:
    from dataclasses import asdict

    from graphveil.lab.dataset_files import PAPER
    from graphveil.lab.datasets import entries

    return {
        "private": PRIVATE,
        "datasets": [
            {"name": e.name, "title": e.title, "usage": e.usage, "note": e.note} for e in entries()
        ],
        "paper": {name: asdict(figures) for name, figures in PAPER.items()},
        "measured": [
            {
                "name": given.name,
                "title": given.title,
                "source": given.source,
                "stand_in": given.stand_in,
                "calendar": given.calendar.describe(),
                "counterpart": _counterpart(given),
                **asdict(found),
            }
            for given, found, _ in measured
        ],
    }


def generate(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="synthetic-1 or synthetic-2, also with parameters."),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder for nodes.csv and edges.csv.")
    ],
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="The same seed draws the same graph.")
    ],
    as_json: Json = False,
) -> None:
    """Draw a graph from one of the paper's models, and write it as nodes.csv and edges.csv.

    Nothing is overwritten, and in the end either both files exist or neither.

    Example: graphveil generate synthetic-1:years=30,yearly=200 my-epidemic --seed 7
    """
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.lab.dataset_files import require_new, write_pair
    from graphveil.lab.datasets import model

    require_new(folder)
    _, chosen = model(name)
    with working("Drawing …"):
        load_kernels_without_blas()
        drawn = chosen.draw(seed)
        write_pair(drawn.records(), folder)
    nodes, edges = len(drawn.time), len(drawn.source)
    if as_json:
        result = {"folder": str(folder), "nodes": nodes, "edges": edges}
        print_json(result | {"seed": seed, "model": str(chosen)})
        return
    print(f"{nodes:,} nodes and {edges:,} edges in {folder}")
    print(f"Drawn with seed {seed} from {chosen}")


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
        _print_findings(rows, files, started)


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

    shown_on = console()
    columns = ("Simulating", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=shown_on, disable=not shown_on.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, cells: bar.update(task, completed=done, total=cells)


def _print_json(rows: list[Row], written: list[Path]) -> None:

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


def _print_findings(rows: list[Row], written: list[Path], started: float) -> None:

    shown = _summary(rows)
    print_table(shown.title, shown.header, shown.rows, text_columns=3)
    print(shown.note)
    print(f"{len(rows):,} results in {perf_counter() - started:.0f} s. Written:")
    for path in written:
        print(f"  {path}")
