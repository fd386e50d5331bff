"""The error of revised histories: ``python benchmarks/revisions.py PATH …``.

Publishes the cases of the experiments again and again, and measures first values, processed ones
and revisions against the truth, and how often each published interval holds it; writes
benchmarks/REVISIONS.md. Name the folders of the public networks, as for ``graphveil reproduce``.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from graphveil.backends import LocalEngine
from graphveil.graph.promises import DegreeBound
from graphveil.lab.experiments.runs import Agenda, ReproduceRequest
from graphveil.lab.experiments.subjects import Subject
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.intervals import half_widths
from graphveil.mechanisms.planning.plan import Plan
from graphveil.report.estimates import around
from graphveil.series.planner import plan as planned
from graphveil.series.postprocessing import Rising, processed, revised
from graphveil.statistics.statistic import statistic

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # so that `benchmarks` can be imported from anywhere
MODELS = ("synthetic-1", "synthetic-2")
EPSILONS = ("0.1", "0.5", "1", "2", "10")
MAIN = "1"
KINDS = ("processed", "revised")
WORST = 1.02
Values = NDArray[np.float64]
TARGETS = {"high-degree": 0.75, "edges": 0.97}
INTRO = """# Errors of revisions

Written by `python benchmarks/revisions.py`, with the folders of seven public networks: the cases of
[the findings](../docs/findings.md), published with the planner's choice under the largest degree,
{runs} times each at ε = 1 and {fewer} times at others.
[Revised histories](../docs/revisions.md) says what is done.

## Against raw values

The mean of |value − truth| over all steps and runs, as a part of that of the raw values: processed
online when a value is first published, and revised after the last release.
Geometric means over cases, and the worst case.
"""
OF_CASES = """
## Case by case

At ε = 1, absolute error as a part of that of the raw values.
"""
OF_HALVES = """
## Half-way

The same at ε = 1 after half of the planned releases, when noise that is made for all of them has
not yet come back.
"""
OF_INTERVALS = """
## How often intervals hold the truth

The part of runs in which the truth lies in the published interval of 95%, at ε = 1: on average over
cases and steps, and at the step where it is least often. The luck of a single step in {runs} runs
has a standard deviation of {luck:.1%}, and the last row has the least of {steps} steps. Other
intervals are in [a table of their own](INTERVALS.md).
"""
OF_TIME = """
## Time

Seconds to estimate one whole history again, on one core of a shared machine.

| series | steps | revised |
|---|--:|--:|
"""


@dataclass(frozen=True, eq=False)
class Case:
    """One statistic of one network."""

    subject: Subject
    truth: NDArray[np.int64]

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"{self.subject.dataset}, {self.subject.version}, {self.subject.asked}"

    def plan(self, epsilon: str) -> Plan:
        """The planner's choice."""
        return planned(
            self.subject.statistic,
            self.subject.bound,
            epsilon=Fraction(epsilon),
            horizon=len(self.truth),
        )

    def raw(self, plan: Plan, runs: int) -> Values:
        """What is published, run by run."""
        seed = zlib.crc32(f"{self.name} {plan.request.epsilon}".encode())
        return (self.truth + simulate(plan, runs, np.random.default_rng(seed))).astype(np.float64)


def cases(datasets: Iterable[str]) -> list[Case]:
    """Those of the experiments."""
    agenda = Agenda.of(ReproduceRequest(datasets=tuple(datasets), figures=("epsilon",)))
    subjects = dict.fromkeys(cell.subject for cell in agenda.figures)
    return [Case(each, _totals(agenda, each)) for each in subjects]


def _totals(agenda: Agenda, subject: Subject) -> NDArray[np.int64]:
    (version,) = (
        each
        for each in agenda.versions
        if (each.dataset.name, each.directed) == (subject.dataset, subject.directed)
    )
    counts = LocalEngine().count(version.sequence, [subject.statistic], bound=version.bound)
    return counts.totals(subject.statistic)


def errors(case: Case, epsilon: str, runs: int, part: float = 1.0) -> dict[str, float]:
    """The absolute error of each kind as a part of the raw one."""
    plan = case.plan(epsilon)
    steps = max(1, round(part * len(case.truth)))
    truth, raw = case.truth[:steps], case.raw(plan, runs)[:, :steps]
    counted = case.subject.statistic
    fit = Rising(plan, steps)
    found = {
        "processed": [processed(counted, run).values for run in raw],
        "revised": [fit.of(run) for run in raw],
    }
    before = np.abs(raw - truth).mean()
    return {
        kind: float(np.abs(np.array(each) - truth).mean() / before) for kind, each in found.items()
    }


def coverage(case: Case, runs: int) -> dict[str, Values]:
    """How often each interval holds the truth, step by step."""
    plan, steps = case.plan(MAIN), len(case.truth)
    raw, fit = case.raw(plan, runs), Rising(plan, steps)
    widths = np.array(half_widths(plan, range(steps)))
    low, high = np.vectorize(around)(raw - widths, raw + widths, [fit.of(run) for run in raw])
    return {
        "in all": (np.abs(raw - case.truth) <= widths).mean(axis=0),
        "revised": ((low <= case.truth) & (case.truth <= high)).mean(axis=0),
    }


def mean(parts: Iterable[float]) -> float:
    """The geometric one."""
    return float(np.exp(np.mean(np.log(list(parts)))))


def groups(found: list[Case]) -> Iterator[tuple[str, str, list[Case]]]:
    """Cases by statistic, on networks and on models."""
    for asked in TARGETS:
        for where in ("networks", "models"):
            here = [
                each
                for each in found
                if each.subject.asked == asked
                and (each.subject.dataset in MODELS) == (where == "models")
            ]
            if here:
                yield asked, where, here


