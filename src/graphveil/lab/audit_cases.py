"""The cases of an audit: the farthest known pairs of neighbours, as difference sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.graph.promises import Bound, HubBound
from graphveil.lab.attacks.attack import Effort, attack
from graphveil.lab.attacks.constructions import constructions
from graphveil.lab.attacks.enumeration import Size
from graphveil.lab.attacks.hubs import attack_with_hubs, first_links
from graphveil.lab.pairs import NEVER, Attackable, Pair, hidden_part, totals, window_of
from graphveil.lab.simulation import simulate
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.laws import NoiseLaw, NoiseSource
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.series.state import advance, start
from graphveil.statistics.change import sensitivity_under

Integers = NDArray[np.int64]
LARGEST_BOUND = 20
SEARCH = Effort(undirected=(), directed=(), moves=2_000, runs=1, patience=20)


@dataclass(frozen=True)
class Case:
    """A pair of neighbours with the exact difference sequences of both, (steps, width).

    Attributes:
        pair: the two graph sequences.
        larger: the difference sequence of the one that holds the person.
        smaller: that of the other.
    """

    pair: Pair
    larger: Integers
    smaller: Integers

    @property
    def shift(self) -> Integers:
        """What the person changes: all that an observer can go by."""
        return self.larger - self.smaller

    def strengths(self) -> tuple[int, int, int, int]:
        """How far apart the sides are: in L1, L2², on one total in L1, and in all totals."""
        apart = np.cumsum(self.shift, axis=0)
        return (
            int(np.abs(self.shift).sum()),
            int((self.shift**2).sum()),
            int(np.abs(apart).sum(axis=1).max()),
            int(np.abs(apart).sum()),
        )

    def later(self, steps: int) -> Case:
        """The same pair, with empty steps before it."""
        larger, smaller = (
            np.vstack([np.zeros_like(side[:steps]), side[: len(side) - steps]])
            for side in (self.larger, self.smaller)
        )
        return Case(self.pair, larger, smaller)


def worst_cases(
    statistic: Attackable,
    bound: Bound,
    *,
    steps: int,
    width: int,
    projection: Bound | None = None,
) -> list[Case]:
    """Different pairs that are the farthest in some way, at several places in the series.

    Args:
        statistic: what is counted; its definition counts both sides exactly.
        bound: the promise that both sides keep; with hubs, their first links are counted.
        steps: how many releases a series has; longer pairs are cut off there.
        width: how many numbers a release has.
        projection: the bound to which every graph is projected first, where it is; pairs
            need not keep a bound then.
    """
    bounds = [bound] if projection is None else _wider(projection)
    pairs = [pair for each in bounds for pair in _pairs(cast(Any, statistic), each)]
    limit = bound if projection is None and isinstance(bound, HubBound) else projection
    cases = [_case(statistic, pair, steps, width, limit) for pair in pairs]
    best = [max(cases, key=lambda case: _first(case, place)) for place in range(4)]
    return list(_different(_placed(best, steps)))


def _first(case: Case, place: int) -> tuple[int, ...]:
    strengths = case.strengths()
    return (strengths[place], *strengths)


def _placed(cases: Iterable[Case], steps: int) -> Iterator[Case]:
    """Each case at the beginning of a series, in its middle and at its very end."""
    for case in cases:
        spare = max(0, steps - case.pair.steps)
        for wait in (0, spare // 2, spare):
            yield case.later(wait)


def _different(cases: Iterable[Case]) -> Iterator[Case]:
    """Cases whose shifts an observer can tell apart, and that have one at all."""
    seen: set[bytes] = set()
    for case in cases:
        key = case.shift.tobytes()
        if key not in seen and case.shift.any():
            seen.add(key)
            yield case


@cache
def _pairs(statistic: Any, bound: Bound) -> tuple[Pair, ...]:
    """What the search finds, and the known constructions."""
    if max(bound.limits) > LARGEST_BOUND:
        raise ParameterError(
            "bound",
            f"an audit builds its graphs, and takes bounds up to {LARGEST_BOUND}",
            hint="Noise grows with the bound in the same way everywhere: audit a smaller one.",
        )
    if isinstance(bound, HubBound):
        claimed = sensitivity_under(statistic, bound)
        sizes = (Size(3),) if bound.directed else (Size(4),)
        return attack_with_hubs(statistic, claimed, bound, sizes=sizes).witnesses
    result = attack(statistic, bound, effort=SEARCH)
    witnesses = [finding.witness for finding in result.findings if finding.witness is not None]
    known = [
        Pair.of(each, "node", directed=bound.directed) for each in constructions(bound, "node")
    ]
    return (*witnesses, *known, *(frozen for pair in witnesses for frozen in _at_once(pair)))


def _at_once(pair: Pair) -> Iterator[Pair]:
    """Each graph that a pair passes through, all of it there at the first step.

    What a person changes in one total is then changed in every total.
    """
    schedule = np.array(pair.schedule, dtype=np.int8)
    for step in range(pair.arrivals[-1], pair.steps):
        here = np.diagonal(schedule) <= step
        graph = schedule[np.ix_(here, here)]
        frozen = np.where(graph <= step, 0, NEVER).astype(np.int8)
        yield Pair.of(frozen, pair.relation, directed=pair.directed)


def _wider(bound: Bound) -> list[Bound]:
    """The bound and looser ones, for graphs that are projected to it."""
    more = (0, 1) if bound.directed else (0, 1, bound.limit("total"))
    return [bound.wider(by) for by in more]


def _case(statistic: Attackable, pair: Pair, steps: int, width: int, limit: Bound | None) -> Case:
    """Both sides as they are counted, within a limit if there is one."""
    larger = np.array(pair.schedule, dtype=np.int64)
    hidden = hidden_part(len(larger), pair.relation, directed=pair.directed)
    sides = []
    for schedule in (larger, np.where(hidden == 1, NEVER, larger)):
        projected = schedule if limit is None else _counted(schedule, pair, limit)
        counts = totals(statistic, projected, pair)
        if window_of(statistic):  # after which everybody has left again
            counts = np.vstack([counts, np.zeros_like(counts[:1])])
        sides.append(_fit(np.diff(counts, axis=0, prepend=0), steps, width))
    return Case(pair, sides[0], sides[1])


def _fit(differences: Integers, steps: int, width: int) -> Integers:
    """Cut off or padded with nothing, to the shape of a series."""
    fitted = np.zeros((steps, width), dtype=np.int64)
    part = differences[:steps, :width]
    fitted[: part.shape[0], : part.shape[1]] = part
    return fitted


def _counted(schedule: Integers, pair: Pair, limit: Bound) -> Integers:
    """What of a schedule is counted: the first links under a promise with hubs, else greedily."""
    if isinstance(limit, HubBound):
        return first_links(schedule.astype(np.int8), limit).astype(np.int64)
    return _projected(schedule, pair, limit)


def _projected(schedule: Integers, pair: Pair, bound: Bound) -> Integers:
    """The greedy projection: by step, then by nodes, an edge stays if both ends have room."""
    projected = np.full_like(schedule, NEVER)
    np.fill_diagonal(projected, np.diagonal(schedule))
    room_in = np.full(len(schedule), bound.limit("in"))
    room_out = room_in if not pair.directed else np.full(len(schedule), bound.limit("out"))
    edges = [
        (step, u, v)
        for (u, v), step in np.ndenumerate(schedule)
        if u != v and step != NEVER and (pair.directed or u < v)
    ]
    for step, u, v in sorted(edges):
        if room_out[u] > 0 and room_in[v] > 0:
            room_out[u] -= 1
            room_in[v] -= 1
            projected[u, v] = step
            projected[v, u] = projected[v, u] if pair.directed else step
    return projected


# What an audit can watch: anything that publishes a series for a difference sequence.


AHEAD = 500  # integers of a law that are drawn at a time


class Publisher(Protocol):
    """Publishes a series as often as it is asked to."""

    def __call__(self, differences: Integers, runs: int, rng: np.random.Generator) -> Integers:
        """Published values, (runs, steps, width), for one difference sequence (steps, width)."""
        ...


def simulated(plan: Plan) -> Publisher:
    """The mechanism of a plan with the fast noise of simulations."""

    def publish(differences: Integers, runs: int, rng: np.random.Generator) -> Integers:
        steps, width = differences.shape
        noise = [simulate(plan, runs, rng, steps) for _ in range(width)]
        return np.cumsum(differences, axis=0) + np.stack(noise, axis=2)

    return publish


def released(plan: Plan, source: NoiseSource | None = None) -> Publisher:
    """The mechanism of a plan as releases run it: state by state, with the noise of releases.

    Slow, and not repeatable: that noise has no seed, so `rng` is not used.
    """
    drawing = Ahead(source or ReleaseNoise())

    def publish(differences: Integers, runs: int, rng: np.random.Generator) -> Integers:
        return np.array([_one_series(plan, differences, drawing) for _ in range(runs)])

    return publish


@dataclass(frozen=True)
class Ahead:
    """Draws many integers at a time, for series to come: each call of OpenDP is expensive."""

    source: NoiseSource
    drawn: dict[NoiseLaw, list[int]] = field(default_factory=dict)

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        """The next integers of this law."""
        ready = self.drawn.setdefault(law, [])
        if len(ready) < count:
            ready += self.source.draw(law, count * max(1, AHEAD // count))  # vectors stay whole
        taken, self.drawn[law] = ready[:count], ready[count:]
        return taken


def _one_series(plan: Plan, differences: Integers, source: NoiseSource) -> list[tuple[int, ...]]:
    state, values = start(plan), []
    for difference in differences.tolist():
        value, state = advance(plan, state, difference, source)
        values.append(value)
    return values
