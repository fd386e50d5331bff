"""A pair of neighbouring sequences, as plain data that anybody can replay.

A pair is written as one square *schedule*: `schedule[u][v]` is the step at which the edge
u→v appears and `schedule[v][v]` the step at which node v arrives; `NEVER` means never. The
larger sequence holds everything; the smaller one lacks the last node with all its edges
(node relation), or the one edge from the last node but one to the last (edge relation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphveil.graph.promises import Bound
from graphveil.statistics.sensitivity import Measure, Sensitivity

NEVER = 127
Relation: TypeAlias = Literal["node", "edge"]
Schedule: TypeAlias = NDArray[np.int8]

Definition: TypeAlias = Callable[
    [NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]], None
]

# The distances that one evaluation yields, in this order; named as the claims they attack.
MEASURES: dict[Relation, tuple[Measure, ...]] = {
    "node": ("l1", "static_l1", "l2_squared", "variation_squared"),
    "edge": ("edge_l1",),
}


class Attackable(Protocol):
    """What can be attacked: a meaning, its parameters, and a claim; any `Statistic` is."""

    @property
    def definition(self) -> Definition:
        """How to evaluate it on one small graph, as `Statistic.definition` says."""

    def definition_arguments(self, *, directed: bool) -> tuple[int, ...]:
        """The parameters as whole numbers, handed to `definition`."""

    def sensitivity(self, bound: Bound) -> Sensitivity:
        """The claim under attack."""


def window_of(statistic: Attackable) -> int:
    """For how many steps people are counted in a statistic; 0 if permanently."""
    return getattr(statistic, "counted_for", None) or 0


def tables_of(statistic: Attackable) -> int:
    """How many vectors of n + 1 numbers its definition fills: one, unless it has several cells."""
    within = getattr(statistic, "statistic", None)  # what a recent network looks at
    return max(getattr(each, "tables", 1) for each in (statistic, within))


def hidden_part(nodes: int, relation: Relation, *, directed: bool) -> NDArray[np.uint8]:
    """Where a schedule holds what the smaller sequence lacks."""
    hidden = np.zeros((nodes, nodes), dtype=np.uint8)
    if relation == "node":
        hidden[-1, :] = hidden[:, -1] = 1
    else:
        hidden[-2, -1] = 1
        hidden[-1, -2] = 0 if directed else 1
    return hidden


@dataclass(frozen=True)
class Distances:
    """How far apart a statistic's releases are on the two sequences of a pair.

    Attributes:
        l1: the L1 distance of the difference sequences.
        static_l1: the largest L1 distance of the totals at one step.
        l2_squared: the squared L2 distance of the difference sequences.
        variation_squared: Σ over numbers of (all rises)² + (all falls)² of the distance.
    """

    l1: int
    static_l1: int
    l2_squared: int
    variation_squared: int


@dataclass(frozen=True)
class Pair:
    """Two neighbouring sequences on a handful of nodes.

    Attributes:
        schedule: when each edge appears and, on the diagonal, when each node arrives.
        directed: whether edges have a direction; if not, the schedule is symmetric.
        relation: what the smaller sequence lacks: the last node, or one edge.
    """

    schedule: tuple[tuple[int, ...], ...]
    directed: bool
    relation: Relation

    @classmethod
    def of(cls, schedule: Schedule, relation: Relation, *, directed: bool) -> Pair:
        """The pair that a schedule array describes."""
        return cls(tuple(map(tuple, schedule.tolist())), directed, relation)

    @property
    def arrivals(self) -> tuple[int, ...]:
        """The step at which each node arrives."""
        return tuple(row[node] for node, row in enumerate(self.schedule))

    @property
    def edges(self) -> tuple[tuple[int, int, int], ...]:
        """Every edge of the larger sequence as (from, to, step)."""
        return tuple(
            (u, v, step)
            for u, row in enumerate(self.schedule)
            for v, step in enumerate(row)
            if step != NEVER and u != v and (self.directed or u < v)
        )

    @property
    def steps(self) -> int:
        """How many steps it takes until everything has appeared."""
        return 1 + max(step for row in self.schedule for step in row if step != NEVER)

    def respects(self, bound: Bound) -> bool:
        """Whether the larger sequence, and hence the smaller too, keeps a degree bound."""
        linked = np.array(self.schedule) != NEVER
        np.fill_diagonal(linked, False)
        if bound.directed != self.directed:
            return False
        if bound.kind == "oriented" and bool((linked & linked.T).any()):
            return False
        return bound.kept_by(linked.sum(axis=1), linked.sum(axis=0))

    def __str__(self) -> str:
        arrow = "→" if self.directed else "–"
        last = len(self.schedule) - 1
        missing = f"node {last}" if self.relation == "node" else f"edge {last - 1}{arrow}{last}"
        nodes = ", ".join(f"{node}@{step}" for node, step in enumerate(self.arrivals))
        edges = ", ".join(f"{u}{arrow}{v}@{step}" for u, v, step in self.edges)
        return f"nodes {nodes}; edges {edges}; the neighbour lacks {missing}"


def totals(statistic: Attackable, schedule: NDArray[np.int64], pair: Pair) -> NDArray[np.int64]:
    """The statistic after every step of one sequence, by its definition in plain Python."""
    arguments = statistic.definition_arguments(directed=pair.directed)
    steps = pair.steps + window_of(statistic)  # until the last have left again
    found = np.zeros((steps, tables_of(statistic) * (len(schedule) + 1)), dtype=np.int64)
    for step in range(steps):
        present, links = _network(schedule, step, window_of(statistic))
        statistic.definition(links, present, np.array(arguments, dtype=np.int64), found[step])
    return found


def _network(
    schedule: NDArray[np.int64], step: int, window: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Who is there after a step, and who is linked; of a recent network, for how long they are."""
    there = np.clip(step + 1 - np.diagonal(schedule), 0, None)
    links = (schedule <= step).astype(np.uint8)
    np.fill_diagonal(links, 0)
    if not window:
        return (there > 0).astype(np.uint8), links
    there[there > window] = 0
    return there.astype(np.uint8), links * np.outer(there > 0, there > 0).astype(np.uint8)


def replay(statistic: Attackable, pair: Pair) -> Distances:
    """The distances of a pair, slowly and plainly: the judge over every compiled result."""
    larger = np.array(pair.schedule, dtype=np.int64)
    hidden = hidden_part(len(larger), pair.relation, directed=pair.directed)
    smaller = np.where(hidden == 1, NEVER, larger)
    apart = totals(statistic, larger, pair) - totals(statistic, smaller, pair)
    changes = apart if window_of(statistic) else np.diff(apart, axis=0, prepend=0)
    rises, falls = changes.clip(min=0).sum(axis=0), changes.clip(max=0).sum(axis=0)
    return Distances(
        l1=int(np.abs(changes).sum()),
        static_l1=int(np.abs(apart).sum(axis=1).max()),
        l2_squared=int((changes**2).sum()),
        variation_squared=int((rises**2).sum() + (falls**2).sum()),
    )