def main_table(
    found: list[Case], measured: dict[str, dict[str, dict[str, float]]]
) -> Iterator[str]:
    """Means and worst cases, and whether targets are met."""
    heads = "revised / processed", "worst revised"
    yield f"| ε | statistic | cases | {' | '.join((*KINDS, *heads))} |"
    yield "|--:|---|---|--:|--:|--:|--:|"
    for epsilon, by_case in measured.items():
        for asked, where, here in groups(found):
            rows = [by_case[each.name] for each in here]
            means = [mean(row[kind] for row in rows) for kind in KINDS]
            worst = max(row["revised"] for row in rows)
            cells = " | ".join(f"{each:.3f}" for each in (*means, means[1] / means[0], worst))
            yield f"| {epsilon} | {asked} | {len(here)} {where} | {cells} |"
    yield ""
    yield verdict(found, measured)


def verdict(found: list[Case], measured: dict[str, dict[str, dict[str, float]]]) -> str:
    """Whether revisions are as good as they should be."""
    told = []
    for asked, where, here in groups(found):
        if where == "networks":
            rows = [measured[MAIN][each.name] for each in here]
            ratio = mean(row["revised"] for row in rows) / mean(row["processed"] for row in rows)
            met = "met" if ratio <= TARGETS[asked] else "**missed**"
            told.append(f"{asked} {ratio:.3f} of processed values (≤ {TARGETS[asked]}: {met})")
    worst, where = max(
        (row["revised"], f"{name}, ε = {epsilon}")
        for epsilon, by_case in measured.items()
        for name, row in by_case.items()
    )
    kept = "met" if worst <= WORST else "**missed**"
    return (
        f"Targets at ε = {MAIN}: {'; '.join(told)}. Never worse than raw by more than 2%: {kept}; "
        f"the worst is {worst:.3f} ({where})."
    )


def case_table(found: list[Case], by_case: dict[str, dict[str, float]]) -> Iterator[str]:
    """Every case."""
    yield "| case | steps | mechanism | processed | revised |"
    yield "|---|--:|---|--:|--:|"
    for each in found:
        cells = " | ".join(f"{by_case[each.name][kind]:.2f}" for kind in KINDS)
        name = each.plan(MAIN).mechanism.name
        yield f"| {each.name} | {len(each.truth)} | `{name}` | {cells} |"


def half_table(found: list[Case], runs: int) -> Iterator[str]:
    """After half of the releases."""
    yield "| statistic | cases | processed | revised | worst revised |"
    yield "|---|---|--:|--:|--:|"
    for asked, where, here in groups(found):
        rows = [errors(each, MAIN, runs, 0.5) for each in here]
        means = [mean(row[kind] for row in rows) for kind in KINDS]
        cells = " | ".join(f"{each:.3f}" for each in (*means, max(row["revised"] for row in rows)))
        yield f"| {asked} | {len(here)} {where} | {cells} |"


def interval_table(found: list[Case], runs: int) -> Iterator[str]:
    """First values and revisions."""
    held = [coverage(each, runs) for each in found]
    steps, luck = sum(len(each.truth) for each in found), np.sqrt(0.95 * 0.05 / runs)
    yield OF_INTERVALS.format(runs=runs, luck=luck, steps=steps)
    yield "| | in all | revised |"
    yield "|---|--:|--:|"
    by_name = [np.concatenate([each[name] for each in held]) for name in ("in all", "revised")]
    yield f"| on average | {' | '.join(f'{each.mean():.1%}' for each in by_name)} |"
    yield f"| least at a step | {' | '.join(f'{each.min():.1%}' for each in by_name)} |"


def time_table() -> Iterator[str]:
    """How long it takes."""
    yield OF_TIME.rstrip("\n")
    for name, mechanism, steps in (
        ("edges", "optimised", 365), ("high-degree", "optimised-moves", 365),
        ("edges", "sensdiff", 3650), ("edges", "optimised", 3650),
        ("high-degree", "optimised-moves", 3650), ("edges", "epochs", 3650),
    ):  # fmt: skip
        counted = statistic(name, **({"tau": 3} if name == "high-degree" else {}))
        plan = planned(counted, DegreeBound(10), epsilon=1, horizon=steps, mechanism=mechanism)
        rng = np.random.default_rng(steps)
        raw = np.cumsum(rng.poisson(2, steps)) + np.cumsum(rng.laplace(0, 10, steps))
        start = perf_counter()
        revised(counted, raw, plan)
        yield f"| {name}, `{mechanism}` | {steps} | {perf_counter() - start:.2f} |"


def markdown(datasets: Iterable[str], runs: int) -> str:
    """The whole page."""
    from benchmarks.together import joint_time, together_table

    found, fewer = cases(datasets), max(2, runs // 4)
    measured = {}
    for epsilon in EPSILONS:
        print(f"  ε = {epsilon} …", flush=True)
        many = runs if epsilon == MAIN else fewer
        measured[epsilon] = {each.name: errors(each, epsilon, many) for each in found}
    parts = [
        INTRO.format(runs=runs, fewer=fewer), *main_table(found, measured), OF_CASES,
        *case_table(found, measured[MAIN]), OF_HALVES, *half_table(found, fewer),
        *interval_table(found, runs), *together_table(datasets, max(2, runs // 10)),
        *time_table(), *joint_time(), "",
    ]  # fmt: skip
    return "\n".join(parts)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description="The error of revised histories.")
    parser.add_argument("datasets", nargs="*", help="folders of networks, besides the models")
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--dry", action="store_true", help="print only; write no file")
    asked = parser.parse_args()
    text = markdown((*MODELS, *asked.datasets), asked.runs)
    print(text)
    if not asked.dry:
        (HERE / "REVISIONS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
