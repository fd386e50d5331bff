"""One sweep over every statistic and a grid of bounds: no claim may be broken."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from graphveil.errors import ParameterError
from graphveil.graph.promises.bound import Bound, DegreeBound, InOutBound
from graphveil.statistics.statistic import Statistic, registered
from graphveil.testing.attacks.attack import QUICK, Attack, Effort, attack_all
from graphveil.testing.pairs import Relation

# Ascending, oriented first, so that pairs found early serve the later bounds too.
BOUNDS: tuple[Bound, ...] = (
    *(DegreeBound(degree) for degree in range(1, 5)),
    *(
        InOutBound(inward, outward, oriented)
        for oriented in (True, False)
        for inward, outward in sorted(
            [(i, o) for i in range(1, 4) for o in range(1, 4)] + [(4, 3), (3, 4)], key=sum
        )
    ),
)

Job: TypeAlias = tuple[Statistic, list[Bound], Relation]


def every_statistic() -> list[Statistic]:
    """The examples of every registered statistic."""
    return [example for member in registered().values() for example in member.examples()]


def admits(statistic: Statistic, bound: Bound) -> bool:
    """Whether a statistic makes a claim under a bound; some refuse, such as τ > D."""
    try:
        statistic.require_domain(directed=bound.directed)
        statistic.sensitivity(bound)
    except ParameterError:
        return False
    return True


def jobs(statistics: Iterable[Statistic], bounds: Sequence[Bound]) -> list[Job]:
    """What to attack, so that bounds which share small pairs stay together."""
    found: list[Job] = []
    for statistic in statistics:
        admitted = [bound for bound in bounds if admits(statistic, bound)]
        for directed in (False, True):
            alike = [bound for bound in admitted if bound.directed == directed]
            relations: tuple[Relation, ...] = ("node", "edge") if alike else ()
            found += [(statistic, alike, relation) for relation in relations]
    return found


def sweep(
    statistics: Iterable[Statistic] | None = None,
    bounds: Sequence[Bound] = BOUNDS,
    effort: Effort = QUICK,
) -> list[Attack]:
    """Attack every statistic under every bound that it admits, for every claimed number.

    Args:
        statistics: what to attack; by default the examples of every registered statistic.
        bounds: the grid; bounds that a statistic refuses are passed over.
        effort: how hard to try.
    """

    def attack_one(job: Job) -> list[Attack]:
        statistic, alike, relation = job
        return list(attack_all(statistic, alike, relation=relation, effort=effort))

    todo = jobs(every_statistic() if statistics is None else statistics, bounds)
    # The kernels let go of the interpreter, so threads share the cores.
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return [attack for attacks in pool.map(attack_one, todo) for attack in attacks]
