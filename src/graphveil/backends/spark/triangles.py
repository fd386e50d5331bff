"""Triangles by colours: every task counts those among the nodes of three, two or one.

Edges between three different colours make triangles of all three. All edges among two colours
make those of both, and those of each alone, which their own tasks count, too. With p colours these
stand in p − 1 pairs, so that the sum over triples and pairs holds them p − 2 times too often.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from graphveil.backends.spark.graph import SparkGraph
from graphveil.statistics.tallies import Counts


class Task(NamedTuple):
    """The triangles among some colours, from a step on."""

    graph: SparkGraph
    colours: tuple[int, ...]
    since: int

    @property
    def classes(self) -> list[tuple[int, int]]:
        """What it reads: between three colours, or all among two or one."""
        if len(self.colours) == 3:
            return list(permutations(self.colours, 2))
        return [(a, b) for a in self.colours for b in self.colours]


def tasks(graph: SparkGraph, since: int) -> list[tuple[int, Task]]:
    """How often each task's triangles count, and the task; the largest come first."""
    p = graph.colours
    weights = {3: 1, 2: 1, 1: 2 - p}
    chosen = [each for size in (3, 2, 1) for each in combinations(range(p), size)]
    return [
        (weights[len(each)], _lightened(Task(graph, each, since)))
        for each in chosen
        if weights[len(each)]
    ]


def _lightened(task: Task) -> Task:
    return task._replace(graph=task.graph.only(task.classes))


def count(task: Task) -> Counts:
    """Triangles by step and kind among the task's colours; runs on a worker."""
    from graphveil.backends.local.patterns import count_triangles
    from graphveil.backends.local.work import Work
    from graphveil.backends.spark.blocks import block

    graph = block(task.graph, task.colours, task.classes, touching=task.since)
    return count_triangles(Work(graph, 1), task.since)


def summed(weights: list[int], found: list[Counts]) -> Counts:
    """What all tasks come to."""
    counted = [weight * each for weight, each in zip(weights, found, strict=True)]
    return np.asarray(np.sum(counted, axis=0), np.int64)
