"""What the split of a budget is worth: the table of benchmarks/SHARES.md.

    python benchmarks/shares.py

Summed errors in percent of the expected sizes: for equal shares and the best split of a pure ε, and
for the best plans with a δ, of which some share a pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from graphveil import DegreeBound, Plan, best_plans, best_shares, plan, statistic
from graphveil.mechanisms.planning.plan import achieved
from graphveil.mechanisms.planning.shares import at_another_price, equal_shares

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


def plans(number: int, horizon: int) -> list[Plan]:
    """The first series, each for the whole ε."""
    return [
        plan(statistic(name, **given), BOUND, epsilon=EPSILON, horizon=horizon)
        for name, given, _ in SERIES[:number]
    ]


def summed(made: Sequence[Plan], shares: Sequence[Fraction]) -> float:
    """Errors in parts of the expected sizes, of all series."""
    each = zip(made, shares, SERIES, strict=False)
    return sum(achieved(at_another_price(one, share)) / size for one, share, (_, _, size) in each)


def row(number: int, horizon: int) -> str:
    """A row of the table."""
    made, sizes = plans(number, horizon), [size for _, _, size in SERIES[:number]]
    equal = summed(made, equal_shares(EPSILON, number))
    best = summed(made, best_shares(EPSILON, made, sizes))
    risky = best_plans(EPSILON, made, sizes, delta=DELTA)
    found = sum(achieved(one) / size for one, size in zip(risky, sizes, strict=True))
    inside = sum(one.request.pool_share is not None for one in risky)
    return (
        f"| {number} | {horizon} | {equal:.0%} | {best:.0%} | {best / equal:.2f} | "
        f"{found:.0%} | {found / best:.2f} | {inside} |"
    )


if __name__ == "__main__":
    print(
        "| series | releases | equal shares | best split | ratio | with δ = 10⁻⁶ | against it | "
        "in the pool |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for horizon in HORIZONS:
        for number in NUMBERS:
            print(row(number, horizon))
