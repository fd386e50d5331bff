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
from graphveil.mechanisms.planning.plan import Plan
from graphveil.noise.joint_laws import BoxNoise, JointLaw, MovesNoise, RangeNoise
from graphveil.noise.laws import DiscreteGaussian, DiscreteLaplace, NoiseLaw

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class SimulationNoise:
    """A repeatable source of noise, for experiments and tests only.

    Attributes:
        rng: where the randomness comes from; give a seeded one to repeat a simulation.
    """

    rng: np.random.Generator

    def draw(self, law: NoiseLaw, count: int) -> list[int]:
        """`count` independent integers of this law, as a series asks for them."""
        return [int(value) for value in self.draws(law, (count,))]

    def draws(self, law: NoiseLaw, shape: tuple[int, ...]) -> Integers:
        """An array of integers of this law; vectors of a joint one follow each other."""
        if isinstance(law, JointLaw):
            vectors = prod(shape) // law.steps
            return _JOINT_SAMPLERS[type(law)](law, vectors, self.rng).reshape(shape)
        assert isinstance(law, DiscreteLaplace | DiscreteGaussian), "a law is joint or one of two"
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
    """Discrete Laplace proposals, accepted with the probability that makes them Gaussian."""
    size = prod(shape)
    width = floor(sqrt(variance)) + 1
    accepted: list[Integers] = []
    missing = size
    while missing > 0:
        proposed = _laplace(width, (2 * missing + 64,), rng)
        exponent = (np.abs(proposed) - variance / width) ** 2 / (2 * variance)
        accepted.append(proposed[rng.standard_exponential(len(proposed)) >= exponent])
        missing -= len(accepted[-1])
    return np.concatenate(accepted)[:size].reshape(shape)


def _cores(law: JointLaw, vectors: int, rng: np.random.Generator) -> Integers:
    """How large each vector is, from the table of the law."""
    found = np.searchsorted(np.cumsum(law.core), rng.random(vectors), side="right")
    return np.asarray(np.minimum(found, len(law.core) - 1), dtype=np.int64)


def _moves(law: JointLaw, vectors: int, rng: np.random.Generator) -> Integers:
    """Two uniform ways to write the core as a sum: counts of shares that are uniform themselves."""
    cores = _cores(law, vectors, rng)
    ups, downs = (
        rng.multinomial(cores, rng.dirichlet(np.ones(law.steps + 1), vectors)) for _ in range(2)
    )
    return np.asarray((ups - downs)[:, : law.steps])


def _range(law: JointLaw, vectors: int, rng: np.random.Generator) -> Integers:
    """Between 0 and the core, touching 0 for the first time at a place drawn beforehand."""
    cores, parts = _cores(law, vectors, rng), law.steps + 1
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.log(cores / (cores + 1.0))
        places = np.floor(np.log1p(rng.random(vectors) * np.expm1(parts * fall)) / fall)
    zero = np.where(cores == 0, 0, np.minimum(np.nan_to_num(places), parts - 1))[:, None]
    place, most = np.arange(parts), cores[:, None]
    above = rng.integers(1, np.maximum(most, 1), (vectors, parts), endpoint=True)
    drawn = np.where(place < zero, above, rng.integers(0, most, (vectors, parts), endpoint=True))
    drawn[place == zero] = 0
    return np.asarray(drawn[:, 1:] - drawn[:, :1])


def _box(law: JointLaw, vectors: int, rng: np.random.Generator) -> Integers:
    """Anywhere between −core and core."""
    cores = _cores(law, vectors, rng)[:, None]
    return rng.integers(-cores, cores, (vectors, law.steps), endpoint=True)


_SAMPLERS = {DiscreteLaplace: _laplace, DiscreteGaussian: _gaussian}
_JOINT_SAMPLERS = {MovesNoise: _moves, RangeNoise: _range, BoxNoise: _box}
