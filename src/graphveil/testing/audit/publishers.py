"""What an audit can watch: anything that publishes a series for a difference sequence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from graphveil.noise.laws import NoiseLaw, NoiseSource
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.planning.plan import Plan
from graphveil.series.state import advance, start
from graphveil.testing.simulation import simulate

Integers = NDArray[np.int64]
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
    drawing = _Ahead(source or ReleaseNoise())

    def publish(differences: Integers, runs: int, rng: np.random.Generator) -> Integers:
        return np.array([_one_series(plan, differences, drawing) for _ in range(runs)])

    return publish


@dataclass(frozen=True)
class _Ahead:
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
