"""`graphveil count`: exact counts per step, for the operator's eyes only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import Json, Limit, Name, Undated, most_bytes
from graphveil.cli.statistic_options import given_parameters
from graphveil.cli.terminal import one_line
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.engines import ExactCounts
    from graphveil.graph.intake import Intake
    from graphveil.graph.records import Records
    from graphveil.statistics.statistic import Statistic

PRIVATE = "PRIVATE: exact counts, no noise added. For the data holder only, never for publication."


def count(
    context: typer.Context,
    name: Name,
    nodes: Annotated[
        Path,
        typer.Option(
            "--nodes", metavar="FILE", help="Nodes: node,time as .csv, .csv.gz or .parquet."
        ),
    ],
    edges: Annotated[
        list[str],
        typer.Option(
            "--edges", metavar="FILE", help="Edges: source,target[,time], in the same formats."
        ),
    ],
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
    undated: Annotated[
        Undated, typer.Option("--undated", help="Nodes without a time: refuse, or first step.")
    ] = Undated.REFUSE,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Count a statistic exactly at every step. The result is private.

    Steps begin at the earliest time in the file, which is fine for looking at one's own
    data; a published calendar must be chosen without looking at the data.

    Example: graphveil count triangles --nodes nodes.csv --edges edges.csv --every year

    Example: graphveil count clusters --k 3 --window 2 --nodes nodes.csv --edges edges.csv
    """
    from graphveil.cli.output import working
    from graphveil.kernels.startup import load_kernels_without_blas
    from graphveil.statistics.statistic import statistic as named_statistic
    from graphveil.steward.networks import taken

    edges_file, parameters = _file_and_parameters(edges, given_parameters(context))
    statistic = named_statistic(name, **parameters)
    statistic.require_domain(directed=directed or oriented)
    with working("Reading and counting …"):
        load_kernels_without_blas()
        records = _read(nodes, edges_file, limit)
        intake = taken(
            records,
            every,
            directed=directed or oriented,
            oriented=oriented,
            undated_first=undated is Undated.FIRST,
        )
        counts = _count(intake, statistic)
    if as_json:
        _print_json(intake, statistic, counts)
    else:
        _print_table(intake, statistic, counts)


def _file_and_parameters(edges: list[str], given: dict[str, str]) -> tuple[Path, dict[str, str]]:
    """--edges names the file and, where it is given twice, also the pattern."""
    files = [value for value in edges if Path(value).suffix]
    patterns = [value for value in edges if value not in files]
    if len(files) != 1 or len(patterns) > 1 or (patterns and "pattern" in given):
        raise ParameterError(
            "--edges", "name one file of edges", hint="Use --pattern for patterns."
        )
    return Path(files[0]), {**given, **({"pattern": patterns[0]} if patterns else {})}


def _read(nodes: Path, edges: Path, limit: str | None) -> Records:
    from graphveil.formats import ReadingOptions, read_pair

    return read_pair(nodes, edges, ReadingOptions(most_bytes=most_bytes(limit)))


def _count(intake: Intake, statistic: Statistic) -> ExactCounts:
    from graphveil.engines import LocalEngine

    return LocalEngine().count(intake.sequence, [statistic])


def _print_json(intake: Intake, statistic: Statistic, counts: ExactCounts) -> None:
    from graphveil.cli.output import print_json

    print_json(
        {
            "private": PRIVATE,
            "statistic": str(statistic),
            "steps": intake.sequence.labels,
            **_numbers(statistic, counts),
            "intake": intake.report.lines(),
        }
    )


def _numbers(statistic: Statistic, counts: ExactCounts) -> dict[str, list[Any]]:
    """What was counted; where people leave again, nothing adds up to a total."""
    totals = counts.totals(statistic).tolist()
    if statistic.counted_for is not None:
        return {"values": totals}
    return {"totals": totals, "differences": counts.differences(statistic).tolist()}


def _print_table(intake: Intake, statistic: Statistic, counts: ExactCounts) -> None:
    from graphveil.cli.output import print_note, print_table

    totals, labels = counts.totals(statistic), intake.sequence.labels
    print_note(PRIVATE)
    for line in intake.report.lines():
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
