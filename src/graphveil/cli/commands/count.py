"""`graphveil count`: exact counts per step, for the operator's eyes only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, Name
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.cli.statistic_options import given_parameters
from graphveil.cli.terminal import one_line
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.engines import ExactCounts
    from graphveil.formats import ReadFiles
    from graphveil.graph.intake.appending import Intake
    from graphveil.statistics.statistic import Statistic

PRIVATE = "PRIVATE: exact counts, no noise added. For the data holder only, never for publication."


@taking_reading_options
def count(
    context: typer.Context,
    name: Name,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Files of any format (`graphveil formats`)."),
    ] = None,
    *,
    nodes: Annotated[
        str | None, typer.Option("--nodes", metavar="FILE", help="A file of nodes.")
    ] = None,
    edges: Annotated[
        list[str] | None, typer.Option("--edges", metavar="FILE", help="A file of edges.")
    ] = None,
    reading: Reading,
    directed: Annotated[
        bool, typer.Option("--directed", help="Edges go from source to target.")
    ] = False,
    oriented: Annotated[
        bool, typer.Option("--oriented", help="Directed, and reciprocal edges are refused.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="day|week|month|quarter|year|N",
            help="Length of a step (N: units, or days).",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count a statistic exactly at every step. The result is private.

    Steps begin at the earliest time in the file, which is fine for looking at one's own
    data; a published calendar must be chosen without looking at the data.

    Example: graphveil count triangles nodes.csv edges.csv --every year

    Example: graphveil count clusters --k 3 --window 2 cases.xlsx --time onset
    """
    from graphveil.cli.output import working
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.statistics.statistic import statistic as named_statistic
    from graphveil.steward.beforehand.networks import taken

    more, parameters = _files_and_parameters(edges or [], given_parameters(context))
    statistic = named_statistic(name, **parameters)
    statistic.require_domain(directed=directed or oriented)
    with working("Reading and counting …"):
        load_kernels_without_blas()
        found = _read([*(files or []), *([nodes] if nodes else []), *more], reading)
        intake = taken(
            found.records,
            every,
            directed=directed or oriented,
            oriented=oriented,
            undated=reading.options.undated or "refuse",
        )
        counts = _count(intake, statistic)
    if as_json:
        _print_json(found, intake, statistic, counts)
    else:
        _print_table(found, intake, statistic, counts)


def _files_and_parameters(
    edges: list[str], given: dict[str, str]
) -> tuple[list[str], dict[str, str]]:
    """--edges names a file and, where it is given without an ending, a pattern."""
    files = [value for value in edges if Path(value.partition("#")[0]).suffix]
    patterns = [value for value in edges if value not in files]
    if len(patterns) > 1 or (patterns and "pattern" in given):
        raise ParameterError(
            "--edges", "name one file of edges", hint="Use --pattern for patterns."
        )
    return files, {**given, **({"pattern": patterns[0]} if patterns else {})}


def _read(files: list[str], reading: Reading) -> ReadFiles:
    from graphveil.formats import read_records

    if not files:
        raise ParameterError("files", "name at least one file", hint="Such as nodes.csv edges.csv.")
    return read_records(files, format=reading.format, options=reading.options)


def _count(intake: Intake, statistic: Statistic) -> ExactCounts:
    from graphveil.engines import LocalEngine

    return LocalEngine().count(intake.sequence, [statistic])


def _print_json(
    found: ReadFiles, intake: Intake, statistic: Statistic, counts: ExactCounts
) -> None:
    from graphveil.cli.output import print_json

    print_json(
        {
            "private": PRIVATE,
            "statistic": str(statistic),
            "steps": intake.sequence.labels,
            **_numbers(statistic, counts),
            "files": found.report.lines(),
            "intake": intake.report.lines(),
        }
    )


def _numbers(statistic: Statistic, counts: ExactCounts) -> dict[str, list[Any]]:
    """What was counted; where people leave again, nothing adds up to a total."""
    totals = counts.totals(statistic).tolist()
    if statistic.counted_for is not None:
        return {"values": totals}
    return {"totals": totals, "differences": counts.differences(statistic).tolist()}


def _print_table(
    found: ReadFiles, intake: Intake, statistic: Statistic, counts: ExactCounts
) -> None:
    from graphveil.cli.output import print_note, print_table

    totals, labels = counts.totals(statistic), intake.sequence.labels
    print_note(PRIVATE)
    for line in [*found.report.lines(), *intake.report.lines()]:
        print_note(f"  {one_line(line)}")
    if statistic.vector:
        degrees = [f"degree {degree}" for degree in range(totals.shape[1])]
        rows = [(label, *row) for label, row in zip(labels, totals.tolist(), strict=True)]
        print_table(f"{statistic}: {statistic.summary}", ("step", *degrees), rows)
        return
    numbers = _numbers(statistic, counts)
    header = ("step", *(name.removesuffix("s") for name in numbers))
    rows = list(zip(labels, *numbers.values(), strict=True))
    print_table(f"{statistic}: {statistic.summary}", header, rows)
