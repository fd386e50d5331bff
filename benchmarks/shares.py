"""What the split of a budget is worth: the table of docs/planning.md#several-series-shares.

    python benchmarks/shares.py

Summed errors in percent of the expected sizes, for equal shares, for the best split, and for
Gaussian noise composed jointly in zCDP (which studies do not do) at the best ρ of each series.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

from graphveil import DegreeBound, Plan, best_shares, plan, statistic
from graphveil.planning.shares import at_another_price, equal_shares
from graphveil.planning.spans import achieved

BOUND, EPSILON, DELTA = DegreeBound(10), Fraction(1), Fraction(1, 10**6)
SERIES: tuple[tuple[str, dict[str, int], int], ...] = (
    ("edges", {}, 1200),
    ("high-degree", {"tau": 3}, 300),
    ("clusters", {"k": 3}, 200),
    ("nodes", {}, 700),
    ("triangles", {}, 900),
    ("components", {}, 300),
    ("stars", {"k": 2}, 5000),
)
NUMBERS, HORIZONS = (2, 4, 6, 7), (10, 20, 100)


def plans(number: int, horizon: int, mechanism: str = "auto") -> list[Plan]:
    """The first series, each for the whole ε."""
    delta = DELTA if mechanism == "gaussian" else None
    return [
        plan(
            statistic(name, **given),
            BOUND,
            epsilon=EPSILON,
            delta=delta,
            horizon=horizon,
            mechanism=mechanism,
        )
        for name, given, _ in SERIES[:number]
    ]


def summed(made: Sequence[Plan], shares: Sequence[Fraction]) -> float:
    """Errors in parts of the expected sizes, of all series."""
    each = zip(made, shares, SERIES, strict=False)
    return sum(achieved(at_another_price(one, share)) / size for one, share, (_, _, size) in each)


def joint_gaussian(number: int, horizon: int) -> float:
    """The same where Σρ is what (ε, δ) allow, and ρ goes as (error/size)^(2/3)."""
    alone = plans(number, horizon, "gaussian")
    parts = [achieved(one) / size for one, (_, _, size) in zip(alone, SERIES, strict=False)]
    whole = sum(part ** (2 / 3) for part in parts)
    return sum(part * sqrt(whole / part ** (2 / 3)) for part in parts)


def row(number: int, horizon: int) -> str:
    """A row of the table."""
    made, sizes = plans(number, horizon), [size for _, _, size in SERIES[:number]]
    equal = summed(made, equal_shares(EPSILON, number))
    best = summed(made, best_shares(EPSILON, made, sizes))
    joint = joint_gaussian(number, horizon)
    return (
        f"| {number} | {horizon} | {equal:.0%} | {best:.0%} | {best / equal:.2f} | "
        f"{joint / best:.2f} |"
    )


if __name__ == "__main__":
    print(
        "| series | releases | equal shares | best split | ratio | jointly Gaussian, against it |"
    )
    print("|---:|---:|---:|---:|---:|---:|")
    for horizon in HORIZONS:
        for number in NUMBERS:
            print(row(number, horizon))
