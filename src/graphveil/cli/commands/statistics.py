"""`graphveil statistics`: what can be counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphveil.cli.options import Json

if TYPE_CHECKING:
    from graphveil.statistics.statistic import Statistic


def statistics(as_json: Json = False) -> None:
    """List every statistic with the formula of its sensitivity Γ.

    Γ is the most that one person can change in the whole difference sequence. D is the
    degree bound; Din and Dout bound in- and out-degrees, m is the smaller of the two and
    M the larger.

    Example: graphveil statistics
    """
    from graphveil.cli.output import print_json, print_table
    from graphveil.statistics.statistic import registered

    members = registered().values()
    if as_json:
        print_json([_as_data(member) for member in members])
        return
    print_table(
        "Statistics",
        ("name", "parameters", "counts", "Γ, undirected", "Γ, directed"),
        (
            (
                member.name,
                " ".join(f"--{each.name}" for each in member.parameters()),
                member.summary,
                member.formulas.get("undirected"),
                member.formulas.get("directed"),
            )
            for member in members
        ),
        text_columns=5,
    )
    print(
        "Every statistic takes --window N: then only people who arrived in the last N steps count, "
        "and links among them."
    )


def _as_data(member: type[Statistic]) -> dict[str, Any]:
    return {
        "name": member.name,
        "counts": member.summary,
        "parameters": [each.name for each in member.parameters()],
        "graphs": member.domain.value,
        "formulas": member.formulas,
    }
