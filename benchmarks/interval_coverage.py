"""How often published intervals hold: ``python benchmarks/interval_coverage.py``.

Simulates series, and looks whether the truth lies within the interval for the level, for what is
new in a step and in four, and for how that compares with the time before; writes
benchmarks/INTERVALS.md.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.promises import DegreeBound
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.change import Change
from graphveil.mechanisms.planning.intervals import change_errors, half_widths
from graphveil.mechanisms.planning.plan import Plan
from graphveil.series.planner import compare
from graphveil.statistics.statistic import Statistic, statistic

HERE = Path(__file__).resolve().parent
LEVEL = Fraction(95, 100)
STEPS = 20
RUNS = 40_000
BOUND, THRESHOLD, DELTA = DegreeBound(10), DegreeBound(4), Fraction(1, 10**6)
COUNTED = (
    statistic("edges"),
    statistic("components"),
    statistic("high-degree", tau=3),
    statistic("edges", window=4),
)
CHANGES = (Change(), Change(1, against=True), Change(4), Change(4, against=True))
SHARE = Fraction(1, 10)  # of a pool that several series have together
HEADER = (
    "what is counted", "mechanism", "level", "new in a step", "against the step before",
    "new in four", "against the four before",
)  # fmt: skip
INTRO = """# How often intervals hold

Written by `python benchmarks/interval_coverage.py`: the share of {runs:,} simulated series in
which the truth lies within the published interval of {level:.0%}, as the mean over {steps} releases
and, after the stroke, at the release where it is least. ε = 1, at most {bound} links, δ = 10⁻⁶
where a mechanism needs one, projection to {threshold} links where it projects. The intervals follow
from the exact law of the noise: more than {level:.0%} is the price of whole numbers where noise is
narrow, and of what is known of a law by a bound only. Where a count cannot fall, or cannot be below
0, the published interval is cut off there, which never excludes the truth.
"""


@dataclass(frozen=True)
class Held:
    """In how many of the runs an interval held, release by release."""

    shares: NDArray[np.float64]

    def __str__(self) -> str:
        return f"{self.shares.mean():.1%} / {self.shares.min():.1%}"


def plans(counted: Statistic) -> Iterator[Plan]:
    """Every mechanism that admits it."""
    projection = None if counted.parameters() and counted.name != "high-degree" else THRESHOLD
    found = compare(counted, BOUND, epsilon=1, delta=DELTA, horizon=STEPS, projection=projection)
    yield from (each.plan for each in found if each.plan is not None)
    shared = compare(counted, BOUND, epsilon=1, delta=DELTA, horizon=STEPS, pool_share=SHARE)
    yield from (each.plan for each in shared if each.plan is not None)


def named(plan: Plan) -> str:
    """The mechanism, and whether it has a share of a pool only."""
    share = plan.request.pool_share
    return f"`{plan.mechanism.name}`" + ("" if share is None else f", {share} of a pool")


def of_level(plan: Plan, noise: NDArray[np.int64]) -> Held:
    """How often the interval for the number itself holds."""
    widths = half_widths(plan, range(STEPS), LEVEL)
    return Held((np.abs(noise) <= np.array(widths)).mean(axis=0))


def of_change(plan: Plan, change: Change, noise: NDArray[np.int64]) -> Held:
    """How often the interval for a change holds, where there is one."""
    shares = []
    for place, error in enumerate(change_errors(plan, change, range(STEPS), LEVEL)):
        if error is not None:
            found = sum(weight * noise[:, place - ago] for ago, weight in change.weights.items())
            shares.append((np.abs(found) <= error.width).mean())
    return Held(np.array(shares))


def row(counted: Statistic, plan: Plan, runs: int) -> list[str]:
    """All intervals of one mechanism, on the same simulated series."""
    seed = zlib.crc32(f"{counted} {named(plan).replace('`', '')}".encode())
    noise = simulate(plan, runs, np.random.default_rng(seed), STEPS)
    held = [of_level(plan, noise), *(of_change(plan, change, noise) for change in CHANGES)]
    return [str(counted), named(plan), *map(str, held)]


def table(runs: int) -> Iterator[str]:
    """All rows, as Markdown."""
    for cells in (HEADER, ["---"] * len(HEADER)):
        yield f"| {' | '.join(cells)} |"
    for counted in COUNTED:
        for plan in plans(counted):
            line = f"| {' | '.join(row(counted, plan, runs))} |"
            print(line, flush=True)
            yield line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="simulated series a mechanism")
    runs = parser.parse_args().runs
    intro = INTRO.format(
        runs=runs,
        level=float(LEVEL),
        steps=STEPS,
        bound=BOUND.limit("total"),
        threshold=THRESHOLD.limit("total"),
    )
    text = "\n".join([intro, *table(runs)])
    (HERE / "INTERVALS.md").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
