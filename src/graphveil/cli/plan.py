"""`graphveil plan`: the error of every mechanism, before anything is spent."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphveil.cli.options import (
    Degree,
    Inward,
    Json,
    K,
    Name,
    Oriented,
    Outward,
    PatternEdges,
    Tau,
    chosen_bound,
    chosen_statistic,
)
from graphveil.errors import ParameterError

if TYPE_CHECKING:
    from graphveil.graph.bound import Bound
    from graphveil.mechanisms.plan import Plan
    from graphveil.mechanisms.planner import Prospect
    from graphveil.statistics.statistic import Statistic

UNKNOWN = "unknown"


def plan(
    name: Name,
    epsilon: Annotated[
        str, typer.Option("--epsilon", metavar="E", help="Privacy loss ε of the whole series.")
    ],
    tau: Tau = None,
    k: K = None,
    pattern: PatternEdges = None,
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="δ", help="Probability of a loss over ε, such as 1e-6."),
    ] = None,
    horizon: Annotated[
        str, typer.Option("--horizon", metavar="T|unknown", help="How many releases there will be.")
    ] = UNKNOWN,
    mechanism: Annotated[
        str, typer.Option("--mechanism", metavar="NAME", help="Choose one, whatever its error.")
    ] = "auto",
    expected: Annotated[
        int | None,
        typer.Option("--expected", metavar="N", help="A guess of the number's size, to warn by."),
    ] = None,
    as_json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the errors: .svg, .png or .html."),
    ] = None,
) -> None:
    """Show the error that each mechanism will have, and which one is best.

    Errors are standard deviations of the noise in each published number. They follow from
    public parameters only: no data is read.

    Example: graphveil plan edges --bound 15 --epsilon 1 --horizon 20
    """
    from graphveil.cli.output import print_json, working
    from graphveil.cli.plots import require_drawable, write_chart

    steps = _steps(horizon)
    if plot is not None:
        require_drawable(plot)
    statistic = chosen_statistic(name, tau, k, pattern)
    bound = chosen_bound(degree, inward, outward, oriented=oriented)
    with working("Planning …"):
        prospects = _prospects(statistic, bound, epsilon, delta, steps)
        chosen = _chosen(prospects, mechanism)
        warning = None if expected is None else chosen.warning(expected)
    if plot is not None:
        with working("Drawing …"):
            write_chart(plot, prospects, chosen)
    if as_json:
        print_json(_as_data(prospects, chosen, warning))
    else:
        _print(prospects, chosen, warning)


def _steps(horizon: str) -> int | None:
    """The number of releases; None if it is unknown."""
    if horizon == UNKNOWN:
        return None
    if not horizon.isascii() or not horizon.isdigit() or int(horizon) < 1:
        raise ParameterError("horizon", f"must be at least 1, or '{UNKNOWN}', not '{horizon}'")
    return int(horizon)


def _prospects(
    statistic: Statistic, bound: Bound, epsilon: str, delta: str | None, steps: int | None
) -> list[Prospect]:
    from graphveil.mechanisms.planner import compare

    return compare(statistic, bound, epsilon=epsilon, delta=delta, horizon=steps)


def _chosen(prospects: list[Prospect], name: str) -> Plan:
    """The best plan, or the one of the mechanism that was named."""
    from graphveil.mechanisms.mechanism import mechanism
    from graphveil.mechanisms.planner import AUTO, best

    if name == AUTO:
        return best(prospects)
    known = mechanism(name).name
    found = next(each for each in prospects if each.name == known)
    if found.plan is None:
        raise ParameterError("mechanism", f"{found.name} {found.reason}")
    return found.plan


def _as_data(prospects: list[Prospect], chosen: Plan, warning: str | None) -> dict[str, Any]:
    from graphveil.mechanisms.exact_numbers import as_text

    request = chosen.request
    return {
        "statistic": chosen.subject,
        "epsilon": as_text(request.epsilon),
        "delta": None if request.delta is None else as_text(request.delta),
        "horizon": request.horizon,
        "numbers_per_release": request.width,
        "choice": chosen.mechanism.name,
        "warning": warning,
        "mechanisms": [
            {
                "name": each.name,
                "mean_std": each.plan.mean_std,
                "last_std": each.plan.last_std,
                "std": list(each.std),
            }
            for each in prospects
            if each.plan
        ],
        "not_admissible": [
            {"name": each.name, "reason": each.reason} for each in prospects if each.reason
        ],
    }


def _print(prospects: list[Prospect], chosen: Plan, warning: str | None) -> None:
    from graphveil.cli.output import print_table

    def row(each: Prospect) -> list[object]:
        mark = "◀" if each.name == chosen.mechanism.name else ""
        if each.plan is None:
            return [each.name, mark, each.reason, None, None]
        deviations = map(_three_digits, (each.plan.mean_std, each.plan.last_std))
        return [each.name, mark, each.summary, *deviations]

    steps = len(chosen.predicted)
    length = f"the first {steps}" if chosen.request.horizon is None else str(steps)
    print_table(
        f"{chosen.subject}: standard deviation of the noise over {length} releases",
        ("mechanism", "", "what it does, or why it is not possible", "mean", "last"),
        map(row, prospects),
        text_columns=3,
    )
    print(f"Choice: {chosen.mechanism.name}, {_guarantee(chosen)}.")
    if warning:
        print(f"Warning: {warning}", file=sys.stderr)


def _three_digits(number: float) -> str:
    """As many digits as mean anything to a reader."""
    return f"{number:,.{2 if number < 10 else 1 if number < 100 else 0}f}"


def _guarantee(chosen: Plan) -> str:
    width = chosen.request.width
    together = f", all {width} numbers of every release together" if width > 1 else ""
    return f"{chosen.budget} for the whole series{together}"
