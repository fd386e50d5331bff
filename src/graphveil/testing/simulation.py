"""Noise for simulations: seedable and fast, and never the noise of a release.

It follows the same laws as the noise of releases, up to the resolution of floats, and gives
ten million draws in seconds. Being repeatable, it protects nobody; the release path has no
parameter that would take it, and nothing below this package may import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import expm1, floor, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from graphveil.errors import ParameterError
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, Law
from graphveil.planning.plan import Plan

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SimulationNoise:
    """A repeatable source of noise, for experiments and tests only.

    Attributes:
        rng: where the randomness comes from; give a seeded one to repeat a simulation.
    """

    rng: np.random.Generator

    def draw(self, law: Law, count: int) -> list[int]:
        """`count` independent integers of this law, as a series asks for them."""
        return [int(value) for value in self.draws(law, (count,))]

    def draws(self, law: Law, shape: tuple[int, ...]) -> Integers:
        """An array of independent integers of this law."""
        return _SAMPLERS[type(law)](float(law.size), shape, self.rng)


def simulate(plan: Plan, runs: int, rng: np.random.Generator, steps: int | None = None) -> Integers:
    """The noise of a scalar series in many independent runs: (runs, steps).

    What a release adds to the true value: each epoch's noise decoded and rounded, with the
    noise of finished epochs carried along where differences are measured.

    Args:
        plan: how the series is published.
        runs: how many series are simulated.
        rng: where the randomness comes from.
        steps: how many releases each has; needed where the horizon is unknown.
    """
    wanted = steps or plan.request.horizon
    if wanted is None:
        raise ParameterError("steps", "is needed where the horizon is unknown")
    source = SimulationNoise(rng)
    noise = np.empty((runs, wanted), dtype=np.int64)
    carried, done = np.zeros((runs, 1)), 0
    for number in count():
        epoch = plan.epoch(number)
        drawn = source.draws(epoch.law, (runs, epoch.factorisation.measurements))
        decoded = carried + drawn @ epoch.factorisation.decoder().T
        here = min(epoch.steps, wanted - done)
        noise[:, done : done + here] = np.rint(decoded[:, :here])
        done += here
        if done == wanted:
            break
        if epoch.cut is not None:
            carried = np.rint(decoded[:, epoch.cut - 1 : epoch.cut])
        elif plan.mechanism.adds_up:
            carried = decoded[:, -1:]
    return noise


def _laplace(scale: float, shape: tuple[int, ...], rng: np.random.Generator) -> Integers:
    """The difference of two geometric numbers is discrete Laplace."""
    success = -expm1(-1 / scale)
    drawn = rng.geometric(success, size=shape)
    drawn -= rng.geometric(success, size=shape)
    return drawn


def _gaussian(variance: float, shape: tuple[int, ...], rng: np.random.Generator) -> Integers:
    """Discrete Laplace proposals, kept with the probability that makes them Gaussian."""
    size = prod(shape)
    width = floor(sqrt(variance)) + 1
    kept: list[Integers] = []
    missing = size
    while missing > 0:
        proposed = _laplace(width, (2 * missing + 64,), rng)
        exponent = (np.abs(proposed) - variance / width) ** 2 / (2 * variance)
        kept.append(proposed[rng.standard_exponential(len(proposed)) >= exponent])
        missing -= len(kept[-1])
    return np.concatenate(kept)[:size].reshape(shape)


_SAMPLERS = {DiscreteLaplace: _laplace, DiscreteGaussian: _gaussian}
