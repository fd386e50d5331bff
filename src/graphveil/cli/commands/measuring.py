"""`count` and `audit`: what is true of a graph, and whether the noise is what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    HERE,
    SPARK,
    Conf,
    Degree,
    Directed,
    Engine,
    Every,
    Hubs,
    Inward,
    Json,
    Master,
    Name,
    NotReciprocal,
    Oriented,
    Outward,
    Projection,
    chosen_bound,
    chosen_threshold,
    given_parameters,
    settings_of,
)
from graphveil.cli.output import console, one_line, print_json, print_note, print_table, working
from graphveil.cli.reading_options import Reading, taking_reading_options
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.backends import ExactCounts
    from graphveil.graph.promises import Bound
    from graphveil.lab.audit import Audit, Evidence
    from graphveil.mechanisms.planning.plan import Plan
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
        _print_counts_as_json(statistic, counted)
    else:
        _print_counts(statistic, counted)


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
    from graphveil.deferred import load_kernels_without_blas

    load_kernels_without_blas()  # before a module with kernels is imported
    from graphveil.backends import LocalEngine
    from graphveil.records import read_records
    from graphveil.steward.promising import taken

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


def _print_counts_as_json(statistic: Statistic, counted: _Counted) -> None:

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


def _print_counts(statistic: Statistic, counted: _Counted) -> None:

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


VIOLATION = 6  # the exit code
REMINDER = "An audit can only find faults; finding none does not prove privacy."


def audit(
    context: typer.Context,
    name: Name,
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="E", help="The claim: ε of the whole series.")
    ],
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    hubs: Hubs = None,
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="δ", help="The claim: δ, where it is not pure ε."),
    ] = None,
    horizon: Annotated[
        int | None,
        typer.Option("--horizon", metavar="T", help="Number of releases; leave out if unknown."),
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="NAME", help="Which one; auto takes the best.")
    ] = "auto",
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", help="Series evaluated on each side.")
    ] = 200_000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the simulation.")] = 0,
    as_json: Json = False,
) -> None:
    """Try to tell two neighbouring graphs apart by what a mechanism publishes about them.

    Takes the worst known pairs of graph sequences that differ in one person, publishes both
    many times, and reports a lower confidence bound on the ε that an observer of the whole
    series would see. Needs no data. Ends with exit code 6 if the bound is above the claim.

    Example: graphveil audit edges --bound 3 --epsilon 1 --horizon 8 --runs 20000
    """
    from graphveil.lab import audit as auditing
    from graphveil.statistics.statistic import statistic as named_statistic

    effort = auditing.AuditEffort.of(runs)
    statistic = named_statistic(name, **given_parameters(context))
    bound = chosen_bound(degree, inward, outward, oriented=oriented, hubs=hubs)
    with _progress() as progress:
        plan = _plan(statistic, bound, epsilon, delta, horizon, mechanism)
        result = auditing.audit(plan, statistic, bound, seed=seed, effort=effort, progress=progress)
    if as_json:
        print_json(_audit_data(plan, result))
    else:
        _print_audit(plan, result)
    if result.violated:
        raise typer.Exit(VIOLATION)


def _plan(
    statistic: Statistic,
    bound: Bound,
    epsilon: str,
    delta: str | None,
    horizon: int | None,
    mechanism: str,
) -> Plan:
    """A mechanism that projects does so to the bound; auto takes none that does."""
    from graphveil.mechanisms.mechanism import mechanism as named
    from graphveil.mechanisms.planning import AUTO
    from graphveil.series.planner import plan

    projects = mechanism != AUTO and named(mechanism).projects
    return plan(
        statistic,
        bound,
        epsilon=epsilon,
        delta=delta,
        horizon=horizon,
        mechanism=mechanism,
        projection=bound.counted if projects else None,
    )


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """A bar on a terminal, silence elsewhere."""
    from rich.progress import Progress

    shown_on = console()
    with Progress(console=shown_on, transient=True, disable=not shown_on.is_terminal) as bar:
        task = bar.add_task("Auditing", total=1.0)
        yield lambda part: bar.update(task, completed=part)


def _audit_data(plan: Plan, result: Audit) -> dict[str, Any]:

    from graphveil.noise.exact_numbers import as_text

    return {
        "subject": plan.subject,
        "mechanism": plan.mechanism.name,
        "horizon": plan.request.horizon,
        "epsilon": as_text(result.claimed),
        "delta": None if result.delta is None else as_text(result.delta),
        "lower_bound": result.lower_bound,
        "confidence": result.confidence,
        "violated": result.violated,
        "verdict": result.verdict,
        "simulation": asdict(result.simulation),
        "release": None if result.release is None else asdict(result.release),
        "pair": str(result.pair),
    }


def _print_audit(plan: Plan, result: Audit) -> None:
    from graphveil.noise.exact_numbers import as_text

    claim = f"ε = {as_text(result.claimed)}"
    if result.delta is not None:
        claim += f", δ = {as_text(result.delta)}"
    print_table(
        f"{plan.subject}: {plan.mechanism.name}, claimed {claim}",
        (
            "series",
            "runs on each side",
            "distinguishing event",
            "on the other side",
            "ε is at least",
        ),
        _rows(result),
    )
    print(f"Claimed {claim}; shown, with confidence {result.confidence:.6f}: ", end="")
    print(f"ε ≥ {result.lower_bound:.3f}. Verdict: {result.verdict}.")
    print(f"The pair: {result.pair}.")
    print(REMINDER)


def _rows(result: Audit) -> Iterator[tuple[str, int, int, int, str]]:
    parts: list[tuple[str, Evidence | None]] = [
        ("simulated", result.simulation),
        ("with the noise of releases", result.release),
    ]
    for name, part in parts:
        if part is not None:
            yield name, part.runs, part.likely, part.unlikely, f"{part.lower_bound:.3f}"
