"""`graphveil sensitivity`: what one person can change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from graphveil.cli.options import (
    Breaking,
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
    from graphveil.statistics.sensitivity import Sensitivity
    from graphveil.statistics.statistic import Statistic


def sensitivity(
    context: typer.Context,
    name: Name,
    degree: Degree = None,
    inward: Inward = None,
    outward: Outward = None,
    oriented: Oriented = False,
    hubs: Hubs = None,
    if_broken: Breaking = None,
    as_json: Json = False,
) -> None:
    """Show how much one person can change a statistic under a degree bound.

    Example: graphveil sensitivity high-degree --tau 3 --bound 15

    Example: graphveil sensitivity edges --bound 10 --hubs 2
    """
    from graphveil.cli.output import print_json
    from graphveil.statistics.change import sensitivity_under
    from graphveil.statistics.statistic import statistic as named_statistic

    statistic = named_statistic(name, **given_parameters(context))
    bound = chosen_bound(degree, inward, outward, oriented=oriented, hubs=hubs, if_broken=if_broken)
    change = sensitivity_under(statistic, bound)
    if as_json:
        print_json(_as_data(statistic, bound, change))
    else:
        _print(statistic, bound, change)


def _as_data(statistic: Statistic, bound: Bound, change: Sensitivity) -> dict[str, Any]:
    from graphveil.statistics.change import shape_under

    shape = shape_under(statistic, bound)
    return {
        "statistic": str(statistic),
        "bound": str(bound),
        "l1": change.l1,
        "static_l1": change.static_l1,
        "l2_squared": change.l2_squared,
        "l2": change.l2,
        "variation_squared": change.variation_squared,
        "edge_l1": change.edge_l1,
        "exact": change.exact,
        "exact_for": sorted(change.exact_for),
        "shape": shape.to_dict() | {"words": shape.words()},
        "paper": change.paper,
        "assumption": change.assumption,
        "proof": change.proof,
    }


def _print(statistic: Statistic, bound: Bound, change: Sensitivity) -> None:
    from graphveil.cli.output import print_table
    from graphveil.statistics.change import shape_under

    whole = "the whole difference sequence"
    if statistic.counted_for is not None:
        whole = "all releases together"

    def row(scope: str, measure: str, value: object, paper: int | None = None) -> list[object]:
        return [scope, value, "exact" if measure in change.exact_for else "upper bound", paper]

    print_table(
        f"{statistic}: {bound}",
        ("what one person can change", "at most", "", "the paper"),
        (
            row(f"{whole}, L1", "l1", change.l1, change.paper),
            row("one release, L1", "static_l1", change.static_l1),
            row(f"{whole}, L2", "l2_squared", f"√{change.l2_squared:,}"),
            row("one edge instead of one person, L1", "edge_l1", change.edge_l1),
        ),
    )
    print(f"Shape: {shape_under(statistic, bound).words()}")
    print(f"Assumption: {change.assumption}")
    print(f"Proof: {change.proof}")
