"""`graphveil audit`: try to refute a privacy claim by telling neighbours apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Degree,
    Hubs,
    Inward,
    Json,
    Name,
    Oriented,
    Outward,
    chosen_bound,
    given_parameters,
)

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.lab.audit import Audit, Evidence
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.statistics.statistic import Statistic

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
    from graphveil.cli.output import print_json
    from graphveil.lab import audit as auditing
    from graphveil.statistics.statistic import statistic as named_statistic

    effort = auditing.AuditEffort.of(runs)
    statistic = named_statistic(name, **given_parameters(context))
    bound = chosen_bound(degree, inward, outward, oriented=oriented, hubs=hubs)
    with _progress() as progress:
        plan = _plan(statistic, bound, epsilon, delta, horizon, mechanism)
        result = auditing.audit(plan, statistic, bound, seed=seed, effort=effort, progress=progress)
    if as_json:
        print_json(_as_data(plan, result))
    else:
        _print(plan, result)
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

    from graphveil.cli.output import console

    shown_on = console()
    with Progress(console=shown_on, transient=True, disable=not shown_on.is_terminal) as bar:
        task = bar.add_task("Auditing", total=1.0)
        yield lambda part: bar.update(task, completed=part)


def _as_data(plan: Plan, result: Audit) -> dict[str, Any]:
    from dataclasses import asdict

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


def _print(plan: Plan, result: Audit) -> None:
    from graphveil.cli.output import print_table
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
