"""`graphveil datasets`: graphs for experiments, beside those of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from graphveil.cli.commands.count import PRIVATE
from graphveil.cli.options import Json

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
    from graphveil.cli.output import print_json, print_note, working
    from graphveil.lab.datasets import dataset
    from graphveil.startup import load_kernels_without_blas

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
    from graphveil.cli.output import print_table
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
    from graphveil.cli.output import print_table

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
