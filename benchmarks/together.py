"""The error of joint estimates: all series of a study together, against each by itself.

A part of ``benchmarks/revisions.py``, which writes it into REVISIONS.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from graphveil.backends import LocalEngine
from graphveil.cli.commands.demo import made_up
from graphveil.graph.promises import Bound, DegreeBound
from graphveil.graph.sequence import GraphSequence
from graphveil.lab.experiments.runs import Agenda, ReproduceRequest
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.intervals import half_widths
from graphveil.mechanisms.planning.plan import Plan
from graphveil.report.estimates import around, wider
from graphveil.series.joint import MOST, Member, Picture, joint
from graphveil.series.planner import plan as planned
from graphveil.series.postprocessing import revised
from graphveil.statistics.statistic import Statistic, statistic

WORST = 1.02
LEVELS = "0,1,2,3,5,10,20,50"  # of a network in which some people have very many links
SIX = ["nodes", "edges", "high-degree", "degree-ccdf", "components", "triangles"]
OF_TOGETHER = """
## All series together

People, links, a high degree and the degree CCDF of one study, with ε of 1/4, 1/2, 1/2 and 1, under
the largest degree, {runs} times each: the mean of |value − truth| over all steps, degrees and runs,
first of raw values, then of [joint estimates](../docs/revisions.md#the-joint-estimate) as a part of
revisions series by series (of the CCDF also as a part of the raw ones). The demo's network has been
added. Where a CCDF has too many degrees to be estimated together ({levelled}), only the levels
{levels} of it are published.
"""
OF_TOGETHER_INTERVALS = """
How often the intervals of joint estimates of these studies hold the truth (at least 94% on average
is the aim), and how long they are on average, as a part of those of raw values:

"""
Values = NDArray[np.float64]


def mean(parts: Iterable[float]) -> float:
    """The geometric one."""
    return float(np.exp(np.mean(np.log(list(parts)))))


PRICES = ("1/4", "1/2", "1/2", "1")
NAMES = ("people", "links", "high degree", "CCDF")
JOINT_TARGETS = (("CCDF", "raw", 0.32), ("CCDF", "revised", 0.72), ("high degree", "revised", 0.9))


@dataclass(frozen=True, eq=False)
class Whole:
    """Several series of one network."""

    name: str
    bound: Bound
    statistics: tuple[Statistic, ...]
    truths: tuple[Values, ...]

    @property
    def too_large(self) -> bool:
        """Whether it is not estimated together."""
        steps, width = self.truths[-1].shape
        return bool(steps * width * (2 * width + 2) ** 2 > MOST)

    @property
    def levelled(self) -> bool:
        """Whether only some degrees are published."""
        return getattr(self.statistics[-1], "levels", None) is not None

    def plans(self) -> list[Plan]:
        """The planner's choices."""
        return [
            planned(each, self.bound, epsilon=Fraction(price), horizon=len(self.truths[0]))
            for each, price in zip(self.statistics, PRICES, strict=True)
        ]


def wholes(datasets: Iterable[str]) -> list[Whole]:
    """The networks of the experiments, and that of the demo."""
    agenda = Agenda.of(ReproduceRequest(datasets=tuple(datasets), figures=("epsilon",)))
    found = []
    for each in dict.fromkeys(cell.subject for cell in agenda.figures):
        if each.asked == "high-degree":
            (version,) = (
                one
                for one in agenda.versions
                if (one.dataset.name, one.directed) == (each.dataset, each.directed)
            )
            way = "out-" if each.directed else ""
            degrees = statistic(f"{way}degree-ccdf")
            counted = (statistic("nodes"), statistic("edges"), each.statistic, degrees)
            name = f"{each.dataset}, {each.version}"
            made = _whole(name, version.sequence, each.bound, counted)
            if made.too_large:
                fewer = statistic(f"{way}degree-ccdf", levels=LEVELS)
                made = _whole(name, version.sequence, each.bound, (*counted[:3], fewer))
            found.append(made)
    return [*found, _demo()]


def _whole(
    name: str, sequence: GraphSequence, bound: Bound, counted: tuple[Statistic, ...]
) -> Whole:
    counts = LocalEngine().count(sequence, counted, bound=bound)
    steps = len(counts.totals(counted[0]))
    truths = tuple(counts.totals(each).reshape(steps, -1).astype(float) for each in counted)
    return Whole(name, bound, counted, truths)


def _demo() -> Whole:
    network = made_up("graphveil demo", 2013, 12, 1000)
    years = dict(network.people)
    steps, most = 12, 15
    late = [max(years[one], years[other]) - 2013 for one, other in network.links]
    degrees = np.zeros((steps, len(years)))
    places = {person: place for place, person in enumerate(years)}
    for (one, other), step in zip(network.links, late, strict=True):
        degrees[step:, [places[one], places[other]]] += 1
    here = np.array(list(years.values())) - 2013 <= np.arange(steps)[:, None]
    table = np.array(
        [[(here[t] & (degrees[t] >= d)).sum() for d in range(most + 1)] for t in range(steps)]
    )
    counted = (
        statistic("nodes"), statistic("edges"), statistic("high-degree", tau=3),
        statistic("degree-ccdf"),
    )  # fmt: skip
    table = table.astype(float)
    truths = (table[:, :1], table[:, 1:].sum(axis=1, keepdims=True) / 2, table[:, 3:4], table)
    return Whole("the demo", DegreeBound(most), counted, truths)


@dataclass(frozen=True, eq=False)
class Together:
    """What was measured: errors by series of raw, revised and joint values, and intervals."""

    errors: dict[str, Values]
    held: Values
    length: Values


def together(whole: Whole, runs: int) -> Together:
    """Publish it again and again."""
    plans, rng = whole.plans(), np.random.default_rng(zlib.crc32(whole.name.encode()))
    steps = len(whole.truths[0])
    widths = [np.array(half_widths(each, range(steps)))[:, None] for each in plans]
    spreads = [np.square(each.standard_deviations(steps)) for each in plans]
    errors = {kind: np.zeros(len(plans)) for kind in ("raw", "revised", "joint")}
    held = [np.zeros(each.shape) for each in whole.truths]
    length = np.zeros((2, len(plans)))
    for _ in range(runs):
        raws = [
            truth + simulate(plan, truth.shape[1], rng).T
            for truth, plan in zip(whole.truths, plans, strict=True)
        ]
        own = [
            revised(counted, raw if counted.vector else raw[:, 0], plan).reshape(raw.shape)
            for counted, raw, plan in zip(whole.statistics, raws, plans, strict=True)
        ]
        given = zip(whole.statistics, own, spreads, raws, strict=True)
        picture = joint([Member(one, None, whole.bound, 0, *more) for one, *more in given])
        for number, truth in enumerate(whole.truths):
            values = {"raw": raws[number], "revised": own[number], "joint": picture.values[number]}
            for kind, each in values.items():
                errors[kind][number] += np.abs(each - truth).mean() / runs
            low, high = _intervals(number, picture, raws, widths)
            held[number] += ((low <= truth) & (truth <= high)) / runs
            length[0, number] += (high - low).mean()
            first = raws[number] + widths[number], np.maximum(raws[number] - widths[number], 0)
            length[1, number] += (np.maximum(first[0], 0) - first[1]).mean()
    return Together(errors, np.concatenate([each.ravel() for each in held]), length[0] / length[1])


def _intervals(
    number: int, picture: Picture, raws: list[Values], widths: list[Values]
) -> tuple[Values, Values]:
    """The intervals of joint estimates of one series, as they are published."""
    found = np.zeros((2, *picture.values[number].shape))
    for step, row in enumerate(picture.known_best[number]):
        for place, best in enumerate(row):

            def end(at: tuple[int, int], sign: int) -> int:
                return int(raws[at[0]][step, at[1]] + sign * widths[at[0]][step, 0])  # noqa: B023

            low, high = end(best.same, -1), end(best.same, +1)
            if best.above is not None:
                high = min(high, wider(end(best.above, +1), end(best.above, -1), "0.95"))
            if best.below is not None:
                low = max(low, wider(end(best.below, -1), end(best.below, +1), "0.95"))
            value = float(picture.values[number][step, place])
            found[:, step, place] = around(min(low, high), max(low, high), value)
    return found[0], found[1]


def together_table(datasets: Iterable[str], runs: int) -> Iterator[str]:
    """Errors, targets and intervals."""
    found = wholes(datasets)
    fewer = [each.name.partition(",")[0] for each in found if each.levelled]
    levelled = " and ".join(dict.fromkeys(fewer)) or "none"
    yield OF_TOGETHER.format(runs=runs, levelled=levelled, levels=LEVELS)
    yield "| case | steps | degrees | " + " | ".join(NAMES) + " | CCDF / raw |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    measured = []
    for each in found:
        print(f"  {each.name} …", flush=True)
        measured.append(together(each, runs))
        parts = measured[-1].errors["joint"] / measured[-1].errors["revised"]
        raw = measured[-1].errors["joint"][3] / measured[-1].errors["raw"][3]
        steps, width = each.truths[-1].shape
        cells = " | ".join(f"{part:.2f}" for part in (*parts, raw))
        yield f"| {each.name} | {steps} | {width} | {cells} |"
    yield ""
    yield joint_verdict(measured, [each.name for each in found])
    yield OF_TOGETHER_INTERVALS.rstrip("\n") + "\n"
    yield "| case | on average | least at a number | " + " | ".join(NAMES) + " |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for each, one in zip(found, measured, strict=True):
        lengths = " | ".join(f"{part:.2f}" for part in one.length)
        yield f"| {each.name} | {one.held.mean():.1%} | {one.held.min():.1%} | {lengths} |"


def joint_verdict(measured: list[Together], names: list[str]) -> str:
    """Whether joint estimates are as good as they should be."""
    told = []
    for name, against, most in JOINT_TARGETS:
        at = NAMES.index(name)
        part = mean(each.errors["joint"][at] / each.errors[against][at] for each in measured)
        met = "met" if part <= most else "**missed**"
        told.append(f"{name} {part:.2f} of {against} (≤ {most}: {met})")
    worst, where = max(
        (float(each.errors["joint"][at] / each.errors["revised"][at]), f"{NAMES[at]} of {name}")
        for each, name in zip(measured, names, strict=True)
        for at in range(len(NAMES))
    )
    kept = "met" if worst <= WORST else "**missed**"
    return (
        f"Targets, as geometric means: {'; '.join(told)}. No series above {WORST} of its own in "
        f"any case: {kept}; the worst is {worst:.3f} ({where})."
    )


def joint_time() -> Iterator[str]:
    """How long all series of a study take together."""
    yield ""
    yield "| series together | steps | degrees | seconds |"
    yield "|---|--:|--:|--:|"
    for steps, most, names in (
        (365, 15, SIX),
        (3650, 15, [each for each in SIX if each != "degree-ccdf"]),
        (3650, 15, SIX),
    ):
        rng, members = np.random.default_rng(steps), []
        for name in names:
            counted = statistic(name, **({"tau": 3} if name == "high-degree" else {}))
            width = most + 1 if counted.vector else 1
            rates = np.linspace(3 * width, 1, width)
            raw = np.cumsum(rng.poisson(rates, (steps, width)), axis=0) + rng.normal(
                0, 90, (steps, width)
            )
            values = np.maximum(np.maximum.accumulate(raw, axis=0), 0)
            bound = DegreeBound(most)
            members.append(Member(counted, None, bound, 0, values, np.full(steps, 90.0**2)))
        start = perf_counter()
        joint(members)
        degrees = str(most) if "degree-ccdf" in names else "–"
        yield f"| {', '.join(names)} | {steps} | {degrees} | {perf_counter() - start:.2f} |"
