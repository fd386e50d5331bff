"""`graphveil count`: exact counts per step, for the operator's eyes only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    HERE,
    SPARK,
    Conf,
    Directed,
    Engine,
    Every,
    Json,
    Master,
    Name,
    NotReciprocal,
    Projection,
    chosen_threshold,
    given_parameters,
    settings_of,
)
from graphveil.cli.output import one_line
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.backends import ExactCounts
    from graphveil.graph.promises import Bound
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
    directed: Directed = False,
    oriented: NotReciprocal = False,
    every: Every = None,
    projection: Projection = None,
    engine: Engine = HERE,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Count a statistic exactly at every step. The result is private.

    Steps begin at the earliest time in the file, which is fine for looking at one's own
    data; a published calendar must be chosen without looking at the data.

    Example: graphveil count triangles nodes.csv edges.csv --every year

    Example: graphveil count clusters --k 3 --window 2 cases.xlsx --time onset

    Example: graphveil count components nodes.csv edges.csv --projection forest:2

    Example: graphveil count triangles nodes.parquet edges/ --engine spark --master local[4]
    """
    from graphveil.cli.output import working
    from graphveil.statistics.statistic import statistic as named_statistic

    more, parameters = _files_and_parameters(edges or [], given_parameters(context))
    statistic = named_statistic(name, **parameters)
    statistic.require_domain(directed=directed or oriented)
    sources = [*(files or []), *([nodes] if nodes else []), *more]
    settings = settings_of(engine, master, conf)
    if engine not in (HERE, SPARK):
        raise ParameterError("engine", f"must be {HERE} or {SPARK} to count outside of a study")
    if not sources:
        raise ParameterError("files", "name at least one file", hint="Such as nodes.csv edges.csv.")
    kind = {"directed": directed or oriented, "oriented": oriented}
    threshold = chosen_threshold(projection)
    if threshold is not None and engine == SPARK:
        raise ParameterError("projection", "is counted by the local engine", hint="Leave one out.")
    with working("Reading and counting …"):
        if engine == SPARK:
            counted = _count_there(sources, statistic, every, reading, kind, master, settings)
        else:
            counted = _count_here(sources, statistic, every, reading, kind, threshold)
    if as_json:
        _print_json(statistic, counted)
    else:
        _print_table(statistic, counted)


@dataclass(frozen=True, eq=False)
class _Counted:
    """What there is to print."""

    labels: list[str]
    counts: ExactCounts
    files: list[str]
    intake: list[str]


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


def _count_here(
    files: list[str],
    statistic: Statistic,
    every: str | None,
    reading: Reading,
    kind: dict[str, bool],
    threshold: Bound | None,
) -> _Counted:
    from graphveil.backends import LocalEngine
    from graphveil.deferred import load_kernels_without_blas
    from graphveil.records import read_records
    from graphveil.steward.promising import taken

    load_kernels_without_blas()
    read = read_records(files, format=reading.format, options=reading.options)
    undated = reading.options.undated or "refuse"
    sequence, report = taken(read.records, every, undated=undated, **kind)
    engine = LocalEngine()
    seen = sequence if threshold is None else engine.project(sequence, threshold)
    counts = engine.count(seen, [statistic], bound=threshold)
    return _Counted(sequence.labels, counts, read.report.lines(), report.lines())


def _count_there(
    tables: list[str],
    statistic: Statistic,
    every: str | None,
    reading: Reading,
    kind: dict[str, bool],
    master: str | None,
    settings: dict[str, str],
) -> _Counted:
    from graphveil.steward.promising import count_tables

    if reading.format is not None:
        raise ParameterError("format", "is for files that the local engine reads")
    counted = count_tables(
        tables, statistic, every, options=reading.options, master=master, settings=settings, **kind
    )
    return _Counted(counted.labels, counted.counts, [], counted.report.lines())


def _print_json(statistic: Statistic, counted: _Counted) -> None:
    from graphveil.cli.output import print_json

    print_json(
        {
            "private": PRIVATE,
            "statistic": str(statistic),
            "steps": counted.labels,
            **_numbers(statistic, counted.counts),
            "files": counted.files,
            "intake": counted.intake,
        }
    )


def _numbers(statistic: Statistic, counts: ExactCounts) -> dict[str, list[Any]]:
    """What was counted; where people leave again, nothing adds up to a total."""
    totals = counts.totals(statistic).tolist()
    if statistic.counted_for is not None:
        return {"values": totals}
    return {"totals": totals, "differences": counts.differences(statistic).tolist()}


def _print_table(statistic: Statistic, counted: _Counted) -> None:
    from graphveil.cli.output import print_note, print_table

    totals = counted.counts.totals(statistic)
    print_note(PRIVATE)
    for line in [*counted.files, *counted.intake]:
        print_note(f"  {one_line(line)}")
    if statistic.vector:
        told = getattr(statistic, "levels", None) or range(totals.shape[1])
        degrees = [f"degree {degree}" for degree in told]
        rows = [(label, *row) for label, row in zip(counted.labels, totals.tolist(), strict=True)]
        print_table(f"{statistic}: {statistic.summary}", ("step", *degrees), rows)
        return
    numbers = _numbers(statistic, counted.counts)
    header = ("step", *(name.removesuffix("s") for name in numbers))
    rows = list(zip(counted.labels, *numbers.values(), strict=True))
    print_table(f"{statistic}: {statistic.summary}", header, rows)
