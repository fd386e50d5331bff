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
    from graphveil.planning.plan import Plan
    from graphveil.planning.planner import Prospect
    from graphveil.statistics.statistic import Statistic

UNKNOWN = "unknown"


def plan(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER|NAME", help="A study, or a name from `graphveil statistics`."
        ),
    ],
    epsilon: Annotated[
        str | None,
        typer.Option("--epsilon", metavar="E", help="Privacy loss ε of the whole series."),
    ] = None,
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
        list[str] | None,
        typer.Option(
            "--expected",
            metavar="N|SERIES=N",
            help="A guess of the number's size, to warn by; of a study, once per series.",
        ),
    ] = None,
    as_json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help="Draw the errors: .svg, .png or .html."),
    ] = None,
) -> None:
    """Show the error that each mechanism will have, and which one is best.

    Of a study, shows the error that each series will have; the study file says the rest, so
    no other option is needed. Errors are standard deviations of the noise in each published
    number. They follow from public parameters only: no data is read, and nothing is spent.

    Example: graphveil plan my-study --expected edges=500

    Example: graphveil plan edges --bound 15 --epsilon 1 --horizon 20
    """
    from graphveil.cli.output import print_json, working
    from graphveil.cli.plots import require_drawable, write_chart
    from graphveil.cli.study_plan import is_study, plan_study

    if is_study(name):
        about_statistics = (epsilon, tau, k, pattern, degree, inward, outward, delta, plot)
        _require_untold([*about_statistics, oriented or None], horizon, mechanism)
        plan_study(Path(name), expected or [], as_json=as_json)
        return
    if epsilon is None:
        raise ParameterError("epsilon", "is needed to plan a statistic", hint="Give --epsilon E.")
    steps, size = _steps(horizon), _size(expected or [])
    if plot is not None:
        require_drawable(plot)
    statistic = chosen_statistic(name, tau, k, pattern)
    bound = chosen_bound(degree, inward, outward, oriented=oriented)
    with working("Planning …"):
        prospects = _prospects(statistic, bound, epsilon, delta, steps)
        chosen = _chosen(prospects, mechanism)
        warning = None if size is None else chosen.warning(size)
    if plot is not None:
        with working("Drawing …"):
            write_chart(plot, prospects, chosen)
    if as_json:
        print_json(_as_data(prospects, chosen, warning))
    else:
        _print(prospects, chosen, warning)


def _require_untold(given: list[object], horizon: str, mechanism: str) -> None:
    """Refuse what the study file says already."""
    if any(each is not None for each in given) or (horizon, mechanism) != (UNKNOWN, "auto"):
        raise ParameterError(
            "plan",
            "of a study takes --expected and --json only",
            hint="The rest is in its study file; to try other values, plan a statistic.",
        )


def _size(expected: list[str]) -> int | None:
    """The one size that is expected of a statistic."""
    if not expected:
        return None
    if len(expected) > 1 or not (expected[0].isascii() and expected[0].isdigit()):
        raise ParameterError("expected", "must be one whole number for a statistic")
    return int(expected[0])


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
    from graphveil.planning.planner import compare

    return compare(statistic, bound, epsilon=epsilon, delta=delta, horizon=steps)


def _chosen(prospects: list[Prospect], name: str) -> Plan:
    """The best plan, or the one of the mechanism that was named."""
    from graphveil.mechanisms.mechanism import mechanism
    from graphveil.planning.planner import AUTO, best

    if name == AUTO:
        return best(prospects)
    known = mechanism(name).name
    found = next(each for each in prospects if each.name == known)
    if found.plan is None:
        raise ParameterError("mechanism", f"{found.name} {found.reason}")
    return found.plan


def _as_data(prospects: list[Prospect], chosen: Plan, warning: str | None) -> dict[str, Any]:
    from graphveil.noise.exact_numbers import as_text

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
    from graphveil.cli.output import print_table, three_digits

    def row(each: Prospect) -> list[object]:
        mark = "◀" if each.name == chosen.mechanism.name else ""
        if each.plan is None:
            return [each.name, mark, each.reason, None, None]
        deviations = map(three_digits, (each.plan.mean_std, each.plan.last_std))
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


def _guarantee(chosen: Plan) -> str:
    width = chosen.request.width
    together = f", all {width} numbers of every release together" if width > 1 else ""
    return f"{chosen.budget} for the whole series{together}"
